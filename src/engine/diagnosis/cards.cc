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

/// Percent of the step by which the saving after the others must be above that by itself.
constexpr double kHiddenPercent = 1;

double by_itself(const RankedFinding& ranked) {
  return ranked.gain ? ns(ranked.gain->likely) : ns(ranked.upper_bound);
}

/// What counts of a saving that needs the other changes first, and of one whose cause is not sure;
/// docs/diagnosis-reference.md has how these do on recordings of sources that had no part in them.
constexpr double kAfterOthers = 0.25;
constexpr double kUnsure = 0.5;
/// Orders nothing: a smaller part of the step, in percent, is within what a replay does not know.
constexpr double kTiePercent = 0.5;

double sureness(const RankedFinding& ranked) {
  return ranked.finding.confidence == Confidence::low ? kUnsure : 1.0;
}

/// What it saves by itself, as far as its cause is sure.
double sure_saving(const RankedFinding& ranked) { return sureness(ranked) * by_itself(ranked); }

double worth(const RankedFinding& ranked) {
  const double alone = by_itself(ranked);
  const double last = ranked.after_others ? ns(*ranked.after_others) : alone;
  const double mean = sureness(ranked) * ((1 - kAfterOthers) * alone + kAfterOthers * last);
  return mean < kTiePercent / 100 * ns(ranked.step) ? 0 : mean;
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

/// Rules that find one cause: what recovers the time of one recovers that of the others. Both of
/// the optimizer's are loops over parameters, which its defaults since PyTorch 2.0 are not.
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
    {"zero-grad", "optimizer"},
};
/// Its findings are of one cause where they are about one operator, whatever its shapes.
constexpr std::string_view kByOperator = "hot-kernel";

/// Rules about time in which the device waits for the host: not waiting for a result, doing less
/// between launches and launching less are ways to recover the same time.
constexpr std::string_view kOfHost[] = {"sync-points", "host-work-between-launches", "host-bound",
                                        "cuda-graph-inference"};

/// Is nearly all that `other` is about the time of a card, which claims most of its own?
bool of_the_same_time(const RankedFinding& other, const RankedFinding& card) {
  const auto known = [](const RankedFinding& ranked) {
    return std::ranges::find(kOfHost, ranked.finding.rule) != std::end(kOfHost);
  };
  constexpr double kLeft = 0.2;     // Of what it is about, at most, that others have not claimed.
  constexpr double kClaimed = 0.5;  // Of what the card is about, at least.
  constexpr double kAsMuch = 0.8;   // As `other` is about.
  return known(other) && known(card) && other.finding.rule != card.finding.rule &&
         ns(other.observed) > 0 && ns(other.upper_bound) <= kLeft * ns(other.observed) &&
         ns(card.upper_bound) >= kClaimed * ns(card.observed) &&
         ns(card.observed) >= kAsMuch * ns(other.observed);
}

/// Is `other`, of the same cause, what the card should say? What is next to nothing is not, nor
/// does anything take the place of what the verdict is about.
bool leads_instead(const RankedFinding& other, const RankedFinding& card, VerdictId verdict) {
  const bool save =
      other.part == FindingPart::gain && card.part == FindingPart::gain && worth(other) > 0;
  return save && !stands_first(card, verdict) && sure_saving(other) > sure_saving(card);
}

/// Joins findings of one cause; a remark on the recording never joins what is to be changed.
std::vector<RankedFinding> joined(std::vector<RankedFinding> findings, VerdictId verdict) {
  std::vector<RankedFinding> cards;
  for (RankedFinding& ranked : findings) {
    const std::string_view cause = cause_of(ranked);
    const auto same = [&](const RankedFinding& card) {
      const bool one_cause =
          !cause.empty() && cause_of(card) == cause && of_recording(card) == of_recording(ranked);
      return one_cause || of_the_same_time(ranked, card);
    };
    const auto card = std::ranges::find_if(cards, same);
    if (card == cards.end()) {
      cards.push_back(std::move(ranked));
    } else {
      if (leads_instead(ranked, *card, verdict)) {
        std::swap(ranked, *card);
        std::swap(ranked.alternatives, card->alternatives);
      }
      card->alternatives.push_back(std::move(ranked));
    }
  }
  return cards;
}

/// Of those that save time, brings the one to the front that saves most by itself.
void lead_with_the_largest(std::vector<RankedFinding>& findings) {
  const auto end = std::ranges::find_if(
      findings, [](const RankedFinding& ranked) { return ranked.part != FindingPart::gain; });
  const auto largest = std::ranges::max_element(findings.begin(), end, {}, sure_saving);
  if (largest != end) std::rotate(findings.begin(), largest, largest + 1);
}

/// What takes most of the step stands before a small part of it that nobody knows how to save (time
/// of that part alone is claimed, and no replay predicts what is saved), and before a
/// saving that is a tenth of it or less.
void lead_with_the_bottleneck(std::vector<RankedFinding>& findings) {
  if (findings.empty()) return;
  constexpr double kMost = 50.0;    // Of the step, in percent, at least.
  constexpr double kSmaller = 4.0;  // So many times as much as what it stands before.
  constexpr double kNext = 10.0;    // The same of what a replay predicts.
  const RankedFinding& first = findings.front();
  if (first.part != FindingPart::gain) return;
  const auto about = [](const RankedFinding& ranked) {
    return ranked.part == FindingPart::no_gain ? ranked.finding.about_percent : 0;
  };
  const auto most = std::ranges::max_element(findings, {}, about);
  if (about(*most) < kMost || about(*most) < (first.gain ? kNext : kSmaller) * first.percent)
    return;
  std::rotate(findings.begin(), most, most + 1);
}

void number_quick_wins(std::vector<RankedFinding>& findings) {
  std::vector<RankedFinding*> order;
  for (RankedFinding& ranked : findings) {
    order.push_back(&ranked);
    for (RankedFinding& other : ranked.alternatives) order.push_back(&other);
  }
  std::ranges::stable_sort(order, std::ranges::greater(), [](const RankedFinding* ranked) {
    return by_itself(*ranked) / effort_of(*ranked);
  });
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i]->quick_win = static_cast<std::uint32_t>(i + 1);
}

}  // namespace

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

bool saves_time(const RankedFinding& ranked) {
  return (ranked.gain && to_ns(ranked.gain->likely) > 0) || ranked.percent >= kLeastPercent;
}

bool hides_behind_others(const RankedFinding& ranked) {
  if (!ranked.after_others) return false;
  return ns(*ranked.after_others) - by_itself(ranked) >= kHiddenPercent / 100 * ns(ranked.step);
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
    if (a.finding.weight != b.finding.weight) return a.finding.weight > b.finding.weight;
    return a.upper_bound > b.upper_bound;
  });
  std::ranges::stable_sort(findings, {}, &RankedFinding::part);
  lead_with_the_largest(findings);
  lead_with_the_bottleneck(findings);
  std::stable_partition(findings.begin(), findings.end(), [verdict](const RankedFinding& ranked) {
    return stands_first(ranked, verdict);
  });
  findings = joined(std::move(findings), verdict);
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
