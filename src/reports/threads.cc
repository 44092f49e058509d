// threads: what each sampled thread spent on a processor, in the run queue and blocked.
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/samples/thread_sums.h"
#include "reports/report.h"
#include "reports/sample_notes.h"
#include "store/sample_weights.h"

namespace fathom {
namespace threads_report {
namespace {

struct Shared {
  const Trace* trace = nullptr;
  bool times = true;  ///< Else weights are what another profiler counts.
  bool waits = true;  ///< Are they known?
};
using Threads = ReportRows<ThreadSum, Shared>;

std::optional<std::int64_t> number_of(std::int64_t id) {
  return id == kAbsent ? std::nullopt : std::optional(id);
}

std::optional<Duration> known(Duration time, bool is_known) {
  return is_known ? std::optional(time) : std::nullopt;
}

template <WaitClass kWait>
std::optional<Duration> waited(const ThreadSum& thread, const Shared& shared) {
  return known(thread.waited(kWait), shared.waits);
}

std::uint64_t samples_of(const ThreadSum& thread, const Shared& shared) {
  return shared.times ? thread.samples : static_cast<std::uint64_t>(to_ns(thread.on_cpu));
}

std::optional<double> share(const ThreadSum& thread, Duration part, const Shared& shared) {
  return shared.waits ? percent_of(part, thread.wall()) : std::nullopt;
}

constexpr Threads::Column kColumns[] = {
    {"pid", ColumnKind::integer, "", "Process id.",
     [](const ThreadSum& thread) { return number_of(thread.pid); }},
    {"tid", ColumnKind::integer, "", "Thread id; the process's main thread has the process id.",
     [](const ThreadSum& thread) { return number_of(thread.tid); }},
    {"thread", ColumnKind::name, "", "Its name, as the kernel has it.",
     [](const ThreadSum& thread, const Shared& shared) { return shared.trace->text(thread.name); }},
    {"wall_ns", ColumnKind::duration_ns, "ns",
     "For how long it was looked at: on a processor, in the queue and blocked, together.",
     [](const ThreadSum& thread, const Shared& shared) {
       return known(thread.wall(), shared.waits);
     }},
    {"on_cpu_ns", ColumnKind::duration_ns, "ns", "On a processor, by the scheduler.",
     [](const ThreadSum& thread, const Shared& shared) {
       return known(thread.on_cpu, shared.times);
     }},
    {"on_cpu_percent", ColumnKind::percent, "percent", "The same, of its wall time.",
     [](const ThreadSum& thread, const Shared& shared) {
       return share(thread, thread.on_cpu, shared);
     }},
    {"queued_ns", ColumnKind::duration_ns, "ns",
     "In the run queue: it could have run, but no processor was free.",
     [](const ThreadSum& thread, const Shared& shared) {
       return known(thread.queued, shared.waits);
     }},
    {"queued_percent", ColumnKind::percent, "percent", "The same, of its wall time.",
     [](const ThreadSum& thread, const Shared& shared) {
       return share(thread, thread.queued, shared);
     }},
    {"blocked_ns", ColumnKind::duration_ns, "ns",
     "It waited for something; the columns behind sum to it.",
     [](const ThreadSum& thread, const Shared& shared) {
       return known(thread.blocked, shared.waits);
     }},
    {"gil_ns", ColumnKind::duration_ns, "ns", "Blocked for Python's global interpreter lock.",
     by<waited<WaitClass::gil>>},
    {"lock_ns", ColumnKind::duration_ns, "ns", "Blocked for a lock or semaphore of the program.",
     by<waited<WaitClass::lock>>},
    {"threads_ns", ColumnKind::duration_ns, "ns",
     "Blocked for other threads: their end, an item of a queue, an event, a result; without Python "
     "at any lock.",
     by<waited<WaitClass::threads>>},
    {"child_ns", ColumnKind::duration_ns, "ns", "Blocked for a process to end.",
     by<waited<WaitClass::child>>},
    {"sleep_ns", ColumnKind::duration_ns, "ns", "Blocked for a time to pass.",
     by<waited<WaitClass::sleep>>},
    {"file_ns", ColumnKind::duration_ns, "ns", "Blocked for a file, pipe or socket.",
     by<waited<WaitClass::file>>},
    {"loop_ns", ColumnKind::duration_ns, "ns", "An event loop without anything to do.",
     by<waited<WaitClass::loop>>},
    {"other_ns", ColumnKind::duration_ns, "ns", "Blocked for something that is not known.",
     by<waited<WaitClass::other>>},
    {"samples", ColumnKind::count, "", "How many samples these are sums of.", by<samples_of>, true},
};

Result<Threads> compute(const Context& context) {
  const StackRoles roles(context.trace);
  Threads threads{.rows = thread_sums(context.trace, roles),
                  .shared = {.trace = &context.trace,
                             .times = weight_unit(context.trace).empty(),
                             .waits = waits_are_known(context.trace)}};
  // The column by which they are sorted is empty where weights are no times.
  std::ranges::stable_sort(threads.rows, std::ranges::greater(), &ThreadSum::on_cpu);
  note_weights(context.trace, threads.notes);
  note_unsampled(context.trace, threads.notes);
  return threads;
}

constexpr std::string_view kImportance[] = {
    "tid",    "thread",  "wall_ns", "on_cpu_ns", "queued_ns", "blocked_ns", "on_cpu_percent",
    "gil_ns", "lock_ns", "file_ns", "sleep_ns",  "pid"};

constexpr Need kNeeds[] = {{StoreTable::stack_samples}};

Report report() {
  return report_of<kColumns, compute>(
      {.id = "threads",
       .title = "What each thread did: on a processor, in the run queue, blocked for what",
       .doc = "One row per thread of the program and of its children. Time on a processor, in the "
              "run queue and blocked sum to the time for which the thread was looked at, and the "
              "waits to the time blocked. The first two are the scheduler's; why a thread was "
              "blocked is known by its system call and its Python stack. Threads that lived "
              "shorter than 50 ms may be missing: a note gives their processor time. The "
              "thread of Fathom's recorder in the program is left out.",
       .group_by = {},
       .sort = "-on_cpu_ns",
       .example = "fathom threads fathom-runs/20260101-120000-app",
       .needs = kNeeds,
       .importance = kImportance,
       .whole = true});
}

}  // namespace
}  // namespace threads_report

Report threads() { return threads_report::report(); }

}  // namespace fathom
