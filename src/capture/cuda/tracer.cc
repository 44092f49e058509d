// Subscribes to CUPTI and handles its callbacks.
#include "capture/cuda/tracer.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include "capture/cuda/arrivals.h"
#include "capture/inside/attempt.h"
#include "capture/inside/inside_guard.h"
#include "capture/inside/recorder.h"

namespace fathom::cuda {
namespace {

/// Whether the process has loaded PyTorch.
bool has_torch() {
  const auto look = [](dl_phdr_info* info, std::size_t /*size*/, void* /*none*/) {
    const std::string_view name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
    return name.ends_with("/libtorch_cpu.so") || name.ends_with("/libtorch_cuda.so") ? 1 : 0;
  };
  return dl_iterate_phdr(look, nullptr) != 0;
}

/// Whether there is a Python in the process that the hook is in: it starts torch.profiler. The hook
/// leaves the number of its process; what starts a Python that reads no environment inherits
/// that of another, and a program of C++ with LibTorch has nobody who would.
bool has_hook() {
  const char* const said = std::getenv("FATHOM_PARENT");
  const std::string own = std::to_string(getpid()) + ':';
  if (said == nullptr || !std::string_view(said).starts_with(own)) return false;
  int (*runs)() = nullptr;
  *reinterpret_cast<void**>(&runs) = dlsym(RTLD_DEFAULT, "Py_IsInitialized");
  return runs != nullptr && runs() != 0;
}

/// A launch whose kernel need not wait for the one before it.
bool is_programmatic(const CUlaunchAttribute* attributes, unsigned count) {
  for (unsigned i = 0; attributes != nullptr && i < count; ++i) {
    const CUlaunchAttribute& attribute = attributes[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
      return attribute.value.programmaticStreamSerializationAllowed != 0;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT) return true;
  }
  return false;
}

bool is_programmatic(const cudaLaunchConfig_t* config) {
  if (config == nullptr) return false;
  for (unsigned i = 0; config->attrs != nullptr && i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization)
      return attribute.val.programmaticStreamSerializationAllowed != 0;
    if (attribute.id == cudaLaunchAttributeProgrammaticEvent) return true;
  }
  return false;
}

/// Of kernels, whichever way they are launched.
bool launches_kernel(CUpti_CallbackId id) {
  return id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel ||
         id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz ||
         id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx ||
         id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz;
}

CUstream named_stream(CUpti_CallbackId id, const void* parameters) {
  if (parameters == nullptr) return nullptr;
  if (id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel ||
      id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz)
    return static_cast<const cuLaunchKernel_params*>(parameters)->hStream;
  const CUlaunchConfig* const config =
      static_cast<const cuLaunchKernelEx_params*>(parameters)->config;
  return config == nullptr ? nullptr : config->hStream;
}

/// The stream that a launch is for. Of a call for streams of threads, null is the thread's.
CUstream stream_of(CUpti_CallbackId id, const void* parameters) {
  const CUstream named = named_stream(id, parameters);
  const bool of_thread = id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz ||
                         id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz;
  return named == nullptr && of_thread ? CU_STREAM_PER_THREAD : named;
}

struct Watched {
  CUpti_CallbackDomain domain;
  CUpti_CallbackId id;
};
constexpr Watched kWatched[] = {
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz},
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060},
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060},
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000},
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000},
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy_v2},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease_v2},
    {CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR},
};

/// One user less: whether the context ends by that is not known, so that it is not waited for.
bool releases_context(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  return domain == CUPTI_CB_DOMAIN_DRIVER_API &&
         (id == CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease ||
          id == CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease_v2);
}

/// What ends is about to take records of its device along.
bool ends_context(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API)
    return id == CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020;
  return id == CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy ||
         id == CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy_v2 ||
         id == CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset ||
         id == CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2;
}

