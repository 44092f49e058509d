// What torch makes of event names when it builds key_averages(): merged, dropped, asynchronous.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/trace.h"

namespace fathom {

/// Operators for which torch has a formula of floating-point operations.
enum class FlopsFormula : std::uint8_t { none, mm, addmm, bmm, baddbmm, multiply, add, conv2d };

/// One name after torch's rules.
struct TorchName {
  std::uint32_t canonical =
      0;                 ///< Equal for names that torch prints alike: see TorchNames::text().
  bool utility = false;  ///< Dropped before nesting ("aten::is_leaf", …).
  bool asynchronous =
      false;  ///< Communication and RPC that end on another thread: not nested, no self time.
  FlopsFormula formula = FlopsFormula::none;
};

/// The names of a trace as torch prints them: ProfilerStep#7 is ProfilerStep*, and the overload
/// that capture_overload_names appends is cut off (aten::add.Tensor is aten::add). The trace must
/// outlive it.
class TorchNames {
 public:
  explicit TorchNames(const Trace& trace);

  [[nodiscard]] const TorchName& operator[](StringId name) const { return names_[name.row()]; }
  /// Canonical numbers are 0 … size()-1.
  [[nodiscard]] std::size_t size() const { return names_.size() + extra_.size(); }
  [[nodiscard]] std::string_view text(std::uint32_t canonical) const;

 private:
  const Trace& trace_;
  std::vector<TorchName> names_;    // by StringId row; only names of host slices are worked out
  std::vector<std::string> extra_;  // canonical texts that are no name of the trace
};

}  // namespace fathom
