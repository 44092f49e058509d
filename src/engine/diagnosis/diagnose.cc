// Diagnoses a recording: runs the rules, divides the step, predicts savings.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "analysis/machine/recording_overhead.h"
#include "analysis/machine/thread_time.h"
#include "analysis/pipeline_fill.h"
#include "base/parallel.h"
#include "base/quantity_text.h"
#include "engine/diagnosis/busy_machine.h"
#include "engine/diagnosis/cards.h"
#include "engine/diagnosis/diagnosis.h"
#include "engine/diagnosis/divide.h"
#include "engine/diagnosis/focus.h"
#include "engine/diagnosis/function_notes.h"
#include "engine/diagnosis/judged_steps.h"
#include "engine/diagnosis/narrow.h"
#include "engine/diagnosis/overhead_note.h"
#include "engine/diagnosis/predict.h"
#include "engine/diagnosis/verdict.h"
#include "rules/common/evidence.h"
#include "rules/common/outliers.h"
#include "rules/common/recording_cost.h"

namespace fathom {
namespace {

/// A first step that is longer than this multiple of the median is warm-up.
constexpr double kWarmup = 1.5;

double ns(Duration duration) { return static_cast<double>(to_ns(duration)); }

Summary summary_of(const std::vector<const Step*>& steps) {
  std::vector<double> lengths;
  lengths.reserve(steps.size());
  for (const Step* const step : steps) lengths.push_back(ns(step->window.length()));
  return summarize(std::move(lengths));
}

/// Takes the leading steps away that are longer than usual.
void drop_warmup(std::vector<const Step*>& steps) {
  const double limit = kWarmup * summary_of(steps).median;
  const Duration median = duration_ns(std::llround(limit / kWarmup));
  const auto usual = [&](const Step* step) {
    const bool first = step == steps.front();
    return ns(first ? length_without_fill(*step, median) : step->window.length()) <= limit;
  };
  steps.erase(steps.begin(), std::ranges::find_if(steps, usual));
}

/// Cuts the main thread's time by step. Steps of one process are disjoint and in order.
void account_host(const RuleContext& rules, Diagnosis& diagnosis) {
  const std::vector<HostPiece>& pieces = rules.accounting.host;
  const Phases& phases = rules.context.phases();
  std::vector<Duration> ranges(phases.ranges.size());
  for (StepAccount& step : diagnosis.steps) {
    auto piece = std::ranges::upper_bound(pieces, step.window.begin, {},
                                          [](const HostPiece& each) { return each.interval.end; });
    for (; piece != pieces.end() && piece->interval.begin < step.window.end; ++piece) {
      const Duration time = std::min(piece->interval.end, step.window.end) -
                            std::max(piece->interval.begin, step.window.begin);
      const auto bucket = static_cast<std::size_t>(piece->bucket);
      step.host[bucket] += time;
      diagnosis.host[bucket] += time;
      if (step.outlier) continue;
      diagnosis.usual_host[bucket] += time;
      if (piece->bucket != HostBucket::other_operators || !piece->op.valid()) continue;
      const std::size_t range = phases.range(piece->op);
      if (range != Phases::kNoRange) ranges[range] += time;
    }
  }
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i] <= Duration{}) continue;
    const StringId name = phases.ranges[i].name;
    diagnosis.usual_ranges.push_back({std::string(rules.trace().text(name)), ranges[i]});
  }
  std::ranges::stable_sort(diagnosis.usual_ranges, std::ranges::greater(), &RangeTime::time);
}

void account_steps(const RuleContext& rules, const Outliers& outliers, Diagnosis& diagnosis) {
  for (const Step* const step : rules.steps) {
    StepAccount account{.number = step->number,
                        .window = step->window,
                        .account = {},
                        .outlier = outliers.has(step)};
    if (rules.device >= 0) {
      account.account =
          fathom::account(rules.context, rules.accounting, rules.device, step->window);
      diagnosis.account += account.account;
      if (!account.outlier) diagnosis.usual_account += account.account;
    }
    diagnosis.steps.push_back(account);
  }
  if (!rules.accounting.host.empty()) account_host(rules, diagnosis);
}

