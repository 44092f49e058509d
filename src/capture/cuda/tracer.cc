// Subscribes to CUPTI, asks it for what is wanted, and leaves it.
#include "capture/cuda/tracer.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

#include <unistd.h>

#include "capture/cuda/arrivals.h"
#include "capture/cuda/layouts.h"
#include "capture/cuda/torch_presence.h"
#include "capture/cuda/watched_calls.h"
#include "capture/inside/attempt.h"
#include "capture/inside/inside_guard.h"
#include "capture/inside/recorder.h"

namespace fathom::cuda {
namespace {

constexpr useconds_t kBetweenTries = 50;
/// Up to CUDA 13.0 CUPTI may hang where kernels are switched off while others are launched; from
/// 12.6 update 2 to 13.0 update 2 it loses the first k kernels after they were switched on for the
/// k-th time.
constexpr std::uint32_t kMayDisable = 130100;
/// Those of 13.0 and 13.1 have no function that says how long records are.
constexpr std::uint32_t kSaysSizes = 130200;

/// Older headers do not name them.
bool is_green(CUpti_ActivityKind kind) {
  constexpr int kGreenContexts = 59;
  return static_cast<int>(kind) == kGreenContexts;
}

}  // namespace

Tracer& Tracer::get() noexcept {
  alignas(Tracer) static std::byte place[sizeof(Tracer)];
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
  static Tracer& made = *new (place) Tracer;
  return made;
}

/// Later on we are called by CUPTI, which must not wait for the recorder's thread: that one may be
/// waiting for CUPTI. Or by a tick, which the recorder waits for. Whoever holds one of our locks
/// must not wait for the recorder either, whose ticks take them.
void Tracer::write_fact(std::string_view key, std::string_view value) {
  if (ticking_) {
    facts_.emplace_back(key, value);
  } else {
    inside::Recorder::get().fact(key, value);
  }
}

void Tracer::lose(const Loss& loss) {
  const std::string key = "not_recorded.cuda." + std::to_string(losses_++) + '.';
  write_fact(key + "what", loss.what);
  write_fact(key + "why", loss.why);
  write_fact(key + "remedy", loss.remedy);
}

void Tracer::check(std::string_view what, CUptiResult result) noexcept {
  if (result == CUPTI_SUCCESS) return;
  const std::lock_guard lock(mutex_);
  inside::attempt([&] {
    if (std::ranges::find(reported_, what) != reported_.end()) return;
    reported_.push_back(what);
    lose(loss_of(what, result, cupti_.text(result)));
  });
}

void Tracer::start() noexcept {
  const inside::Inside guard;
  if (pid_ == 0 && !inside::attempt([this] { begin(); })) abandon();
  started_ = true;
}

int Tracer::has_cupti() const noexcept {
  if (!started_) return -1;
  return tracing_ && getpid() == pid_ ? 1 : 0;
}

const char* Tracer::device_time(DeviceTime& read) noexcept {
  constexpr std::int64_t kAnswersWithin = 10'000'000'000;
  constexpr std::int64_t kAskAgain = 50'000'000;
  constexpr useconds_t kBetweenLooks = 100;
  const inside::Inside guard;
  const std::uint64_t number = ++times_asked_;
  const std::int64_t begin = wire::monotonic_ns();
  for (std::int64_t asked = 0; times_answered_ < number; usleep(kBetweenLooks)) {
    if (has_cupti() != 1 || !recording_)
      return "CUPTI is not the recorder's in this process: `fathom run --cuda always` takes it, "
             "and "
             "leaves torch.profiler without a GPU";
    if (times_refused_)
      return "CUPTI refuses times of kernels, copies or graphs: the session says why";
    if (!enabled_) return "the recorder does not record at this time, as it was asked to";
    const std::int64_t now = wire::monotonic_ns();
    if (now - begin > kAnswersWithin) return "the recorder did not answer for 10 seconds";
    // A tick that is under way may have begun too early.
    if (now - asked < kAskAgain) continue;
    asked = now;
    inside::Recorder::get().tick_soon();
  }
  const std::lock_guard lock(mutex_);
  read = device_time_;
  return nullptr;
}

void Tracer::begin() {
  const char* const said = std::getenv("FATHOM_OPTIONS");
  options_ = options_of(said == nullptr ? "" : said);
  if (!options_.record && options_.metrics_hz <= 0) return;
  pid_ = getpid();
  inside::Recorder& recorder = inside::Recorder::get();
  recorder.set_stem("cuda", false, false);
  if (!recorder.start("")) return;
  say_surroundings();
  buffers_ = std::make_unique<Buffers>(options_.max_bytes);
  const bool wanted = options_.record && !leave_to_torch();
  const bool opened =
      (wanted || options_.metrics_hz > 0) &&
      open(wanted ? "GPU activity" : pm_tracks() + " (hardware counters of GPUs)", wanted);
  tracing_ = opened && subscriber_ != nullptr;
  if (!tracing_ && options_.record)
    write_fact("cuda.fallback_level", to_string(FallbackLevel::telemetry));
  // From here on what is to be said waits for a tick: we hold locks that a tick takes, too.
  ticking_ = tracing_.load();
  if (tracing_) start_tracing();
  if (subscriber_ != nullptr && !tracing_) give_back_cupti();
  if (opened && options_.metrics_hz > 0) start_metrics();
  if (!tracing_ && metrics_ == nullptr) return say_now();
  // Before CUDA takes itself down, which it does at the exit too, and has not done yet.
  if (std::atexit([] { Tracer::get().at_exit(); }) != 0) throw std::bad_alloc();
  recording_ = true;
  ticking_ = true;
  inside::Recorder::set_tick_hook(on_tick);
}

/// It was another profiler's before we began. What that one enabled is left as it is.
void Tracer::give_back_cupti() {
  promise_zeros(false);
  check("CUPTI for another profiler", cupti_.unsubscribe(subscriber_));
  subscriber_ = nullptr;
  stopped_ = false;
  write_fact("cuda.fallback_level", to_string(FallbackLevel::telemetry));
}

/// There will be no tick.
void Tracer::say_now() noexcept {
  ticking_ = false;
  for (const auto& fact : std::exchange(facts_, {}))
    inside::attempt([&] { write_fact(fact.first, fact.second); });
}

/// There was no memory to begin: CUPTI is left as it was found.
void Tracer::abandon() noexcept {
  if (subscriber_ != nullptr) {
    for (const Wanted& want : wanted()) check("CUPTI as it was found", cupti_.disable(want.kind));
    promise_zeros(false);
    check("CUPTI for another profiler", cupti_.unsubscribe(subscriber_));
  }
  tracing_ = false;
  metrics_.reset();
  say_now();
  inside::attempt([this] {
    lose({"GPU activity", "the process had no memory left to begin", "leave it more memory"});
  });
}

/// Whether buffers come with zeros in them, which holds for those of every profiler in the process.
/// Where they do not, CUPTI writes zeros in the thread of the program that needs the buffer.
void Tracer::promise_zeros(bool promised) {
  if (cupti_.set_attribute == nullptr || promised == zeros_promised_) return;
  std::uint8_t zeroed = promised ? 1 : 0;
  std::size_t bytes = sizeof zeroed;
  const CUptiResult result =
      cupti_.set_attribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &bytes, &zeroed);
  if (result == CUPTI_SUCCESS) {
    zeros_promised_ = promised;
    return;
  }
  if (!promised)
    return check("what other profilers in this process record, if their buffers hold no zeros",
                 result);
  // Nothing is lost by it.
  const std::lock_guard lock(mutex_);
  inside::attempt([&] { write_fact("cuda.zeros", "written by CUPTI: " + cupti_.text(result)); });
}

