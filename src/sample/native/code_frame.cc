// Reads the instructions of x86-64 by which functions begin and end.
#include "sample/native/code_frame.h"

#include <algorithm>

#include "sample/native/instruction.h"

namespace fathom::sample::native {
namespace {

enum class Kind : std::uint8_t { unknown, nothing, push, pop, sink, align, frame, save, load, ret };

struct Instruction {
  Kind kind = Kind::unknown;
  std::size_t size = 0;
  std::uint64_t number = 0;  ///< The register, as DWARF has it.
  std::int64_t offset = 0;   ///< How far the stack sinks, or behind its pointer.
};

class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> code) : code_(code) {}

  Instruction decode() {
    if (starts_with({0xf3, 0x0f, 0x1e, 0xfa}))
      return {.kind = Kind::nothing, .size = 4};                                     // endbr64
    if (starts_with({0xc5, 0xf8, 0x77})) return {.kind = Kind::nothing, .size = 3};  // vzeroupper
    if (starts_with({0xf3, 0xc3})) return {.kind = Kind::ret, .size = 2};
    if (starts_with({0xc3})) return {.kind = Kind::ret, .size = 1};
    if (byte(0) >= 0x40 && byte(0) <= 0x4f) prefix_ = static_cast<unsigned>(byte(at_++));
    const int operation = byte(at_++);
    const bool wide = (prefix_ & 9U) == 8U;
    if (operation >= 0x50 && operation <= 0x5f) {
      const bool push = operation < 0x58;
      return done(push ? Kind::push : Kind::pop, extended(operation, 1U));
    }
    const int form = byte(at_++);
    if (form < 0) return {};
    if (wide && operation == 0x83) return change(form, take<std::int8_t>());
    if (wide && operation == 0x81) return change(form, take<std::int32_t>());
    if (operation == 0x89 || operation == 0x8b) return move(form, operation == 0x8b);
    // xor, test between registers
    const bool compares = operation == 0x85;
    if ((operation == 0x31 || operation == 0x33 || compares) && form >= 0xc0)
      return between(form, operation == 0x33, compares);
    return {};
  }

 private:
  [[nodiscard]] int byte(std::size_t at) const {
    return at < code_.size() ? std::to_integer<int>(code_[at]) : -1;
  }
  [[nodiscard]] bool starts_with(std::initializer_list<int> bytes) const {
    std::size_t at = 0;
    return std::ranges::all_of(bytes, [&](int each) { return byte(at++) == each; });
  }
  template <class Number>
  std::int64_t take() {
    if (sizeof(Number) > code_.size() - std::min(at_, code_.size())) {
      at_ = code_.size() + 1;
      return 0;
    }
    const auto value = number_at<Number>(code_, at_);
    at_ += sizeof(Number);
    return value;
  }
  /// A register by its lowest three bits; the fourth is in the prefix.
  [[nodiscard]] std::uint64_t extended(int bits, unsigned prefix_bit) const {
    const unsigned low = static_cast<unsigned>(bits) & 7U;
    return dwarf_number(low + ((prefix_ & prefix_bit) != 0 ? 8U : 0U));
  }
  [[nodiscard]] Instruction done(Kind kind, std::uint64_t number = 0,
                                 std::int64_t offset = 0) const {
    if (at_ > code_.size()) return {};
    return {.kind = kind, .size = at_, .number = number, .offset = offset};
  }

  /// add, sub, and: of the stack pointer.
  [[nodiscard]] Instruction change(int form, std::int64_t value) const {
    if (form == 0xec) return done(Kind::sink, 0, value);
    if (form == 0xc4) return done(Kind::sink, 0, -value);
    if (form == 0xe4) return done(Kind::align);
    return {};
  }

  [[nodiscard]] Instruction between(int form, bool to_left, bool reads) const {
    const std::uint64_t left = extended(form >> 3, 4U);
    const std::uint64_t right = extended(form, 1U);
    const std::uint64_t target = to_left ? left : right;
    const std::uint64_t source = to_left ? right : left;
    if (reads) return done(Kind::nothing);
    if (target == kX8664.stack) return {};
    const bool frame = target == kX8664.frame && source == kX8664.stack && (prefix_ & 8U) != 0;
    return done(frame ? Kind::frame : Kind::nothing, target);
  }

