// Compares two profiles: exact sums at every level, and a cause for each row.
#include "compare/comparison.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "base/parallel.h"
#include "base/quantity_text.h"
#include "compare/folded_rows.h"
#include "compare/row_labels.h"
#include "compare/shares.h"
#include "compare/time_ratio.h"
#include "stats/false_discovery.h"
#include "stats/median_ratio.h"
#include "stats/rank_sum.h"

namespace fathom {
namespace {

/// Below this share of matched time the work is another one.
constexpr double kSameWork = 0.5;
/// Below this share of a main thread's time its operators do not tell what it works at: a pause of
/// the garbage collector, and all the rest Python.
constexpr double kTellingWork = 0.25;
constexpr double kFalseDiscovery = 0.05;
/// So few batches a side are too few for the rank-sum test to find anything in many rows.
constexpr std::size_t kFewestBatches = 4;
/// Of rows that are judged at the same time.
constexpr std::size_t kRowsAtOnce = 4096;
/// Of the calls of a row in a step, so many by themselves.
constexpr std::size_t kListedOccurrences = 5;

constexpr std::array<std::string_view, 5> kComparabilities = {
    "same_recording", "comparable", "different_work", "different_devices", "times_only"};

/// Twice the median, which is a whole number.
std::int64_t twice_median(std::vector<std::int64_t> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return values[(n - 1) / 2] + values[n / 2];
}

ComparedSide side_of(const Profile& profile) {
  const std::vector<double> lengths = profile.lengths();
  ComparedSide side{.input = profile.input,
                    .step_name = profile.step_name,
                    .step_ns = describe(lengths),
                    .steps = profile.steps(),
                    .steps_left_out = profile.steps_left_out,
                    .on_device = profile.on_device,
                    .times_only = profile.times_only,
                    .warm_up = {}};
  // Where one run follows another, no level is to be expected.
  if (profile.runs > 1) return side;
  side.warm_up = warm_up_of_steps(lengths);
  side.autocorrelation = autocorrelation(lengths);
  return side;
}

ComparedPart part_of(const AlignedWork& work) {
  ComparedPart part;
  for (const ProfileRow* const row : work.base) {
    part.base_sum_ns += row->work.time_ns;
    part.base_calls += row->work.calls;
  }
  for (const ProfileRow* const row : work.now) {
    part.new_sum_ns += row->work.time_ns;
    part.new_calls += row->work.calls;
  }
  return part;
}

void add(ComparedPart& into, const ComparedPart& part) {
  into.base_sum_ns += part.base_sum_ns;
  into.new_sum_ns += part.new_sum_ns;
  into.base_calls += part.base_calls;
  into.new_calls += part.new_calls;
}

/// Without the times by batch.
WorkTime sum_of(const std::vector<const ProfileRow*>& rows) {
  WorkTime sum;
  for (const ProfileRow* const row : rows) {
    sum.time_ns += row->work.time_ns;
    sum.calls += row->work.calls;
  }
  return sum;
}

/// The levels between bucket and row.
constexpr std::array<SharedText ComparedRow::*, 2> kLevels = {&ComparedRow::phase,
                                                              &ComparedRow::module};

class Comparer {
 public:
  /// Of `base` and `now`, some rows are added up on both sides for the sake of one; before that,
  /// they were in these buckets.
  Comparer(const Profile& base, const Profile& now, std::set<AnyBucket> base_folded = {},
           std::set<AnyBucket> new_folded = {})
      : base_(base),
        now_(now),
        fractions_(base.steps(), now.steps()),
        base_folded_(std::move(base_folded)),
        new_folded_(std::move(new_folded)) {}

