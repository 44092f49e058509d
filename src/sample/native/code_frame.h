// CodeFrame: where a function's frame is, read from its instructions where no rules tell it:
// kernels written by hand or made while a program runs have none.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "sample/native/registers.h"

namespace fathom::sample::native {

/// The frame's address (CFA) is what the caller's stack pointer will be.
struct CodeFrame {
  std::optional<std::int64_t> from_stack;  ///< How far it is from the stack pointer,
  std::optional<std::int64_t> from_frame;  ///< or from the frame pointer.
  struct From {
    std::uint64_t number = 0;
    std::int64_t distance = 0;
  };
  std::optional<From> from_register;  ///< Or from another one,
  /// or from what lies so far behind the stack pointer, `number` of bytes.
  std::optional<From> from_memory;
  /// Where registers of the caller are, behind the frame's address.
  std::array<std::optional<std::int64_t>, kRegisters> saved;
  bool others_same = false;      ///< Registers that are not among them are the caller's,
  std::bitset<kRegisters> same;  ///< or these.
  std::size_t read = 0;          ///< Bytes of the start that were understood.
};

/// So much of a function's start is read.
inline constexpr std::size_t kStartBytes = 128;
inline constexpr std::size_t kEndBytes = 64;

/// From a function's first instruction to the one before the place where a thread is. Only what
/// functions begin with is known; what follows is taken not to move the stack. x86-64.
CodeFrame read_start(std::span<const std::byte> code);
/// From the place on: nothing where a function does not just end there.
std::optional<CodeFrame> read_end(std::span<const std::byte> code);

/// Whether some bytes may be an instruction that gives the stack pointer another value than push
/// and pop would.
bool may_move_stack(std::span<const std::byte> code);

/// What the call that ends before an address calls.
enum class CallBefore : std::uint8_t {
  none,      ///< There is no call.
  another,   ///< Another function.
  unknown,   ///< What a register or the memory said then.
  function,  ///< The function that is asked for.
};

}  // namespace fathom::sample::native