/// The context that cuCtxDestroy() is called for; null: the thread's.
CUcontext ended_context(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* parameters) {
  const bool names = domain == CUPTI_CB_DOMAIN_DRIVER_API && parameters != nullptr;
  if (names && id == CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy_v2)
    return static_cast<const cuCtxDestroy_v2_params*>(parameters)->ctx;
  if (names && id == CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy)
    return static_cast<const cuCtxDestroy_params*>(parameters)->ctx;
  return nullptr;
}

/// Of another device, maybe: then there is nobody to wait for.
bool names_device(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  return domain == CUPTI_CB_DOMAIN_DRIVER_API &&
         (id == CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset ||
          id == CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2);
}

/// A program that calls the runtime's has the driver called too, or not, by version.
bool is_profiler_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, bool begins) {
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API)
    return id == (begins ? CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000
                         : CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000);
  return id == (begins ? CUPTI_DRIVER_TRACE_CBID_cuProfilerStart
                       : CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);
}

/// Calls that programs make without end and that take no time. Kineto leaves them out, too.
constexpr Watched kNoise[] = {
    {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuKernelGetAttribute},
    {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxGetState},
};
constexpr useconds_t kBetweenTries = 50;
/// Up to this version, of CUDA 13.0, CUPTI may hang where kernels are switched off while others are
/// launched.
constexpr std::uint32_t kHangsAtDisable = 130000;

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
  if (pid_ != 0 || inside::attempt([this] { begin(); })) return;
  abandon();
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
    for (const Wanted& want : wanted()) cupti_.disable(want.kind);
    promise_zeros(false);
    cupti_.unsubscribe(subscriber_);
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
  if (cupti_.set_attribute == nullptr) return;
  std::uint8_t zeroed = promised ? 1 : 0;
  std::size_t bytes = sizeof zeroed;
  cupti_.set_attribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &bytes, &zeroed);
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
    cupti_.enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE,
                           CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
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
  const auto attempt = [&](const Cupti& cupti, std::string& said) {
    if (!subscribes) return Trial::taken;
    const Trial trial = subscribe(cupti, loss);
    said = loss.why;
    return trial;
  };
  const bool opened = open_cupti(cupti_candidates(cupti_places()), cupti_, why, attempt);
  if (opened) {
    write_fact("cuda.cupti", cupti_.path);
    write_fact("cuda.cupti.version", std::to_string(cupti_.version));
  }
  if (opened && loss.what.empty()) return true;
  if (loss.what.empty())
    loss = {what, why,
            "install CUPTI (the CUDA toolkit, or pip install nvidia-cuda-cupti), or name its file "
            "in FATHOM_CUPTI"};
  lose(loss);
  return opened;
}

