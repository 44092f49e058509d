// Follows the instructions of a function.
#include "sample/native/code_flow.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "sample/native/instruction.h"

namespace fathom::sample::native {
namespace {

constexpr std::int64_t kSlotBytes = 8;
constexpr std::int64_t kFarthestBelow = std::int64_t{1} << 24U;
/// What is jumped back to with something else than was known there is followed once more.
constexpr int kPasses = 4;
constexpr std::size_t kAligned = 16;

/// The stack pointer and what functions keep: rbx, rsp, rbp, r12 to r15.
constexpr std::array<MachineRegister, 7> kFollowed = {3, kStackRegister, kFrameRegister, 12, 13, 14,
                                                      15};
constexpr std::size_t kStack = 1;
constexpr std::size_t kFrame = 2;

std::optional<std::size_t> followed(MachineRegister number) {
  const auto* const found = std::ranges::find(kFollowed, number);
  if (found == kFollowed.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kFollowed.begin());
}

/// What a register holds: an address in the stack.
struct StackPlace {
  /// Counted from where the stack was aligned last, not from the frame's address (the caller's
  /// stack pointer).
  bool aligned = false;
  std::int64_t below = 0;  ///< How far below that.

  bool operator==(const StackPlace&) const = default;
};

/// What is known at an instruction.
struct FlowState {
  std::array<std::optional<StackPlace>, kFollowed.size()> place;
  /// Where the caller's value of a register is, behind the frame's address.
  std::array<std::optional<std::int64_t>, kFollowed.size()> saved;
  std::uint16_t written = 0;  ///< Registers that have not the caller's value any more.
  /// How far below where the stack was aligned an address lies that is counted from the frame's,
  /// and which.
  std::optional<std::int64_t> kept_at;
  std::int64_t kept = 0;