void Tracer::start_tracing() {
  began_ = wire::monotonic_ns();
  contexts_ = context_functions();
  // PyTorch may take CUPTI at any moment, with buffers that hold anything.
  if (!options_.beside_torch && !has_torch()) promise_zeros(true);
  if (cupti_.set_thread_id_type != nullptr)
    check("which thread made a call: CUPTI has other numbers of threads",
          cupti_.set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
  read_clock();
  if (!tracing_) return;
  compare_layouts();
  enable_things();
  if (options_.range_only) write_fact("cuda.range", "cudaProfilerStart");
  range_open_ = !options_.range_only;
  const inside::SharedPage* const arrivals =
      options_.signal == 0 ? nullptr : listen_to(options_.signal);
  limits_ = Limits(inside::settings_of_environment(), inside::process_start_ns(), arrivals);
  limits_.look();
  obey_limits();
  watch_calls();
  inside::Recorder::set_look_hook(on_look);
}

/// Needs no subscriber, so that it goes beside torch.profiler.
void Tracer::start_metrics() {
  constexpr double kNsPerSecond = 1e9;
  read_clock();
  PmRates rates;
  rates.interval_ns = static_cast<std::int64_t>(kNsPerSecond / options_.metrics_hz);
  metrics_ = std::make_unique<PmSampler>(cupti_, rates);
  // Refused, a GPU is sampled a moment later: when a look finds its context.
  if (tracing_ && cupti_.device_of != nullptr)
    check("the first moment of hardware counters",
          cupti_.enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE,
                                 CUPTI_CBID_RESOURCE_CONTEXT_CREATED));
  metrics_->start();
}

