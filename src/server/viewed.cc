// Reads the first input in the background, further ones when somebody asks.
#include "server/viewed.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/out_of_memory.h"
#include "base/parallel.h"
#include "base/shell_word.h"
#include "base/stop.h"
#include "base/text_fields.h"
#include "base/thread_pool.h"
#include "server/diagnosis_ahead.h"

namespace fathom::server {
namespace {

/// A question about a reading that goes on waits no longer than this for its end.
constexpr std::chrono::milliseconds kSoon{500};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Of where and how long slices are, in the order of the file, which no number of threads changes.
std::string digest_of(const Trace& trace) {
  std::uint64_t low = hash_mix(trace.slices.size(), static_cast<std::uint64_t>(trace.origin_ns));
  std::uint64_t high = hash_mix(low, trace.samples.size());
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    low = hash_mix(low, static_cast<std::uint64_t>(to_ns(trace.slices.start[row])));
    high = hash_mix(high, static_cast<std::uint64_t>(to_ns(trace.slices.duration[row])));
  }
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  for (const std::uint64_t half : {low, high}) {
    for (int shift = 60; shift >= 0; shift -= 4) text += kHex[(half >> shift) & 15U];
  }
  return text;
}

constexpr int kLittle = 5;
constexpr int kMuch = 10;

/// For so long a browser lays out and draws what it was just given, for which it takes every
/// processor: what nobody has asked for waits.
constexpr std::chrono::milliseconds kDrawing{300};

/// Unless the end comes first.
void wait_while_drawing(const std::stop_token& end) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  wake.wait_for(lock, end, kDrawing, [] { return false; });
}

/// What this thread still has to do is not what somebody waits for: others of the machine, and the
/// browser above all, come first.
void yield_to_others(int how_much) {
  // The number of a thread, where that of a process is asked for, is that thread.
  static_cast<void>(setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), how_much));
}

Interval range_of(const Trace& trace) {
  Interval range{Time::max(), Time::min()};
  const auto add = [&range](Time begin, Time end) {
    range.begin = std::min(range.begin, begin);
    range.end = std::max(range.end, end);
  };
  if (trace.span.begin < trace.span.end) add(trace.span.begin, trace.span.end);
  for (std::size_t row = 0; row < trace.slices.size(); ++row)
    add(trace.slices.start[row], trace.slices.end(SliceId(row)));
  for (const Time time : trace.samples.time.span()) add(time, time);
  for (const Time time : trace.memory.time.span()) add(time, time);
  return range.begin <= range.end ? range : Interval{};
}

}  // namespace

std::string view_command(const TypedOptions& scope, const std::vector<std::string>& inputs) {
  std::string command = "fathom view";
  for (const auto& [name, value] : scope) command += " --" + name + " " + shell_word(value);
  for (const std::string& input : inputs) command += " " + shell_word(input);
  return command;
}

OpenInput::OpenInput(SharedSession session)
    : session_(std::move(session)), what_if_(*session_), screen_(session_->kept()) {
  identify();
}

void OpenInput::identify() {
  constexpr std::string_view kQuestion = "identity";
  if (const std::optional<Response> kept = screen_.find(kQuestion)) {
    std::string_view text = kept->body;
    digest_ = take_word(text);
    const std::optional<std::int64_t> begin = take_integer(text);
    const std::optional<std::int64_t> end = take_integer(text);
    if (begin && end) {
      range_ = {time_ns(*begin), time_ns(*end)};
      return;
    }
  }
  const Trace& trace = session_->trace();
  both_in_parallel([&] { digest_ = digest_of(trace); }, [&] { range_ = range_of(trace); });
  screen_.keep(kQuestion, json_response(digest_ + " " + std::to_string(to_ns(range_.begin)) + " " +
                                        std::to_string(to_ns(range_.end))));
}

const TimelineModel& OpenInput::timeline() {
  timeline_once_.call([this] { timeline_.emplace(session_->trace()); });
  return *timeline_;
}

const std::vector<CounterSeries>& OpenInput::device_counters() {
  const std::vector<std::int32_t>& devices = timeline().devices;
  device_counters_once_.call([&] {
    const Context all = context();
    device_counters_ =
        fathom::device_counters(session_->trace(), all.links(), all.timelines(), devices);
  });
  return device_counters_;
}

