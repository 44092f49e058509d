// Reads instructions by their length: prefixes, operation, operands.
#include "sample/native/instruction.h"

#include <array>

#include "sample/memory.h"

namespace fathom::sample::native {
namespace {

using Operation = MachineInstruction::Kind;

/// Which table of operations: the first, those behind 0f, 0f 38 and 0f 3a.
constexpr unsigned kOfOneByte = 0;
constexpr unsigned kBehind0f = 1;
constexpr unsigned kBehind0f38 = 2;
constexpr unsigned kBehind0f3a = 3;

constexpr bool is_in(int value, int first, int last) { return value >= first && value <= last; }

class InstructionReader {
 public:
  explicit InstructionReader(std::span<const std::byte> code) : code_(code) {}

  std::optional<MachineInstruction> read() {
    read_prefixes();
    if (operation_ < 0 || !read_operands()) return std::nullopt;
    at_ += immediate_;
    if (at_ > code_.size() || at_ > kLongest) return std::nullopt;
    found_.size = at_;
    classify();
    return found_;
  }

 private:
  static constexpr std::size_t kLongest = 15;

  [[nodiscard]] int byte(std::size_t at) const {
    return at < code_.size() ? std::to_integer<int>(code_[at]) : -1;
  }
  int next() { return byte(at_++); }

  void read_prefixes() {
    int value = next();
    while (value == 0x66 || value == 0x67 || value == 0xf2 || value == 0xf3 || value == 0xf0 ||
           value == 0x2e || value == 0x36 || value == 0x3e || value == 0x26 || value == 0x64 ||
           value == 0x65) {
      small_ = small_ || value == 0x66;
      if (value == 0x67) value = -1;  // Addresses of 32 bits.
      if (value < 0 || at_ > kLongest) return;
      value = next();
    }
    if (is_in(value, 0x40, 0x4f)) {
      set_extensions(static_cast<unsigned>(value));
      value = next();
    }
    if (value == 0xc4 || value == 0xc5 || value == 0x62) {
      value = read_vector_prefix(value);
    } else if (value == 0x0f) {
      table_ = kBehind0f;
      value = next();
      if (value == 0x38 || value == 0x3a) {
        table_ = value == 0x38 ? kBehind0f38 : kBehind0f3a;
        value = next();
      }
    }
    operation_ = value;
  }

  /// The operation behind it.
  int read_vector_prefix(int kind) {
    vector_ = true;
    const int first = next();
    if (first < 0) return -1;
    // In these prefixes the bits say "not".
    const unsigned bits = ~static_cast<unsigned>(first);
    right_ = (bits >> 7U & 1U) << 3U;
    table_ = kBehind0f;
    int last = first;
    if (kind != 0xc5) {
      table_ = static_cast<unsigned>(first) & (kind == 0x62 ? 7U : 31U);
      base_ = (bits >> 5U & 1U) << 3U;
      last = next();
      if (last < 0) return -1;
      wide_ = (last & 0x80) != 0;
    }
    extra_ = ~static_cast<unsigned>(last) >> 3U & 15U;
    if (kind == 0x62 && next() < 0) return -1;
    return next();
  }

  void set_extensions(unsigned prefix) {
    wide_ = (prefix & 8U) != 0;
    right_ = (prefix & 4U) << 1U;
    base_ = (prefix & 1U) << 3U;
  }

  /// Whether there is a byte that names operands, and how many bytes of a number follow.
  bool read_operands() {
    const std::size_t full = small_ ? 2 : 4;
    bool form = true;
    if (table_ == kBehind0f) {
      form =
          !(is_in(operation_, 0x05, 0x09) || operation_ == 0x0b || is_in(operation_, 0x30, 0x37) ||
            operation_ == 0x77 || (!vector_ && is_in(operation_, 0x80, 0x8f)) ||
            (!vector_ && is_in(operation_, 0xa0, 0xa2)) || is_in(operation_, 0xa8, 0xaa) ||
            (!vector_ && is_in(operation_, 0xc8, 0xcf)));
      if (!vector_ && is_in(operation_, 0x80, 0x8f)) immediate_ = 4;
      if (is_in(operation_, 0x70, 0x73) || operation_ == 0xa4 || operation_ == 0xac ||
          operation_ == 0xba || operation_ == 0xc2 || is_in(operation_, 0xc4, 0xc6))
        immediate_ = 1;
    } else if (table_ == kBehind0f3a) {
      immediate_ = 1;
    } else if (table_ == kOfOneByte) {
      if (vector_ || !read_first(full, form)) return false;
    } else if (table_ > 6 || table_ == 4) {
      return false;
    }
    return !form || read_form(full);
  }

