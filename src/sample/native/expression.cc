// Evaluates DWARF expressions. They are bytes of a file: steps and stack are counted.
#include "sample/native/expression.h"

#include <array>

#include "sample/native/cursor.h"

namespace fathom::sample::native {
namespace {

constexpr int kMostSteps = 1000;

// The names of the operations are those of DWARF.
constexpr std::uint8_t kAddr = 0x03;
constexpr std::uint8_t kDeref = 0x06;
constexpr std::uint8_t kConst1u = 0x08;
constexpr std::uint8_t kConst1s = 0x09;
constexpr std::uint8_t kConst2u = 0x0a;
constexpr std::uint8_t kConst2s = 0x0b;
constexpr std::uint8_t kConst4u = 0x0c;
constexpr std::uint8_t kConst4s = 0x0d;
constexpr std::uint8_t kConst8u = 0x0e;
constexpr std::uint8_t kConst8s = 0x0f;
constexpr std::uint8_t kConstu = 0x10;
constexpr std::uint8_t kConsts = 0x11;
constexpr std::uint8_t kDup = 0x12;
constexpr std::uint8_t kDrop = 0x13;
constexpr std::uint8_t kOver = 0x14;
constexpr std::uint8_t kPick = 0x15;
constexpr std::uint8_t kSwap = 0x16;
constexpr std::uint8_t kRot = 0x17;
constexpr std::uint8_t kAbs = 0x19;
constexpr std::uint8_t kAnd = 0x1a;
constexpr std::uint8_t kDiv = 0x1b;
constexpr std::uint8_t kMinus = 0x1c;
constexpr std::uint8_t kMod = 0x1d;
constexpr std::uint8_t kMul = 0x1e;
constexpr std::uint8_t kNeg = 0x1f;
constexpr std::uint8_t kNot = 0x20;
constexpr std::uint8_t kOr = 0x21;
constexpr std::uint8_t kPlus = 0x22;
constexpr std::uint8_t kPlusUconst = 0x23;
constexpr std::uint8_t kShl = 0x24;
constexpr std::uint8_t kShr = 0x25;
constexpr std::uint8_t kShra = 0x26;
constexpr std::uint8_t kXor = 0x27;
constexpr std::uint8_t kBra = 0x28;
constexpr std::uint8_t kEq = 0x29;
constexpr std::uint8_t kGe = 0x2a;
constexpr std::uint8_t kGt = 0x2b;
constexpr std::uint8_t kLe = 0x2c;
constexpr std::uint8_t kLt = 0x2d;
constexpr std::uint8_t kNe = 0x2e;
constexpr std::uint8_t kSkip = 0x2f;
constexpr std::uint8_t kLit0 = 0x30;
constexpr std::uint8_t kLit31 = 0x4f;
constexpr std::uint8_t kBreg0 = 0x70;
constexpr std::uint8_t kBreg31 = 0x8f;
constexpr std::uint8_t kBregx = 0x92;
constexpr std::uint8_t kDerefSize = 0x94;
constexpr std::uint8_t kNop = 0x96;

class Evaluation {
 public:
  Evaluation(std::span<const std::byte> expression, const Registers& registers,
             const StackCopy& memory)
      : code_(expression), registers_(registers), memory_(memory) {}

  std::optional<std::uint64_t> run(std::optional<std::uint64_t> first) {
    if (first) push(*first);
    for (int step = 0; step < kMostSteps && sound_ && !code_.at_end(); ++step)
      perform(code_.take<std::uint8_t>());
    if (!sound_ || !code_.ok() || !code_.at_end() || depth_ == 0) return std::nullopt;
    return stack_[depth_ - 1];
  }

 private:
  void push(std::uint64_t value) {
    if (depth_ == stack_.size()) {
      sound_ = false;
      return;
    }
    stack_[depth_++] = value;
  }
  void push_known(std::optional<std::uint64_t> value) {
    sound_ = sound_ && value.has_value();
    push(value.value_or(0));
  }
  std::uint64_t pop() {
    if (depth_ == 0) {
      sound_ = false;
      return 0;
    }
    return stack_[--depth_];
  }
  /// Below the topmost by so many.
  void pick(std::size_t below) {
    sound_ = sound_ && below < depth_;
    if (sound_) push(stack_[depth_ - 1 - below]);
  }
  void push_based(std::uint64_t number) {
    const auto offset = static_cast<std::uint64_t>(code_.signed_leb());
    const std::optional<std::uint64_t> base = registers_.get(number);
    push_known(base ? std::optional(*base + offset) : std::nullopt);
  }