/// True where PyTorch needs CUPTI.
bool Tracer::leave_to_torch() {
  if (options_.beside_torch || !has_torch() || !has_hook()) return false;
  write_fact("cuda.recorder", "torch.profiler");
  lose({"GPU activity outside of what torch.profiler records",
        "CUPTI serves one profiler in a process, and PyTorch has its own",
        "--cuda always records it here, and leaves torch.profiler without a GPU"});
  return true;
}

/// Before a tick, as it takes the loader's lock.
void Tracer::on_look() {
  Tracer& tracer = get();
  if (tracer.options_.libraries) LibraryCalls::get().look();
  if (tracer.tracing_ && !tracer.torch_came_) tracer.look_for_torch();
}

/// Where it is imported after the program has used CUDA, CUPTI is left to it before its first
/// profile.
void Tracer::look_for_torch() {
  if (!options_.beside_torch && has_torch() && has_hook()) torch_came_ = true;
}

/// Finds the CUPTI that works here, for what is lost without it. With hardware counters alone, or
/// where another profiler is CUPTI's subscriber, nobody need be.
bool Tracer::open(const std::string& what, bool subscribes) {
  std::string why;
  Loss loss;
  const CuptiPlaces places = cupti_places();
  const auto attempt = [&](const Cupti& cupti, std::string& said) {
    if (!subscribes) return Trial::taken;
    const Trial trial = subscribe(cupti, places.driver_major, loss);
    said = loss.why;
    return trial;
  };
  const bool opened = open_cupti(cupti_candidates(places), cupti_, why, attempt);
  if (opened) {
    write_fact("cuda.cupti", cupti_.path);
    write_fact("cuda.cupti.version", std::to_string(cupti_.version));
  }
  const bool named = !places.named.empty();
  if (opened && loss.what.empty()) {
    const auto other = named ? loss_of_major(cupti_.version, places.driver_major) : std::nullopt;
    if (other) lose(*other);
    return true;
  }
  if (loss.what.empty())
    loss = {what, why,
            named ? remedy_of_named(places.driver_major)
                  : "install CUPTI (the CUDA toolkit, or pip install nvidia-cuda-cupti), or name "
                    "its file in FATHOM_CUPTI"};
  lose(loss);
  return opened;
}

/// A library that was refused for its version leaves others to be tried; one that another profiler
/// holds does not. The loss is that of the first.
Trial Tracer::subscribe(const Cupti& cupti, int driver_major, Loss& loss) {
  CUptiResult result = cupti.subscribe(&subscriber_, on_call, this);
  if (result == CUPTI_SUCCESS) {
    result = cupti.register_callbacks(on_request, on_complete);
    if (result == CUPTI_SUCCESS) {
      loss = {};
      return Trial::taken;
    }
    check("CUPTI for another profiler", cupti.unsubscribe(subscriber_));
  }
  subscriber_ = nullptr;
  if (loss.what.empty()) {
    loss = loss_of("GPU activity", result, cupti.text(result));
    if (result == CUPTI_ERROR_UNKNOWN) explain_newer(cupti.version, driver_major, loss);
    if (result == CUPTI_ERROR_NOT_INITIALIZED && !shows_gpu("/dev")) explain_absent(loss);
  }
  if (result != CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) return Trial::next;
  return options_.metrics_hz > 0 ? Trial::taken : Trial::refused;
}

