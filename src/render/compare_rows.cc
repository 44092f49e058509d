// Puts the numbers of a comparison into words.
#include "render/compare_rows.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <string_view>
#include <unordered_set>

#include "base/quantity_text.h"
#include "render/text_width.h"

namespace fathom {
namespace {

constexpr std::size_t kNamesOfCause = 3;
constexpr std::size_t kLongestName = 60;

std::string per_step(std::int64_t sum_ns, std::int64_t steps) {
  return duration_text(
      duration_ns(std::llround(static_cast<double>(sum_ns) / static_cast<double>(steps))));
}

ChangeLine line_of(const Comparison& comparison, const ComparedPart& part, std::string what) {
  return {.change_ns = part.change_ns,
          .what = std::move(what),
          .base = per_step(part.base_sum_ns, comparison.base.steps),
          .now = per_step(part.new_sum_ns, comparison.now.steps)};
}

/// Keeps the first ones; what is beyond becomes one line before it.
void fold(std::vector<ChangeLine>& lines, std::size_t limit, std::string_view things) {
  if (lines.size() <= std::max<std::size_t>(limit, 1)) return;
  const std::size_t kept = std::max<std::size_t>(limit, 1) - 1;
  std::int64_t rest = 0;
  std::size_t folded = 0;
  for (std::size_t i = kept; i < lines.size(); ++i) {
    if (lines[i].is_part) continue;
    rest += lines[i].change_ns;
    ++folded;
  }
  lines.resize(kept);
  if (folded == 0) return;
  lines.push_back({.change_ns = rest,
                   .what = std::to_string(folded) + " other " + std::string(things),
                   .base = {},
                   .now = {}});
}

std::string amount(std::int64_t value, std::int64_t steps, const ComparedCounter& counter) {
  const std::int64_t parts = counter.per_step ? steps : 1;
  const bool whole = value % parts == 0;
  const double each = static_cast<double>(value) / static_cast<double>(parts);
  if (counter.unit == "bytes") return bytes_text(std::llround(each));
  return whole ? count_text(value / parts) : real_text(each);
}

std::string amount(const std::optional<std::int64_t>& value, std::int64_t steps,
                   const ComparedCounter& counter) {
  return value ? amount(*value, steps, counter) : std::string(kNoValue);
}

/// " (+12 B)" where both numbers are written alike and are not the same; else "".
std::string small_difference(const Comparison& comparison, const ComparedCounter& counter) {
  if (!counter.base || !counter.now ||
      amount(counter.base, comparison.base.steps, counter) !=
          amount(counter.now, comparison.now.steps, counter))
    return {};
  const auto each = [&counter](std::int64_t value, std::int64_t steps) {
    return static_cast<double>(value) / static_cast<double>(counter.per_step ? steps : 1);
  };
  const double more =
      each(*counter.now, comparison.now.steps) - each(*counter.base, comparison.base.steps);
  const double size = std::abs(more);
  const bool whole = size == std::floor(size) && size < 9e15;
  return std::string(more < 0 ? " (−" : " (+") +
         (whole ? count_text(std::llround(size)) : real_text(size)) +
         (counter.unit == "bytes" ? " B)" : ")");
}

/// An operator with the line that says where it is.
std::string operator_of(const ComparedRow& row) {
  return row.place.empty() ? row.what.str() : row.what.str() + " (" + row.place.str() + ")";
}

/// The same with its module.
std::string name_of(const ComparedRow& row) {
  if (row.module.empty()) return operator_of(row);
  const std::string_view path = row.module;
  const std::string module(path.substr(path.rfind('/') + 1));
  return row.what.str() + " in " + module + (row.place.empty() ? "" : " (" + row.place.str() + ")");
}

/// How a change divides.
std::string division_text(const ComparedRow& row) {
  if (!row.calls_change_ns) return {};
  std::string text = " (calls " + change_text(*row.calls_change_ns) + ", time per call " +
                     change_text(*row.time_change_ns);
  if (row.clock_change_ns)
    text += ": clock " + change_text(*row.clock_change_ns) + ", cycles " +
            change_text(*row.cycles_change_ns);
  return text + ")";
}

/// Of the calls of a row in a step the one with at least half of its change; else "".
std::string occurrence_text(const ComparedOccurrence& largest, const ComparedRow& row) {
  const std::int64_t change = largest.part.change_ns;
  const bool most = 2 * std::abs(change) >= std::abs(row.part.change_ns) && change != 0;
  if (!most || !largest.number || *largest.number >= kMostOccurrences) return {};
  return "call " + std::to_string(*largest.number) + " of " + std::to_string(row.calls_in_step) +
         (row.calls_in_step == kMostOccurrences ? " or more" : "") + " in a step";
}

ChangeLine part_of(ChangeLine line) {
  line.is_part = true;
  return line;
}

/// A row called `name`, its kernels where it has several, and the call that most of it is about.
void add_row(const Comparison& comparison, const ComparedRow& row, const std::string& name,
             const std::string& indent, std::vector<ChangeLine>& lines) {
  std::string what = indent + std::string(row.bucket.name()) + ": " + name;
  if (!row.shapes.empty()) what += " " + row.shapes.str();
  what += "; " + std::string(cause_title(row.cause, row.part.change_ns < 0));
  if (!row.detail.empty()) what += ", " + row.detail;
  lines.push_back(line_of(comparison, row.part, what + division_text(row)));
  for (const ComparedKernel& kernel : row.kernels) {
    if (row.kernels.size() > 1 && kernel.part.change_ns != 0)
      lines.push_back(part_of(line_of(comparison, kernel.part, indent + "  " + kernel.name.str())));
  }
  if (row.occurrences.empty() || row.cause == Cause::noise) return;
  const ComparedOccurrence& largest = row.occurrences.front();
  if (const std::string text = occurrence_text(largest, row); !text.empty())
    lines.push_back(part_of(line_of(comparison, largest.part, indent + "  " + text)));
}

/// Is it shown as it is, as most names are?
bool is_plain(std::string_view name) {
  return name.size() <= kLongestName && name != "(no operator)" &&
         std::ranges::all_of(name, [](char c) { return c >= ' ' && c <= '~'; });
}

/// What a cause is about: its rows of one name once, the largest first.
std::string names_of(const Comparison& comparison, const CauseGroup& group) {
  std::unordered_set<std::string_view> seen;
  std::deque<std::string> made;  // of names that are no row's own text
  std::vector<std::string_view> names;
  for (const std::size_t at : group.rows) {
    const ComparedRow& row = comparison.rows[at];
    const bool at_line = group.cause == Cause::synchronization && !row.place.empty();
    std::string_view full = row.what;
    if (at_line || !is_plain(full)) {
      const std::string name = shorten_middle(
          row.what == "(no operator)" ? std::string(row.bucket.name()) : printable(row.what),
          kLongestName);
      full = made.emplace_back(at_line ? name + " at " + row.place.str() : name);
    }
    if (seen.insert(full).second && names.size() < kNamesOfCause) names.push_back(full);
  }
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text.append(i == 0 ? "" : "; ").append(names[i]);
    const std::string& detail = comparison.rows[group.rows.front()].detail;
    if (i == 0 && !detail.empty()) text += ", " + shorten_middle(printable(detail), kLongestName);
  }
  if (seen.size() > names.size())
    text += "; " + std::to_string(seen.size() - names.size()) + " more";
  return text;
}

bool nothing_to_align(const Comparison& comparison) {
  return std::ranges::all_of(comparison.aligned, [](double share) { return share <= 0; });
}

}  // namespace