  Comparison compare() {
    out_.base = side_of(base_);
    out_.now = side_of(now_);
    out_.differs = differing_conditions(base_.conditions, now_.conditions);
    compare_steps();
    compare_counters();
    if (base_.times_only || now_.times_only) {
      compare_times();
      return std::move(out_);
    }
    if (base_.on_device != now_.on_device) {
      out_.comparability = Comparability::different_devices;
      out_.notes.emplace_back(
          "One recording has the work of a device, the other that of a main thread alone: what "
          "their time went into cannot be compared.");
      return std::move(out_);
    }
    align_rows();
    sum_buckets();
    if (base_.content == now_.content && !same_recording(base_, now_))
      out_.notes.emplace_back("Both sides are the same recording, of which each has other steps.");
    if (same_recording(base_, now_)) {
      out_.comparability = Comparability::same_recording;
    } else if (!same_work_) {
      out_.comparability = Comparability::different_work;
      withhold();
      return std::move(out_);
    }
    find_causes();
    group_causes();
    sort_rows();
    out_.phases = phases_of(out_.rows);
    return std::move(out_);
  }

 private:
  void compare_steps() {
    const Wide median =
        fractions_.change_of_median(twice_median(base_.lengths_ns), twice_median(now_.lengths_ns));
    out_.change_ns = fractions_.rounded(median);
    out_.mean_change_ns =
        fractions_.rounded(fractions_.change_of_mean(base_.sum_ns(), now_.sum_ns()));
    out_.skew_ns = out_.change_ns - out_.mean_change_ns;
    const std::optional<MedianRatio> ratio = median_ratio(base_.lengths(), now_.lengths());
    if (!ratio) return;
    out_.ratio = ratio->ratio;
    out_.ratio_interval = ratio->interval;
    if (out_.base.never_steady() || out_.now.never_steady()) out_.ratio_interval.reset();
    out_.ratio_note = out_.ratio_interval ? std::string("The interval is that within these runs")
                                          : no_interval("steps");
    out_.ratio_note += "; the variation between runs is not known from one recording a side.";
  }

  /// Why there is none; `what` is counted.
  [[nodiscard]] std::string no_interval(std::string_view what) const {
    const std::string unsteady = unsteady_sides(out_.base.never_steady(), out_.now.never_steady());
    if (!unsteady.empty()) return "No interval: " + unsteady;
    if (static_cast<std::size_t>(std::min(base_.steps(), now_.steps())) >=
        fewest_for_median_ratio())
      return "No interval: so many times of base are 0 that it has no end";
    return "An interval needs " + std::to_string(fewest_for_median_ratio()) + " " +
           std::string(what) + " a side";
  }

  /// Runs that were not taken in turns.
  void compare_times() {
    const bool same = same_recording(base_, now_);
    out_.comparability = same ? Comparability::same_recording : Comparability::times_only;
    if (same) return;
    out_.notes.emplace_back(
        base_.times_only && now_.times_only
            ? "Both sides are results of fathom bench: how long runs took, and not what their time "
              "went into."
            : "One side is a result of fathom bench, the other a recording: runs beside steps, "
              "which the recorder may have slowed down. What their time went into cannot be "
              "compared.");
    if (!base_.times_only || !now_.times_only) return;
    out_.ratio_note = out_.ratio_interval
                          ? "The interval is over " + std::to_string(base_.steps()) + " and " +
                                std::to_string(now_.steps()) + " runs"
                          : no_interval("runs");
    out_.ratio_note +=
        "; they were not taken in turns, so drift of the machine between them counts as change. "
        "fathom bench --base measures both in pairs.";
  }

  void compare_counters() {
    for (const Counter& base : base_.counters) {
      const auto now = std::ranges::find(now_.counters, base.id, &Counter::id);
      ComparedCounter compared{.id = base.id,
                               .title = base.title,
                               .unit = base.unit,
                               .per_step = base.per_step,
                               .base = base.value,
                               .now = {}};
      if (now != now_.counters.end()) {
        compared.now = now->value;
        compared.equal = base.per_step
                             ? Wide{base.value} * now_.steps() == Wide{now->value} * base_.steps()
                             : base.value == now->value;
      }
      out_.counters.push_back(compared);
    }
    for (const Counter& now : now_.counters) {
      if (std::ranges::find(base_.counters, now.id, &Counter::id) == base_.counters.end())
        out_.counters.push_back({.id = now.id,
                                 .title = now.title,
                                 .unit = now.unit,
                                 .per_step = now.per_step,
                                 .base = {},
                                 .now = now.value});
    }
  }