  void perform(std::uint8_t operation) {
    if (operation >= kLit0 && operation <= kLit31) return push(operation - kLit0 + 0U);
    if (operation >= kBreg0 && operation <= kBreg31) return push_based(operation - kBreg0 + 0U);
    if (take_constant(operation) || move(operation)) return;
    if (operation == kAbs || operation == kNeg || operation == kNot) {
      const std::uint64_t value = pop();
      const bool negative = static_cast<std::int64_t>(value) < 0;
      return push(operation == kNot ? ~value : (operation == kNeg || negative) ? 0 - value : value);
    }
    if (operation < kAnd || operation > kNe) {
      sound_ = false;
      return;
    }
    const std::uint64_t b = pop();
    const std::uint64_t a = pop();
    push_known(combine(operation, a, b));
  }

  bool take_constant(std::uint8_t operation) {
    const auto wide = [this](auto value) { push(static_cast<std::uint64_t>(std::int64_t{value})); };
    switch (operation) {
      case kAddr:
      case kConst8u:
      case kConst8s:
        push(code_.take<std::uint64_t>());
        return true;
      case kConst1u:
        push(code_.take<std::uint8_t>());
        return true;
      case kConst1s:
        wide(code_.take<std::int8_t>());
        return true;
      case kConst2u:
        push(code_.take<std::uint16_t>());
        return true;
      case kConst2s:
        wide(code_.take<std::int16_t>());
        return true;
      case kConst4u:
        push(code_.take<std::uint32_t>());
        return true;
      case kConst4s:
        wide(code_.take<std::int32_t>());
        return true;
      case kConstu:
        push(code_.unsigned_leb());
        return true;
      case kConsts:
        wide(code_.signed_leb());
        return true;
      case kBregx:
        push_based(code_.unsigned_leb());
        return true;
      default:
        return false;
    }
  }

  /// What reorders the stack, reads memory or jumps.
  bool move(std::uint8_t operation) {
    switch (operation) {
      case kNop:
        return true;
      case kDeref:
        push_known(memory_.number(pop()));
        return true;
      case kDerefSize: {
        const auto size = code_.take<std::uint8_t>();
        push_known(memory_.number(pop(), size));
        return true;
      }
      case kDup:
        pick(0);
        return true;
      case kDrop:
        pop();
        return true;
      case kOver:
        pick(1);
        return true;
      case kPick:
        pick(code_.take<std::uint8_t>());
        return true;
      case kSwap:
      case kRot:
        rotate(operation == kSwap ? 2 : 3);
        return true;
      case kPlusUconst:
        push(pop() + code_.unsigned_leb());
        return true;
      case kSkip:
      case kBra: {
        const auto by = code_.take<std::int16_t>();
        if (operation == kSkip || pop() != 0) code_.move(by);
        return true;
      }
      default:
        return false;
    }
  }

  /// The topmost of `count` goes below the others.
  void rotate(std::size_t count) {
    sound_ = sound_ && depth_ >= count;
    if (!sound_) return;
    const std::uint64_t top = stack_[depth_ - 1];
    for (std::size_t i = 1; i < count; ++i) stack_[depth_ - i] = stack_[depth_ - i - 1];
    stack_[depth_ - count] = top;
  }

  static std::optional<std::uint64_t> combine(std::uint8_t operation, std::uint64_t a,
                                              std::uint64_t b) {
    const auto left = static_cast<std::int64_t>(a);
    const auto right = static_cast<std::int64_t>(b);
    switch (operation) {
      case kAnd:
        return a & b;
      case kDiv:
        // The only quotient that does not fit is that of the smallest number.
        if (b == 0) return std::nullopt;
        return right == -1 ? 0 - a : static_cast<std::uint64_t>(left / right);
      case kMinus:
        return a - b;
      case kMod:
        return b == 0 ? std::nullopt : std::optional(a % b);
      case kMul:
        return a * b;
      case kOr:
        return a | b;
      case kPlus:
        return a + b;
      case kShl:
        return b < 64 ? a << b : 0;
      case kShr:
        return b < 64 ? a >> b : 0;
      case kShra:
        return static_cast<std::uint64_t>(left >> (b < 63 ? b : 63));
      case kXor:
        return a ^ b;
      case kEq:
        return a == b ? 1 : 0;
      case kGe:
        return left >= right ? 1 : 0;
      case kGt:
        return left > right ? 1 : 0;
      case kLe:
        return left <= right ? 1 : 0;
      case kLt:
        return left < right ? 1 : 0;
      case kNe:
        return a != b ? 1 : 0;
      default:
        return std::nullopt;
    }
  }

  Cursor code_;
  const Registers& registers_;
  const StackCopy& memory_;
  std::array<std::uint64_t, 64> stack_{};
  std::size_t depth_ = 0;
  bool sound_ = true;
};

}  // namespace

std::optional<std::uint64_t> evaluate(std::span<const std::byte> expression,
                                      const Registers& registers, const StackCopy& stack,
                                      std::optional<std::uint64_t> first) {
  return Evaluation(expression, registers, stack).run(first);
}

}  // namespace fathom::sample::native
