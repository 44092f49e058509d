// Health of the steps: are they marked, enough, complete, and past the warm-up?
#include <algorithm>
#include <cmath>
#include <span>

#include "analysis/health/checks.h"
#include "analysis/pipeline_fill.h"
#include "base/digit_groups.h"

namespace fathom {
namespace {

constexpr std::string_view kSection = "steps";
constexpr std::uint64_t kFewSteps = 3;
constexpr double kWarmUp = 1.5;

std::int64_t median(std::vector<std::int64_t> values) {
  const std::size_t middle = values.size() / 2;
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(middle));
  if (values.size() % 2 != 0) return values[middle];
  const std::int64_t upper = values[middle];
  return (upper +
          *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle))) /
         2;
}

/// `run`: recorded by fathom run, where the program has no profiler that it could tell.
void check_marked(const Steps& steps, bool run, Health& health) {
  const bool marked = steps.source == StepSource::profiler_step;
  HealthCheck& check =
      add_check(health, kSection, "steps_marked", "no steps are marked by the profiler",
                marked ? CheckStatus::ok : CheckStatus::note, marked ? 0 : 1,
                {steps.source == StepSource::whole_trace ? "the whole trace counts as one step"
                                                         : "steps were found by what repeats",
                 "step statistics",
                 run ? "fathom run --step-by says what a step is; or call fathom.step() once per "
                       "iteration"
                     : "call prof.step() once per iteration"});
  check.stands_alone = true;
}

void check_enough(const Steps& steps, Health& health) {
  const auto full = static_cast<std::uint64_t>(std::ranges::count(steps.steps, false, &Step::edge));
  const bool applies = steps.source != StepSource::whole_trace;
  HealthCheck& check = add_check(health, kSection, "few_steps", "complete steps were recorded",
                                 !applies           ? CheckStatus::not_applicable
                                 : full < kFewSteps ? CheckStatus::warning
                                                    : CheckStatus::ok,
                                 full,
                                 {"too few for statistics", "step time statistics, the verdict",
                                  "record at least 3 active steps after the warm-up"});
  check.of = applies ? steps.steps.size() : 0;
  check.stands_alone = true;
  check.what = full == 1 ? "only 1 complete step was recorded"
                         : "only " + grouped(full) + " complete steps were recorded";
}

/// Steps of one process follow each other in `steps`; calls `visit(first, last)` for each process.
template <typename Visit>
void for_each_process(const Steps& steps, Visit visit) {
  for (std::size_t begin = 0; begin < steps.steps.size();) {
    std::size_t end = begin + 1;
    while (end < steps.steps.size() && steps.steps[end].pid == steps.steps[begin].pid) ++end;
    visit(begin, end);
    begin = end;
  }
}

/// Is a later step at least half as far above the usual length as the first one? Then steps differ,
/// or something else used the processor: it is not the start that takes long.
bool comes_again(const std::vector<std::int64_t>& lengths, double first, double usual) {
  return std::any_of(lengths.begin() + 1, lengths.end(), [&](std::int64_t length) {
    return 2 * (static_cast<double>(length) - usual) >= first - usual;
  });
}

void check_warm_up(const Steps& steps, Health& health) {
  std::uint64_t slow = 0;
  std::uint64_t processes = 0;
  std::string example;
  for_each_process(steps, [&](std::size_t begin, std::size_t end) {
    if (end - begin < kFewSteps) return;
    ++processes;
    std::vector<std::int64_t> lengths;
    for (std::size_t i = begin; i < end; ++i)
      lengths.push_back(to_ns(steps.steps[i].window.length()));
    const auto usual = static_cast<double>(median(lengths));
    const auto first = static_cast<double>(
        to_ns(length_without_fill(steps.steps[begin], duration_ns(std::llround(usual)))));
    if (first <= kWarmUp * usual || comes_again(lengths, first, usual)) return;
    if (slow++ == 0) {
      example = "step " + std::to_string(steps.steps[begin].number) + ": " +
                std::to_string(lengths.front()) + " ns, median " +
                std::to_string(static_cast<std::int64_t>(usual)) + " ns";
    }
  });
  HealthCheck& check =
      add_share(health, kSection, "warm_up_inside",
                "processes start with a step over 1.5 × the median", slow, processes, {0, kNever},
                {"the warm-up is inside the recording", "mean step time, totals",
                 "look at later steps only (--steps), or use a schedule with more warm-up"});
  if (processes == 1) {
    check.what = "the first step takes over 1.5 × the median";
    check.stands_alone = true;
  }
  check.example = example;
}

/// Do the numbers skip as a schedule does that repeats: as many steps at a time, with as many left
/// out between them? The last of three or more may have been cut short.
bool skips_on_purpose(std::span<const Step> steps) {
  std::vector<std::int64_t> lengths = {1};
  std::vector<std::int64_t> gaps;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const std::int64_t gap = steps[i].number - steps[i - 1].number - 1;
    if (gap == 0) {
      ++lengths.back();
    } else {
      gaps.push_back(gap);
      lengths.push_back(1);
    }
  }
  if (gaps.empty() || gaps.front() < 0) return false;
  const std::int64_t last = lengths.back();
  if (lengths.size() > 2) lengths.pop_back();
  return std::ranges::all_of(gaps, [&](std::int64_t gap) { return gap == gaps.front(); }) &&
         std::ranges::all_of(lengths, [&](std::int64_t l) { return l == lengths.front(); }) &&
         last <= lengths.front();
}

void check_missing(const Steps& steps, Health& health) {
  std::uint64_t missing = 0;
  std::uint64_t expected = 0;
  std::string example;
  for_each_process(steps, [&](std::size_t begin, std::size_t end) {
    expected += end - begin;
    if (skips_on_purpose(std::span(steps.steps).subspan(begin, end - begin))) return;
    for (std::size_t i = begin + 1; i < end; ++i) {
      const std::int64_t before = steps.steps[i - 1].number;
      const std::int64_t gap = steps.steps[i].number - before - 1;
      if (gap <= 0) continue;
      if (missing == 0) example = "step " + std::to_string(before + 1);
      missing += static_cast<std::uint64_t>(gap);
    }
  });
  // Of requests those that began while another ran are left out.
  const bool applies = steps.source == StepSource::profiler_step && !steps.requests;
  if (!applies) {
    missing = 0;
    example.clear();
  }
  HealthCheck& check = add_share(health, kSection, "missing_steps", "step numbers are missing",
                                 missing, applies ? expected + missing : 0, {0, kNever},
                                 {"the recording has holes", "step time statistics around them",
                                  "they skip as no schedule does: were events dropped?"});
  check.example = example;
}

}  // namespace

void check_steps(const HealthInput& input, Health& health) {
  const Steps& steps = input.context.steps();
  check_marked(steps, input.context.trace.fact("command") != nullptr, health);
  check_enough(steps, health);
  check_warm_up(steps, health);
  check_missing(steps, health);
}

}  // namespace fathom