std::string change_text(std::int64_t ns) {
  if (ns == 0) return "0";
  return (ns < 0 ? "−" : "+") + count_text(std::abs(ns));
}

std::string signed_percent(double percent) {
  if (percent >= 1000) return "+" + count_text(std::llround(percent)) + " %";
  if (percent > 0 && percent < 0.005) return "< +0.01 %";
  return (percent > 0 ? "+" : "") + percent_text(percent);
}

std::vector<ChangeLine> bucket_lines(const Comparison& comparison, std::size_t limit) {
  std::vector<ChangeLine> lines;
  for (const ComparedBucket& bucket : comparison.buckets)
    lines.push_back(line_of(comparison, bucket.part, std::string(bucket.bucket.name())));
  fold(lines, limit, "buckets");
  if (lines.empty()) return lines;
  if (comparison.skew_ns != 0) {
    const auto skew = [](const ComparedSide& side) {
      const double ns = side.step_ns.median - side.step_ns.mean;
      const std::string text = duration_text(duration_ns(std::llround(std::abs(ns))));
      return ns < 0 ? "−" + text : text;
    };
    lines.push_back({.change_ns = comparison.skew_ns,
                     .what = "median less mean",
                     .base = skew(comparison.base),
                     .now = skew(comparison.now)});
  }
  const auto median = [](const ComparedSide& side) {
    return duration_text(duration_ns(std::llround(side.step_ns.median)));
  };
  lines.push_back({.change_ns = comparison.change_ns,
                   .what = "step time (median)",
                   .base = median(comparison.base),
                   .now = median(comparison.now)});
  return lines;
}