void Tracer::say_surroundings() {
  const char* const pipe = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
  const std::string control = std::string(pipe == nullptr ? "/tmp/nvidia-mps" : pipe) + "/control";
  if (access(control.c_str(), F_OK) == 0) write_fact("cuda.mps", control);
  if (const char* const share = std::getenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"))
    write_fact("cuda.mps.active_thread_percentage", share);
  if (const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES"))
    write_fact("cuda.visible_devices", visible);
}

/// What this CUPTI says of its own records, against the layouts that we read. Longer ones are those
/// of a newer CUPTI: the part that is known is read.
void Tracer::compare_layouts() {
  if (cupti_.struct_size == nullptr || cupti_.version < kSaysSizes) return;
  const std::lock_guard lock(mutex_);
  std::size_t compared = 0;
  CUptiResult refused = CUPTI_SUCCESS;
  std::vector<Wanted> all(things().begin(), things().end());
  all.insert(all.end(), wanted().begin(), wanted().end());
  for (const Wanted& want : all) {
    std::size_t said = 0;
    const std::size_t read = record_bytes(want.kind, cupti_.version);
    const CUptiResult result = cupti_.struct_size(want.kind, 0, &said);
    if (result != CUPTI_SUCCESS) refused = result;
    if (result != CUPTI_SUCCESS || read == 0) continue;
    ++compared;
    if (said >= read) continue;
    inside::attempt([&] {
      lose({"what is beyond the end of a record, which is taken for a part of it: " +
                std::string(want.what),
            "this CUPTI says that these records have " + std::to_string(said) +
                " bytes, and they are read as if they had " + std::to_string(read),
            "a Fathom that knows this CUPTI, or another libcupti in FATHOM_CUPTI"});
    });
  }
  inside::attempt([&] {
    write_fact("cuda.layouts", "compared with CUPTI's own sizes: " + std::to_string(compared) +
                                   " kinds" +
                                   (refused == CUPTI_SUCCESS ? "" : "; others refused: ") +
                                   (refused == CUPTI_SUCCESS ? "" : cupti_.text(refused)));
  });
}

/// Devices, contexts and streams, of which there is one record each, when they are made: from the
/// beginning, whatever the limits are. Where CUPTI can, it reports those that are there already.
void Tracer::enable_things() {
  CUptiResult refused = CUPTI_SUCCESS;
  const auto enable = [this, &refused](CUpti_ActivityKind kind) {
    if (cupti_.enable_and_dump == nullptr || kind == CUPTI_ACTIVITY_KIND_NAME)
      return cupti_.enable(kind);
    const CUptiResult dumped = cupti_.enable_and_dump(kind);
    if (dumped != CUPTI_SUCCESS && !is_green(kind)) refused = dumped;
    return dumped == CUPTI_SUCCESS ? dumped : cupti_.enable(kind);
  };
  CUptiResult without_green = CUPTI_SUCCESS;
  for (const Wanted& thing : things()) {
    if (!thing.asked(options_.graph_nodes, cupti_.version)) continue;
    const CUptiResult result = enable(thing.kind);
    // They are contexts, whose records say the same of them: nothing is lost.
    if (is_green(thing.kind)) {
      without_green = result;
    } else {
      check(thing.what, result);
    }
  }
  const auto say = [this](std::string_view key, CUptiResult result) {
    if (result == CUPTI_SUCCESS) return;
    const std::lock_guard lock(mutex_);
    inside::attempt([&] { write_fact(key, "not recorded: " + cupti_.text(result)); });
  };
  // Mostly there are none before us.
  say("cuda.made_before", refused);
  say("cuda.green_contexts", without_green);
}

/// After the kinds, which would switch them on again. Refused, they are recorded: nothing is lost,
/// and a fact reports it.
void Tracer::leave_out_noise() {
  CUptiResult refused = CUPTI_SUCCESS;
  for (const Watched& call : noisy_calls()) {
    const bool runtime = call.domain == CUPTI_CB_DOMAIN_RUNTIME_API;
    const auto enable = runtime ? cupti_.enable_runtime_call : cupti_.enable_driver_call;
    const CUptiResult result = enable == nullptr ? CUPTI_SUCCESS : enable(call.id, 0);
    if (result != CUPTI_SUCCESS) refused = result;
  }
  if (refused == CUPTI_SUCCESS || was_enabled_) return;
  const std::lock_guard lock(mutex_);
  inside::attempt([&] { write_fact("cuda.noise", "recorded: " + cupti_.text(refused)); });
}

/// What is refused is named; the rest is recorded all the same. Graphs as wholes and by their nodes
/// exclude each other in a process: who has once enabled wholes gets no nodes any more.
void Tracer::enable() {
  if (enabled_) return;
  std::vector<CUptiResult> answers;
  answers.reserve(wanted().size());
  for (const Wanted& want : wanted()) {
    const bool asked = want.asked(options_.graph_nodes, cupti_.version);
    answers.push_back(asked ? cupti_.enable(want.kind) : CUPTI_SUCCESS);
  }
  leave_out_noise();
  enabled_ = true;
  if (!was_enabled_.exchange(true)) say_answers(answers);
}

void Tracer::say_answers(std::span<const CUptiResult> answers) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (wanted()[i].kind == CUPTI_ACTIVITY_KIND_DRIVER)
      calls_written_ = answers[i] == CUPTI_SUCCESS;
    if (answers[i] == CUPTI_SUCCESS) continue;
    if (wanted()[i].device) times_refused_ = true;
    inside::attempt([&] { lose(loss_of(wanted()[i].what, answers[i], cupti_.text(answers[i]))); });
  }
  FallbackLevel level = level_of(answers);
  if (level == FallbackLevel::events && !inside::attempt([&] { level = fall_back(); }))
    level = FallbackLevel::telemetry;
  inside::attempt([&] { write_fact("cuda.fallback_level", to_string(level)); });
  inside::attempt([&] { write_fact("cuda.graphs", options_.graph_nodes ? "nodes" : "wholes"); });
}

