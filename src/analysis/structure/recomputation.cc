// Finds recomputed operators by the nodes, the Python frames and the repetition around them.
#include "analysis/structure/recomputation.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr std::string_view kNode = "autograd::engine::evaluate_function: ";

/// Operators that no formula of a derivative calls, but modules and functions of a forward pass do.
constexpr auto kForwardOnly = std::to_array<std::string_view>({
    "aten::batch_norm",
    "aten::conv1d",
    "aten::conv2d",
    "aten::conv3d",
    "aten::cross_entropy_loss",
    "aten::dropout",
    "aten::embedding",
    "aten::gelu",
    "aten::group_norm",
    "aten::layer_norm",
    "aten::linear",
    "aten::relu",
    "aten::rms_norm",
    "aten::scaled_dot_product_attention",
    "aten::silu",
    "aten::softmax",
});

enum class NameKind : std::uint8_t { other, node, checkpoint, forward_only };

bool says_checkpoint(std::string_view name) {
  return name.find("heckpoint") != std::string_view::npos && name.ends_with("Backward");
}

NameKind kind_of(std::string_view name) {
  if (name.starts_with(kNode)) return NameKind::node;
  if (says_checkpoint(name)) return NameKind::checkpoint;
  if (std::ranges::binary_search(kForwardOnly, name)) return NameKind::forward_only;
  return NameKind::other;
}
static_assert(std::ranges::is_sorted(kForwardOnly));

bool is_recompute_frame(std::string_view name) {
  return name.find("torch/utils/checkpoint.py") != std::string_view::npos &&
         name.find("recompute_fn") != std::string_view::npos;
}

/// Where a host slice runs.
enum class Place : std::uint8_t { forward, node, checkpoint, recomputed };

class Finder {
 public:
  Finder(const Trace& trace, const Nesting& nesting)
      : trace_(trace), nesting_(nesting), kinds_(trace.strings.size()) {
    for (std::size_t row = 0; row < kinds_.size(); ++row) {
      const std::string_view name = trace.strings.view(StringId(row));
      kinds_[row] = kind_of(name);
      any_node_ = any_node_ || kinds_[row] == NameKind::node;
      any_frame_ = any_frame_ || is_recompute_frame(name);
    }
  }

  Recomputation find() {
    if (!any_node_ && !any_frame_) return {};
    places_.resize(trace_.slices.size());
    for (const Nesting::Thread& thread : nesting_.work) place(thread);
    for (const Nesting::Thread& thread : nesting_.work) find_repeated(thread);
    Recomputation found;
    found.inside.resize(places_.size());
    for (const Nesting::Thread& thread : nesting_.work) collect(thread, found);
    if (found.operators.empty()) return {};
    return found;
  }

 private:
  [[nodiscard]] NameKind kind(SliceId slice) const {
    const StringId name = trace_.slices.name[slice.row()];
    return name.valid() ? kinds_[name.row()] : NameKind::other;
  }
  [[nodiscard]] Place place_of(SliceId slice) const {
    return slice.valid() ? places_[slice.row()] : Place::forward;
  }
  [[nodiscard]] SliceId parent(SliceId slice) const { return nesting_.parent[slice.row()]; }
  [[nodiscard]] bool is_op(SliceId slice) const { return trace_.kind(slice) == SliceKind::cpu_op; }

  /// By nodes that say so, and by frames.
  void place(const Nesting::Thread& thread) {
    const std::vector<Interval> frames =
        any_frame_ ? frames_of(thread.track) : std::vector<Interval>();
    std::size_t next = 0;
    for (const SliceId slice : thread.slices) {
      const Time start = trace_.slices.start[slice.row()];
      while (next < frames.size() && frames[next].end <= start) ++next;
      const bool framed = next < frames.size() && frames[next].begin <= start;
      places_[slice.row()] = place_of(slice, place_of(parent(slice)), framed);
      // No other is asked for.
      if (places_[slice.row()] == Place::forward && kind(slice) == NameKind::forward_only &&
          is_op(slice))
        ran_forward_.insert(key(slice));
    }
  }

