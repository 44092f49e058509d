// MachineInstruction: how long an instruction of x86-64 is, and what it does to the stack and to
// registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace fathom::sample::native {

/// A register by the machine's number: 4 is the stack pointer, 5 the frame pointer.
using MachineRegister = unsigned;
inline constexpr MachineRegister kStackRegister = 4;
inline constexpr MachineRegister kFrameRegister = 5;
inline constexpr std::size_t kMachineRegisters = 16;
/// As DWARF numbers it.
std::uint64_t dwarf_number(MachineRegister number);

struct MachineInstruction {
  enum class Kind : std::uint8_t {
    other,
    push,  ///< A register.
    push_other,
    pop,  ///< A register.
    pop_other,
    add,   ///< `offset` to the register.
    copy,  ///< `from` plus `offset` to the register.
    save,  ///< The register to memory, `offset` behind what `from` points to,
    load,  ///< or from there.
    leave,
    call,
    branch,         ///< To `target`, or on.
    jump,           ///< To `target`,
    jump_by_table,  ///< or to what a register or the memory says.
    end,            ///< ret, or what stops the program.
  };
  Kind kind = Kind::other;
  std::size_t size = 0;
  MachineRegister number = 0;
  MachineRegister from = 0;
  std::int64_t offset = 0;
  std::int64_t target = 0;    ///< From the instruction's end.
  std::uint16_t written = 0;  ///< Registers, a bit each, that have another value by this.
};

/// Nothing where it is cut off, or none that this knows. Of what it does not know exactly, it says
/// more registers to be written rather than fewer.
std::optional<MachineInstruction> read_instruction(std::span<const std::byte> code);

}  // namespace fathom::sample::native
