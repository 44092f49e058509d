// Copies between the host and the diagnosed device, and what asked for them.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/structure/from_outside.h"
#include "rules/common/evidence.h"
#include "rules/rule.h"

namespace fathom {

/// One such copy that starts in a counted step.
struct HostCopy {
  SliceId activity{};
  SliceId launch{};                       ///< The call, or invalid.
  SliceId op{};                           ///< The innermost operator, or invalid.
  CopyKind kind = CopyKind::unknown;      ///< h2d or d2h.
  MemoryKind host = MemoryKind::unknown;  ///< The memory on the host's side.
  std::int64_t bytes = kAbsent;
};

/// By time. O(activities).
std::vector<HostCopy> host_copies(const RuleContext& rules);

/// What lies around copies on the host. In deep nests no way is walked twice.
class AroundCopies {
 public:
  explicit AroundCopies(const RuleContext& rules);
  /// The slice that asked for the copy: the outermost of aten::to, aten::_to_copy and aten::copy_
  /// around it, else its operator, else its call; may be invalid.
  [[nodiscard]] SliceId asker(const HostCopy& copy) const;
  /// Is it part of .item(), nonzero and the like, which need a value on the host?
  [[nodiscard]] bool brings_value(const HostCopy& copy) const;

 private:
  const RuleContext& rules_;  // outlives this
  FromOutside transfers_;
  FromOutside values_;
};

/// "1.5 MB in 12 copies".
std::string volume_text(const std::vector<HostCopy>& copies);

/// Evidence that names the longest of the copies, and where it was asked for.
Evidence evidence_of(const RuleContext& rules, const std::vector<HostCopy>& copies,
                     std::string text);

}  // namespace fathom