  /// By bucket, as they came.
  void align_rows() {
    work_ = align(base_, now_);
    std::ranges::stable_sort(work_, {}, &AlignedWork::bucket);
    double whole_base = 0;
    double whole_new = 0;
    double exact_base = 0;  // in the same operators with the same shapes
    double exact_new = 0;
    out_.rows.reserve(work_.size());
    for (const AlignedWork& work : work_) {
      ComparedRow row{.alignment = work.alignment,
                      .bucket = work.bucket,
                      .phase = phase_of(work),
                      .module = module_of(work),
                      .what = label_of(work),
                      .shapes = shapes_of(work),
                      .place = place_of(work),
                      .part = part_of(work)};
      out_.rows.push_back(std::move(row));
      const double base = operator_time(work.bucket, work.base, base_.steps());
      const double now = operator_time(work.bucket, work.now, now_.steps());
      out_.aligned[static_cast<std::size_t>(work.alignment)] += base + now;
      if (base + now > 0) out_.aligned_by_occurrence += time_in_same_calls(work);
      whole_base += base;
      whole_new += now;
      if (work.base.empty() || work.now.empty()) continue;
      out_.base_aligned += base;
      out_.new_aligned += now;
      if (work.alignment != Alignment::module_operator_shapes ||
          work.base.front()->key.shapes.empty())
        continue;
      exact_base += base;
      exact_new += now;
    }
    const double aligned = out_.base_aligned + out_.new_aligned;
    const auto tells = [](const Profile& side, double operators) {
      return side.on_device || operators >= kTellingWork * ns(side.sum_ns()) / ns(side.steps());
    };
    same_work_ = !(tells(base_, whole_base) || tells(now_, whole_new)) ||
                 aligned >= kSameWork * (whole_base + whole_new) ||
                 (exact_base > 0 && exact_base >= kSameWork * whole_base) ||
                 (exact_new > 0 && exact_new >= kSameWork * whole_new);
    // Without operators nothing could be aligned, and all shares stay 0.
    const double whole = whole_base + whole_new;
    for (double& share : out_.aligned) share = whole > 0 ? share / whole : 0;
    if (whole > 0) out_.aligned_by_occurrence /= whole;
    if (whole_base > 0) out_.base_aligned /= whole_base;
    if (whole_new > 0) out_.new_aligned /= whole_new;
  }

  /// By number. Empty where one of the rows does not know.
  [[nodiscard]] static std::vector<Occurrence> occurrences_of(
      const std::vector<const ProfileRow*>& rows) {
    std::vector<Occurrence> sum;
    for (const ProfileRow* const row : rows) {
      if (row->occurrences.empty()) return {};
      add_occurrences(sum, row->occurrences);
    }
    return sum;
  }

  /// Per step, of calls that both sides have in the same place of a step.
  [[nodiscard]] double time_in_same_calls(const AlignedWork& work) const {
    if (work.alignment != Alignment::module_operator_shapes) return 0;
    const std::vector<Occurrence> base = occurrences_of(work.base);
    const std::vector<Occurrence> now = occurrences_of(work.now);
    double time = 0;
    for (std::size_t i = 0; i < std::min(base.size(), now.size()); ++i) {
      if (base[i].calls > 0 && now[i].calls > 0)
        time += ns(base[i].time_ns) / ns(base_.steps()) + ns(now[i].time_ns) / ns(now_.steps());
    }
    return time;
  }

  /// Per step, of rows that an operator or kernel names.
  [[nodiscard]] static double operator_time(AnyBucket bucket,
                                            const std::vector<const ProfileRow*>& rows,
                                            std::int64_t steps) {
    if (bucket.idle() || bucket.is(HostBucket::python) || bucket.is(HostBucket::warm_up)) return 0;
    std::int64_t time = 0;
    for (const ProfileRow* const row : rows) {
      if (!row->key.op.empty() && !row->key.compiling) time += row->work.time_ns;
    }
    return ns(time) / ns(steps);
  }