/// A library that was refused for its version leaves others to be tried; one that another profiler
/// holds does not. The loss is that of the first.
Trial Tracer::subscribe(const Cupti& cupti, Loss& loss) {
  CUptiResult result = cupti.subscribe(&subscriber_, on_call, this);
  if (result == CUPTI_SUCCESS) {
    result = cupti.register_callbacks(on_request, on_complete);
    if (result == CUPTI_SUCCESS) {
      loss = {};
      return Trial::taken;
    }
    cupti.unsubscribe(subscriber_);
  }
  subscriber_ = nullptr;
  if (loss.what.empty()) loss = loss_of("GPU activity", result, cupti.text(result));
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

/// Devices, contexts and streams, of which there is one record each, when they are made: from the
/// beginning, whatever the limits are. Where CUPTI can, it reports those that are there already.
void Tracer::enable_things() {
  const auto enable = [this](CUpti_ActivityKind kind) {
    if (cupti_.enable_and_dump == nullptr) return cupti_.enable(kind);
    const CUptiResult dumped = cupti_.enable_and_dump(kind);
    return dumped == CUPTI_SUCCESS ? dumped : cupti_.enable(kind);
  };
  check("properties of devices", enable(CUPTI_ACTIVITY_KIND_DEVICE));
  check("contexts", enable(CUPTI_ACTIVITY_KIND_CONTEXT));
  check("streams", enable(CUPTI_ACTIVITY_KIND_STREAM));
  check("names that the program gives to streams", cupti_.enable(CUPTI_ACTIVITY_KIND_NAME));
}

/// After the kinds, which would switch them on again. Refused, they are recorded: nothing is lost,
/// and a fact reports it.
void Tracer::leave_out_noise() {
  CUptiResult refused = CUPTI_SUCCESS;
  for (const Watched& call : kNoise) {
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
    inside::attempt([&] { lose(loss_of(wanted()[i].what, answers[i], cupti_.text(answers[i]))); });
  }
  FallbackLevel level = level_of(answers);
  if (level == FallbackLevel::events && !inside::attempt([&] { level = fall_back(); }))
    level = FallbackLevel::telemetry;
  inside::attempt([&] { write_fact("cuda.fallback_level", to_string(level)); });
  inside::attempt([&] { write_fact("cuda.graphs", options_.graph_nodes ? "nodes" : "wholes"); });
}

/// Kernels are refused: events around their launches show when they ran.
FallbackLevel Tracer::fall_back() {
  const EventFunctions functions = event_functions();
  if (!functions.complete()) return FallbackLevel::telemetry;
  timer_ = new EventTimer(functions);
  for (const CUpti_CallbackId id :
       {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz}) {
    if (cupti_.enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, id) != CUPTI_SUCCESS)
      return FallbackLevel::telemetry;
  }
  return FallbackLevel::events;
}