  [[nodiscard]] Place place_of(SliceId slice, Place around, bool framed) const {
    if (!is_op(slice)) return around;
    if (kind(slice) == NameKind::node) return Place::node;
    if (around == Place::recomputed) return around;
    if (framed) return Place::recomputed;
    if (around == Place::node && kind(slice) == NameKind::checkpoint) return Place::checkpoint;
    return around == Place::checkpoint ? Place::recomputed : around;
  }

  /// Outermost frames that recompute, on one thread, by time.
  [[nodiscard]] std::vector<Interval> frames_of(TrackId track) const {
    std::vector<Interval> out;
    for (const Nesting::Thread& thread : nesting_.frames) {
      if (thread.track != track) continue;
      for (const SliceId frame : thread.slices) {
        const Interval own{trace_.slices.start[frame.row()], trace_.slices.end(frame)};
        if (!out.empty() && own.begin < out.back().end) continue;
        if (is_recompute_frame(trace_.name(frame))) out.push_back(own);
      }
    }
    return out;
  }

  /// Name and arguments.
  [[nodiscard]] std::uint64_t key(SliceId slice) const {
    const std::uint32_t detail = trace_.slices.detail[slice.row()];
    const SignatureId signature =
        detail == SliceId::kNone ? SignatureId() : trace_.ops.signature[detail];
    return static_cast<std::uint64_t>(trace_.slices.name[slice.row()].value) << 32 |
           signature.value;
  }
  [[nodiscard]] bool is_repeated(SliceId slice) const { return ran_forward_.contains(key(slice)); }

  /// Among the operators that a node calls itself: from the first to the last one that only a
  /// forward pass calls and that ran there, too.
  void find_repeated(const Nesting::Thread& thread) {
    // By what called them, the first and the last that tell.
    std::unordered_map<std::uint32_t, std::pair<std::size_t, std::size_t>> told;
    for (std::size_t i = 0; i < thread.slices.size(); ++i) {
      const SliceId slice = thread.slices[i];
      if (kind(slice) != NameKind::forward_only || !is_called_by_node(slice) || !is_repeated(slice))
        continue;
      told.try_emplace(parent(slice).value, i, i).first->second.second = i;
    }
    if (told.empty()) return;
    for (std::size_t i = 0; i < thread.slices.size(); ++i) {
      const SliceId slice = thread.slices[i];
      if (!is_called_by_node(slice)) continue;
      const auto around = told.find(parent(slice).value);
      if (around == told.end()) continue;
      const auto [first, last] = around->second;
      if (first <= i && i <= last) places_[slice.row()] = Place::recomputed;
    }
  }
  /// An operator of the backward pass that is called by a node's function itself.
  [[nodiscard]] bool is_called_by_node(SliceId slice) const {
    const SliceId caller = parent(slice);
    return places_[slice.row()] == Place::node && is_op(slice) && caller.valid() &&
           kind(slice) != NameKind::node && is_node_function(caller);
  }
  /// The node, or what it is named after: "MmBackward0" in "…evaluate_function: MmBackward0".
  [[nodiscard]] bool is_node_function(SliceId slice) const {
    if (kind(slice) == NameKind::node) return true;
    const SliceId around = parent(slice);
    return around.valid() && kind(around) == NameKind::node &&
           trace_.name(around).substr(kNode.size()) == trace_.name(slice);
  }
  void collect(const Nesting::Thread& thread, Recomputation& found) {
    for (const SliceId slice : thread.slices) {
      const SliceId caller = parent(slice);
      const bool around = caller.valid() && found.inside[caller.row()];
      if (kind(slice) == NameKind::node && is_op(slice)) continue;
      if (!around && places_[slice.row()] != Place::recomputed) continue;
      found.inside[slice.row()] = true;
      if (!around && is_op(slice)) found.operators.push_back(slice);
    }
  }

  const Trace& trace_;
  const Nesting& nesting_;
  std::vector<NameKind> kinds_;
  bool any_node_ = false;
  bool any_frame_ = false;
  std::vector<Place> places_;
  std::unordered_set<std::uint64_t> ran_forward_;
};

}  // namespace

Recomputation find_recomputation(const Trace& trace, const Nesting& nesting) {
  return Finder(trace, nesting).find();
}

}  // namespace fathom
