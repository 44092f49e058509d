// Health of the recorder itself: known faults of the CUPTI that recorded, by their signs.
#include "analysis/health/recorder_faults.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include <signal.h>
#include <sys/wait.h>

#include "analysis/health/checks.h"

namespace fathom {
namespace {

constexpr std::string_view kSection = "recording";

constexpr RecorderFault kFaults[] = {
    {0, 130000, FaultSign::device_waits, "cupti_device_waits", "up to 13.0",
     "waits for a whole device have no record of the wait",
     "CUPTI up to CUDA 13.0 records none: their calls show how long the host waited",
     "causes of waits", "CUPTI of CUDA 13.0 update 1 and later"},
    {0, 130000, FaultSign::crashes, "cupti_crashes", "up to 13.0", "processes ended as by a crash",
     "CUPTI up to CUDA 13.0 may crash where it hands over buffers while the program fills others: "
     "it need not have been the program",
     "what came last",
     "run it without a profiler; record with CUPTI of CUDA 13.0 update 1 or later"},
    {0, 130100, FaultSign::graphs_in_a_row, "cupti_graph_links", "before 13.1 update 1",
     "launches of graphs lie behind the first profile of the process",
     "there CUPTI before CUDA 13.1 update 1 may link a graph to another of its launches",
     "attribution inside graphs, launch delay of graphs", "CUPTI of CUDA 13.1 update 1 and later"},
    {22, 22, FaultSign::other_launches, "cupti_kernels_lost", "12.4 update 1",
     "launching calls have no device activity",
     "CUPTI of CUDA 12.4 update 1 is known to lose kernels", "device times, utilisation, idle time",
     "another CUPTI than that of CUDA 12.4"},
    {24, 130099, FaultSign::first_launches, "cupti_first_kernels_lost", "12.6 update 2 to 13.0",
     "launching calls at the beginning of a profile have no device activity",
     "CUPTI of CUDA 12.6 update 2 to 13.0 loses the first k kernels of a process's k-th profile",
     "the first recorded step: its device time, idle time and launch delay",
     "leave out the first step (--steps), or use CUPTI of CUDA 13.1 and later"},
    {130000, 130099, FaultSign::no_activity, "cupti_no_kernels", "13.0",
     "launching calls, and no device activity at all",
     "with CUPTI of CUDA 13.0 profiles were seen without kernels where the first one of the "
     "process was of the CPU alone",
     "device times, utilisation, idle time",
     "have the process's first profile record the GPU too, or use CUPTI of CUDA 13.1 and later"},
};

/// Of the CUPTI that made the recording, ours or torch.profiler's; nothing where it is unknown.
std::optional<std::uint32_t> version_of(const Trace& trace) {
  for (const Fact& fact : trace.facts) {
    if (fact.key != "cupti_version" && !fact.key.ends_with("cuda.cupti.version")) continue;
    std::string_view text = fact.value;
    if (text.starts_with('"')) text.remove_prefix(1);
    std::uint32_t version = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), version).ec == std::errc())
      return version;
  }
  return {};
}

/// What a recording shows of each sign.
struct Signs {
  std::uint64_t launches = 0;
  std::uint64_t first_launches = 0;
  std::uint64_t other_launches = 0;
  std::uint64_t device_waits = 0;
  std::uint64_t graphs_in_a_row = 0;
  std::uint64_t crashes = 0;
  SliceId first_launch;
  SliceId other_launch;
  SliceId graph;
};

/// A call that puts work onto a device.
struct LaunchingCall {
  Time start;
  SliceId slice;
  CallKind kind = CallKind::other;
  bool answered = false;

  /// One of no bytes starts nothing.
  [[nodiscard]] bool fills() const {
    return kind == CallKind::fill || kind == CallKind::fill_blocking;
  }
  [[nodiscard]] bool starts_kernels() const {
    return kind == CallKind::launch || kind == CallKind::graph_launch;
  }
};

std::vector<LaunchingCall> launching_calls(const HealthInput& input) {
  const Trace& trace = input.trace();
  const Links& links = input.context.links();
  const std::vector<bool> answered = answered_calls(trace, links);
  std::vector<LaunchingCall> calls;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceId slice(row);
    const SliceKind kind = trace.kind(slice);
    if (!is_runtime_call(kind)) continue;
    const CallKind call = links.call_kind(trace, slice);
    if (!starts_activity(call)) continue;
    calls.push_back({trace.slices.start[row], slice, call, answered[row]});
  }
  std::ranges::stable_sort(calls, {}, &LaunchingCall::start);
  return calls;
}

/// Where the profiles begin that the recording is made of: pieces of one that was long have one
/// each.
std::vector<Time> profiles(const Trace& trace) {
  std::vector<Time> begins;
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    if (trace.kind(SliceId(row)) == SliceKind::trace_span)
      begins.push_back(trace.slices.start[row]);
  }
  std::ranges::sort(begins);
  return begins;
}

