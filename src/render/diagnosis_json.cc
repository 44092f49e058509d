// Writes a diagnosis as JSON.
#include "render/diagnosis_json.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/json_writer.h"
#include "engine/diagnosis/harm.h"
#include "render/percentile_text.h"
#include "render/run_json.h"
#include "render/text_width.h"

namespace fathom {
namespace {

std::string bounded(std::string_view text) { return shorten_middle(text, kJsonText); }

/// Names of ours without blanks: "launch_latency".
std::string identifier(std::string_view name) {
  std::string id(name);
  std::ranges::replace_if(
      id, [](char c) { return c == ' ' || c == '-'; }, '_');
  return id;
}

std::optional<std::int64_t> time(const std::optional<Duration>& value) {
  return value ? std::optional(to_ns(*value)) : std::nullopt;
}

std::optional<double> rate(const std::optional<double>& amount, const Summary& step) {
  return amount && step.mean > 0 ? std::optional(*amount / step.mean * 1e9) : std::nullopt;
}

/// Spread, throughput, memory and the costliest operators.
void write_more_of_baseline(JsonWriter& json, const Diagnosis& diagnosis) {
  const Baseline& baseline = diagnosis.baseline;
  const Summary& step = diagnosis.step_ns;
  const Batch batch = baseline.batch.value_or(Batch{});
  json.member("step_p95_ns", whole_percentile(step.p95))
      .member("step_p95_reason", percentile_reason(step.count, 0.95))
      .member("step_first_quartile_ns", to_ns(baseline.first_quartile))
      .member("step_third_quartile_ns", to_ns(baseline.third_quartile))
      .member("step_drift_percent", baseline.drift_percent)
      .member("steps_per_second", rate(1.0, step))
      .member("samples_per_step", batch.samples)
      .member("samples_per_second", rate(batch.samples, step))
      .member("tokens_per_step", batch.tokens)
      .member("tokens_per_second", rate(batch.tokens, step))
      .member("batch_source", bounded(batch.source))
      .member("mfu_percent", baseline.mfu_percent)
      .member("device_busy_percent", baseline.busy_percent)
      .member("utilisation", baseline.utilisation)
      .member("peak_allocated_bytes", baseline.peak_allocated)
      .member("peak_reserved_bytes", baseline.peak_reserved)
      .member("device_memory_bytes", baseline.memory_bytes)
      .member("operators_on", baseline.operators_on_device ? "device" : "host")
      .key("operators")
      .array();
  for (const CostlyOperator& each : baseline.operators) {
    json.object()
        .member("name", bounded(each.name))
        .member("self_ns", to_ns(each.self))
        .member("percent", each.percent)
        .end();
  }
  json.end();
}

void write_baseline(JsonWriter& json, const Diagnosis& diagnosis) {
  const Summary& step = diagnosis.step_ns;
  const auto whole = [](double ns) { return static_cast<std::int64_t>(std::llround(ns)); };
  json.key("baseline")
      .object(kJsonInline)
      .member("step_name", bounded(diagnosis.step_name))
      .member("step_note", bounded(diagnosis.step_note))
      .member("steps", step.count)
      .member("steps_left_out", diagnosis.steps_left_out)
      .member("step_mean_ns", whole(step.mean))
      .member("step_median_ns", whole(step.median))
      .member("step_min_ns", whole(step.min))
      .member("step_max_ns", whole(step.max))
      .member("step_stddev_ns", whole(step.stddev))
      .member("usual_steps", diagnosis.usual_ns.count)
      .member("usual_step_ns", whole(diagnosis.usual_ns.mean))
      .member("unprofiled_step_ns", time(diagnosis.unprofiled_step))
      .member("device", diagnosis.device < 0 ? std::nullopt : std::optional(diagnosis.device))
      .member("device_name", bounded(diagnosis.device_name))
      .member("devices", diagnosis.devices);
  write_more_of_baseline(json, diagnosis);
  json.end();
}

/// The account over the counted steps together, by bucket.
void write_account(JsonWriter& json, const Account& account) {
  json.object(kJsonInline);
  for (std::size_t i = 0; i < kBuckets; ++i) {
    const auto bucket = static_cast<Bucket>(i);
    json.member(identifier(to_string(bucket)), to_ns(account[bucket]));
  }
  json.end();
}

void write_host(JsonWriter& json, const std::array<Duration, kHostBuckets>& host) {
  json.object(kJsonInline);
  for (std::size_t i = 0; i < kHostBuckets; ++i)
    json.member(identifier(to_string(static_cast<HostBucket>(i))), to_ns(host[i]));
  json.end();
}

void write_steps(JsonWriter& json, const Diagnosis& diagnosis) {
  json.key("steps").array();
  std::size_t written = 0;
  for (const StepAccount& step : diagnosis.steps) {
    if (written++ == kJsonSteps) break;
    json.object(kJsonInline)
        .member("step", step.number)
        .member("start_ns", to_ns(step.window.begin - diagnosis.start))
        .member("window_ns", to_ns(step.window.length()))
        .member("outlier", step.outlier)
        .key("account_ns");
    if (diagnosis.device >= 0) {
      write_account(json, step.account);
    } else {
      write_host(json, step.host);
    }
    json.end();
  }
  json.end();
}

void write_verdict(JsonWriter& json, const Verdict& verdict) {
  json.key("verdict")
      .object(kJsonInline)
      .member("id", bounded(to_string(verdict.id)))
      .member("sentence", bounded(verdict.sentence))
      .key("also")
      .array();
  for (const VerdictId each : verdict.also) json.text(bounded(to_string(each)));
  json.end().key("families").array();
  for (const FamilyTime& family : verdict.families) {
    json.object()
        .member("family", identifier(to_string(family.family)))
        .member("per_step_ns", to_ns(family.per_step))
        .member("percent", family.percent)
        .end();
  }
  json.end().end();
}

constexpr std::size_t kJsonAlternatives = 10;

void write_evidence(JsonWriter& json, const Evidence& evidence, Time start) {
  json.object().member("text", bounded(evidence.text)).key("slices").array();
  for (const SliceId slice : evidence.slices) json.integer(slice.value);
  json.end();
  if (evidence.where) {
    json.member("begin_ns", to_ns(evidence.where->begin - start))
        .member("end_ns", to_ns(evidence.where->end - start));
  }
  if (!evidence.location.empty()) json.member("location", bounded(evidence.location));
  json.end();
}

/// "flag", where text shows "one flag".
std::string_view effort_name(Effort effort) {
  constexpr std::string_view kPrefix = "one ";
  std::string_view name = to_string(effort);
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  return name;
}

void write_predicted(JsonWriter& json, const std::optional<RankedFinding::StepTime>& predicted) {
  json.key("predicted_step_ns");
  if (!predicted) {
    json.null();
    return;
  }
  json.object()
      .member("low", to_ns(predicted->low))
      .member("likely", to_ns(predicted->likely))
      .member("high", to_ns(predicted->high))
      .end();
}

/// What the first findings save by one replay of all their changes, or null.
void write_together(JsonWriter& json, const std::optional<Together>& together) {
  json.key("together");
  if (!together) {
    json.null();
    return;
  }
  json.object(kJsonInline).key("numbers").array();
  for (const std::uint32_t number : together->numbers) json.integer(number);
  json.end().member("step_ns", to_ns(together->step));
  write_predicted(json, together->predicted);
  json.end();
}

/// Opens the finding's object and leaves it open.
void begin_finding(JsonWriter& json, const RankedFinding& ranked, const Diagnosis& diagnosis) {
  const Finding& finding = ranked.finding;
  json.object(kJsonInline)
      .member("id", bounded(ranked.id))
      .member("rule", bounded(finding.rule))
      .member("title", bounded(finding.title))
      .member("phase", bounded(ranked.phase))
      .member("family", identifier(to_string(finding.family)))
      .member("severity", to_string(finding.weight))
      .member("confidence", to_string(finding.confidence))
      .member("effort", effort_name(finding.effort))
      .member("observed_ns", to_ns(ranked.observed))
      .member("upper_bound_ns", to_ns(ranked.upper_bound))
      .member("step_ns", to_ns(ranked.step))
      .member("step_percent", ranked.percent)
      .member("quick_win", ranked.quick_win);
  write_predicted(json, ranked.predicted);
  json.member("predicted_unprofiled_step_ns", time(ranked.unprofiled))
      .member("saves_after_others_ns", time(ranked.after_others))
      .member("assumption", bounded(finding.assumption))
      .key("evidence")
      .array();
  for (const Evidence& each : finding.evidence) write_evidence(json, each, diagnosis.start);
  json.end()
      .member("counter_evidence", bounded(finding.counter_evidence))
      .key("fix")
      .object()
      .member("text", bounded(finding.fix.text))
      .member("before", bounded(finding.fix.before))
      .member("after", bounded(finding.fix.after))
      .end()
      .member("verify", bounded(finding.verify))
      .member("part", to_string(ranked.part))
      .member("number", ranked.number == 0 ? std::nullopt : std::optional(ranked.number));
}

/// A card: the first finding of a cause, and the others as its alternatives.
void write_card(JsonWriter& json, const RankedFinding& card, const Diagnosis& diagnosis) {
  begin_finding(json, card, diagnosis);
  json.key("also").array();
  for (const std::string_view rule : rules_merged_into(card)) json.text(bounded(rule));
  json.end().key("alternatives").array();
  for (std::size_t i = 0; i < std::min(card.alternatives.size(), kJsonAlternatives); ++i) {
    begin_finding(json, card.alternatives[i], diagnosis);
    json.end();
  }
  json.end().end();
}

std::string_view outcome_name(RuleResult::Kind kind) {
  switch (kind) {
    case RuleResult::Kind::found:
      return "found";
    case RuleResult::Kind::silent:
      return "silent";
    case RuleResult::Kind::abstained:
      return "abstained";
  }
  return "";
}

void write_rules(JsonWriter& json, const Diagnosis& diagnosis) {
  json.key("rules").array();
  for (const RuleResult& result : diagnosis.rules) {
    json.object(kJsonInline)
        .member("rule", bounded(result.rule))
        .member("outcome", outcome_name(result.kind))
        .member("reason", bounded(result.reason))
        .end();
  }
  json.end();
}

void write_health(JsonWriter& json, const Health& health) {
  json.key("health").array();
  for (const HealthCheck& check : health.checks) {
    if (check.status < CheckStatus::note) continue;
    json.object(kJsonInline)
        .member("check", bounded(check.id))
        .member("status", to_string(check.status))
        .member("sentence", bounded(check.sentence()))
        .key("harms")
        .array();
    for (const std::string_view number : harmed_by(check)) json.text(number);
    json.end().end();
  }
  json.end();
}

void write_checklist(JsonWriter& json, const Diagnosis& diagnosis) {
  json.key("checklist").array();
  for (const ChecklistItem& item : diagnosis.checklist) {
    json.object(kJsonInline)
        .member("id", bounded(item.id))
        .member("title", bounded(item.title))
        .member("status", to_string(item.status))
        .member("reason", bounded(item.reason))
        .end();
  }
  json.end();
}

constexpr std::size_t kJsonRanks = 4096;
constexpr std::size_t kJsonMissing = 50;

void write_rank(JsonWriter& json, const RankRow& row) {
  json.object(kJsonInline)
      .member("input", bounded(row.input))
      .member("rank", row.rank)
      .member("step_mean_ns", time(row.step))
      .member("communication_ns", time(row.communication))
      .member("waited_ns", time(row.waited))
      .member("made_wait_ns", time(row.made_wait))
      .member("came_last", row.last)
      .member("verdict", bounded(row.verdict))
      .key("waits")
      .array();
  for (std::size_t i = 0; i < std::min(row.waits.size(), kJsonSteps); ++i) {
    json.object(kJsonInline)
        .member("step", row.waits[i].step)
        .member("waited_ns", time(row.waits[i].waited))
        .end();
  }
  json.end().end();
}

/// An object in a line, but for the list of recordings.
void write_ranks(JsonWriter& json, const Ranks& ranks) {
  json.object(kJsonInline)
      .member("diagnosed", ranks.diagnosed)
      .member("why", bounded(ranks.why))
      .member("late", ranks.late)
      .member("late_percent", ranks.late_percent)
      .member("compared", ranks.compared)
      .member("not_compared", ranks.not_compared)
      .key("recordings")
      .array(kJsonLines);
  for (std::size_t i = 0; i < std::min(ranks.rows.size(), kJsonRanks); ++i)
    write_rank(json, ranks.rows[i]);
  json.end().key("missing").array();
  for (std::size_t i = 0; i < std::min(ranks.missing.size(), kJsonMissing); ++i)
    json.text(bounded(ranks.missing[i]));
  json.end().member("missing_total", ranks.missing.size()).end();
}

}  // namespace

std::string render_diagnosis_json(const Diagnosis& diagnosis, std::string_view indent) {
  const bool device = diagnosis.device >= 0;
  const auto account = [&](JsonWriter& json, const Account& of_device, const auto& of_host) {
    if (device) {
      write_account(json, of_device);
    } else {
      write_host(json, of_host);
    }
  };
  std::string out(indent);
  JsonWriter json(out, kJsonLines, indent);
  json.object().member("schema", "fathom.diagnosis/1").member("input", bounded(diagnosis.input));
  write_baseline(json, diagnosis);
  write_health(json, diagnosis.health);
  write_checklist(json, diagnosis);
  account(json.key("account_ns"), diagnosis.account, diagnosis.host);
  account(json.key("usual_account_ns"), diagnosis.usual_account, diagnosis.usual_host);
  write_steps(json, diagnosis);
  json.member("steps_total", diagnosis.steps.size());
  write_verdict(json, diagnosis.verdict);
  json.key("findings").array();
  for (std::size_t i = 0; i < std::min(diagnosis.findings.size(), kJsonFindings); ++i)
    write_card(json, diagnosis.findings[i], diagnosis);
  json.end().member("findings_total", diagnosis.findings.size());
  write_together(json, diagnosis.together);
  write_rules(json, diagnosis);
  json.member("replay_residual_percent", diagnosis.residuals.percent());
  json.key("focus_next");
  if (diagnosis.narrower.empty()) {
    json.null();
  } else {
    json.text(bounded(diagnosis.narrower));
  }
  json.key("run");
  if (diagnosis.run) {
    write_run(json, *diagnosis.run);
  } else {
    json.null();
  }
  json.key("ranks");
  if (diagnosis.ranks) {
    write_ranks(json, *diagnosis.ranks);
  } else {
    json.null();
  }
  json.key("notes").array(kJsonInline);
  for (const std::string& note : diagnosis.notes) json.text(bounded(note));
  json.end().end();
  return out;
}

}  // namespace fathom
