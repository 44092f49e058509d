// Finds loops of Python over the slices of a tensor.
#include "rules/common/slice_loops.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "rules/common/arguments.h"

namespace fathom {
namespace {

constexpr std::size_t kLeastRounds = 10;
/// The longest block, in slicing operators: a[i], b[i] in one round are two.
constexpr std::size_t kMostPeriods = 4;
/// The longest block behind aten::unbind, in operators.
constexpr std::size_t kMostOps = 16;
/// The longest block whose slices are not known to differ: longer ones are layers of a model.
constexpr std::size_t kMostUnknown = 8;
constexpr auto kSlicing =
    std::to_array<std::string_view>({"aten::select", "aten::slice", "aten::narrow", "aten::index"});

bool is_slicing(std::string_view name) {
  return std::ranges::find(kSlicing, name) != kSlicing.end();
}
bool is_unbind(std::string_view name) { return name == "aten::unbind"; }

using Ops = std::vector<UserOp>;

/// A recurrence for sure: each call needs the state that the one before it left.
bool is_cell(std::string_view name) {
  return name == "aten::gru_cell" || name == "aten::lstm_cell" || name == "aten::rnn_tanh_cell" ||
         name == "aten::rnn_relu_cell";
}

bool is_joining(std::string_view name) { return name == "aten::stack" || name == "aten::cat"; }

bool together(const UserOp& a, const UserOp& b) { return a.parent == b.parent && a.step == b.step; }

/// A slicing operator and what follows it, up to the next one.
struct Block {
  std::size_t first = 0;
  std::size_t last = 0;
  std::uint64_t names = 0;  // Hash of the names.
};

class Finder {
 public:
  Finder(const RuleContext& rules, const SliceLoopNames& names, const Ops& ops)
      : trace_(rules.trace()), ops_(ops), names_(names) {}

  std::vector<SliceLoop> find() {
    if (names_.slicing.any()) find_slicing();
    if (names_.unbind.any()) find_unbinding();
    std::erase_if(loops_, [this](const SliceLoop& loop) { return is_recurrence(loop); });
    for (SliceLoop& loop : loops_) loop.joined = joined(loop);
    return std::move(loops_);
  }

 private:
  [[nodiscard]] StringId name(std::size_t at) const {
    return trace_.slices.name[ops_[at].op.row()];
  }

  [[nodiscard]] std::vector<Block> blocks() const {
    std::vector<Block> found;
    for (std::size_t at = 0; at < ops_.size(); ++at) {
      const bool begins = names_.slicing.contains(name(at));
      if (begins) found.push_back({.first = at, .last = at, .names = 0});
      if (found.empty() || found.back().last != at || !together(ops_[at], ops_[found.back().first]))
        continue;
      found.back().last = at + 1;
      found.back().names = found.back().names * 1'099'511'628'211U + name(at).row() + 1;
    }
    return found;
  }

  [[nodiscard]] bool equal(const Block& a, const Block& b) const {
    return a.names == b.names && a.last - a.first == b.last - b.first &&
           together(ops_[a.first], ops_[b.first]);
  }

  /// What the slicing operator was called with, as far as it was recorded.
  [[nodiscard]] std::pair<StringId, StringId> arguments(const Block& block) const {
    const Signature* const signature = signature_of(trace_, ops_[block.first].op);
    if (signature == nullptr) return {};
    return {signature->shapes, signature->concrete};
  }

  /// aten::index slices by tensors, whose values no trace holds.
  [[nodiscard]] bool by_tensor(const Block& block) const {
    return trace_.text(name(block.first)) == "aten::index";
  }