const SliceLinks& OpenInput::links() {
  links_once_.call([this] { links_.emplace(context()); });
  return *links_;
}

const Replay& OpenInput::replay() {
  replay_once_.call([this] { replay_.emplace(Replay::build(context())); });
  return *replay_;
}

void OpenInput::analyse() {
  static_cast<void>(session_->analyses().steps());
  static_cast<void>(session_->analyses().timelines());
  analysed_.store(true);
}

Viewed::Viewed(ViewRequest request)
    : request_(std::move(request)),
      identities_(request_.inputs.files.size()),
      reader_(begin_to_read()) {}

Viewed::Viewed(ViewRequest request, SharedSession first)
    : request_(std::move(request)), identities_(request_.inputs.files.size()) {
  first_ = std::make_shared<OpenInput>(std::move(first));
  prepare(*first_);
  first_->screen().write();
  progress_.state = State::ready;
}

Viewed::~Viewed() = default;

Viewed::Progress Viewed::progress() const {
  const std::scoped_lock lock(mutex_);
  Progress progress = progress_;
  if (progress.state == State::reading) {
    progress.seconds = seconds_since(begun_);
    progress.share = read_.share();
  }
  return progress;
}

Viewed::Progress Viewed::progress_soon() const {
  {
    std::unique_lock lock(mutex_);
    // Who asks again and again takes the processor from who reads.
    read_changed_.wait_for(lock, kSoon, [this] { return progress_.state != State::reading; });
  }
  return progress();
}

bool Viewed::diagnoses_ahead() const {
  return request_.diagnose_ahead && request_.inputs.files.size() == 1;
}

void Viewed::wait() {
  if (reader_.joinable()) reader_.join();
}

bool Viewed::replaced(std::size_t input) const {
  FileIdentity then;
  {
    const std::scoped_lock lock(mutex_);
    if (input >= identities_.size()) return false;
    then = identities_[input];
  }
  return then.known() && FileIdentity::of(request_.inputs.files[input].path) != then;
}

Result<std::shared_ptr<OpenInput>> Viewed::read(std::size_t input, Keeping keeping) {
  const Inputs::File& file = request_.inputs.files[input];
  const FileIdentity identity = FileIdentity::of(file.path);
  const ThreadPool pool(request_.threads);
  const auto open = [&]() -> Result<std::shared_ptr<OpenInput>> {
    Result<std::unique_ptr<Session>> session =
        Session::open(file, ReadOptions{.threads = request_.threads}, keeping);
    if (!session) return std::move(session).error();
    return std::make_shared<OpenInput>(*std::move(session));
  };
  // The first is read by a thread whose exceptions nobody catches; who asks for another one does.
  auto opened = input == 0 ? or_out_of_memory("reading " + file.name(), open) : open();
  if (opened) {
    const std::scoped_lock lock(mutex_);
    identities_[input] = identity;
  }
  return opened;
}

std::jthread Viewed::begin_to_read() {
  try {
    return std::jthread([this] { read_first(); });
  } catch (const std::system_error&) {  // no thread can be started
    read_first();
    return {};
  }
}

/// Nobody else catches what this thread throws.
void Viewed::read_first() {
  try {
    read_or_say_why();
  } catch (const std::bad_alloc&) {  // of the reason
    const std::scoped_lock lock(mutex_);
    progress_.code = ErrorCode::io;
    progress_.message = "out of memory";  // short enough to need none
    progress_.state = State::failed;
    read_changed_.notify_all();
  }
}

