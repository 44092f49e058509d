// Names of a trace: looked up once, and found around a slice.
#pragma once

#include <algorithm>
#include <concepts>
#include <ranges>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/structure/from_outside.h"
#include "rules/rule.h"

namespace fathom {

/// The names of a trace for which something holds: asked once per distinct name, not per slice.
class NameSet {
 public:
  template <std::predicate<std::string_view> Predicate>
  NameSet(const Trace& trace, const Predicate& matches) : member_(trace.strings.size()) {
    for (std::size_t row = 0; row < member_.size(); ++row) {
      member_[row] = matches(trace.strings.view(StringId(row)));
      any_ = any_ || member_[row];
    }
    if (any_) around_.resize(trace.slices.size());
  }
  /// Those that are in `names`, word by word.
  NameSet(const Trace& trace, std::span<const std::string_view> names)
      : NameSet(trace, [names](std::string_view name) {
          return std::ranges::find(names, name) != names.end();
        }) {}
  [[nodiscard]] bool contains(StringId name) const { return name.valid() && member_[name.row()]; }
  /// Does any name of the trace match?
  [[nodiscard]] bool any() const { return any_; }
  /// What is known of slices around others (`enclosing`).
  [[nodiscard]] const FromOutside& around() const { return around_; }

 private:
  std::vector<bool> member_;
  bool any_ = false;
  FromOutside around_;
};

/// The innermost slice around `slice`, itself included, whose name is in `names`; else invalid. In
/// deep nests no way is walked twice.
SliceId enclosing(const RuleContext& rules, SliceId slice, const NameSet& names);

/// Is it an operator that copies a tensor only to change its layout? aten::clone counts as one.
bool changes_layout(std::string_view name);

/// Is a Python frame (which may be invalid) of these names, or inside one of them?
bool enclosing_frame(const RuleContext& rules, SliceId frame, const NameSet& names);

}  // namespace fathom
