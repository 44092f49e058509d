// data-loading: the step waits for its input.
#include <algorithm>
#include <array>
#include <optional>

#include "analysis/structure/stretches.h"
#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/edits.h"
#include "rules/common/evidence.h"
#include "rules/common/fetch_parts.h"
#include "rules/common/names.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/common/worker_starts.h"
#include "rules/rule.h"

namespace fathom {
namespace data_loading_rule {
namespace {

constexpr std::string_view kDoc =
    "A batch that is not ready when the loop asks for it stops everything. Counted is only "
    "fetching that is exposed: the device is idle and its launching thread is inside a data-loader "
    "fetch (without a device: what the main thread spends there). Fetches are PyTorch's own ranges "
    "(enumerate(DataLoader)#…) and annotations that say so (data_loading, dataloader). Fires from "
    "5 % of the step, warns from 10 %, is critical from 20 %. A single-process iterator means "
    "num_workers=0; a multi-process one means that the workers do not keep up. Whether they read "
    "or compute, and the function or transform that takes most of the fetching with its time, is "
    "reported where Python stacks or annotations inside the fetches were recorded. Of torch's own "
    "loader, "
    "data-loader-workers claims what workers would hide; this rule claims what is left of the "
    "fetching. Where most of the waiting is at the end of one iterator with workers and the begin "
    "of "
    "the next, that is the finding. Sources: the former TensorBoard plugin (5 %); TraceML's "
    "INPUT_BOUND (10 and 20 %).";

constexpr double kLeastPercent = 5.0;
/// Workers that the replay assumes for a loader that had none.
constexpr double kWorkers = 4.0;
/// The share of the fetching frames' time that must be reading for it to be named the cause.
constexpr double kMostly = 0.5;

/// Names of frames that wait for storage or the network, not for the processor.
constexpr auto kReading =
    std::to_array<std::string_view>({"open", "read", "recv", "load_file", "fromfile", "urlopen",
                                     "get_object", "time.sleep", "stat"});

bool is_fetch_annotation(std::string_view name) { return name.find("__next__") != name.npos; }

enum class Loader { single, workers, unknown };

struct Found {
  std::vector<SliceId> fetches;  // Outermost.
  std::size_t batches = 0;       // Of these, what iterators hand out.
  Loader loader = Loader::unknown;
};

Loader loader_of(std::string_view name) {
  if (name.find("_SingleProcess") != name.npos) return Loader::single;
  if (name.find("_MultiProcessing") != name.npos) return Loader::workers;
  return Loader::unknown;
}

Found look(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const Phases& phases = rules.context.phases();
  const Column<SliceId>& parent = rules.context.nesting().parent;
  const NameSet iterators(trace, is_fetch_annotation);
  Found found;
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    for (const SliceId slice : thread.slices) {
      if (phases[slice] != Phase::data) continue;
      // Also what began before the first counted step, and reaches into it.
      const bool in_part = rules.counted(interval_of(trace, slice)) > Duration{};
      if (!in_part && !counts(rules, slice)) continue;
      if (iterators.contains(trace.slices.name[slice.row()])) {
        const Loader loader = loader_of(trace.name(slice));
        if (loader != Loader::unknown) found.loader = loader;
      }
      const SliceId around = parent[slice.row()];
      if (around.valid() && phases[around] == Phase::data) continue;
      found.fetches.push_back(slice);
      if (iterators.contains(trace.slices.name[slice.row()])) ++found.batches;
    }
  }
  return found;
}

bool is_reading(std::string_view frame) {
  const CodePlace place = parse_place(frame);
  std::string_view function = place.valid() ? place.function : frame;
  if (function.starts_with("<built-in"))
    function.remove_prefix(std::string_view("<built-in").size());
  return std::ranges::any_of(kReading, [&](std::string_view word) {
    return function.find(word) != std::string_view::npos;
  });
}

/// Share of the fetches' time inside frames that read; unset without frames there, and where
/// workers fetch: the frames of the main thread only show that it waits for them. O(frames).
std::optional<double> reading_share(const RuleContext& rules, const Found& found) {
  if (found.loader == Loader::workers) return {};
  const Trace& trace = rules.trace();
  const NameSet reading(trace, is_reading);
  const Phases& phases = rules.context.phases();
  Duration inside{};
  Duration read{};
  for (const Nesting::Thread& frames : rules.context.nesting().frames) {
    const auto start_of = [&trace](SliceId slice) { return trace.slices.start[slice.row()]; };
    for (const SliceId fetch : found.fetches) {
      if (trace.slices.track[fetch.row()] != frames.track || phases[fetch] != Phase::data) continue;
      const Time end = trace.slices.end(fetch);
      auto frame = std::ranges::lower_bound(frames.slices, start_of(fetch), {}, start_of);
      Time covered = Time::min();
      if (frame != frames.slices.end() && start_of(*frame) < end) {
        inside += trace.slices.duration[fetch.row()];
      }
      for (; frame != frames.slices.end() && start_of(*frame) < end; ++frame) {
        if (start_of(*frame) < covered || !reading.contains(trace.slices.name[frame->row()])) {
          continue;
        }
        covered = std::min(trace.slices.end(*frame), end);
        read += covered - start_of(*frame);
      }
    }
  }
  if (inside <= Duration{}) return {};
  return static_cast<double>(to_ns(read)) / static_cast<double>(to_ns(inside));
}

std::string cause_text(const RuleContext& rules, Loader loader,
                       const std::optional<double>& reading, bool named) {
  if (!reading) {
    if (loader == Loader::workers) {
      return "what the workers do is not recorded: fetch a batch with num_workers=0 to see it";
    }
    const std::string what = named ? "whether it reads or computes is not recorded"
                                   : "which function or transform takes it, and whether it reads "
                                     "or computes, is not recorded";
    return what +
           (has_frames(rules) ? "" : ": use " + recording_with(rules.trace(), "with_stack=True"));
  }
  return percent_text(100 * *reading) + " of the fetching is inside calls that read or wait" +
         (*reading >= kMostly ? ": storage is the limit" : ": the processor is the limit");
}

std::string shared_text(Loader loader) {
  return loader == Loader::unknown
             ? ""
             : ", of which this finding claims what data-loader-workers leaves";
}

/// Whether there are workers, and how many, is another rule's finding where the loader is torch's.
Fix fix_of(const RuleContext& rules, Loader loader, const std::optional<double>& reading) {
  Fix fix;
  if (loader == Loader::unknown) {
    fix.text =
        "Fetch ahead in worker processes (each holds its own copy of the dataset, and costs "
        "a core). ";
    fix.before = "batch = dataset.read(i)";
    fix.after =
        "loader = DataLoader(dataset, num_workers=" + std::to_string(workers_for(rules, 4)) +
        ", persistent_workers=True" + (rules.device >= 0 ? ", pin_memory=True)" : ")");
  }
  if (reading && *reading >= kMostly) {
    fix.text +=
        "Reading is the limit: cache the data in memory, on a RAM disk (/dev/shm) or on local "
        "storage, or pack small files (WebDataset, HDF5, Parquet, LMDB). A RAM disk takes memory "
        "of the machine and is empty after a restart; of HDF5 each worker opens its own file. ";
  } else {
    fix.text += "Where transforms are the limit: do them once and store the result";
    fix.text += rules.device >= 0 ? ", or on the device in batches. " : ", or for whole batches. ";
  }
  fix.text += "Caveat: what is stored or packed must be rebuilt when the transforms change.";
  return fix;
}

/// Is all that was recorded of a loader with workers one fetch? They start with it, and nothing is
/// fetched ahead yet.
bool only_first(const Found& found) {
  return found.loader == Loader::workers && found.batches == 1;
}

std::string title_of(const RuleContext& rules, const Found& found, Duration exposed,
                     Duration fetching) {
  const Loader loader = found.loader;
  if (only_first(found))
    return "The only batch that was recorded is waited for: " + per_step(rules, fetching);
  if (loader == Loader::unknown) return "The step waits for its input: " + per_step(rules, exposed);
  return "Samples are slow to load and prepare: " + per_step(rules, fetching);
}

/// Of torch's own loader, what workers would take away is another finding's.
std::string assumption_of(Loader loader) {
  if (loader == Loader::unknown) {
    return "four workers fetch ahead and share the fetching; the loop waits where they are slower";
  }
  return "samples cost so little that what workers leave of the fetching goes, too";
}

/// What is left of the fetching when there are workers: with none before, their share of it; else
/// twice as many deliver in half the time.
double time_left(const RuleContext& rules, const Found& found, Duration exposed) {
  if (found.loader != Loader::workers) return 1.0 / kWorkers;
  const auto step = static_cast<double>(to_ns(rules.window()));
  const auto waited = static_cast<double>(to_ns(exposed));
  return waited <= 0 ? 0.0 : std::max(0.0, step / 2 - (step - waited)) / waited;
}

/// The fetches in which a loader's workers start or end, where most of the waiting is in them.
std::vector<SliceId> turns(const RuleContext& rules, const Found& found, Duration exposed) {
  if (found.loader != Loader::workers || only_first(found)) return {};
  std::vector<SliceId> turning = turning_fetches(rules, found.fetches);
  std::vector<Claim> claims;
  claim_host_work(rules, turning, 1.0, claims, {Bucket::input});
  if (2 * total(claims) < exposed) turning.clear();
  return turning;
}

/// What is left of a wait for workers where they stay: a first batch is ready, or soon.
constexpr float kLeftOfStart = 0.1F;

/// What is waited for is workers that start and end, not samples that are slow.
void tell_of_turns(const RuleContext& rules, const std::vector<SliceId>& turning,
                   Finding& finding) {
  const Duration all = total(finding.claims);
  finding.claims.clear();
  claim_host_work(rules, turning, 1.0, finding.claims, {Bucket::input});
  const Duration waiting = total(finding.claims);
  finding.edits = {};
  scale_trees(rules, turning, kLeftOfStart, finding.edits);
  finding.cause = kWorkerStarts;
  finding.title = "A loader's workers end and start anew: " + per_step(rules, waiting);
  finding.weight = weight_of(rules, waiting);
  finding.confidence = Confidence::medium;
  finding.effort = Effort::flag;
  finding.evidence.front() = evidence_of(
      rules, turning,
      counted_noun(turning.size(), "fetch range") +
          " at the end or the begin of an iterator over the loader, told by the seed that it "
          "draws; all others together wait for " +
          per_step(rules, all - waiting));
  finding.counter_evidence =
      "Nothing is ready at the begin of an epoch: what workers need for a first batch stays, and "
      "one that is slow to make looks the same.";
  finding.fix = fix_of_worker_starts();
  finding.assumption = "workers that stay have a first batch ready, or soon";
}

Outcome check(const RuleContext& rules) {
  if (only_a_rest(rules)) return Abstention{"a single step without an operator was recorded"};
  const Found found = look(rules);
  if (found.fetches.empty()) {
    return Abstention{
        "no data-loader fetch is in the counted steps: iterate over a torch DataLoader while "
        "recording, or wrap the fetch into record_function(\"data_loading\")"};
  }
  Finding finding;
  claim_host_work(rules, found.fetches, 1.0, finding.claims, {Bucket::input});
  const Duration exposed = total(finding.claims);
  if (rules.percent(exposed) < kLeastPercent) return std::vector<Finding>{};
  const std::optional<double> reading = reading_share(rules, found);
  std::optional<Evidence> part = dominating_part(rules, found.fetches);
  const bool single = found.loader == Loader::single;
  finding.component = true;
  finding.key = single ? "single-process" : found.loader == Loader::workers ? "workers" : "";
  finding.family = Family::input;
  finding.weight = weight_of(rules, exposed);
  finding.confidence = only_first(found) ? Confidence::medium : Confidence::high;
  finding.effort = Effort::refactoring;
  Duration fetching{};
  for (const SliceId fetch : found.fetches) {
    fetching += rules.counted(interval_of(rules.trace(), fetch));
  }
  finding.title = title_of(rules, found, exposed, fetching);
  finding.evidence.push_back(evidence_of(
      rules, found.fetches,
      counted_noun(found.fetches.size(), "fetch range") + ", " + per_step(rules, exposed) +
          " with nothing else running" + shared_text(found.loader) + "; " +
          cause_text(rules, found.loader, reading, part.has_value())));
  if (part) finding.evidence.push_back(std::move(*part));
  finding.counter_evidence = exposed < fetching ? "The device works during " +
                                                      per_step(rules, fetching - exposed) +
                                                      " of the fetching, which costs nothing."
                                                : "All fetching is exposed: no counter-evidence.";
  if (only_first(found)) {
    finding.counter_evidence =
        "A first batch waits for workers that start, and nothing was fetched ahead: later ones may "
        "be waited for less.";
  }
  finding.fix = fix_of(rules, found.loader, reading);
  if (only_first(found)) {
    finding.fix.text =
        "Record later batches first: if they are waited for as long, there are too few workers or "
        "samples are slow; if not, keep the workers from one epoch to the next "
        "(persistent_workers=True). " +
        finding.fix.text;
  }
  finding.verify = "fathom accounting TRACE";
  const double left = time_left(rules, found, exposed);
  for (const SliceId fetch : found.fetches) {
    scale_tree(rules, fetch, static_cast<float>(left), finding.edits);
    if (found.loader != Loader::workers) finding.edits.overlap.push_back(fetch);
  }
  finding.assumption = assumption_of(found.loader);
  if (const std::vector<SliceId> turning = turns(rules, found, exposed); !turning.empty())
    tell_of_turns(rules, turning, finding);
  finding.pessimism = 0.6;
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace data_loading_rule

Rule data_loading() {
  return {.id = "data-loading",
          .title = "Waiting for input",
          .doc = data_loading_rule::kDoc,
          .check = data_loading_rule::check,
          .without_operators = true};
}

}  // namespace fathom