  /// One side has it, where the other has a sum that may hold it; or a sum that only one side has.
  [[nodiscard]] bool maybe_folded(const AlignedWork& work) const {
    const auto folded = [](const ProfileRow* row) { return row->key.op == kFoldedRows; };
    return (work.base.empty() && base_folded_.contains(work.bucket)) ||
           (work.now.empty() && new_folded_.contains(work.bucket)) ||
           std::ranges::any_of(work.base, folded) != std::ranges::any_of(work.now, folded);
  }

  [[nodiscard]] RowFacts facts_of(const AlignedWork& work) const {
    RowFacts facts{.work = work,
                   .base_steps = base_.steps(),
                   .new_steps = now_.steps(),
                   .base = sum_of(work.base),
                   .now = sum_of(work.now),
                   .by_calls = {},
                   .by_time = {},
                   .by_clock = {},
                   .within_noise = {},
                   .base_clock_mhz = base_.clock_mhz,
                   .new_clock_mhz = now_.clock_mhz,
                   .maybe_folded = maybe_folded(work),
                   .operators_comparable = base_.operators_recorded == now_.operators_recorded,
                   .launches_comparable = base_.launches_recorded == now_.launches_recorded};
    facts.divide_change();
    return facts;
  }
  static double ns(std::int64_t value) { return static_cast<double>(value); }

  [[nodiscard]] Wide change(const ComparedPart& part) const {
    return fractions_.change_of_mean(part.base_sum_ns, part.new_sum_ns);
  }

  /// Shares `total` among parts, so that their changes sum to it.
  template <typename Parts, typename PartOf>
  void share(Parts& parts, std::int64_t total, const PartOf& part_in) const {
    if (parts.size() == 1) {  // as most rows have one kernel: it is all of the row
      part_in(*parts.begin()).change_ns = total;
      return;
    }
    std::vector<Wide> numerators;
    numerators.reserve(parts.size());
    for (auto& each : parts) numerators.push_back(change(part_in(each)));
    const std::vector<std::int64_t> shares =
        by_largest_remainder(numerators, fractions_.denominator(), total);
    std::size_t i = 0;
    for (auto& each : parts) part_in(each).change_ns = shares[i++];
  }

  /// Shares `total` among rows: among those that agree in the first field, then in the next.
  void share_levels(const std::vector<std::size_t>& rows, std::int64_t total,
                    std::span<SharedText ComparedRow::*const> fields) {
    if (fields.empty()) {
      std::vector<std::size_t> each = rows;
      share(each, total, [this](std::size_t row) -> ComparedPart& { return out_.rows[row].part; });
      return;
    }
    struct Group {
      ComparedPart part;
      std::vector<std::size_t> rows;
    };
    std::map<std::string_view, Group> by_name;
    for (const std::size_t row : rows) {
      Group& group = by_name[(out_.rows[row].*fields.front()).view()];
      add(group.part, out_.rows[row].part);
      group.rows.push_back(row);
    }
    std::vector<Group> groups;
    groups.reserve(by_name.size());
    for (auto& [name, group] : by_name) groups.push_back(std::move(group));
    share(groups, total, [](Group& group) -> ComparedPart& { return group.part; });
    for (const Group& group : groups)
      share_levels(group.rows, group.part.change_ns, fields.subspan(1));
  }

  /// Buckets sum to the change of the mean, in each bucket phases, their modules and their rows to
  /// it, kernels to their row.
  void sum_buckets() {
    for (std::size_t i = 0; i < out_.rows.size(); ++i) {
      const ComparedRow& row = out_.rows[i];
      if (out_.buckets.empty() || out_.buckets.back().bucket != row.bucket)
        out_.buckets.push_back({.bucket = row.bucket, .part = {}, .rows = {}});
      add(out_.buckets.back().part, row.part);
      out_.buckets.back().rows.push_back(i);
    }
    share(out_.buckets, out_.mean_change_ns,
          [](ComparedBucket& bucket) -> ComparedPart& { return bucket.part; });
    for (const ComparedBucket& bucket : out_.buckets)
      share_levels(bucket.rows, bucket.part.change_ns, kLevels);
    for (std::size_t i = 0; i < out_.rows.size(); ++i) {
      add_kernels(out_.rows[i], work_[i]);
      add_occurrences_of(out_.rows[i], work_[i]);
    }
    std::ranges::stable_sort(out_.buckets, std::ranges::greater(),
                             [](const auto& at) { return std::abs(at.part.change_ns); });
    std::erase_if(out_.buckets, [](const ComparedBucket& bucket) {
      return bucket.part.base_sum_ns == 0 && bucket.part.new_sum_ns == 0;
    });
  }