  /// Operations of one byte; false for those that there are none of.
  bool read_first(std::size_t full, bool& form) {
    const int low = operation_ & 7;
    form = false;
    if (operation_ < 0x40) {
      if (low >= 6) return false;
      form = low < 4;
      immediate_ = low == 4 ? 1 : (low == 5 ? full : 0);
      return true;
    }
    if (is_in(operation_, 0x50, 0x5f)) return true;
    if (is_in(operation_, 0xb0, 0xb7)) return immediate_ = 1, true;
    if (is_in(operation_, 0xb8, 0xbf)) return immediate_ = wide_ ? 8 : full, true;
    if (is_in(operation_, 0x70, 0x7f) || is_in(operation_, 0xe0, 0xe7)) return immediate_ = 1, true;
    if (is_in(operation_, 0xa0, 0xa3)) return immediate_ = 8, true;
    if (is_in(operation_, 0x84, 0x8f) || is_in(operation_, 0xd0, 0xd3) ||
        is_in(operation_, 0xd8, 0xdf))
      return form = true;
    switch (operation_) {
      case 0x68:
      case 0xa9:
        immediate_ = full;
        return true;
      case 0xe8:
      case 0xe9:
        immediate_ = 4;
        return true;
      case 0x6a:
      case 0xa8:
      case 0xcd:
      case 0xeb:
        immediate_ = 1;
        return true;
      case 0xc2:
      case 0xca:
        immediate_ = 2;
        return true;
      case 0xc8:
        immediate_ = 3;
        return true;
      case 0x69:
      case 0x81:
      case 0xc7:
        immediate_ = full;
        return form = true;
      case 0x6b:
      case 0x80:
      case 0x83:
      case 0xc0:
      case 0xc1:
      case 0xc6:
        immediate_ = 1;
        return form = true;
      case 0x63:
      case 0xf6:
      case 0xf7:
      case 0xfe:
      case 0xff:
        return form = true;
      default:
        return is_in(operation_, 0x6c, 0x6f) || is_in(operation_, 0x90, 0x99) ||
               is_in(operation_, 0x9b, 0x9f) || is_in(operation_, 0xa4, 0xaf) ||
               operation_ == 0xc3 || operation_ == 0xc9 || operation_ == 0xcb ||
               operation_ == 0xcc || operation_ == 0xcf || operation_ == 0xd7 ||
               is_in(operation_, 0xec, 0xef) || operation_ == 0xf1 || operation_ == 0xf4 ||
               operation_ == 0xf5 || is_in(operation_, 0xf8, 0xfd);
    }
  }

  bool read_form(std::size_t full) {
    const int form = next();
    if (form < 0) return false;
    const auto bits = static_cast<unsigned>(form);
    mode_ = bits >> 6U;
    middle_ = bits >> 3U & 7U;
    register_ = middle_ | right_;
    operand_ = (bits & 7U) | base_;
    has_form_ = true;
    std::size_t displacement = mode_ == 1 ? 1 : (mode_ == 2 ? 4 : 0);
    in_memory_ = mode_ != 3;
    if (in_memory_ && (bits & 7U) == 4) {
      const int index = next();
      if (index < 0) return false;
      const auto parts = static_cast<unsigned>(index);
      operand_ = (parts & 7U) | base_;
      plain_ = (parts >> 3U & 7U) == 4;
      if (mode_ == 0 && (parts & 7U) == 5) displacement = 4, plain_ = false;
    } else if (mode_ == 0 && (bits & 7U) == 5) {
      displacement = 4;
      plain_ = false;
    }
    displacement_ = number(at_, displacement);
    at_ += displacement;
    // test, in the same place as what takes no number
    if (table_ == kOfOneByte && !vector_ && (operation_ == 0xf6 || operation_ == 0xf7) &&
        middle_ < 2)
      immediate_ = operation_ == 0xf6 ? 1 : full;
    return true;
  }

  [[nodiscard]] std::int64_t number(std::size_t at, std::size_t size) const {
    if (at > code_.size() || size > code_.size() - at) return 0;
    if (size == 1) return number_at<std::int8_t>(code_, at);
    return size == 4 ? number_at<std::int32_t>(code_, at) : 0;
  }
  [[nodiscard]] std::int64_t immediate() const {
    return number(found_.size - immediate_, immediate_);
  }