  bool operator==(const FlowState&) const = default;
};

FlowState at_start() {
  FlowState state;
  state.place[kStack] = StackPlace{.aligned = false, .below = kSlotBytes};  // The return address.
  return state;
}

FlowState merged(const FlowState& a, const FlowState& b) {
  FlowState both = a;
  for (std::size_t i = 0; i < kFollowed.size(); ++i) {
    if (a.place[i] != b.place[i]) both.place[i].reset();
    if (a.saved[i] != b.saved[i]) both.saved[i].reset();
  }
  both.written = static_cast<std::uint16_t>(a.written | b.written);
  if (a.kept_at != b.kept_at || a.kept != b.kept) both.kept_at.reset();
  return both;
}

constexpr std::uint16_t kFollowedBits = [] {
  std::uint16_t bits = 0;
  for (const MachineRegister number : kFollowed)
    bits = static_cast<std::uint16_t>(bits | 1U << number);
  return bits;
}();

/// A register goes to memory, so far behind a place in the stack.
void save(FlowState& state, MachineRegister number, const StackPlace& to, std::int64_t offset) {
  const std::optional<std::size_t> at = followed(number);
  if (to.aligned) {
    const bool known = at && state.place[*at] && !state.place[*at]->aligned;
    if (known) {
      state.kept_at = to.below - offset;
      state.kept = state.place[*at]->below;
    } else if (state.kept_at == to.below - offset) {
      state.kept_at.reset();
    }
    return;
  }
  const bool written = (state.written >> number & 1U) != 0;
  // What is stored again is the function's own.
  if (at && *at != kStack && !written && !state.saved[*at]) state.saved[*at] = offset - to.below;
}

/// The stack pointer has another value, of which nothing is known: most likely it was aligned.
void begin_aligned(FlowState& state) {
  state.kept_at.reset();
  for (auto& place : state.place) {
    if (place && place->aligned) place.reset();
  }
  state.place[kStack] = StackPlace{.aligned = true, .below = 0};
}

/// False where it changes nothing that is followed, as most.
bool step(FlowState& state, const MachineInstruction& next) {
  using Kind = MachineInstruction::Kind;
  const bool moves = next.kind != Kind::other && next.kind != Kind::branch;
  if (!moves && (next.written & kFollowedBits) == 0) return false;
  const auto place_of = [&](MachineRegister number) {
    const std::optional<std::size_t> at = followed(number);
    return at ? state.place[*at] : std::nullopt;
  };
  const std::optional<StackPlace> own = place_of(next.number);
  const std::optional<StackPlace> source = place_of(next.from);
  const std::optional<StackPlace> frame = state.place[kFrame];
  const bool stack_written = (next.written >> kStackRegister & 1U) != 0;
  for (std::size_t i = 0; i < kFollowed.size(); ++i) {
    if ((next.written >> kFollowed[i] & 1U) != 0) state.place[i].reset();
  }
  state.written = static_cast<std::uint16_t>(state.written | (next.written & kFollowedBits));
  std::optional<StackPlace>& stack = state.place[kStack];
  const auto set = [&](std::optional<StackPlace> place, std::int64_t offset) {
    const std::optional<std::size_t> at = followed(next.number);
    if (!at || !place) return;
    place->below -= offset;
    state.place[*at] = place;
  };
  switch (next.kind) {
    case Kind::push:
    case Kind::push_other:
      if (!stack) break;
      stack->below += kSlotBytes;
      if (next.kind == Kind::push) save(state, next.number, *stack, 0);
      break;
    case Kind::pop:
    case Kind::pop_other:
      if (stack) stack->below -= kSlotBytes;
      break;
    case Kind::add:
      set(own, next.offset);
      break;
    case Kind::copy:
      set(source, next.offset);
      break;
    case Kind::save:
      if (source) save(state, next.number, *source, next.offset);
      break;
    case Kind::load:
      if (source && source->aligned && state.kept_at == source->below - next.offset)
        set(StackPlace{.aligned = false, .below = state.kept}, 0);
      break;
    case Kind::leave:
      stack = frame;
      if (stack) stack->below -= kSlotBytes;
      break;
    default:
      break;
  }
  const bool may_be = stack && (stack->aligned || stack->below >= kSlotBytes) &&
                      stack->below <= kFarthestBelow && stack->below >= -kFarthestBelow;
  if (stack && !may_be) stack.reset();
  if (!stack && stack_written) begin_aligned(state);
  return true;
}

class Follower {
 public:
  Follower(std::span<const std::byte> code, std::size_t place, bool several)
      : code_(code), place_(place), several_(several) {}

  std::optional<FlowState> follow() {
    for (int pass = 0; pass < kPasses; ++pass) {
      changed_ = false;
      found_.reset();
      history_.clear();
      if (!walk()) return std::nullopt;
      if (!changed_) return found_;
    }
    return std::nullopt;
  }

 private:
  using Known = std::optional<FlowState>;

  /// False where an instruction before the place is not known.
  bool walk() {
    Known state = at_start();
    Known by_table;
    changes_ = true;
    next_target_ = targets_.begin();
    std::size_t at = 0;
    while (at < code_.size()) {
      arrive(at, state);
      // Where a table leads to, the stack is as it was at the jump.
      if (!state && by_table) {
        state = by_table;
        changes_ = true;
      }
      if (changes_) history_.emplace_back(at, state);
      changes_ = false;
      if (at == place_) found_ = state;
      const std::optional<MachineInstruction> next = read_instruction(code_.subspan(at));
      // Behind the function lies what need not be code.
      if (!next) return at > place_;
      const std::size_t end = at + next->size;
      if (at < place_ && end > place_) return false;
      if (state) {
        changes_ = step(*state, *next);
        if (next->kind == MachineInstruction::Kind::branch ||
            next->kind == MachineInstruction::Kind::jump)
          reach(end, next->target, *state);
      }
      if (next->kind == MachineInstruction::Kind::jump_by_table && state) by_table = state;
      if (next->kind >= MachineInstruction::Kind::jump) {
        state.reset();
        changes_ = true;
      }
      at = end;
    }
    if (at == place_) found_ = state;
    return true;
  }