  void add_kernels(ComparedRow& row, const AlignedWork& work) const {
    std::vector<ComparedKernel> kernels;
    const auto collect = [&](const std::vector<const ProfileRow*>& rows, auto sum, auto calls) {
      const auto add = [&](const SharedText& name, const WorkTime& time) {
        ComparedKernel& kernel = kernels.emplace_back();
        kernel.name = name;
        kernel.part.*sum = time.time_ns;
        kernel.part.*calls = time.calls;
      };
      for (const ProfileRow* const each : rows) {
        for (const KernelTime& kernel : each->kernels) add(kernel.name, kernel.work);
        // A kernel that stands for itself beside those of an operator.
        if (each->kernels.empty() && work.alignment == Alignment::kernels)
          add(each->key.op, each->work);
      }
    };
    collect(work.base, &ComparedPart::base_sum_ns, &ComparedPart::base_calls);
    collect(work.now, &ComparedPart::new_sum_ns, &ComparedPart::new_calls);
    if (kernels.empty()) return;
    std::ranges::stable_sort(kernels, {}, &ComparedKernel::name);
    ComparedPart rest = row.part;  // what stands for itself, because no operator launched it
    for (const ComparedKernel& kernel : kernels) {
      if (row.kernels.empty() || row.kernels.back().name != kernel.name)
        row.kernels.push_back({.name = kernel.name, .part = {}});
      add(row.kernels.back().part, kernel.part);
      rest.base_sum_ns -= kernel.part.base_sum_ns;
      rest.new_sum_ns -= kernel.part.new_sum_ns;
      rest.base_calls -= kernel.part.base_calls;
      rest.new_calls -= kernel.part.new_calls;
    }
    if (rest.base_sum_ns != 0 || rest.new_sum_ns != 0)
      row.kernels.push_back({.name = "(kernels without an operator)", .part = rest});
    share(row.kernels, row.part.change_ns,
          [](ComparedKernel& kernel) -> ComparedPart& { return kernel.part; });
    std::ranges::stable_sort(row.kernels, std::ranges::greater(),
                             [](const auto& at) { return std::abs(at.part.change_ns); });
  }

  void add_occurrences_of(ComparedRow& row, const AlignedWork& work) const {
    if (work.alignment != Alignment::module_operator_shapes) return;
    const std::vector<Occurrence> base = occurrences_of(work.base);
    const std::vector<Occurrence> now = occurrences_of(work.now);
    row.calls_in_step = std::max(base.size(), now.size());
    if (base.empty() || now.empty() || row.calls_in_step < 2) return;
    std::vector<ComparedOccurrence> all(row.calls_in_step);
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].number = i + 1;
      const Occurrence before = i < base.size() ? base[i] : Occurrence{};
      const Occurrence after = i < now.size() ? now[i] : Occurrence{};
      all[i].part = {.base_sum_ns = before.time_ns,
                     .new_sum_ns = after.time_ns,
                     .base_calls = before.calls,
                     .new_calls = after.calls};
    }
    share(all, row.part.change_ns,
          [](ComparedOccurrence& each) -> ComparedPart& { return each.part; });
    std::ranges::stable_sort(all, std::ranges::greater(),
                             [](const auto& at) { return std::abs(at.part.change_ns); });
    if (all.size() > kListedOccurrences) {
      ComparedOccurrence rest;
      for (const ComparedOccurrence& each : std::span(all).subspan(kListedOccurrences)) {
        add(rest.part, each.part);
        rest.part.change_ns += each.part.change_ns;
      }
      all.resize(kListedOccurrences);
      all.push_back(rest);
    }
    row.occurrences = std::move(all);
  }