/// Kernels are refused: events around their launches show when they ran. Some of the launches would
/// be taken for all.
FallbackLevel Tracer::fall_back() {
  const EventFunctions functions = event_functions();
  if (!functions.complete()) return FallbackLevel::telemetry;
  auto timer = std::make_unique<EventTimer>(functions);
  for (const Watched& launch : plain_launches()) {
    const CUptiResult result = cupti_.enable_callback(1, subscriber_, launch.domain, launch.id);
    if (result == CUPTI_SUCCESS) continue;
    lose(loss_of("when kernels ran, by events", result, cupti_.text(result)));
    // One that stays on costs launches some time, and loses nothing.
    for (const Watched& other : plain_launches())
      static_cast<void>(cupti_.enable_callback(0, subscriber_, other.domain, other.id));
    return FallbackLevel::telemetry;
  }
  timer_ = timer.release();
  return FallbackLevel::events;
}

/// Only of a launch of a kernel the symbol is known.
void Tracer::time_launch(EventTimer& timer, CUpti_CallbackId id, const CUpti_CallbackData& data) {
  if (data.callbackSite == CUPTI_API_ENTER) {
    const bool graph = launches_graph(id);
    timer.begin({data.contextUid, stream_of(id, data.functionParams), data.correlationId,
                 graph ? "CUDA graph" : data.symbolName, graph});
  } else {
    timer.end(data.correlationId);
  }
}

void Tracer::disable() {
  if (!enabled_) return;
  for (const Wanted& want : wanted()) {
    if (want.asked(options_.graph_nodes, cupti_.version) && may_disable(want.kind))
      check("the end of recording where it was limited", cupti_.disable(want.kind));
  }
  enabled_ = false;
}

/// What stays enabled is cut by the limits, like all that comes late.
bool Tracer::may_disable(CUpti_ActivityKind kind) const {
  return kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || cupti_.version >= kMayDisable;
}

/// Switches on and off; at the borders the converter cuts by the limits themselves. With
/// `range_only` it is CUPTI that calls us, else the recorder's thread: never do both, as either may
/// wait for the other.
void Tracer::obey_limits() {
  // CUPTI may have a lock of its own while it calls us, which whoever leaves may wait for.
  std::unique_lock lock(switching_, std::try_to_lock);
  for (; !lock.owns_lock(); static_cast<void>(lock.try_lock())) {
    if (leaving_) return;
    usleep(kBetweenTries);
  }
  if (range_open_ && limits_.wants(wire::monotonic_ns())) {
    enable();
  } else {
    disable();
  }
}

}  // namespace fathom::cuda