  /// Does each round take another slice of one tensor? A layer takes the same one of its own.
  [[nodiscard]] bool over_slices(const std::vector<Block>& all, std::size_t begin, std::size_t end,
                                 std::size_t rounds) const {
    const std::size_t period = (end - begin) / rounds;
    for (std::size_t offset = 0; offset < period; ++offset) {
      std::size_t changes = 0;
      bool known = !by_tensor(all[begin + offset]);
      for (std::size_t at = begin + offset + period; at < end; at += period) {
        const auto [shapes, values] = arguments(all[at]);
        const auto [shapes_before, values_before] = arguments(all[at - period]);
        known = known && values.valid() && values_before.valid();
        if (shapes == shapes_before && values != values_before) ++changes;
      }
      if (known && 2 * changes >= rounds) return true;
      if (known) continue;
      const std::size_t size = (all[end - 1].last - all[begin].first) / rounds;
      if (size <= kMostUnknown) return true;
    }
    return false;
  }

  void find_slicing() {
    const std::vector<Block> all = blocks();
    for (std::size_t begin = 0; begin < all.size();) {
      std::size_t best = begin;
      std::size_t rounds = 0;
      for (std::size_t period = 1; period <= kMostPeriods && rounds < kLeastRounds; ++period) {
        std::size_t at = begin + period;
        // The last round ends where the loop does: what follows it is part of its last block.
        while (at < all.size() && all[at].first == all[at - 1].last &&
               equal(all[at], all[at - period])) {
          ++at;
        }
        best = at;
        rounds = (at - begin) / period;
      }
      if (rounds < kLeastRounds) {
        ++begin;
        continue;
      }
      if (over_slices(all, begin, best, rounds)) {
        loops_.push_back({.begin = all[begin].first,
                          .first = all[begin].first,
                          .last = all[best - 1].last,
                          .rounds = rounds});
      }
      begin = best;
    }
  }

  void find_unbinding() {
    std::size_t covered = 0;
    for (std::size_t at = 0; at < ops_.size(); ++at) {
      if (at < covered || !names_.unbind.contains(name(at))) continue;
      for (std::size_t period = 1; period <= kMostOps; ++period) {
        std::size_t end = at + 1 + period;
        while (end < ops_.size() && together(ops_[end], ops_[at]) &&
               name(end) == name(end - period) && !names_.unbind.contains(name(end))) {
          ++end;
        }
        const std::size_t rounds = (end - at - 1) / period;
        if (rounds < kLeastRounds) continue;
        loops_.push_back({.begin = at, .first = at + 1, .last = end, .rounds = rounds});
        covered = end;
        break;
      }
    }
  }

  [[nodiscard]] bool is_recurrence(const SliceLoop& loop) const {
    const std::size_t round = (loop.last - loop.first) / loop.rounds;
    for (std::size_t at = loop.first; names_.cell.any() && at < loop.first + round; ++at) {
      if (names_.cell.contains(name(at))) return true;
    }
    return false;
  }

  /// The last round may be distinguished from the others because it ends with this.
  [[nodiscard]] std::size_t joined(const SliceLoop& loop) const {
    const std::size_t round = (loop.last - loop.first) / loop.rounds;
    for (std::size_t at = loop.last; at < std::min(ops_.size(), loop.last + round + 1); ++at) {
      if (!together(ops_[at], ops_[loop.first])) break;
      if (names_.joining.contains(name(at))) return at;
    }
    return SIZE_MAX;
  }

  const Trace& trace_;
  const Ops& ops_;
  const SliceLoopNames& names_;
  std::vector<SliceLoop> loops_;
};

}  // namespace

bool takes_slices(std::string_view name) { return is_slicing(name) || is_unbind(name); }

SliceLoopNames::SliceLoopNames(const Trace& trace)
    : slicing(trace, is_slicing),
      unbind(trace, is_unbind),
      joining(trace, is_joining),
      cell(trace, is_cell) {}

std::vector<SliceLoop> slice_loops(const RuleContext& rules, const SliceLoopNames& names,
                                   const std::vector<UserOp>& ops) {
  return Finder(rules, names, ops).find();
}

}  // namespace fathom
