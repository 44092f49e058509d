// Orders findings, joins those of one cause, and numbers those that save time.
#include "engine/diagnosis/cards.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace fathom {
namespace {

/// The findings that stand first whatever they save: what the verdict is about, be it that nothing
/// can be said, and the wrong device.
constexpr std::string_view kFirstUse = "first-use";
constexpr std::string_view kOnCpu = "on-cpu";
constexpr std::string_view kUnexplained = "unexplained";
/// A smaller part of the step, in percent, is as good as none.
constexpr double kLeastPercent = 0.01;

double ns(Duration duration) { return static_cast<double>(to_ns(duration)); }

double worth(const RankedFinding& ranked) {
  return ranked.gain ? ns(ranked.gain->likely) : ns(ranked.upper_bound);
}

/// How many times harder than a flag a change is, in the order of gain per effort.
double effort_of(const RankedFinding& ranked) {
  constexpr double kEffort[] = {1, 2, 8, 30};
  return kEffort[static_cast<std::size_t>(ranked.finding.effort)];
}

bool stands_first(const RankedFinding& ranked, VerdictId verdict) {
  return ranked.finding.key == kOnCpu ||
         (verdict == VerdictId::cannot_tell && ranked.finding.key == kUnexplained) ||
         (verdict == VerdictId::warmup_in_window && ranked.finding.key == kFirstUse);
}

bool of_recording(const RankedFinding& ranked) { return ranked.finding.family == Family::capture; }

FindingPart part_of(const RankedFinding& ranked, VerdictId verdict) {
  if (saves_time(ranked)) return FindingPart::gain;
  return of_recording(ranked) && !stands_first(ranked, verdict) ? FindingPart::capture
                                                                : FindingPart::no_gain;
}

/// Rules that find one cause: what recovers the time of one recovers that of the others.
constexpr std::pair<std::string_view, std::string_view> kCauses[] = {
    {"io-bound-loader", "input"},
    {"data-loader-workers", "input"},
    {"data-loading", "input"},
    {"cuda-graph-inference", "launches"},
    {"host-bound", "launches"},
    {"memory-capacity", "device memory"},
    {"memory-fragmentation", "device memory"},
    {"activations-dominate", "device memory"},
    {"launch-shape", "launch shape"},
    {"warmup-in-window", "warm-up"},
    {"unfused-optimizer", "optimizer"},
};
/// Its findings are of one cause where they are about one operator, whatever its shapes.
constexpr std::string_view kByOperator = "hot-kernel";

/// Empty where a finding shares its cause with no other.
std::string_view cause_of(const RankedFinding& ranked) {
  const Finding& finding = ranked.finding;
  if (!finding.cause.empty()) return finding.cause;
  if (finding.rule == kByOperator) {
    const std::string_view key = finding.key;
    return key.substr(0, key.find(' '));
  }
  const auto* const cause = std::ranges::find(
      kCauses, finding.rule, &std::pair<std::string_view, std::string_view>::first);
  return cause == std::end(kCauses) ? std::string_view() : cause->second;
}

/// Joins findings of one cause; a remark on the recording never joins what is to be changed.
std::vector<RankedFinding> joined(std::vector<RankedFinding> findings) {
  std::vector<RankedFinding> cards;
  for (RankedFinding& ranked : findings) {
    const std::string_view cause = cause_of(ranked);
    const auto same = [&](const RankedFinding& card) {
      return !cause.empty() && cause_of(card) == cause &&
             of_recording(card) == of_recording(ranked);
    };
    const auto card = std::ranges::find_if(cards, same);
    if (card == cards.end()) {
      cards.push_back(std::move(ranked));
    } else {
      card->alternatives.push_back(std::move(ranked));
    }
  }
  return cards;
}

void number_quick_wins(std::vector<RankedFinding>& findings) {
  std::vector<RankedFinding*> order;
  for (RankedFinding& ranked : findings) {
    order.push_back(&ranked);
    for (RankedFinding& other : ranked.alternatives) order.push_back(&other);
  }
  std::ranges::stable_sort(order, std::ranges::greater(), [](const RankedFinding* ranked) {
    return worth(*ranked) / effort_of(*ranked);
  });
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i]->quick_win = static_cast<std::uint32_t>(i + 1);
}

}  // namespace

bool saves_time(const RankedFinding& ranked) {
  return (ranked.gain && to_ns(ranked.gain->likely) > 0) || ranked.percent >= kLeastPercent;
}

std::vector<std::string_view> rules_merged_into(const RankedFinding& card) {
  std::vector<std::string_view> rules;
  for (const RankedFinding& other : card.alternatives) {
    const std::string_view rule = other.finding.rule;
    if (rule != card.finding.rule && std::ranges::find(rules, rule) == rules.end())
      rules.push_back(rule);
  }
  return rules;
}

void make_cards(Diagnosis& diagnosis) {
  const VerdictId verdict = diagnosis.verdict.id;
  std::vector<RankedFinding>& findings = diagnosis.findings;
  for (RankedFinding& ranked : findings) ranked.part = part_of(ranked, verdict);
  std::ranges::stable_sort(findings, [](const RankedFinding& a, const RankedFinding& b) {
    if (worth(a) != worth(b)) return worth(a) > worth(b);
    return a.finding.weight > b.finding.weight;
  });
  std::ranges::stable_sort(findings, {}, &RankedFinding::part);
  std::stable_partition(findings.begin(), findings.end(), [verdict](const RankedFinding& ranked) {
    return stands_first(ranked, verdict);
  });
  findings = joined(std::move(findings));
  std::uint32_t number = 0;
  for (RankedFinding& ranked : findings) {
    if (ranked.part == FindingPart::gain) ranked.number = ++number;
  }
  number_quick_wins(findings);
}

std::vector<std::size_t> quick_wins(const Diagnosis& diagnosis) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < diagnosis.findings.size(); ++i) {
    if (diagnosis.findings[i].number != 0) order.push_back(i);
  }
  std::ranges::stable_sort(order, {},
                           [&](std::size_t i) { return diagnosis.findings[i].quick_win; });
  if (std::ranges::is_sorted(order)) order.clear();
  return order;
}

}  // namespace fathom