std::string_view phase_of(const Finding& finding) {
  if (finding.family == Family::capture) return "capture";
  if (finding.component) return "component";
  if (!finding.key.empty()) return "operation";
  return finding.claims.empty() ? "bottleneck" : "component";
}

/// Numbers what comes again, such as two strides of one shape.
class FindingIds {
 public:
  std::string next(const Finding& finding) {
    std::string id = std::string(finding.rule) + (finding.key.empty() ? "" : "/" + finding.key);
    std::string numbered = id;
    for (int number = 2; !given_.insert(numbered).second; ++number)
      numbered = id + "/" + std::to_string(number);
    return numbered;
  }

 private:
  std::set<std::string> given_;
};

/// What rules are shown: all counted steps, or those that are no outliers.
struct Judged {
  const RuleContext& every;
  const RuleContext& usual;
  [[nodiscard]] const RuleContext& by(const Rule& rule) const {
    return rule.every_step ? every : usual;
  }
};

/// Asks every rule; outcomes in the order of the table.
std::vector<Outcome> ask_rules(const Judged& judged) {
  std::vector<Outcome> outcomes(all_rules().size());
  for_each_in_parallel(outcomes.size(), 0, [&](std::size_t i) {
    const Rule& rule = all_rules()[i];
    outcomes[i] = rule.check(judged.by(rule));
  });
  return outcomes;
}

/// A finding's title has all its time; where findings before it were granted a part that matters,
/// its last evidence has how much.
void say_what_is_shared(const RuleContext& rules, Duration shared, RankedFinding& ranked) {
  constexpr double kLeastPercent = 1.0;  // Of the step.
  constexpr double kLeastPart = 0.1;     // Of what the finding is about.
  std::vector<Evidence>& evidence = ranked.finding.evidence;
  if (evidence.empty() || rules.percent(shared) < kLeastPercent) return;
  if (ns(ranked.shared) < kLeastPart * ns(ranked.observed)) return;
  evidence.push_back(
      {.text = per_step(rules, shared) + " of its time is counted for other findings"});
}

/// Hears the rules in the order of the table: the specific before the general,
/// so that the ledger gives a stretch of time to whoever explains it best.
void run_rules(const Judged& judged, Diagnosis& diagnosis) {
  Ledger ledger(judged.every);
  FindingIds ids;
  std::vector<Outcome> outcomes = ask_rules(judged);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const Rule& rule = all_rules()[i];
    const RuleContext& rules = judged.by(rule);
    const auto steps = static_cast<std::int64_t>(rules.steps.size());
    Outcome& outcome = outcomes[i];
    RuleResult result{.rule = rule.id, .kind = RuleResult::Kind::silent, .reason = {}};
    if (auto* const abstention = std::get_if<Abstention>(&outcome)) {
      result.kind = RuleResult::Kind::abstained;
      result.reason = std::move(abstention->reason);
    } else {
      for (Finding& finding : std::get<std::vector<Finding>>(outcome)) {
        RankedFinding ranked;
        ranked.phase = phase_of(finding);
        ranked.observed = ledger.observed(finding.claims) / steps;
        const Ledger::Granted granted = ledger.grant(finding.claims);
        ranked.upper_bound = granted.time / steps;
        ranked.shared = granted.shared / steps;
        ranked.percent = rules.percent(ranked.upper_bound * steps);
        if (ranked.percent < finding.least_percent) continue;
        result.kind = RuleResult::Kind::found;
        finding.rule = rule.id;
        ranked.id = ids.next(finding);
        ranked.step = rules.window() / steps;
        ranked.finding = std::move(finding);
        say_what_is_shared(rules, granted.shared, ranked);
        diagnosis.findings.push_back(std::move(ranked));
      }
    }
    diagnosis.rules.push_back(std::move(result));
  }
}

