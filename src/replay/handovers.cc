// Finds where host threads hand work over to each other.
#include "replay/handovers.h"

#include <algorithm>
#include <map>

#include "analysis/structure/answering.h"
#include "analysis/util/row_order.h"
#include "replay/host_pieces.h"

namespace fathom {
namespace {

/// An outermost slice of a side thread, and where the main thread was around its begin and end.
struct Root {
  std::uint32_t thread = 0;
  SliceId slice{};
  std::optional<Time> before_begin, after_begin;  // the main thread's moments around the begin
  std::optional<Time> after_end;
  SliceId main_slice{};  // what the main thread was in at the begin
};

Interval span_of(const Trace& trace, SliceId slice) {
  return {trace.slices.start[slice.row()], trace.slices.end(slice)};
}

std::vector<Root> roots_of(const Context& context, const std::vector<std::uint32_t>& threads) {
  const Nesting& nesting = context.nesting();
  std::vector<Root> roots;
  for (const std::uint32_t thread : threads) {
    for (const SliceId slice : nesting.work[thread].slices) {
      if (!nesting.parent[slice.row()].valid()) roots.push_back({.thread = thread, .slice = slice});
    }
  }
  return roots;
}

/// Answers questions about moments in ascending order while the main thread is walked once.
void look_at_main(const Context& context, const Nesting::Thread& main, std::vector<Root>& roots) {
  struct Question {
    Time at;
    std::uint32_t root;
    bool end;
  };
  std::vector<Question> questions;
  questions.reserve(roots.size() * 2);
  for (std::uint32_t root = 0; root < roots.size(); ++root) {
    const Interval span = span_of(context.trace, roots[root].slice);
    questions.push_back({span.begin, root, false});
    questions.push_back({span.end, root, true});
  }
  sort_rows(std::span(questions), [](const Question& a, const Question& b) { return a.at < b.at; });
  std::size_t next = 0;
  std::optional<Time> last;
  const auto visit = [&](SliceId owner, const Interval& piece) {
    last = piece.end;
    for (; next < questions.size() && questions[next].at < piece.end; ++next) {
      const Question& question = questions[next];
      Root& root = roots[question.root];
      const bool inside = question.at >= piece.begin;
      const Time after = question.at > piece.begin ? piece.end : piece.begin;
      if (question.end) {
        root.after_end = after;
        continue;
      }
      if (inside) root.before_begin = piece.begin;
      root.after_begin = inside ? piece.end : piece.begin;
      root.main_slice = inside ? owner : SliceId();
    }
  };
  for_each_piece(context.trace, context.nesting(), main, {Time::min(), Time::max()}, visit);
  for (; next < questions.size(); ++next) {
    if (!questions[next].end) roots[questions[next].root].before_begin = last;
  }
}

/// Is the main thread's silence around the run a wait for it?
bool waits(const Context& context, const ThreadRun& run, const Root& first,
           const std::optional<Time>& resumes) {
  if (!run.fed || !resumes || first.after_begin != resumes) return false;
  if (context.phases()[first.slice] == Phase::backward) return true;
  if (first.main_slice.valid() &&
      context.trace.kind(first.main_slice) != SliceKind::user_annotation)
    return false;
  return run.interval.length() * 2 >= *resumes - *run.fed;
}

void add_runs(const Context& context, std::uint32_t main, const std::vector<Root>& roots,
              std::vector<ThreadRun>& runs) {
  for (std::size_t begin = 0, end = 0; begin < roots.size(); begin = end) {
    const Root& first = roots[begin];
    ThreadRun run{.thread = first.thread,
                  .feeder = main,
                  .interval = span_of(context.trace, first.slice),
                  .fed = first.before_begin,
                  .resumed = {}};
    std::optional<Time> resumes = first.after_end;
    for (end = begin + 1; end < roots.size() && roots[end].thread == first.thread; ++end) {
      const Root& root = roots[end];
      if (root.before_begin && *root.before_begin >= run.interval.end) break;
      run.interval.end = std::max(run.interval.end, context.trace.slices.end(root.slice));
      resumes = root.after_end;
    }
    if (waits(context, run, first, resumes)) run.resumed = resumes;
    runs.push_back(run);
  }
}

Duration time_of_roots(const Context& context, const Nesting::Thread& thread) {
  const Column<SliceId>& parent = context.nesting().parent;
  Duration sum{};
  for (const SliceId slice : thread.slices) {
    if (!parent[slice.row()].valid()) sum += context.trace.slices.duration[slice.row()];
  }
  return sum;
}

}  // namespace

std::vector<std::uint32_t> main_threads(const Context& context) {
  const std::vector<Nesting::Thread>& work = context.nesting().work;
  std::map<TrackId, bool> with_steps;
  const std::vector<TrackId> answering = answering_threads(context.trace, context.steps());
  for (const Step& step : context.steps().steps) {
    if (!step.slice.valid()) continue;
    with_steps[answering[context.trace.slices.track[step.slice.row()].row()]] = true;
  }
  std::map<StringId, std::pair<std::pair<bool, Duration>, std::uint32_t>> best;
  for (std::uint32_t thread = 0; thread < work.size(); ++thread) {
    const TrackId track = work[thread].track;
    const std::pair weight(with_steps.contains(track), time_of_roots(context, work[thread]));
    const auto [at, added] =
        best.try_emplace(context.trace.tracks[track.row()].process, std::pair(weight, thread));
    if (!added && weight > at->second.first) at->second = {weight, thread};
  }
  std::vector<std::uint32_t> mains;
  mains.reserve(work.size());
  for (const Nesting::Thread& thread : work)
    mains.push_back(best.at(context.trace.tracks[thread.track.row()].process).second);
  return mains;
}

std::vector<ThreadRun> compute_thread_runs(const Context& context) {
  const std::vector<std::uint32_t> mains = main_threads(context);
  std::map<std::uint32_t, std::vector<std::uint32_t>> side_threads;  // by main thread
  for (std::uint32_t thread = 0; thread < mains.size(); ++thread) {
    if (mains[thread] != thread) side_threads[mains[thread]].push_back(thread);
  }
  std::vector<ThreadRun> runs;
  for (const auto& [main, threads] : side_threads) {
    std::vector<Root> roots = roots_of(context, threads);
    if (roots.empty()) continue;
    look_at_main(context, context.nesting().work[main], roots);
    add_runs(context, main, roots, runs);
  }
  return runs;
}

}  // namespace fathom
