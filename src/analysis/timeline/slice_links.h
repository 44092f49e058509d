// What a slice has to do with others: who launched it, what it launched, forward and backward, its
// like.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/context.h"
#include "analysis/structure/forward_ops.h"

namespace fathom {

/// Slices that belong to a slice; invalid ids where there is none.
struct LinksOfSlice {
  SliceId parent{};  ///< Around it, in its forest.
  SliceId launch{};  ///< Of an activity: the call that started it.
  SliceId
      op{};  ///< Of an activity: the operator that it was started for. Of a call: the one around.
  SliceId frame{};                  ///< The innermost Python frame around it, or around its launch.
  SliceId module{};                 ///< The innermost frame of an nn.Module there.
  SliceId forward{};                ///< Of an operator of the backward pass.
  std::vector<SliceId> backward;    ///< Of an operator of the forward pass.
  std::vector<SliceId> activities;  ///< Started by it or by a call inside it, by time of the call.
  std::uint64_t activities_total = 0;  ///< Of which `activities` are the first.
};

/// Others of the same name.
struct SameName {
  SliceId previous{};  ///< On the same track: the last that starts before it,
  SliceId next{};      ///< and the first that starts behind it.
  SliceId slowest{};   ///< Of all.
  std::uint64_t count = 0;
  Duration total{};
};

/// Looks up links of single slices. Borrows the context's trace and analyses. Immutable.
class SliceLinks {
 public:
  /// O(n log n).
  explicit SliceLinks(const Context& context);

  /// With at most `most` activities and backward operators. O(log n + depth + what is found).
  [[nodiscard]] LinksOfSlice of(SliceId slice, std::size_t most) const;
  /// O(slices).
  [[nodiscard]] SameName same_name(SliceId slice) const;
  /// Its duration less that of its direct children. O(log n + slices inside).
  [[nodiscard]] Duration self_time(SliceId slice) const;

 private:
  void find_frames(SliceId host, LinksOfSlice& links) const;
  void find_activities(SliceId host, std::size_t most, LinksOfSlice& links) const;

  Context context_;
  const Trace& trace_;
  ForwardOps forward_;
  std::vector<const Nesting::Thread*> work_;    // by track
  std::vector<const Nesting::Thread*> frames_;  // by track
  std::vector<SliceId> launched_;               // activities with a launch, by its track and time
  std::unordered_multimap<std::uint32_t, SliceId> backward_;  // by row of the forward operator
};

}  // namespace fathom
