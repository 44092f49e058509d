// Puts facts of runs together.
#include "measure/program_facts.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "base/distinct_texts.h"
#include "base/quantity_text.h"

namespace fathom::measure {
namespace {

/// What has more values is shown by the first, the last and how many.
constexpr std::size_t kMostShown = 3;

using Values = std::vector<std::string>;

std::string shown(const Values& values) {
  if (values.size() <= kMostShown) return comma_separated(values);
  return values.front() + " to " + values.back() + " (" + std::to_string(values.size()) +
         " values)";
}

Values values_of(const std::vector<FactOfRuns>& facts, std::string_view name) {
  const auto found = std::ranges::find(facts, name, &FactOfRuns::first);
  return found == facts.end() ? Values{std::string(kNoValue)} : found->second;
}

/// Names with all values that runs had for them.
class FactsOfRuns {
 public:
  void add(std::span<const BenchRun> runs, Side side) {
    for (const BenchRun& run : runs) {
      if (run.side == side) add(run.facts);
    }
  }

  [[nodiscard]] std::vector<FactOfRuns> facts() { return std::move(found_); }

 private:
  void add(const Facts& facts) {
    for (const auto& [name, value] : facts) {
      auto known = std::ranges::find_if(
          found_, [&name = name](const auto& each) { return each.first == name; });
      if (known == found_.end()) {
        found_.emplace_back(name, Values());
        known = std::prev(found_.end());
      }
      add_distinct(known->second, value);
    }
  }

  std::vector<FactOfRuns> found_;
};

}  // namespace

std::vector<FactOfRuns> facts_of(std::span<const BenchRun> runs, Side side) {
  FactsOfRuns found;
  found.add(runs, side);
  return found.facts();
}

std::vector<FactOfRuns> facts_of(std::span<const VariedPoint> points, Side side) {
  FactsOfRuns found;
  for (const VariedPoint& point : points) found.add(point.runs, side);
  return found.facts();
}

Facts whole_facts(const std::vector<FactOfRuns>& facts) {
  Facts whole;
  for (const auto& [name, values] : facts) whole.emplace_back(name, comma_separated(values));
  return whole;
}

std::string facts_that_differ(const std::vector<FactOfRuns>& base,
                              const std::vector<FactOfRuns>& now) {
  std::string text;
  if (base.empty() || now.empty()) return text;
  const auto add = [&](const std::string& name) {
    const Values before = values_of(base, name);
    const Values after = values_of(now, name);
    if (before == after) return;
    // Of many values those may differ that are not shown.
    const bool hidden = shown(before) == shown(after);
    text.append(text.empty() ? "" : "; ").append(name).append(" ");
    text.append(hidden ? comma_separated(before) : shown(before)).append(" → ");
    text.append(hidden ? comma_separated(after) : shown(after));
  };
  for (const auto& [name, values] : base) add(name);
  for (const auto& [name, values] : now) {
    if (std::ranges::find(base, name, &FactOfRuns::first) == base.end()) add(name);
  }
  return text;
}

std::string facts_text(const std::vector<FactOfRuns>& facts) {
  std::string text;
  for (const auto& [name, values] : facts)
    text.append(text.empty() ? "" : ", ").append(name).append(" ").append(shown(values));
  return text;
}

std::string programs_text(const std::optional<std::vector<FactOfRuns>>& base,
                          const std::vector<FactOfRuns>& now) {
  std::string after = facts_text(now);
  if (!base || *base == now) return after;
  std::string before = facts_text(*base);
  if (after.empty()) return before;
  return before.empty() ? "new: " + after : "base: " + before + "; new: " + after;
}

}  // namespace fathom::measure