std::vector<ChangeLine> cause_lines(const Comparison& comparison, std::size_t limit) {
  std::vector<ChangeLine> lines;
  for (const CauseGroup& group : comparison.causes) {
    lines.push_back({.change_ns = group.change_ns,
                     .what = std::string(cause_title(group.cause, group.change_ns < 0)) + ": " +
                             names_of(comparison, group),
                     .base = {},
                     .now = {}});
  }
  fold(lines, limit, "causes");
  return lines;
}

std::vector<ChangeLine> row_lines(const Comparison& comparison, std::size_t limit) {
  std::vector<ChangeLine> lines;
  for (const ComparedRow& row : comparison.rows) {
    if (row.part.change_ns == 0) continue;
    add_row(comparison, row, name_of(row), "", lines);
  }
  fold(lines, limit, "rows");
  return lines;
}

std::vector<ChangeLine> tree_lines(const Comparison& comparison) {
  std::vector<ChangeLine> lines;
  for (const ComparedPhase& phase : comparison.phases) {
    if (phase.part.base_sum_ns == 0 && phase.part.new_sum_ns == 0) continue;
    lines.push_back(line_of(comparison, phase.part, phase.phase.str()));
    // Where no module is known that level would say nothing.
    const bool modules = phase.modules.size() > 1 || !phase.modules.front().module.empty();
    for (const ComparedModule& module : phase.modules) {
      const std::string name = module.module.empty() ? "(in no one module)" : module.module.str();
      if (modules) lines.push_back(line_of(comparison, module.part, "  " + name));
      for (const std::size_t at : module.rows) {
        const ComparedRow& row = comparison.rows[at];
        if (row.part.change_ns != 0)
          add_row(comparison, row, operator_of(row), modules ? "    " : "  ", lines);
      }
    }
  }
  return lines;
}

std::string phases_text(const Comparison& comparison) {
  if (!comparison.base.on_device || comparison.mean_change_ns == 0) return {};
  std::string text;
  for (const ComparedPhase& phase : comparison.phases) {
    if (phase.part.change_ns == 0) continue;
    text += (text.empty() ? "" : "; ") + phase.phase.str() + " " +
            change_text(phase.part.change_ns) + " ns";
  }
  return text;
}

std::string_view time_label(const Comparison& comparison) {
  const auto of_steps = [](const ComparedSide& side) {
    return !side.times_only || side.step_name == "step";
  };
  return of_steps(comparison.base) && of_steps(comparison.now) ? "Step time" : "Time";
}

std::string step_text(const Comparison& comparison) {
  const auto ns = [](double value) { return duration_text(duration_ns(std::llround(value))); };
  std::string text = ns(comparison.base.step_ns.median) + " → " +
                     ns(comparison.now.step_ns.median) + ", " +
                     signed_percent(100 * (comparison.ratio - 1));
  if (comparison.ratio_interval)
    text += " (95 % interval " + signed_percent(100 * (comparison.ratio_interval->low - 1)) +
            " to " + signed_percent(100 * (comparison.ratio_interval->high - 1)) + ")";
  const bool runs = comparison.base.times_only && comparison.now.times_only;
  text += runs ? "; medians of runs." : "; medians of the usual steps.";
  const bool same = comparison.comparability == Comparability::same_recording;
  if (!comparison.ratio_note.empty() && !same) text += " " + comparison.ratio_note;
  return text;
}

std::string steadiness_text(const Comparison& comparison, bool all) {
  std::string text;
  const auto tell = [&](const ComparedSide& side, std::string_view name) {
    std::string told;
    if (side.warm_up && side.warm_up->kind != Steadiness::flat) {
      const std::string after = " after " + std::to_string(side.warm_up->after) +
                                (side.times_only ? " run" : " step") +
                                (side.warm_up->after == 1 ? "" : "s");
      told = side.never_steady()                      ? "never steady"
             : side.warm_up->kind == Steadiness::warm ? "faster" + after
                                                      : "slower" + after;
    }
    if (all && side.autocorrelation != 0) {
      told += (told.empty() ? "" : ", ") + std::string("correlation of neighbours ") +
              real_text(std::round(100 * side.autocorrelation) / 100);
    }
    if (!told.empty()) text += (text.empty() ? "" : "; ") + std::string(name) + " " + told;
  };
  if (comparison.comparability == Comparability::same_recording) {
    tell(comparison.base, "both");
  } else {
    tell(comparison.base, "base");
    tell(comparison.now, "new");
  }
  return text.empty() ? text : text + ".";
}