/// What rules are shown, and what that refers to.
struct Gathered {
  Gathered(const Context& context, const std::vector<const Step*>& steps)
      : device(judged_device(context, steps)),
        syncs(compute_syncs(context)),
        sites(context),
        roofline(compute_roofline(context)),
        // Only the host's own time can be blamed where no device was recorded.
        self(device < 0 ? self_times(context.trace, context.nesting()) : Column<Duration>()),
        rules{.context = context,
              .accounting = context.accounting(),
              .roofline = roofline,
              .syncs = syncs,
              .sites = sites,
              .self_times = self,
              .steps = steps,
              .device = device},
        outliers(find_outliers(rules.steps)),
        usual(rules) {
    std::erase_if(usual.steps, [this](const Step* step) { return outliers.has(step); });
  }
  Gathered(const Gathered&) = delete;
  Gathered& operator=(const Gathered&) = delete;

  const std::int32_t device;
  const std::vector<SyncCall> syncs;
  const CallSites sites;
  const Roofline roofline;
  const Column<Duration> self;
  const RuleContext rules;  ///< Of all steps that count.
  const Outliers outliers;
  RuleContext usual;  ///< Of all but the outliers.
};

/// Is it the device's own work that bounds the steps?
bool is_computing(const Verdict& verdict) {
  return verdict.id == VerdictId::compute_bound ||
         verdict.id == VerdictId::memory_bandwidth_bound || verdict.id == VerdictId::latency_bound;
}

/// What the outliers are left out of.
std::string outliers_note(const Diagnosis& diagnosis, const Outliers& outliers) {
  const std::size_t count = outliers.steps.size();
  const std::string which = count == 1
                                ? "Step " + std::to_string(outliers.steps.front()->number) + " ("
                                : std::to_string(count) + " of " +
                                      std::to_string(diagnosis.step_ns.count) + " steps (up to ";
  return which + duration_text(duration_ns(std::llround(diagnosis.step_ns.max))) +
         (count == 1 ? ") is" : ") are") +
         " far longer than the median: the bar, the verdict and most predicted savings leave " +
         (count == 1 ? "it" : "them") + " out.";
}

void describe(const Context& context, const RuleContext& rules, const std::string& focus,
              Diagnosis& diagnosis) {
  const Steps& steps = context.steps();
  if (focus.empty()) {
    diagnosis.step_name = steps.source == StepSource::whole_trace ? "" : steps.name;
    diagnosis.step_note = steps.note;
    diagnosis.steps_left_out = steps.steps.size() - rules.steps.size();
  } else {
    diagnosis.step_name = focus;
    diagnosis.step_note = "A step is a call of " + focus + ", with all that it launched.";
  }
  diagnosis.step_ns = summary_of(rules.steps);
  diagnosis.device = rules.device;
  diagnosis.devices = context.timelines().devices.size();
  if (const Device* const device = context.trace.device(rules.device)) {
    diagnosis.device_name = device->name;
  }
}

/// What the main thread did while no operator ran, where that matters.
std::string python_note(const Trace& trace, const Diagnosis& diagnosis) {
  constexpr double kLeast = 0.05;
  const std::optional<ThreadTime> time = thread_time(trace);
  if (!time || diagnosis.device >= 0 || diagnosis.step_name.empty()) return {};
  Duration whole{};
  for (const Duration part : diagnosis.usual_host) whole += part;
  if (whole <= Duration{}) return {};
  const double share =
      ns(diagnosis.usual_host[static_cast<std::size_t>(HostBucket::python)]) / ns(whole);
  if (share < kLeast) return {};
  const bool requests = diagnosis.run && diagnosis.run->request_time;
  return "Python, " + percent_text(100 * share) + (requests ? " of the request" : " of the step") +
         ", is: " + python_split(*time, share) +
         (requests ? " (by the threads' processor time in "
                   : " (by the thread's processor time in ") +
         count_text(time->steps) + (requests ? " requests)." : " steps).");
}

