// data-loader-workers: batches are made in the training process, or by too few workers.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string>

#include "analysis/structure/stretches.h"
#include "analysis/util/json_list.h"
#include "rules/common/batch.h"
#include "rules/common/claims.h"
#include "rules/common/edits.h"
#include "rules/common/evidence.h"
#include "rules/common/fetch_parts.h"
#include "rules/common/names.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/common/recorded_lines.h"
#include "rules/rule.h"

namespace fathom {
namespace data_loader_workers_rule {
namespace {

constexpr std::string_view kDoc =
    "With num_workers=0 a DataLoader reads, transforms and collates each batch in the training "
    "process, between two steps; PyTorch records that as _SingleProcessDataLoaderIter. With "
    "workers (_MultiProcessingDataLoaderIter) the loop only waits when they do not keep up. "
    "Counted is fetching while the device idles (without a device: the main thread's). Fires from "
    "1 % of the step without workers; with them from 5 %, the longest wait, in which they start, "
    "left out. This finding claims what workers would take away: with four of them all, as far as "
    "a quarter of the fetching fits beside the rest of the step, and up to as much of the idle "
    "time "
    "behind a fetch in which the host catches up with launching; half with twice as many. What is "
    "then left of the fetching belongs to data-loading. Where a fetch only takes rows of tensors, "
    "one by one, indexing by the whole batch is advised in place of workers. "
    "Sources: PyTorch's tuning guide (asynchronous loading); "
    "the former TensorBoard plugin (5 %); TorchTidy's SynchronizedDataLoader.";

constexpr double kLeastPercent = 1.0;
constexpr double kLeastPercentWithWorkers = 5.0;
/// As many as are assumed for a loader that had none, where there are processors for them.
constexpr int kWorkers = 4;
constexpr double kTwice = 2.0;

bool is_single(std::string_view name) {
  return name.find("_SingleProcessDataLoaderIter") != std::string_view::npos;
}
bool is_multiple(std::string_view name) {
  return name.find("_MultiProcessingDataLoaderIter") != std::string_view::npos;
}

/// Those in no other of them.
std::vector<SliceId> fetches(const RuleContext& rules, const NameSet& names) {
  // Also one that began before the first counted step, and reaches into it.
  const Trace& trace = rules.trace();
  std::vector<SliceId> found;
  for (std::size_t row = 0; row < trace.slices.size() && names.any(); ++row) {
    const SliceId slice(row);
    if (names.contains(trace.slices.name[row]) && is_host_work(trace.kind(slice)) &&
        (rules.counts(trace.slices.start[row]) ||
         rules.counted(interval_of(trace, slice)) > Duration{}))
      found.push_back(slice);
  }
  std::ranges::stable_sort(found, {},
                           [&](SliceId slice) { return trace.slices.start[slice.row()]; });
  std::erase_if(found, [&](SliceId slice) {
    const SliceId around = rules.context.nesting().parent[slice.row()];
    return around.valid() && enclosing(rules, around, names).valid();
  });
  return found;
}

Duration exposed_in(const RuleContext& rules, const std::vector<SliceId>& found) {
  std::vector<Claim> claims;
  claim_host_work(rules, found, 1.0, claims, {Bucket::input});
  return total(claims);
}

/// What is left of the fetching when so many workers share it, and fetch while the rest of the step
/// runs: the loop waits only where that is shorter.
double left_with(const RuleContext& rules, double workers, Duration fetching, Duration exposed) {
  if (exposed <= Duration{}) return 0;
  const auto rest = static_cast<double>(to_ns(rules.window() - exposed));
  const double waits = static_cast<double>(to_ns(fetching)) / workers - rest;
  return std::clamp(waits / static_cast<double>(to_ns(exposed)), 0.0, 1.0);
}

/// Without the fetch the host would be ahead by as long: claims the idle time behind each fetch in
/// which it has to launch first, up to the next one.
Duration claim_catching_up(const RuleContext& rules, const std::vector<SliceId>& found,
                           double fraction, std::vector<Claim>& claims) {
  const Trace& trace = rules.trace();
  Duration sum{};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Interval fetch = interval_of(trace, found[i]);
    std::vector<Claim> waiting;
    const Duration input = claim_idle(rules, fetch, {Bucket::input}, waiting);
    const Duration ahead = rules.counted(fetch) - input;
    const bool next = i + 1 < found.size() && trace.slices.start[found[i + 1].row()] >= fetch.end;
    const Time until = next ? trace.slices.start[found[i + 1].row()] : Time::max();
    sum += claim_idle(rules, {fetch.end, until},
                      {Bucket::dispatch, Bucket::python, Bucket::launch_latency}, claims, fraction,
                      ahead);
  }
  return sum;
}

bool is_worker(const Trace& trace, const ProcessRun& run) {
  return run.role.valid() && trace.text(run.role) == "loader-worker";
}

bool lives_at(const ProcessRun& run, std::int64_t time) {
  return (run.start_ns == kAbsent || run.start_ns <= time) &&
         (run.end_ns == kAbsent || run.end_ns >= time);
}

/// How many workers the recording shows beside each other, of one process or of all; 0 where it
/// shows none. Each epoch may have new ones: counted is in the middle of each one's life, and the
/// median holds, for an end may be seen after the next ones have begun.
int workers_seen(const Trace& trace, bool of_one) {
  std::vector<ProcessRun> workers;
  std::ranges::copy_if(trace.process_runs, std::back_inserter(workers),
                       [&trace](const ProcessRun& run) { return is_worker(trace, run); });
  constexpr std::size_t kMostAsked = 200;
  std::vector<int> counts;
  for (std::size_t i = 0; i < workers.size(); i += 1 + workers.size() / kMostAsked) {
    const ProcessRun& worker = workers[i];
    const std::int64_t begin = worker.start_ns == kAbsent ? 0 : worker.start_ns;
    const std::int64_t middle =
        worker.end_ns == kAbsent ? begin : std::midpoint(begin, worker.end_ns);
    counts.push_back(static_cast<int>(std::ranges::count_if(workers, [&](const ProcessRun& other) {
      return lives_at(other, middle) && (!of_one || other.parent == worker.parent);
    })));
  }
  if (counts.empty()) return 0;
  const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2);
  std::ranges::nth_element(counts, middle);
  return *middle;
}

/// What the program gave its loader, else what was seen; 0 where neither is known.
int workers_of(const Trace& trace) {
  const Fact* const given = trace.fact("loader.num_workers");
  const std::string_view text = given == nullptr ? "" : json_unquoted(given->value);
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  // What no machine has is damaged.
  constexpr int kMost = 100'000;
  return number > 0 && number <= kMost ? number : workers_seen(trace, true);
}

/// "four workers", "one worker".
std::string workers_text(int workers) {
  constexpr std::array<std::string_view, kWorkers> kWords = {"one worker", "two workers",
                                                             "three workers", "four workers"};
  return std::string(kWords[static_cast<std::size_t>(workers) - 1]);
}

/// Are there as many workers as processors already?
bool at_the_limit(const RuleContext& rules) {
  const std::optional<int> processors = processors_of(rules);
  return processors && workers_seen(rules.trace(), false) >= *processors;
}

/// Does transformers' pipeline make the loader? The program then only calls the pipeline.
bool is_of_pipeline(const Trace& trace) {
  return NameSet(trace,
                 [](std::string_view name) {
                   return name.find("transformers/pipelines/pt_utils.py") != name.npos;
                 })
      .any();
}

/// The loader's batch: as the program gave it, else by the shapes of steps that all fetched as
/// often. 0 where neither is known, as where no steps are marked: one of several fetches may then
/// be for a pass that was not recorded.
std::int64_t batch_of(const RuleContext& rules, std::size_t fetches) {
  // What no loader has is damaged.
  constexpr std::int64_t kMost = 100'000'000;
  std::int64_t given = 0;
  if (const Fact* const fact = rules.trace().fact("loader.batch_size")) {
    const std::string_view text = json_unquoted(fact->value);
    std::from_chars(text.data(), text.data() + text.size(), given);
  }
  if (given > 0 && given <= kMost) return given;
  const std::optional<Batch> batch = find_batch(rules);
  const std::size_t steps = rules.steps.size();
  if (!batch || !batch->samples || steps == 0 || fetches == 0 || fetches % steps != 0) return 0;
  if (rules.context.steps().source == StepSource::whole_trace && fetches > 1) return 0;
  const std::size_t fetches_of_step = fetches / steps;
  const double each = *batch->samples / static_cast<double>(fetches_of_step);
  const bool whole = each >= 1 && each <= static_cast<double>(kMost) && each == std::floor(each);
  return whole ? static_cast<std::int64_t>(each) : 0;
}

Fix fix_of(const RuleContext& rules, bool single, std::size_t fetches) {
  if (single && is_of_pipeline(rules.trace())) {
    return {.text =
                "Give the pipeline workers, which it hands to its loader; they prepare inputs "
                "beside the model. The inputs have to be a list or a dataset with a length: of a "
                "generator only one worker reads. Caveat: each worker copies them.",
            .before = "for out in pipe(dataset):",
            .after = "for out in pipe(dataset, num_workers=" +
                     std::to_string(workers_for(rules, kWorkers)) + "):"};
  }
  const std::string pinned = rules.device >= 0 ? ", pin_memory=True" : "";
  if (single) {
    const std::int64_t batch = batch_of(rules, fetches);
    const std::string loader =
        "DataLoader(dataset, batch_size=" + (batch > 0 ? std::to_string(batch) : "batch_size");
    return {.text =
                "Load in workers, about as many as there are cores for this rank, up to what keeps "
                "the wait at zero.",
            .before = loader + ")",
            .after = loader + ", num_workers=" + std::to_string(workers_for(rules, kWorkers)) +
                     ", persistent_workers=True" + pinned + ")"};
  }
  const int known = workers_of(rules.trace());
  const int now = known > 0 ? known : 2;
  return {
      .text =
          "Use more workers (up to the cores of this rank), a larger prefetch_factor and "
          "persistent_workers=True.",
      .before = "DataLoader(dataset, num_workers=" + std::to_string(now) + ")",
      .after = "DataLoader(dataset, num_workers=" + std::to_string(workers_for(rules, 2 * now)) +
               ", prefetch_factor=4, persistent_workers=True)"};
}

/// The line of the data set, or of what it calls, that has most of the fetching in this process.
std::optional<Evidence> line_of(const RuleContext& rules, const std::vector<SliceId>& fetches) {
  if (fetches.empty()) return std::nullopt;
  const Trace& trace = rules.trace();
  std::vector<Interval> stretches;
  stretches.reserve(fetches.size());
  for (const SliceId fetch : fetches)
    stretches.push_back({trace.slices.start[fetch.row()], trace.slices.end(fetch)});
  return recorded_line(rules, std::move(stretches), trace.slices.track[fetches.front().row()]);
}

bool takes_row(std::string_view name) { return name == "aten::select"; }

/// Operators of a fetch that only takes rows out of tensors and puts them together again.
bool belongs_to_rows(std::string_view name) {
  constexpr auto kNames = std::to_array<std::string_view>({"aten::select",
                                                           "aten::as_strided",
                                                           "aten::stack",
                                                           "aten::cat",
                                                           "aten::empty",
                                                           "aten::item",
                                                           "aten::_local_scalar_dense",
                                                           "aten::unbind",
                                                           "aten::narrow",
                                                           "aten::randperm",
                                                           "aten::random_",
                                                           "aten::resize_",
                                                           "aten::to",
                                                           "aten::set_",
                                                           "aten::fill_",
                                                           "aten::detach",
                                                           "detach",
                                                           "aten::scalar_tensor",
                                                           "aten::resolve_conj",
                                                           "aten::resolve_neg",
                                                           "aten::unsqueeze",
                                                           "aten::view"});
  return std::ranges::find(kNames, name) != kNames.end();
}

/// How many rows of tensors these fetches take, one by one and with nothing else in between; 0
/// where they do more than that. O(operators inside).
std::size_t rows_taken(const RuleContext& rules, const std::vector<SliceId>& fetches) {
  constexpr std::size_t kFewest = 32;                 // Of each fetch.
  constexpr Duration kLongest = duration_ns(50'000);  // With the Python that takes a row.
  const Trace& trace = rules.trace();
  const NameSet rows(trace, takes_row);
  const NameSet known(trace, belongs_to_rows);
  std::size_t taken = 0;
  Duration fetching{};
  for (const SliceId fetch : fetches) {
    fetching += trace.slices.duration[fetch.row()];
    for (const SliceId inside : tree(rules, fetch)) {
      if (inside == fetch || trace.kind(inside) != SliceKind::cpu_op) continue;
      const StringId name = trace.slices.name[inside.row()];
      if (!known.contains(name)) return 0;
      if (rows.contains(name)) ++taken;
    }
  }
  if (taken < kFewest * fetches.size()) return 0;
  return fetching > static_cast<std::int64_t>(taken) * kLongest ? 0 : taken;
}

/// For samples that lie in memory as tensors workers are not the cure: whole batches can be
/// indexed.
Finding make_rows(const RuleContext& rules, const std::vector<SliceId>& found, std::size_t rows) {
  constexpr float kLeft = 0.05F;  // Of the fetching, for one row after another is a batch at once.
  Finding finding;
  finding.component = true;
  finding.key = "rows";
  claim_host_work(rules, found, 1.0 - static_cast<double>(kLeft), finding.claims, {Bucket::input});
  const Duration exposed = whole(finding.claims);
  finding.title = "The data loader takes rows of tensors one by one: " + per_step(rules, exposed);
  finding.family = Family::input;
  finding.weight = weight_of(rules, exposed);
  finding.confidence = Confidence::high;
  finding.effort = Effort::line;
  finding.evidence.push_back(evidence_of(
      rules, found,
      counted_noun(found.size(), "fetch range") + " of _SingleProcessDataLoaderIter, with " +
          count_text(static_cast<std::int64_t>(rows / found.size())) +
          " aten::select each and no other work but putting them together, for " +
          per_step(rules, exposed)));
  finding.counter_evidence =
      "A dataset whose own code wants one index cannot be indexed by a batch. Workers would hide a "
      "part: they take the same rows one by one, and send each batch between processes.";
  const std::int64_t batch = batch_of(rules, found.size());
  const std::string size = batch > 0 ? std::to_string(batch) : "batch_size";
  finding.fix = {
      .text =
          "Index whole batches: with batch_size=None the loader hands the dataset a list of "
          "indices, and a TensorDataset takes all of its rows at once.",
      .before = "DataLoader(dataset, batch_size=" + size + ", shuffle=True)",
      .after = "batches = BatchSampler(RandomSampler(dataset), " + size +
               ", drop_last=False)\nDataLoader(dataset, sampler=batches, batch_size=None)"};
  finding.verify = "fathom accounting TRACE";
  for (const SliceId fetch : found) scale_tree(rules, fetch, kLeft, finding.edits);
  finding.assumption = "a batch is taken at once, for a twentieth of what its rows take";
  finding.pessimism = 0.8;
  return finding;
}

Finding make(const RuleContext& rules, bool single, const std::vector<SliceId>& found,
             Duration exposed) {
  Finding finding;
  finding.component = true;
  finding.key = single ? "none" : "too-few";
  finding.title =
      (single ? "The data loader has no workers: " : "The data loader's workers are too few: ") +
      per_step(rules, exposed);
  finding.family = Family::input;
  finding.weight = weight_of(rules, exposed);
  finding.confidence = single ? Confidence::high : Confidence::medium;
  finding.effort = Effort::flag;
  finding.evidence.push_back(evidence_of(
      rules, found,
      counted_noun(found.size(), "fetch range") + " of " +
          std::string(single ? "_SingleProcessDataLoaderIter" : "_MultiProcessingDataLoaderIter") +
          ", with nothing else running for " + per_step(rules, exposed)));
  finding.counter_evidence =
      single ? "Workers copy the dataset object, take a core each and start slowly: for a dataset "
               "that lies in memory as tensors, indexing it directly is faster."
             : "The first fetch of an epoch waits for workers that only start; "
               "persistent_workers=True avoids that, more workers do not.";
  finding.fix = fix_of(rules, single, found.size());
  finding.verify = "fathom accounting TRACE";
  const int workers = workers_for(rules, kWorkers);
  Duration fetching{};
  for (const SliceId fetch : found) fetching += rules.counted(interval_of(rules.trace(), fetch));
  const double left = single ? left_with(rules, workers, fetching, exposed) : 1.0 / kTwice;
  claim_host_work(rules, found, 1.0 - left, finding.claims, {Bucket::input});
  if (single) {
    const auto ns = static_cast<double>(to_ns(exposed));
    const Duration late = claim_catching_up(rules, found, 1.0 - left, finding.claims);
    finding.evidence.back().text +=
        "; " + workers_text(workers) + (workers == 1 ? " takes" : " take") + " at least " +
        per_step(rules, duration_ns(to_ns(exposed) - std::llround(ns / workers))) + " of that" +
        (late > Duration{} ? ", and up to " + per_step(rules, late) +
                                 " of idle time behind it, in which the host catches up"
                           : "");
  }
  if (std::optional<Evidence> part = dominating_part(rules, found)) {
    finding.evidence.push_back(std::move(*part));
  } else if (std::optional<Evidence> line = single ? line_of(rules, found) : std::nullopt) {
    finding.evidence.push_back(std::move(*line));
  } else if (single) {
    finding.evidence.back().text +=
        "; which function or transform takes it is not recorded" +
        (has_frames(rules) ? "" : ": use " + recording_with(rules.trace(), "with_stack=True"));
  }
  for (const SliceId fetch : found) {
    scale_tree(rules, fetch, static_cast<float>(1.0 / (single ? workers : kTwice)), finding.edits);
    if (single) finding.edits.overlap.push_back(fetch);
  }
  finding.assumption = !single ? "twice the workers deliver twice as fast"
                       : workers == 1
                           ? "one worker fetches ahead; the loop waits where it is slower"
                           : workers_text(workers) +
                                 " fetch ahead and share the fetching; the loop waits "
                                 "where they are slower";
  finding.pessimism = 0.6;
  return finding;
}

Outcome check(const RuleContext& rules) {
  if (only_a_rest(rules)) return Abstention{"a single step without an operator was recorded"};
  const NameSet single_names(rules.trace(), is_single);
  const NameSet multiple_names(rules.trace(), is_multiple);
  const bool single = single_names.any();
  const std::vector<SliceId> found = fetches(rules, single ? single_names : multiple_names);
  if (found.empty()) {
    return Abstention{
        "no fetch of a torch DataLoader is in the counted steps: iterate over the DataLoader while "
        "recording"};
  }
  const Duration exposed = exposed_in(rules, found);
  // Workers that only start let the first batch wait, however many they are.
  const Duration steady =
      single ? exposed : exposed - exposed_in(rules, {costliest(rules.trace(), found).front()});
  // More workers than processors do not load faster.
  if (!single && at_the_limit(rules)) return std::vector<Finding>{};
  if (rules.percent(steady) < (single ? kLeastPercent : kLeastPercentWithWorkers)) {
    return std::vector<Finding>{};
  }
  std::vector<Finding> findings;
  const std::size_t rows = single ? rows_taken(rules, found) : 0;
  findings.push_back(rows > 0 ? make_rows(rules, found, rows)
                              : make(rules, single, found, exposed));
  return findings;
}

}  // namespace
}  // namespace data_loader_workers_rule

Rule data_loader_workers() {
  return {.id = "data-loader-workers",
          .title = "A data loader without workers, or with too few",
          .doc = data_loader_workers_rule::kDoc,
          .check = data_loader_workers_rule::check,
          .without_operators = true};
}

}  // namespace fathom