void Tracer::time_launch(EventTimer& timer, CUpti_CallbackId id, const CUpti_CallbackData& data) {
  if (data.callbackSite == CUPTI_API_ENTER) {
    timer.begin(data.contextUid, stream_of(id, data.functionParams), data.correlationId,
                data.symbolName);
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
  return kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || cupti_.version > kHangsAtDisable;
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

void Tracer::watch_calls() {
  for (const Watched& watched : kWatched) {
    const CUptiResult result = cupti_.enable_callback(1, subscriber_, watched.domain, watched.id);
    check("calls that CUPTI shows while they happen", result);
  }
}

void CUPTIAPI Tracer::on_request(std::uint8_t** buffer, std::size_t* size,
                                 std::size_t* most) noexcept {
  *buffer = get().buffers_->request();
  *size = Buffers::kBytes;
  *most = 0;
}

void CUPTIAPI Tracer::on_complete(CUcontext /*context*/, std::uint32_t /*stream*/,
                                  std::uint8_t* buffer, std::size_t /*size*/,
                                  std::size_t valid) noexcept {
  Tracer& tracer = get();
  if (buffer == nullptr || tracer.buffers_->complete(buffer, valid)) return;
  // At the end CUPTI is not called any more: the driver may be gone.
  const bool counts = tracer.recording_ && tracer.tracing_;
  tracer.buffers_->discard(buffer, counts ? tracer.records_in(buffer, valid) : 0);
}

std::uint64_t Tracer::records_in(std::uint8_t* bytes, std::size_t valid) const {
  std::uint64_t count = 0;
  CUpti_Activity* record = nullptr;
  while (cupti_.next_record(bytes, valid, &record) == CUPTI_SUCCESS) ++count;
  return count;
}

void CUPTIAPI Tracer::on_call(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                              const void* data) noexcept {
  if (data == nullptr) return;
  auto& tracer = *static_cast<Tracer*>(user);
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    tracer.context_made(*static_cast<const CUpti_ResourceData*>(data));
    return;
  }
  const inside::Inside guard;
  if (domain == CUPTI_CB_DOMAIN_STATE) {
    tracer.state_changed(id, *static_cast<const CUpti_StateData*>(data));
    return;
  }
  inside::attempt([&] { tracer.call(domain, id, *static_cast<const CUpti_CallbackData*>(data)); });
}

void Tracer::context_made(const CUpti_ResourceData& data) {
  std::uint32_t device = 0;
  if (!recording_ || getpid() != pid_ || metrics_ == nullptr) return;
  if (cupti_.device_of(data.context, &device) == CUPTI_SUCCESS) metrics_->context_on(device);
}

/// After a fatal error CUPTI has ended itself.
void Tracer::state_changed(CUpti_CallbackId id, const CUpti_StateData& data) {
  if (id != CUPTI_CBID_STATE_FATAL_ERROR || getpid() != pid_ || !recording_.exchange(false)) return;
  check("all GPU activity from a fatal error of CUPTI on", data.notification.result);
  stopped_ = true;
}

/// Has CUPTI hand over what it has of the device while the device is there. Where all of it is done
/// that need not be forced, which would cut what other contexts run, for good.
void Tracer::context_ends(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const CUpti_CallbackData& data) {
  const bool done = releases_context(domain, id) ||
                    (!names_device(domain, id) &&
                     wait_for_context(contexts_, ended_context(domain, id, data.functionParams)));
  check("records before the end of a context",
        cupti_.flush_all(done ? 0 : static_cast<std::uint32_t>(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED)));
}

void Tracer::call(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                  const CUpti_CallbackData& data) {
  if (!recording_ || !tracing_ || leaving_ || getpid() != pid_) return;
  const bool enters = data.callbackSite == CUPTI_API_ENTER;
  if (is_profiler_call(domain, id, true)) {
    if (!enters) range(true);
    return;
  }
  if (is_profiler_call(domain, id, false)) {
    if (enters) range(false);
    return;
  }
  if (ends_context(domain, id) || releases_context(domain, id)) {
    if (enters) context_ends(domain, id, data);
    return;
  }
  EventTimer* const timer = timer_;
  if (timer != nullptr && domain == CUPTI_CB_DOMAIN_DRIVER_API && launches_kernel(id))
    time_launch(*timer, id, data);
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API) {
    if (!enters || data.functionParams == nullptr) return;
    // The one for streams of threads has the same parameters.
    const auto* const launch =
        static_cast<const cudaLaunchKernelExC_v11060_params*>(data.functionParams);
    if (enabled_ && is_programmatic(launch->config)) notes_.programmatic(data.correlationId);
    return;
  }
  if (!enters && enabled_ && launches_kernel(id)) ++heard_;
  if (enters && data.functionParams != nullptr &&
      (id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx ||
       id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz)) {
    const auto* const launch = static_cast<const cuLaunchKernelEx_params*>(data.functionParams);
    if (enabled_ && launch->config != nullptr &&
        is_programmatic(launch->config->attrs, launch->config->numAttrs))
      notes_.programmatic(data.correlationId);
  }
}

/// cudaProfilerStart() and Stop(): a range of the program's, and where so asked, all there is.
void Tracer::range(bool begins) {
  const std::int64_t now = wire::monotonic_ns();
  if (options_.range_only) {
    range_open_ = begins;
    obey_limits();
  }
  const std::lock_guard lock(mutex_);
  if (begins && range_begin_ < 0) {
    range_begin_ = now;
  } else if (!begins && range_begin_ >= 0) {
    ranges_.emplace_back(range_begin_, now);
    if (options_.range_only && !may_disable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL))
      kept_ranges_.emplace_back(range_begin_, now);
    range_begin_ = -1;
  }
}

/// Where kernels cannot be switched off, those outside of the program's ranges are dropped.
bool Tracer::in_ranges(std::int64_t time) {
  if (!options_.range_only || may_disable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) return true;
  const std::lock_guard lock(mutex_);
  if (range_begin_ >= 0 && time >= range_begin_) return true;
  return std::ranges::any_of(kept_ranges_, [time](const auto& range) {
    return time >= range.first && time < range.second;
  });
}

}  // namespace fathom::cuda