void Viewed::read_or_say_why() {
  Result<std::shared_ptr<OpenInput>> opened = or_out_of_memory("reading", [this] {
    const WatchedReading watched(read_);
    // The page waits for the first screen: what is kept of it and of the trace is written later.
    return read(0, Keeping::when_told);
  });
  {
    const std::scoped_lock lock(mutex_);
    progress_.seconds = seconds_since(begun_);
    read_changed_.notify_all();
    if (!opened) {
      progress_.code = opened.error().code;
      progress_.message = std::move(opened).error().message;
      progress_.state = State::failed;
      return;
    }
    first_ = *opened;
    progress_.state = State::ready;
  }
  // What is asked first was kept, too.
  const bool kept = (**opened).session().is_of_cache();
  if (kept) yield_to_others(kLittle);
  if (diagnoses_ahead()) {
    // What is lacking shows when it is asked for.
    static_cast<void>(or_out_of_memory("diagnosing", [&]() -> Result<void> {
      const ThreadPool pool(request_.threads);
      diagnose_ahead(**opened, request_.scope);
      return {};
    }));
  }
  // The page asks for all of it at once, unless it has it or begins with the diagnosis.
  if (kept || diagnoses_ahead())
    analyse(**opened);
  else
    prepare(**opened);
  finish_beside(*opened);
}

void Viewed::finish_beside(const std::shared_ptr<OpenInput>& input) {
  const auto finish = [this, input](const std::stop_token& end) {
    wait_while_drawing(end);
    if (!end.stop_requested()) prepare(*input);
    yield_to_others(kMuch);
    input->session().keep_read();
    input->screen().write();
  };
  try {
    keeper_ = std::jthread(finish);
  } catch (const std::system_error&) {
    finish(keeper_.get_stop_token());  // no thread to be had
  }
}

/// What is lacking shows when it is asked for.
void Viewed::analyse(OpenInput& input) const {
  try {
    const ThreadPool pool(request_.threads);
    input.analyse();
  } catch (const std::bad_alloc&) {
    return;
  }
}

/// Likewise.
void Viewed::prepare(OpenInput& input) const {
  try {
    const ThreadPool pool(request_.threads);
    // The accounting takes longest; with it a timeline is exact.
    both_in_parallel([&input] { static_cast<void>(input.session().analyses().accounting()); },
                     [&input] {
                       static_cast<void>(input.timeline());
                       input.analyse();
                     });
  } catch (const std::bad_alloc&) {
    return;
  }
}

Result<std::shared_ptr<OpenInput>> Viewed::first() const {
  const std::scoped_lock lock(mutex_);
  if (progress_.state == State::failed) return Error{progress_.code, progress_.message};
  if (first_ == nullptr) return Error{ErrorCode::unsupported, "the input is still being read"};
  return first_;
}

Result<std::shared_ptr<OpenInput>> Viewed::other(std::size_t input) {
  if (other_ != nullptr && other_input_ == input) return other_;
  other_.reset();
  Result<std::shared_ptr<OpenInput>> opened = read(input, Keeping::at_once);
  if (!opened) return opened;
  other_ = *std::move(opened);
  other_input_ = input;
  other_prepared_ = false;
  return other_;
}

Result<std::shared_ptr<OpenInput>> Viewed::open(std::size_t input) {
  if (input >= request_.inputs.files.size()) {
    return Error{ErrorCode::not_found,
                 "there are " + std::to_string(request_.inputs.files.size()) + " inputs"};
  }
  Result<std::shared_ptr<OpenInput>> opened = first();
  if (!opened || input == 0) return opened;
  const std::scoped_lock lock(reading_);
  // Who asks next needs it, too: it is read to its end.
  const StopScope unstopped(nullptr);
  opened = other(input);
  if (opened && !other_prepared_) {
    prepare(**opened);
    (**opened).screen().write();
    other_prepared_ = true;
  }
  return opened;
}

Result<SharedSession> Viewed::session(const Inputs::File& file) {
  const std::vector<Inputs::File>& files = request_.inputs.files;
  const auto same = std::ranges::find_if(files, [&file](const Inputs::File& other) {
    return other.path == file.path && other.argument == file.argument;
  });
  if (same == files.end()) return Error{ErrorCode::not_found, file.name() + ": no input"};
  const auto input = static_cast<std::size_t>(same - files.begin());
  Result<std::shared_ptr<OpenInput>> opened = first();
  if (opened && input > 0) {
    const std::scoped_lock lock(reading_);
    const StopScope unstopped(nullptr);
    opened = other(input);
  }
  if (!opened) return std::move(opened).error();
  return (**opened).shared();
}

}  // namespace fathom::server
