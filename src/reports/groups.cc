// Names the operators behind groups of activities.
#include "reports/groups.h"

#include <algorithm>

namespace fathom {
namespace {

constexpr std::uint32_t kUnattributed = 0xffffffffU;
constexpr std::uint32_t kNoOperator = 0xfffffffeU;

}  // namespace

std::uint32_t op_key(const Context& context, SliceId activity) {
  const Links& links = context.links();
  const SliceId op = links.op[activity.row()];
  if (op.valid()) return context.trace.slices.name[op.row()].value;
  return links.attribution[activity.row()] == Attribution::no_operator ? kNoOperator
                                                                       : kUnattributed;
}

std::string op_key_text(const Trace& trace, std::uint32_t key) {
  if (key == kUnattributed) return "(unattributed)";
  if (key == kNoOperator) return "(no operator)";
  return std::string(trace.text(StringId(key)));
}

std::string OpCounts::text(const Trace& trace) const {
  std::vector<std::pair<std::string, std::uint64_t>> named;
  for (const auto& [key, count] : counts_) named.emplace_back(op_key_text(trace, key), count);
  std::ranges::sort(named, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (named.size() == 1) return named.front().first;
  std::string text;
  for (const auto& [name, count] : named) {
    if (!text.empty()) text += ", ";
    text += name + " ×" + std::to_string(count);
  }
  return text;
}

}  // namespace fathom