  void write(MachineRegister number) {
    found_.written = static_cast<std::uint16_t>(found_.written | 1U << number);
  }

  void classify() {
    if (vector_) return classify_vector();
    if (table_ == kOfOneByte) return classify_first();
    if (table_ == kBehind0f) return classify_second();
    // movbe, crc32, adcx; pextr of a register
    if (table_ == kBehind0f38 && operation_ >= 0xf0) write_both();
    if (table_ == kBehind0f3a && is_in(operation_, 0x14, 0x17)) write_operand();
  }

  void write_operand() {
    if (!in_memory_) write(operand_);
  }
  void write_both() {
    write(register_);
    write_operand();
  }

  /// Of those with a vector's prefix few write a register of numbers.
  void classify_vector() {
    if (table_ == kBehind0f &&
        (operation_ == 0x2c || operation_ == 0x2d || operation_ == 0x50 || operation_ == 0x78 ||
         operation_ == 0x79 || operation_ == 0x93 || operation_ == 0xc5 || operation_ == 0xd7))
      write(register_);
    if (table_ == kBehind0f && operation_ == 0x7e) write_operand();
    if (table_ == kBehind0f38 && operation_ >= 0xf0) {
      write_both();
      write(extra_);
    }
    if (table_ == kBehind0f3a && is_in(operation_, 0x14, 0x17)) write_operand();
    if (table_ == kBehind0f3a && operation_ == 0xf0) write(register_);
  }

  void classify_second() {
    if (is_in(operation_, 0x80, 0x8f)) {
      found_.kind = Operation::branch;
      found_.target = immediate();
      return;
    }
    if (operation_ == 0x0b) found_.kind = Operation::end;
    if (operation_ == 0x05) return write_caller_saved();
    if (operation_ == 0xa2) {  // cpuid
      for (const MachineRegister number : {0U, 1U, 2U, 3U}) write(number);
      return;
    }
    if (is_in(operation_, 0xc8, 0xcf))
      return write((static_cast<unsigned>(operation_) & 7U) | base_);
    const bool vector = is_in(operation_, 0x10, 0x17) || is_in(operation_, 0x28, 0x2b) ||
                        is_in(operation_, 0x2e, 0x2f) || is_in(operation_, 0x51, 0x76) ||
                        is_in(operation_, 0x7c, 0x7d) || operation_ == 0x7f || operation_ == 0xc2 ||
                        operation_ == 0xc4 || operation_ == 0xc6 ||
                        (operation_ >= 0xd0 && operation_ != 0xd7);
    const bool nothing = is_in(operation_, 0x18, 0x1f) || operation_ == 0x0d || operation_ == 0xa3;
    if (!has_form_ || vector || nothing) return;
    write(0);
    write(2);
    write_operand();
    const bool one =
        operation_ <= 0x01 || operation_ == 0xae || operation_ == 0xba || operation_ == 0xc7;
    if (!one) write(register_);
  }

  void write_caller_saved() {
    for (const MachineRegister number : {0U, 1U, 2U, 6U, 7U, 8U, 9U, 10U, 11U}) write(number);
  }