/// What else keeps threads from running: who waits for a lock wants a processor now and then, so
/// beside one of these another may matter. "" where none was found.
std::string beside_the_threads(const std::vector<RankedFinding>& findings, VerdictId id) {
  constexpr std::pair<std::string_view, VerdictId> kRules[] = {
      {"gil-contention", VerdictId::gil_contention},
      {"too-few-cores", VerdictId::too_few_cores},
      {"lock-contention", VerdictId::lock_contention},
  };
  if (std::ranges::find(kRules, id, [](const auto& rule) { return rule.second; }) ==
      std::end(kRules))
    return {};
  std::string text;
  for (const auto& [rule, of_rule] : kRules) {
    const auto found = std::ranges::find_if(findings, [&rule = rule](const RankedFinding& ranked) {
      return ranked.finding.rule == rule;
    });
    if (of_rule != id && found != findings.end()) text += " " + found->finding.title + ".";
  }
  return text;
}

/// Of rules that judge by samples of threads, the first that found what weighs most: in this order,
/// for who waits for the interpreter's lock wants a processor now and then, and who has too few of
/// them computes as well.
std::optional<Verdict> verdict_by_samples(const std::vector<RankedFinding>& findings) {
  constexpr std::pair<std::string_view, VerdictId> kRules[] = {
      {"gil-contention", VerdictId::gil_contention},
      {"too-few-cores", VerdictId::too_few_cores},
      {"lock-contention", VerdictId::lock_contention},
      {"blocked-event-loop", VerdictId::blocked_event_loop},
      {"cpu-bound", VerdictId::cpu_bound},
      {"waiting", VerdictId::waiting},
  };
  for (const auto& [rule, id] : kRules) {
    const auto found = std::ranges::find_if(findings, [&rule = rule](const RankedFinding& ranked) {
      return ranked.finding.rule == rule && ranked.finding.weight == Weight::critical;
    });
    if (found == findings.end()) continue;
    Verdict verdict;
    verdict.id = id;
    verdict.sentence = found->finding.title + "." + beside_the_threads(findings, id);
    return verdict;
  }
  return {};
}

/// For a program in which no operators were recorded: findings that need none, and no verdict but
/// that it waits for its loader, or what samples of its threads show.
void keep_what_needs_no_operators(Diagnosis& diagnosis) {
  std::erase_if(diagnosis.findings, [](const RankedFinding& found) {
    return !find_rule(found.finding.rule)->without_operators;
  });
  const VerdictId id = diagnosis.verdict.id;
  if (id == VerdictId::input_bound || id == VerdictId::io_bound) return;
  if (std::optional<Verdict> sampled = verdict_by_samples(diagnosis.findings)) {
    diagnosis.verdict = std::move(*sampled);
  } else {
    diagnosis.verdict = {.id = VerdictId::cannot_tell, .sentence = plain_verdict(*diagnosis.run)};
  }
  diagnosis.host.fill(Duration{});
  diagnosis.usual_host.fill(Duration{});
  diagnosis.usual_ranges.clear();
}

/// What to look at where another profiler recorded functions or stacks and nothing else.
std::string_view table_of_profile(const Trace& trace) {
  if (trace.slices.size() > 0 || !trace.process_runs.empty()) return {};
  if (!trace.stack_samples.empty()) return "hot";
  return only_functions(trace) ? "functions" : std::string_view();
}

}  // namespace

std::string_view to_string(VerdictId verdict) {
  constexpr std::string_view kNames[] = {
      "input-bound",
      "io-bound",
      "host-bound",
      "sync-bound",
      "transfer-bound",
      "communication-bound",
      "straggler",
      "allocation-bound",
      "warmup-in-window",
      "compute-bound",
      "memory-bandwidth-bound",
      "latency-bound",
      "memory-capacity-bound",
      "physically-limited",
      "balanced",
      "too-few-cores",
      "gil-contention",
      "lock-contention",
      "blocked-event-loop",
      "cpu-bound",
      "waiting",
      "cannot-tell",
  };
  return kNames[static_cast<std::size_t>(verdict)];
}

std::string_view to_string(FindingPart part) {
  constexpr std::string_view kNames[] = {"gain", "no_gain", "capture"};
  return kNames[static_cast<std::size_t>(part)];
}