/// Waits were recorded, but none for a whole device.
bool waits_lack_devices(const HealthInput& input) {
  const std::vector<SliceId>& waits = input.tally.waits;
  return !waits.empty() && std::ranges::none_of(waits, [&input](SliceId wait) {
    return input.trace().name(wait).starts_with("Context");
  });
}

/// Processes whose end looks as if a library in them had gone wrong.
std::uint64_t crashes(const Trace& trace) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(trace.process_runs, [](const ProcessRun& run) {
        const int number = run.status >= 0 && WIFSIGNALED(run.status) ? WTERMSIG(run.status) : 0;
        return number == SIGSEGV || number == SIGABRT || number == SIGBUS;
      }));
}

Signs signs_of(const HealthInput& input) {
  Signs signs;
  signs.crashes = crashes(input.trace());
  const std::vector<LaunchingCall> calls = launching_calls(input);
  const std::vector<Time> begins = profiles(input.trace());
  signs.launches = calls.size();
  signs.device_waits = waits_lack_devices(input) ? input.tally.device_syncs.size() : 0;
  const auto note = [](std::uint64_t& count, SliceId& first, SliceId slice) {
    if (count++ == 0) first = slice;
  };
  auto next = begins.begin();
  std::size_t profile = 0;
  std::vector<SliceId> unanswered;  // since the profile began, while none was answered
  bool beginning = true;
  for (const LaunchingCall& call : calls) {
    for (; next != begins.end() && *next <= call.start; ++next) {
      ++profile;
      for (const SliceId slice : std::exchange(unanswered, {}))
        note(signs.other_launches, signs.other_launch, slice);
      beginning = true;
    }
    if (call.kind == CallKind::graph_launch && profile > 1)
      note(signs.graphs_in_a_row, signs.graph, call.slice);
    // It is kernels that are lost: a copy before them has its own.
    if (call.answered && !call.starts_kernels()) continue;
    if (call.answered) {
      for (const SliceId slice : std::exchange(unanswered, {}))
        note(signs.first_launches, signs.first_launch, slice);
      beginning = false;
    } else if (!call.fills() && beginning) {
      unanswered.push_back(call.slice);
    } else if (!call.fills()) {
      note(signs.other_launches, signs.other_launch, call.slice);
    }
  }
  for (const SliceId slice : unanswered) note(signs.other_launches, signs.other_launch, slice);
  return signs;
}

void add_fault(const HealthInput& input, const RecorderFault& fault, const Signs& signs,
               Health& health) {
  const auto add = [&](std::uint64_t count, std::uint64_t of, SliceId first, Limits limits) {
    if (count == 0) return;
    HealthWords words{std::string(fault.consequence), std::string(fault.affects),
                      std::string(fault.advice)};
    add_share(health, kSection, fault.id, fault.what, count, of, limits, std::move(words)).example =
        example_of(input.trace(), first);
  };
  switch (fault.sign) {
    case FaultSign::no_activity:
      return add(input.tally.activities() == 0 ? signs.launches : 0, signs.launches,
                 signs.other_launch, {});
    case FaultSign::crashes:
      return add(signs.crashes, input.trace().process_runs.size(), {}, {kNever, kNever});
    case FaultSign::first_launches:
      return add(signs.first_launches, signs.launches, signs.first_launch, {});
    case FaultSign::other_launches:
      return add(signs.other_launches, signs.launches, signs.other_launch, {});
    case FaultSign::device_waits: {
      const std::vector<SliceId>& waits = input.tally.device_syncs;
      const SliceId first = waits.empty() ? SliceId() : waits.front();
      return add(signs.device_waits, waits.size(), first, {kNever, kNever});
    }
    case FaultSign::graphs_in_a_row:
      return add(signs.graphs_in_a_row, input.tally.graph_launches, signs.graph, {0, kNever});
  }
}

}  // namespace

std::span<const RecorderFault> recorder_faults() { return kFaults; }

/// Only what a recording shows signs of, by a CUPTI that is known for it.
void check_recorder(const HealthInput& input, Health& health) {
  const std::optional<std::uint32_t> version = version_of(input.trace());
  if (!version) return;
  const auto has = [&version](const RecorderFault& fault) {
    return *version >= fault.first && *version <= fault.last;
  };
  if (std::ranges::none_of(recorder_faults(), has)) return;
  const Signs signs = signs_of(input);
  // Without any, no single one is missed.
  const bool any = input.tally.activities() > 0;
  for (const RecorderFault& fault : recorder_faults())
    if (has(fault) && (any || fault.sign == FaultSign::no_activity))
      add_fault(input, fault, signs, health);
}

}  // namespace fathom