  /// By batch, into `out`, where the sums of the last rows may stand.
  static void per_step(const std::vector<const ProfileRow*>& rows,
                       const std::vector<std::int64_t>& batches, std::vector<double>& out) {
    out.assign(batches.size(), 0);
    for (const ProfileRow* const row : rows) {
      row->work.by_batch.for_each([&out](std::size_t batch, std::int64_t time) {
        if (batch < out.size()) out[batch] += ns(time);
      });
    }
    for (std::size_t batch = 0; batch < out.size(); ++batch) out[batch] /= ns(batches[batch]);
  }

  /// Of the rank-sum test, by row.
  [[nodiscard]] std::vector<double> p_values() const {
    std::vector<double> out(work_.size());
    for_each_in_parallel((out.size() + kRowsAtOnce - 1) / kRowsAtOnce, 0, [&](std::size_t block) {
      std::vector<double> base;
      std::vector<double> now;
      const std::size_t end = std::min(out.size(), (block + 1) * kRowsAtOnce);
      for (std::size_t row = block * kRowsAtOnce; row < end; ++row) {
        per_step(work_[row].base, base_.batches, base);
        per_step(work_[row].now, now_.batches, now);
        out[row] = rank_sum_p(base, now).value_or(1);
      }
    });
    return out;
  }

  /// Which rows vary no more between the sides than within them. With few steps no row could be
  /// told apart among many: there each is judged alone. Empty where there are too few to judge any.
  [[nodiscard]] std::vector<bool> judge_noise() const {
    if (std::min(base_.batches.size(), now_.batches.size()) < kFewestBatches) return {};
    const std::vector<double> p = p_values();
    const bool together = smallest_rank_sum_p(base_.batches.size(), now_.batches.size()) <=
                          kFalseDiscovery / static_cast<double>(p.size());
    const std::vector<bool> differ = reject_with_false_discovery_rate(p, kFalseDiscovery);
    std::vector<bool> within(p.size());
    for (std::size_t i = 0; i < within.size(); ++i)
      within[i] = together ? !differ[i] : p[i] > kFalseDiscovery;
    return within;
  }

  void find_causes() {
    const std::vector<bool> within_noise = judge_noise();
    if (within_noise.empty() && out_.comparability != Comparability::same_recording)
      out_.notes.emplace_back("Too few steps to test any row for noise: causes may be chance.");
    for (std::size_t i = 0; i < out_.rows.size(); ++i) {
      ComparedRow& row = out_.rows[i];
      RowFacts facts = facts_of(work_[i]);
      if (!within_noise.empty()) facts.within_noise = within_noise[i];
      CauseFound found = find_cause(facts);
      row.cause = found.cause;
      row.detail = std::move(found.detail);
      if (!facts.by_calls) continue;
      row.calls_change_ns = std::llround(*facts.by_calls);
      row.time_change_ns = row.part.change_ns - *row.calls_change_ns;
      if (!facts.by_clock) continue;
      row.clock_change_ns = std::llround(*facts.by_clock);
      row.cycles_change_ns = *row.time_change_ns - *row.clock_change_ns;
    }
  }

  /// Causes that are one thing, whatever the direction of their rows: other operators load the data
  /// when workers do it.
  static bool is_whole(Cause cause) {
    return cause == Cause::noise || cause == Cause::loader || cause == Cause::recompilation ||
           cause == Cause::warm_up || cause == Cause::not_recorded;
  }

  void group_causes() {
    std::map<std::pair<Cause, bool>, CauseGroup> groups;
    for (std::size_t i = 0; i < out_.rows.size(); ++i) {
      const ComparedRow& row = out_.rows[i];
      if (row.part.change_ns == 0) continue;
      CauseGroup& group = groups[{row.cause, !is_whole(row.cause) && row.part.change_ns < 0}];
      group.cause = row.cause;
      group.change_ns += row.part.change_ns;
      group.rows.push_back(i);
    }
    for (auto& [key, group] : groups) out_.causes.push_back(std::move(group));
    // What explains the change, what works against it, what is noise.
    const auto place = [this](const CauseGroup& group) {
      if (group.cause == Cause::noise) return 2;
      return (group.change_ns < 0) == (out_.mean_change_ns < 0) ? 0 : 1;
    };
    std::ranges::stable_sort(out_.causes, [&](const CauseGroup& a, const CauseGroup& b) {
      return place(a) != place(b) ? place(a) < place(b)
                                  : std::abs(a.change_ns) > std::abs(b.change_ns);
    });
  }