Result<Diagnosis> diagnose(const Session& session, const DiagnosisRequest& request) {
  Result<Selection> selection = session.select({.steps = request.steps,
                                                .device = request.device,
                                                .window = request.window,
                                                .options = {},
                                                .query = {}});
  if (!selection) return std::move(selection).error();
  const TableOptions options{.peaks = request.peaks};
  const Context context{session.trace(), session.analyses(), *selection, options};

  Diagnosis diagnosis;
  diagnosis.input = session.input();
  diagnosis.start = session.trace().span.begin;
  // Phases need no launches, which are matched meanwhile.
  both_in_parallel([&] { static_cast<void>(context.links()); },
                   [&] { static_cast<void>(context.phases()); });
  std::vector<Step> focused;
  if (!request.focus.empty()) {
    Result<std::vector<Step>> found = focus_steps(context, request.focus);
    if (!found) return std::move(found).error();
    focused = std::move(*found);
  }
  const std::vector<Step>& all = focused.empty() ? context.steps().steps : focused;
  std::vector<const Step*> steps = judged_steps(context, focused);
  if (request.exclude_warmup) drop_warmup(steps);
  std::optional<Replay> replay;
  std::optional<Gathered> gathered;
  // The graph takes about as long as the rules, which do without it.
  both_in_parallel(
      [&] {
        if (!steps.empty()) replay.emplace(Replay::for_predictions(context, all, steps));
      },
      [&] {
        diagnosis.health = compute_health(context);
        gathered.emplace(context, steps);
        diagnosis.usual_ns = summary_of(gathered->usual.steps);
        describe(context, gathered->rules, request.focus, diagnosis);
        account_steps(gathered->rules, gathered->outliers, diagnosis);
        diagnosis.baseline = compute_baseline(gathered->rules);
        // A part's calls are no steps: the table of operators is of all that was selected.
        if (!request.focus.empty()) diagnosis.baseline.operators.clear();
        if (!steps.empty())
          run_rules({.every = gathered->rules, .usual = gathered->usual}, diagnosis);
      });
  const RuleContext& rules = gathered->rules;
  const RuleContext& usual = gathered->usual;
  const Outliers& outliers = gathered->outliers;
  const std::int32_t device = rules.device;
  if (replay) {
    diagnosis.residuals = replay->residuals();
    predict(usual, outliers, *replay, diagnosis);
    doubt_operators(context.trace, rules.steps, device, diagnosis.findings);
  }
  diagnosis.verdict = judge(usual, spent_by_family(usual), diagnosis.findings);
  diagnosis.baseline.busy_percent = busy_percent(usual);
  if (diagnosis.verdict.id != VerdictId::cannot_tell)
    diagnosis.baseline.utilisation = utilisation_sentence(diagnosis.baseline.busy_percent);
  diagnosis.rank_calls = rank_calls(usual);
  diagnosis.run = summarize_run(context, request.price_per_kwh, request.carbon_g_per_kwh);
  if (diagnosis.run && diagnosis.run->plain) keep_what_needs_no_operators(diagnosis);
  make_cards(diagnosis);
  if (replay) predict_together(usual, outliers, *replay, diagnosis);
  diagnosis.checklist = make_checklist(rules, diagnosis);
  const std::optional<RecordingOverhead> measured = recording_overhead(context.trace);
  const std::string overhead = overhead_note(
      context.trace, diagnosis.verdict.id, !measured || may_be_due_to_recording(rules, *measured));
  if (!overhead.empty()) diagnosis.notes.push_back(overhead);
  const std::string python = python_note(context.trace, diagnosis);
  if (!python.empty()) diagnosis.notes.push_back(python);
  if (!outliers.steps.empty()) diagnosis.notes.push_back(outliers_note(diagnosis, outliers));
  for (std::string& note : function_notes(context.trace))
    diagnosis.notes.push_back(std::move(note));
  diagnosis.profile = table_of_profile(context.trace);
  diagnosis.narrower =
      narrower_name(context, usual.steps, device, !is_computing(diagnosis.verdict));
  return diagnosis;
}

}  // namespace fathom
