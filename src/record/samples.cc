// Samples the threads of a process tree into a capture file.
#include "record/samples.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "capture/system/host.h"
#include "sample/frame_names.h"

namespace fathom::record {
namespace {

/// Of a processor: looking at few threads costs no more at up to 250 looks a second, where steps
/// become longer instead; at more, as much more. The second is for 200 threads.
constexpr double kMostCost = 0.01;
constexpr double kMostCostOfMany = 0.03;
constexpr double kUsualHz = 250;
/// The kernel copies a thread's stack in some 16 µs: of a program with Python 0.4 % at this rate.
constexpr double kMostBelowPythonHz = 250;

/// Writes samples as records.
class Records final : public sample::SampleSink {
 public:
  explicit Records(wire::Writer& writer) : writer_(writer) {}

  void forget_code() override { names_.forget_code(); }

  void take(const sample::ThreadSample& sample) override {
    frames_.clear();
    for (auto at = sample.mixed.rbegin(); at != sample.mixed.rend(); ++at) add(names_.id(*at));
    if (sample.mixed.empty() && sample.layout != nullptr) {
      for (auto at = sample.frames.rbegin(); at != sample.frames.rend(); ++at)
        add(names_.id(*at, *sample.layout));
    }
    if (sample.python && sample.state != sample::StackState::whole) {
      const bool nothing = sample.state == sample::StackState::unread;
      frames_.push_back({.number = UINT32_MAX - (nothing ? 1U : 0U),
                         .function = nothing ? sample::kNotRead : sample::kInnerNotRead,
                         .file = {},
                         .line = -1});
    }
    wire::StackRecord record{.time = sample.time,
                             .pid = sample.process,
                             .tid = sample.thread,
                             .thread = sample.name,
                             .frame = 0,
                             .on_cpu = sample.spent.on_cpu,
                             .queued = sample.spent.queued,
                             .blocked = sample.spent.blocked,
                             .cause = {},
                             .object = {}};
    if (sample.wait != nullptr && record.blocked > 0) {
      record.cause = sample::cause_of(*sample.wait);
      if (!sample.wait->objects.empty()) {
        record.object = sample.wait->objects.front();
      } else {
        record.object = sample.wait->call;
      }
    }
    writer_.stack(record, frames_);
  }

 private:
  void add(std::uint32_t id) {
    const sample::FrameLook& look = names_.look(id);
    frames_.push_back({.number = id,
                       .function = look.function,
                       .file = look.file,
                       .line = look.line.value_or(-1)});
  }