  /// The largest change first; what points to rows follows.
  void sort_rows() {
    struct Size {
      std::int64_t change = 0;
      std::size_t row = 0;
    };
    std::vector<Size> order;  // beside the rows, which are large and lie scattered then
    order.reserve(out_.rows.size());
    for (const ComparedRow& row : out_.rows)
      order.push_back({.change = std::abs(row.part.change_ns), .row = order.size()});
    std::ranges::stable_sort(order, std::ranges::greater(), &Size::change);
    std::vector<std::size_t> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i].row] = i;
    work_ = {};
    move_rows(place);
    const auto move = [&place](std::vector<std::size_t>& at) {
      for (std::size_t& row : at) row = place[row];
      std::ranges::sort(at);
    };
    for (ComparedBucket& bucket : out_.buckets) move(bucket.rows);
    for (CauseGroup& group : out_.causes) move(group.rows);
  }

  /// Each row to its place, without a second array of them.
  void move_rows(std::vector<std::size_t> place) {
    for (std::size_t i = 0; i < place.size(); ++i) {
      while (place[i] != i) {
        const std::size_t to = place[i];
        std::swap(out_.rows[i], out_.rows[to]);
        std::swap(place[i], place[to]);
      }
    }
  }

  void withhold() {
    out_.rows.clear();
    for (ComparedBucket& bucket : out_.buckets) bucket.rows.clear();
    out_.notes.push_back("Different work: of the operators' time only " +
                         percent_text(100 * out_.base_aligned) + " in base and " +
                         percent_text(100 * out_.new_aligned) +
                         " in new has a counterpart in the other recording, and less than half of "
                         "both together. What changed inside of the buckets is withheld.");
  }

  const Profile& base_;
  const Profile& now_;
  StepFractions fractions_;
  std::set<AnyBucket> base_folded_;
  std::set<AnyBucket> new_folded_;
  std::vector<AlignedWork> work_;  // by row, until rows are sorted
  bool same_work_ = true;
  Comparison out_;
};

}  // namespace

std::string_view to_string(Comparability comparability) {
  return kComparabilities[static_cast<std::size_t>(comparability)];
}

std::vector<ComparedCondition> differing_conditions(const std::vector<Condition>& base,
                                                    const std::vector<Condition>& now) {
  std::vector<ComparedCondition> differs;
  for (const Condition& before : base) {
    const auto after = std::ranges::find(now, before.id, &Condition::id);
    const std::string value = after == now.end() ? std::string() : after->value;
    if (before.value != value) differs.push_back({before.id, before.title, before.value, value});
  }
  for (const Condition& after : now) {
    const auto before = std::ranges::find(base, after.id, &Condition::id);
    if (before == base.end() && !after.value.empty())
      differs.push_back({after.id, after.title, "", after.value});
  }
  return differs;
}

void add_of_rank(std::vector<ComparedCondition>& differs, std::int64_t rank,
                 const std::vector<ComparedCondition>& more) {
  for (ComparedCondition each : more) {
    if (std::ranges::find(differs, each.id, &ComparedCondition::id) != differs.end()) continue;
    each.title += " of rank " + std::to_string(rank);
    differs.push_back(std::move(each));
  }
}

Comparison compare_profiles(const Profile& base, const Profile& now) {
  if (!has_folded_rows(base) && !has_folded_rows(now)) return Comparer(base, now).compare();
  const Profile like_now = folded_like(base, now);
  const Profile like_base = folded_like(now, base);
  return Comparer(like_now, like_base, folded_buckets(base), folded_buckets(now)).compare();
}

}  // namespace fathom