std::vector<std::string> condition_texts(const std::vector<ComparedCondition>& differs) {
  std::vector<std::string> texts;
  texts.reserve(differs.size());
  const auto shown = [](const std::string& value) {
    return value.empty() ? std::string("not recorded") : value;
  };
  for (const ComparedCondition& each : differs)
    texts.push_back(each.title + " " + shown(each.base) + " → " + shown(each.now));
  return texts;
}

std::string differs_text(const std::vector<ComparedCondition>& differs) {
  std::string both;
  std::string base;
  std::string now;
  const auto add = [](std::string& to, std::string_view label, const std::string& text) {
    to += (to.empty() ? std::string(label) : "; ") + text;
  };
  for (const ComparedCondition& each : differs) {
    if (each.now.empty()) {
      add(base, "only base recorded: ", each.title + " " + each.base);
    } else if (each.base.empty()) {
      add(now, "only new recorded: ", each.title + " " + each.now);
    } else {
      add(both, "", each.title + " " + each.base + " → " + each.now);
    }
  }
  for (const std::string& side : {base, now}) {
    if (!side.empty()) add(both, "", side);
  }
  return both;
}

std::vector<std::string> counter_texts(const Comparison& comparison) {
  std::vector<std::string> texts;
  for (const ComparedCounter& counter : comparison.counters) {
    if (!counter.equal)
      texts.push_back(counter.title + " " + amount(counter.base, comparison.base.steps, counter) +
                      " → " + amount(counter.now, comparison.now.steps, counter) +
                      small_difference(comparison, counter));
  }
  return texts;
}

std::vector<std::string> equal_counters(const Comparison& comparison) {
  std::vector<std::string> texts;
  for (const ComparedCounter& counter : comparison.counters) {
    if (counter.equal && counter.base.value_or(0) != 0) texts.push_back(counter.title);
  }
  return texts;
}

std::string matched_text(const Comparison& comparison) {
  if (comparison.comparability != Comparability::comparable &&
      comparison.comparability != Comparability::different_work)
    return {};
  if (nothing_to_align(comparison)) return alignment_text(comparison);
  const auto share = [&](Alignment key) {
    return comparison.aligned[static_cast<std::size_t>(key)];
  };
  const double exact = share(Alignment::module_operator_shapes);
  const double none = share(Alignment::base_only) + share(Alignment::new_only);
  constexpr double kSeen = 0.0005;
  std::string text = percent_text(100 * exact) + " by module, operator, shapes";
  if (1 - exact - none >= kSeen)
    text += "; " + percent_text(100 * (1 - exact - none)) + " otherwise";
  if (none >= kSeen) text += "; " + percent_text(100 * none) + " not";
  return text + ".";
}

std::string alignment_text(const Comparison& comparison) {
  if (nothing_to_align(comparison))
    return "Nothing could be aligned: neither side has an operator or kernel.";
  const auto share = [&](Alignment key) {
    return comparison.aligned[static_cast<std::size_t>(key)];
  };
  const auto percent = [](double part) { return percent_text(100 * part); };
  std::string text =
      "Of the operators' time " + percent(comparison.base_aligned) + " in base and " +
      percent(comparison.new_aligned) + " in new has a counterpart; of both together " +
      percent(share(Alignment::module_operator_shapes)) + " by module, operator and shapes";
  if (comparison.aligned_by_occurrence > 0)
    text += " (" + percent(comparison.aligned_by_occurrence) + " by the same call of a step)";
  const auto add = [&](Alignment key, std::string_view what) {
    if (share(key) > 0) text += ", " + percent(share(key)) + " " + std::string(what);
  };
  add(Alignment::module_operator, "by module and operator");
  add(Alignment::operator_only, "by operator");
  add(Alignment::kernels, "by kernels, for one side has no operators");
  add(Alignment::fused, "by the names of fused kernels");
  add(Alignment::siblings, "by the order of siblings");
  add(Alignment::replaced, "replaced");
  add(Alignment::base_only, "only in base");
  add(Alignment::new_only, "only in new");
  return text + ".";
}

std::string same_text(const Comparison& comparison) {
  return comparison.comparability == Comparability::same_recording
             ? "This is the same recording on both sides: nothing differs."
             : std::string();
}

}  // namespace fathom