  /// Between registers, or a register and the stack at its pointer.
  Instruction move(int form, bool to_left) {
    const int mode = form >> 6;
    if (mode == 3) return between(form, to_left, false);
    const bool at_stack = (form & 7) == 4 && byte(at_++) == 0x24 && (prefix_ & 1U) == 0;
    if (!at_stack) return {};
    std::int64_t offset = 0;
    if (mode == 1) offset = take<std::int8_t>();
    if (mode == 2) offset = take<std::int32_t>();
    const bool whole = (prefix_ & 8U) != 0;
    const std::uint64_t number = extended(form >> 3, 4U);
    if (!whole) return to_left ? Instruction{} : done(Kind::nothing);
    return done(to_left ? Kind::load : Kind::save, number, offset);
  }

  std::span<const std::byte> code_;
  std::size_t at_ = 0;
  unsigned prefix_ = 0;
};

constexpr std::int64_t kWord = 8;
constexpr std::int64_t kDeepest = std::int64_t{1} << 24U;

}  // namespace

CodeFrame read_start(std::span<const std::byte> code) {
  CodeFrame frame;
  std::int64_t depth = kWord;  // The return address.
  bool aligned = false;
  const auto save = [&](std::uint64_t number, std::int64_t offset) {
    // What is stored again is the function's own.
    if (number < kRegisters && kX8664.kept[number] && !frame.saved[number])
      frame.saved[number] = offset;
  };
  while (!code.empty() && depth >= kWord && depth < kDeepest) {
    const Instruction next = Decoder(code).decode();
    if (next.kind == Kind::push) {
      depth += kWord;
      if (!aligned) save(next.number, -depth);
    } else if (next.kind == Kind::sink) {
      depth += next.offset;
    } else if (next.kind == Kind::align) {
      aligned = true;
    } else if (next.kind == Kind::frame) {
      frame.from_frame = aligned ? std::nullopt : std::optional(depth);
    } else if (next.kind == Kind::save) {
      if (!aligned) save(next.number, next.offset - depth);
    } else if (next.kind != Kind::nothing) {
      break;
    } else if (next.number == kX8664.frame) {
      frame.from_frame.reset();
    }
    code = code.subspan(next.size);
    frame.read += next.size;
  }
  if (!aligned && depth >= kWord && depth < kDeepest) frame.from_stack = depth;
  return frame;
}

bool may_move_stack(std::span<const std::byte> code) {
  constexpr std::size_t kSize = 3;  // Prefix, operation, form.
  for (; code.size() >= kSize; code = code.subspan(1)) {
    const auto prefix = std::to_integer<unsigned>(code[0]);
    const auto operation = std::to_integer<unsigned>(code[1]);
    const auto form = std::to_integer<unsigned>(code[2]);
    if ((prefix & 0xf8U) != 0x48U) continue;
    const bool right = (form & 0xc7U) == 0xc4U && (prefix & 1U) == 0;
    const bool left = (form & 0x38U) == 0x20U && (prefix & 4U) == 0;
    const unsigned kind = (form >> 3U) & 7U;  // add, and, sub
    const bool number = operation == 0x81 || operation == 0x83;
    if (number && right && (kind == 0 || kind == 4 || kind == 5)) return true;
    const bool to_right = operation == 0x89 || operation == 0x01 || operation == 0x29;
    const bool to_left =
        operation == 0x8b || operation == 0x8d || operation == 0x03 || operation == 0x2b;
    if ((to_right && right) || (to_left && left)) return true;
  }
  return false;
}

std::optional<CodeFrame> read_end(std::span<const std::byte> code) {
  CodeFrame frame;
  frame.others_same = true;
  std::int64_t depth = 0;
  while (!code.empty()) {
    const Instruction next = Decoder(code).decode();
    const bool restores = next.kind == Kind::pop || next.kind == Kind::load;
    if (restores && next.number == kX8664.stack) return std::nullopt;
    if (next.kind == Kind::pop) {
      frame.saved[next.number] = depth;
      depth += kWord;
    } else if (next.kind == Kind::sink && next.offset < 0 && depth < kDeepest) {
      depth -= next.offset;
    } else if (next.kind == Kind::load) {
      frame.saved[next.number] = depth + next.offset;
    } else if (next.kind == Kind::ret) {
      frame.from_stack = depth + kWord;
      for (auto& offset : frame.saved) {
        if (offset) *offset -= depth + kWord;
      }
      return frame;
    } else if (next.kind != Kind::nothing || kX8664.kept[next.number]) {
      return std::nullopt;
    }
    code = code.subspan(next.size);
  }
  return std::nullopt;
}

}  // namespace fathom::sample::native
