// Puts facts of runs together.
#include "measure/program_facts.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quantity_text.h"

namespace fathom::measure {
namespace {

constexpr std::size_t kMostValues = 3;

using Fact = std::pair<std::string, std::string>;

std::string value_of(const Facts& facts, std::string_view name) {
  const auto found = std::ranges::find(facts, name, &Fact::first);
  return found == facts.end() ? std::string(kNoValue) : found->second;
}

std::string joined(const std::vector<std::string>& values) {
  std::string text;
  for (std::size_t i = 0; i < std::min(values.size(), kMostValues); ++i)
    text.append(i == 0 ? "" : ", ").append(values[i]);
  return values.size() > kMostValues ? text + ", …" : text;
}

/// Names with all values that runs had for them.
class FactsOfRuns {
 public:
  void add(std::span<const BenchRun> runs, Side side) {
    for (const BenchRun& run : runs) {
      if (run.side == side) add(run.facts);
    }
  }

  [[nodiscard]] Facts facts() const {
    Facts facts;
    for (const auto& [name, values] : found_) facts.emplace_back(name, joined(values));
    return facts;
  }

 private:
  void add(const Facts& facts) {
    for (const auto& [name, value] : facts) {
      auto known = std::ranges::find_if(
          found_, [&name = name](const auto& each) { return each.first == name; });
      if (known == found_.end()) {
        found_.emplace_back(name, std::vector<std::string>());
        known = std::prev(found_.end());
      }
      if (std::ranges::find(known->second, value) == known->second.end())
        known->second.push_back(value);
    }
  }

  std::vector<std::pair<std::string, std::vector<std::string>>> found_;
};

}  // namespace

Facts facts_of(std::span<const BenchRun> runs, Side side) {
  FactsOfRuns found;
  found.add(runs, side);
  return found.facts();
}

Facts facts_of(std::span<const VariedPoint> points, Side side) {
  FactsOfRuns found;
  for (const VariedPoint& point : points) found.add(point.runs, side);
  return found.facts();
}

std::string facts_that_differ(const Facts& base, const Facts& now) {
  std::string text;
  if (base.empty() || now.empty()) return text;
  const auto add = [&](const std::string& name) {
    const std::string before = value_of(base, name);
    const std::string after = value_of(now, name);
    if (before == after) return;
    text.append(text.empty() ? "" : "; ").append(name).append(" ").append(before);
    text.append(" → ").append(after);
  };
  for (const auto& [name, value] : base) add(name);
  for (const auto& [name, value] : now) {
    if (std::ranges::find(base, name, &Fact::first) == base.end()) add(name);
  }
  return text;
}

std::string facts_text(const Facts& facts) {
  std::string text;
  for (const auto& [name, value] : facts)
    text.append(text.empty() ? "" : ", ").append(name).append(" ").append(value);
  return text;
}

std::string programs_text(const std::optional<Facts>& base, const Facts& now) {
  std::string after = facts_text(now);
  if (!base) return after;
  std::string before = facts_text(*base);
  if (before == after || after.empty()) return before;
  return before.empty() ? "new: " + after : "base: " + before + "; new: " + after;
}

}  // namespace fathom::measure