  wire::Writer& writer_;
  sample::FrameNames names_;
  std::vector<wire::StackFrame> frames_;
};

void add_facts(const sample::SamplerState& state, double hz, wire::Writer& writer) {
  const auto fact = [&writer](std::string_view key, std::int64_t value) {
    writer.fact(0, key, std::to_string(value));
  };
  fact("samples.rate_hz", static_cast<std::int64_t>(hz));
  fact("samples.rounds", state.rounds);
  fact("samples.late", state.late);
  if (state.processors > 0) {
    // What affinity allows, or the control group where that is less.
    const double limit = capture::read_cgroup().cpus.value_or(state.processors);
    writer.fact(
        0, "samples.processors",
        limit < state.processors ? std::to_string(limit) : std::to_string(state.processors));
  }
  fact("samples.cost_ns", state.cost);
  fact("samples.stacks_whole", state.counts.whole);
  fact("samples.stacks_shortened", state.counts.shortened);
  fact("samples.stacks_unread", state.counts.unread);
  if (state.with_torch > 0) fact("samples.left_to_torch", state.with_torch);
  if (state.native.refused > 0) fact("samples.native_refused", state.native.refused);
  if (state.native.skipped > 0) fact("samples.native_skipped", state.native.skipped);
  if (state.native.switched > 0) fact("samples.switches_recorded", state.native.switched);
  if (state.native.samples == 0) return;
  fact("samples.native_stacks", state.native.samples);
  if (state.native.joined > 0) fact("samples.native_joined", state.native.joined);
  if (state.native.unmatched > 0) fact("samples.native_unmatched", state.native.unmatched);
  fact("samples.native_cut", state.native.cut);
  if (state.native.by_code > 0) fact("samples.native_by_code", state.native.by_code);
  fact("samples.native_lost", state.native.lost);
}

constexpr std::string_view kWhat = "what threads do, from outside (samples)";
constexpr std::string_view kLost =
    "time on a processor by function and line (fathom hot); what "
    "threads wait for (fathom threads)";

}  // namespace

Samples::Samples(const capture::Sampling& sampling, pid_t root, wire::Writer& writer)
    : sampling_(sampling) {
  if (sampling.hz <= 0) return;
  try {
    thread_ = std::thread([this, root, &writer] { run(root, writer); });
  } catch (const std::system_error&) {
    missing_.push_back({.what = std::string(kWhat),
                        .why = "no thread could be started for it",
                        .remedy = "allow more processes (ulimit -u, pids.max)",
                        .lost = std::string(kLost)});
  }
}

Samples::~Samples() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

Result<void> record_samples(const SamplesRequest& request, wire::Writer& writer,
                            std::vector<capture::NotRecorded>& missing) {
  const double hz = request.sampling.hz;
  Records records(writer);
  sample::Sampler::Options options;
  options.period = static_cast<std::int64_t>(1e9 / hz);
  options.fresh = request.fresh;
  options.without_torch = !request.sampling.asked;
  using Native = sample::Sampler::Options::Native;
  options.native = hz <= kMostBelowPythonHz ? Native::below_python : Native::without_python;
  const double more = std::max(1.0, hz / kUsualHz);
  options.most_cost = kMostCost * more;
  options.most_cost_of_many = kMostCostOfMany * more;
  auto sampler = sample::Sampler::open(request.root, options, records);
  if (!sampler) return std::move(sampler).error();
  (*sampler)->run(request.duration, request.stop);
  (*sampler)->finish();
  const sample::SamplerState state = (*sampler)->state();
  add_facts(state, hz, writer);
  // By default they are there where they may be had; the fact says where not.
  if (state.native.refused > 0 && request.sampling.asked) {
    missing.push_back(
        {.what = "native functions in samples",
         .why = state.native.refusal,
         .remedy = "fathom doctor shows what may be read",
         .lost = "native functions of programs and of what Python calls (fathom hot)"});
  }
  if (state.native.left_out > 0) {
    missing.push_back({.what = "native functions below Python's in samples",
                       .why = "at more than 250 looks a second they would cost the program more "
                              "than 0.5 % of its time",
                       .remedy = "--with samples=250, or fewer",
                       .lost = "functions of C extensions and libraries that Python calls: their "
                               "time is that of the line of Python (fathom hot)"});
  }
  for (const std::string& process : state.unread) {
    missing.push_back({.what = "functions of Python in samples",
                       .why = process,
                       .remedy = "fathom doctor shows what may be read",
                       .lost = "time on a processor by function and line (fathom hot)"});
  }
  return {};
}

void Samples::run(pid_t root, wire::Writer& writer) {
  try {
    const Result<void> recorded =
        record_samples({.root = root,
                        .sampling = sampling_,
                        .fresh = true,
                        .duration = std::numeric_limits<std::int64_t>::max(),
                        .stop = [this] { return stop_.load(); }},
                       writer, missing_);
    // One that has ended by now had nothing to show.
    if (recorded || recorded.error().code == ErrorCode::not_found) return;
    missing_.push_back({.what = std::string(kWhat),
                        .why = recorded.error().message,
                        .remedy = {},
                        .lost = std::string(kLost)});
  } catch (const std::bad_alloc&) {
    missing_.push_back({.what = std::string(kWhat),
                        .why = "memory did not suffice",
                        .remedy = "--with samples=0 records without",
                        .lost = std::string(kLost)});
  }
}

void Samples::stop_into(capture::Manifest& manifest) {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
  for (capture::NotRecorded& missing : missing_)
    manifest.not_recorded.push_back(std::move(missing));
  missing_.clear();
}

}  // namespace fathom::record