  void arrive(std::size_t at, Known& state) {
    while (next_target_ != targets_.end() && next_target_->first < at) ++next_target_;
    if (next_target_ != targets_.end() && next_target_->first == at) {
      Known now = state ? merged(*state, next_target_->second) : next_target_->second;
      if (now == state) return;
      state = now;
      changes_ = true;
    } else if (!state && several_ && at % kAligned == 0 && begins_function(code_.subspan(at))) {
      state = at_start();
      changes_ = true;
    }
  }

  void reach(std::size_t from, std::int64_t distance, const FlowState& state) {
    const std::int64_t to = static_cast<std::int64_t>(from) + distance;
    if (to < 0 || to > static_cast<std::int64_t>(code_.size())) return;
    const auto target = static_cast<std::size_t>(to);
    const bool back = target < from;
    if (back) {
      const auto after = std::ranges::upper_bound(history_, target, {},
                                                  [](const auto& each) { return each.first; });
      const Known& before = std::prev(after)->second;
      if (before && merged(*before, state) == *before) return;
      changed_ = true;
    }
    const auto [at, fresh] = targets_.try_emplace(target, state);
    if (!fresh) at->second = merged(at->second, state);
    if (!back && (next_target_ == targets_.end() || target < next_target_->first))
      next_target_ = at;
  }

  using Targets = std::map<std::size_t, FlowState>;

  std::span<const std::byte> code_;
  std::size_t place_;
  bool several_;
  Targets targets_;  ///< What is jumped to, with what is known there.
  Targets::iterator next_target_;
  /// What was known from where on, in this pass.
  std::vector<std::pair<std::size_t, Known>> history_;
  Known found_;
  bool changes_ = false;  ///< What is known is another than at the instruction before.
  bool changed_ = false;  ///< Another pass is to be made.
};

}  // namespace

bool begins_function(std::span<const std::byte> code) {
  constexpr std::array kLandingPad = {std::byte{0xf3}, std::byte{0x0f}, std::byte{0x1e},
                                      std::byte{0xfa}};
  if (code.size() > kLandingPad.size() && std::ranges::equal(code.first(4), kLandingPad))
    code = code.subspan(kLandingPad.size());
  const std::optional<MachineInstruction> first = read_instruction(code);
  if (!first) return false;
  using Kind = MachineInstruction::Kind;
  if (first->kind == Kind::push) return followed(first->number).has_value();
  return first->kind == Kind::add && first->number == kStackRegister && first->offset < 0;
}

std::optional<CodeFrame> follow(std::span<const std::byte> code, std::size_t place, bool several) {
  if (place > code.size()) return std::nullopt;
  const std::optional<FlowState> state = Follower(code, place, several).follow();
  if (!state) return std::nullopt;
  CodeFrame frame;
  frame.read = place;
  const std::optional<StackPlace>& stack = state->place[kStack];
  if (stack && !stack->aligned) frame.from_stack = stack->below;
  for (std::size_t i = 0; i < kFollowed.size(); ++i) {
    if (i == kStack) continue;
    const std::uint64_t number = dwarf_number(kFollowed[i]);
    const bool written = (state->written >> kFollowed[i] & 1U) != 0;
    frame.saved[number] = state->saved[i];
    frame.same[number] = !written && !state->saved[i];
    const std::optional<StackPlace>& known = state->place[i];
    if (!frame.from_stack && !frame.from_register && known && !known->aligned)
      frame.from_register = CodeFrame::From{.number = number, .distance = known->below};
  }
  if (frame.from_stack || frame.from_register) return frame;
  if (!stack || !state->kept_at) return std::nullopt;
  frame.from_memory =
      CodeFrame::From{.number = static_cast<std::uint64_t>(stack->below - *state->kept_at),
                      .distance = state->kept};
  return frame;
}

}  // namespace fathom::sample::native
