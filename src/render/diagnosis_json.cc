// Writes a diagnosis as JSON.
#include "render/diagnosis_json.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "render/json.h"
#include "render/run_json.h"
#include "render/text_width.h"

namespace fathom {
namespace {

/// A string, of bounded length.
std::string bounded(std::string_view text) { return json_string(shorten_middle(text, kJsonText)); }

/// Names of ours without blanks: "launch_latency".
std::string identifier(std::string_view name) {
  std::string id(name);
  std::ranges::replace(id, ' ', '_');
  return id;
}

/// Writes objects and lists with their commas; every value is JSON already.
class Object {
 public:
  Object& add(std::string_view key, const std::string& json) {
    text_ += (text_.empty() ? "" : ", ") + json_string(key) + ": " + json;
    return *this;
  }
  Object& text(std::string_view key, std::string_view value) { return add(key, bounded(value)); }
  Object& number(std::string_view key, double value) { return add(key, json_value(value)); }
  Object& integer(std::string_view key, std::int64_t value) {
    return add(key, std::to_string(value));
  }
  Object& time(std::string_view key, Duration value) { return integer(key, to_ns(value)); }
  Object& time(std::string_view key, const std::optional<Duration>& value) {
    return value ? time(key, *value) : add(key, "null");
  }
  [[nodiscard]] std::string json() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

/// One element per line.
std::string list(const std::vector<std::string>& elements, const std::string& indent) {
  if (elements.empty()) return "[]";
  std::string out = "[";
  for (std::size_t i = 0; i < elements.size(); ++i) {
    out += (i == 0 ? "\n" : ",\n") + indent + "  " + elements[i];
  }
  return out + "\n" + indent + "]";
}

std::string short_list(const std::vector<std::string>& elements) {
  std::string out = "[";
  for (const std::string& element : elements) out += (out.size() == 1 ? "" : ", ") + element;
  return out + "]";
}

std::string baseline(const Diagnosis& diagnosis) {
  const Summary& step = diagnosis.step_ns;
  const auto whole = [](double ns) { return static_cast<std::int64_t>(std::llround(ns)); };
  Object object;
  object.text("step_name", diagnosis.step_name)
      .text("step_note", diagnosis.step_note)
      .integer("steps", static_cast<std::int64_t>(step.count))
      .integer("steps_left_out", static_cast<std::int64_t>(diagnosis.steps_left_out))
      .integer("step_mean_ns", whole(step.mean))
      .integer("step_median_ns", whole(step.median))
      .integer("step_min_ns", whole(step.min))
      .integer("step_max_ns", whole(step.max))
      .integer("step_stddev_ns", whole(step.stddev))
      .integer("usual_steps", static_cast<std::int64_t>(diagnosis.usual_ns.count))
      .integer("usual_step_ns", whole(diagnosis.usual_ns.mean))
      .time("unprofiled_step_ns", diagnosis.unprofiled_step)
      .add("device", diagnosis.device < 0 ? "null" : std::to_string(diagnosis.device))
      .text("device_name", diagnosis.device_name)
      .integer("devices", static_cast<std::int64_t>(diagnosis.devices));
  return object.json();
}

/// The account over the counted steps together, by bucket.
std::string account_json(const Account& account) {
  Object object;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    const auto bucket = static_cast<Bucket>(i);
    object.time(identifier(to_string(bucket)), account[bucket]);
  }
  return object.json();
}

std::string host_json(const std::array<Duration, kHostBuckets>& host) {
  Object object;
  for (std::size_t i = 0; i < kHostBuckets; ++i) {
    object.time(identifier(to_string(static_cast<HostBucket>(i))), host[i]);
  }
  return object.json();
}

std::string steps_json(const Diagnosis& diagnosis, const std::string& indent) {
  std::vector<std::string> rows;
  for (const StepAccount& step : diagnosis.steps) {
    if (rows.size() == kJsonSteps) break;
    Object object;
    object.integer("step", step.number)
        .integer("start_ns", to_ns(step.window.begin - diagnosis.start))
        .time("window_ns", step.window.length())
        .add("outlier", step.outlier ? "true" : "false");
    object.add("account_ns",
               diagnosis.device >= 0 ? account_json(step.account) : host_json(step.host));
    rows.push_back(object.json());
  }
  return list(rows, indent);
}

std::string verdict_json(const Verdict& verdict) {
  std::vector<std::string> families;
  for (const FamilyTime& family : verdict.families) {
    families.push_back(Object()
                           .text("family", identifier(to_string(family.family)))
                           .time("per_step_ns", family.per_step)
                           .number("percent", family.percent)
                           .json());
  }
  return Object()
      .text("id", to_string(verdict.id))
      .text("sentence", verdict.sentence)
      .add("families", short_list(families))
      .json();
}

std::string evidence_json(const Evidence& evidence, Time start) {
  std::vector<std::string> slices;
  for (const SliceId slice : evidence.slices) slices.push_back(std::to_string(slice.value));
  Object object;
  object.text("text", evidence.text).add("slices", short_list(slices));
  if (evidence.where) {
    object.integer("begin_ns", to_ns(evidence.where->begin - start))
        .integer("end_ns", to_ns(evidence.where->end - start));
  }
  if (!evidence.location.empty()) object.text("location", evidence.location);
  return object.json();
}

/// "flag", where text shows "one flag".
std::string_view effort_name(Effort effort) {
  constexpr std::string_view kPrefix = "one ";
  std::string_view name = to_string(effort);
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  return name;
}

std::string finding_json(const RankedFinding& ranked, const Diagnosis& diagnosis) {
  const Finding& finding = ranked.finding;
  std::vector<std::string> evidence;
  for (const Evidence& each : finding.evidence)
    evidence.push_back(evidence_json(each, diagnosis.start));
  Object object;
  object.text("id", ranked.id)
      .text("rule", finding.rule)
      .text("title", finding.title)
      .text("phase", ranked.phase)
      .text("family", identifier(to_string(finding.family)))
      .text("severity", to_string(finding.weight))
      .text("confidence", to_string(finding.confidence))
      .text("effort", effort_name(finding.effort))
      .time("upper_bound_ns", ranked.upper_bound)
      .time("step_ns", ranked.step)
      .number("step_percent", ranked.percent)
      .integer("quick_win", ranked.quick_win);
  if (ranked.predicted) {
    object.add("predicted_step_ns", Object()
                                        .integer("low", to_ns(ranked.predicted->low))
                                        .integer("likely", to_ns(ranked.predicted->likely))
                                        .integer("high", to_ns(ranked.predicted->high))
                                        .json());
  } else {
    object.add("predicted_step_ns", "null");
  }
  object.time("predicted_unprofiled_step_ns", ranked.unprofiled);
  return object.text("assumption", finding.assumption)
      .add("evidence", short_list(evidence))
      .text("counter_evidence", finding.counter_evidence)
      .add("fix", Object()
                      .text("text", finding.fix.text)
                      .text("before", finding.fix.before)
                      .text("after", finding.fix.after)
                      .json())
      .text("verify", finding.verify)
      .json();
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

std::string health_json(const Health& health, const std::string& indent) {
  std::vector<std::string> checks;
  for (const HealthCheck& check : health.checks) {
    if (check.status < CheckStatus::note) continue;
    checks.push_back(Object()
                         .text("check", check.id)
                         .text("status", to_string(check.status))
                         .text("sentence", check.sentence())
                         .json());
  }
  return list(checks, indent);
}

constexpr std::size_t kJsonRanks = 4096;
constexpr std::size_t kJsonMissing = 50;

std::string rank_json(const RankRow& row) {
  Object object;
  object.text("input", row.input);
  object.add("rank", row.rank ? std::to_string(*row.rank) : "null");
  return object.time("step_mean_ns", row.step)
      .time("communication_ns", row.communication)
      .time("waited_ns", row.waited)
      .time("made_wait_ns", row.made_wait)
      .integer("came_last", static_cast<std::int64_t>(row.last))
      .text("verdict", row.verdict)
      .json();
}

std::string ranks_json(const Ranks& ranks, const std::string& indent) {
  std::vector<std::string> rows;
  for (const RankRow& row : ranks.rows) {
    if (rows.size() < kJsonRanks) rows.push_back(rank_json(row));
  }
  std::vector<std::string> missing;
  for (const std::string& each : ranks.missing) {
    if (missing.size() < kJsonMissing) missing.push_back(bounded(each));
  }
  const auto whole = [](std::size_t number) { return std::to_string(number); };
  return Object()
      .add("diagnosed", whole(ranks.diagnosed))
      .text("why", ranks.why)
      .add("late", ranks.late ? whole(*ranks.late) : "null")
      .number("late_percent", ranks.late_percent)
      .add("compared", whole(ranks.compared))
      .add("not_compared", whole(ranks.not_compared))
      .add("recordings", list(rows, indent))
      .add("missing", short_list(missing))
      .add("missing_total", whole(ranks.missing.size()))
      .json();
}

}  // namespace

std::string render_diagnosis_json(const Diagnosis& diagnosis, std::string_view indent) {
  const std::string outer(indent);
  const std::string inner = outer + "  ";
  std::vector<std::string> findings;
  for (const RankedFinding& ranked : diagnosis.findings) {
    if (findings.size() == kJsonFindings) break;
    findings.push_back(finding_json(ranked, diagnosis));
  }
  std::vector<std::string> rules;
  for (const RuleResult& result : diagnosis.rules) {
    rules.push_back(Object()
                        .text("rule", result.rule)
                        .text("outcome", outcome_name(result.kind))
                        .text("reason", result.reason)
                        .json());
  }
  std::vector<std::string> notes;
  for (const std::string& note : diagnosis.notes) notes.push_back(bounded(note));
  const auto line = [&](std::string_view key, const std::string& json) {
    return inner + json_string(key) + ": " + json;
  };
  std::string out = outer + "{\n";
  out += line("schema", json_string("fathom.diagnosis/1")) + ",\n";
  out += line("input", bounded(diagnosis.input)) + ",\n";
  out += line("baseline", baseline(diagnosis)) + ",\n";
  out += line("health", health_json(diagnosis.health, inner)) + ",\n";
  out += line("account_ns",
              diagnosis.device >= 0 ? account_json(diagnosis.account) : host_json(diagnosis.host)) +
         ",\n";
  out += line("usual_account_ns", diagnosis.device >= 0 ? account_json(diagnosis.usual_account)
                                                        : host_json(diagnosis.usual_host)) +
         ",\n";
  out += line("steps", steps_json(diagnosis, inner)) + ",\n";
  out += line("steps_total", std::to_string(diagnosis.steps.size())) + ",\n";
  out += line("verdict", verdict_json(diagnosis.verdict)) + ",\n";
  out += line("findings", list(findings, inner)) + ",\n";
  out += line("findings_total", std::to_string(diagnosis.findings.size())) + ",\n";
  out += line("rules", list(rules, inner)) + ",\n";
  out += line("replay_residual_percent", json_value(diagnosis.residuals.percent())) + ",\n";
  out +=
      line("focus_next", diagnosis.narrower.empty() ? "null" : bounded(diagnosis.narrower)) + ",\n";
  out += line("run", diagnosis.run ? run_json(*diagnosis.run, inner) : "null") + ",\n";
  out += line("ranks", diagnosis.ranks ? ranks_json(*diagnosis.ranks, inner) : "null") + ",\n";
  out += line("notes", short_list(notes)) + "\n";
  return out + outer + "}";
}

}  // namespace fathom