  void classify_first() {
    const MachineRegister low = (static_cast<unsigned>(operation_) & 7U) | base_;
    if (is_in(operation_, 0x50, 0x57)) return set(Operation::push, low);
    if (is_in(operation_, 0x58, 0x5f)) {
      write(low);
      return set(Operation::pop, low);
    }
    if (is_in(operation_, 0x70, 0x7f) || is_in(operation_, 0xe0, 0xe3)) {
      found_.target = immediate();
      if (operation_ >= 0xe0) write(1);
      return set(Operation::branch, 0);
    }
    if (is_in(operation_, 0xb0, 0xbf)) return write(low);
    if (is_in(operation_, 0x91, 0x97)) {
      write(0);
      return write(low);
    }
    switch (operation_) {
      case 0x68:
      case 0x6a:
      case 0x9c:
        return set(Operation::push_other, 0);
      case 0x9d:
        return set(Operation::pop_other, 0);
      case 0x8f:
        if (!in_memory_) found_.written = UINT16_MAX;
        return set(Operation::pop_other, 0);
      case 0x81:
      case 0x83:
        return change();
      case 0x89:
      case 0x8b:
        return move();
      case 0x8d:
        return address();
      case 0xc9:
        write(kFrameRegister);
        return set(Operation::leave, 0);
      case 0xe8:
        write_caller_saved();
        return set(Operation::call, 0);
      case 0xe9:
      case 0xeb:
        found_.target = immediate();
        return set(Operation::jump, 0);
      case 0xc2:
      case 0xc3:
      case 0xca:
      case 0xcb:
      case 0xcc:
      case 0xcf:
      case 0xf4:
        return set(Operation::end, 0);
      case 0xc8:  // enter
        found_.written = UINT16_MAX;
        return;
      case 0xff:
        if (middle_ == 2) {
          write_caller_saved();
          return set(Operation::call, 0);
        }
        if (middle_ == 4 || middle_ == 5) return set(Operation::jump_by_table, 0);
        if (middle_ == 6) return set(Operation::push_other, 0);
        return write_operand();
      case 0x38:
      case 0x39:
      case 0x3a:
      case 0x3b:
      case 0x84:
      case 0x85:
        return;  // They compare.
      default:
        break;
    }
    if (is_in(operation_, 0xd8, 0xdf)) return write(0);  // Of floating point; one stores its state.
    // String operations count in registers; the others name theirs.
    if (is_in(operation_, 0x6c, 0x6f) || is_in(operation_, 0xa4, 0xaf)) {
      for (const MachineRegister number : {0U, 1U, 6U, 7U}) write(number);
      return;
    }
    write(0);
    write(2);
    if (!has_form_) return;
    // Where it names one operand, the other bits are of the operation.
    const bool one = is_in(operation_, 0xc0, 0xd3) || operation_ >= 0xf0 || operation_ == 0x80 ||
                     operation_ == 0x8c || operation_ == 0x8e;
    const bool to_operand = (operation_ < 0x40 && (operation_ & 7) < 2) || operation_ == 0x88;
    if (one || to_operand) return write_operand();
    write(register_);
    if (operation_ == 0x86 || operation_ == 0x87) write_operand();
  }

  void set(Operation kind, MachineRegister number) {
    found_.kind = kind;
    found_.number = number;
  }

  /// add, or, adc, sbb, and, sub, xor, cmp with a number.
  void change() {
    if (middle_ == 7 || in_memory_) return;
    write(operand_);
    if (!wide_ || (middle_ != 0 && middle_ != 5)) return;
    set(Operation::add, operand_);
    found_.offset = middle_ == 0 ? immediate() : -immediate();
  }

  void move() {
    const bool to_left = operation_ == 0x8b;
    if (!in_memory_) {
      const MachineRegister to = to_left ? register_ : operand_;
      write(to);
      if (!wide_) return;
      set(Operation::copy, to);
      found_.from = to_left ? operand_ : register_;
      return;
    }
    if (to_left) write(register_);
    if (!wide_ || !plain_) return;
    set(to_left ? Operation::load : Operation::save, register_);
    found_.from = operand_;
    found_.offset = displacement_;
  }

  /// lea
  void address() {
    write(register_);
    if (!wide_ || !plain_ || !in_memory_) return;
    set(Operation::copy, register_);
    found_.from = operand_;
    found_.offset = displacement_;
  }

  std::span<const std::byte> code_;
  std::size_t at_ = 0;
  int operation_ = -1;
  unsigned table_ = kOfOneByte;
  unsigned right_ = 0;  ///< The fourth bit of the register,
  unsigned base_ = 0;   ///< and of the operand.
  unsigned extra_ = 0;  ///< A third operand.
  bool wide_ = false;
  bool small_ = false;
  bool vector_ = false;
  std::size_t immediate_ = 0;
  bool has_form_ = false;
  unsigned mode_ = 0;
  unsigned middle_ = 0;
  MachineRegister register_ = 0;
  MachineRegister operand_ = 0;  ///< Or where the memory is.
  bool in_memory_ = false;
  bool plain_ = true;  ///< No register counts to the address but the operand.
  std::int64_t displacement_ = 0;
  MachineInstruction found_;
};

}  // namespace

std::uint64_t dwarf_number(MachineRegister number) {
  constexpr std::array<std::uint64_t, 8> kFirstNumbers = {0, 2, 1, 3, 7, 6, 4, 5};
  return number < kFirstNumbers.size() ? kFirstNumbers[number] : number;
}

std::optional<MachineInstruction> read_instruction(std::span<const std::byte> code) {
  return InstructionReader(code).read();
}

}  // namespace fathom::sample::native
