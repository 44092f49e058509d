// CallFrames: .eh_frame, which says for each instruction of a file where its caller's registers
// are.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sample/native/registers.h"

namespace fathom::sample::native {

/// Where a register of the caller is.
struct Rule {
  enum class Kind : std::uint8_t {
    unspecified,  ///< No rule speaks of it.
    undefined,    ///< It is lost.
    same,
    saved,             ///< In memory, `offset` behind the frame's address.
    offset,            ///< It is the frame's address plus `offset`.
    in_register,       ///< `number`.
    saved_expression,  ///< In memory, where the expression says.
    expression,        ///< The expression's value.
  };
  Kind kind = Kind::unspecified;
  std::uint64_t number = 0;
  std::int64_t offset = 0;
  std::span<const std::byte> bytes;  ///< The expression; of the bytes that were given.
};

/// The rules at one instruction.
struct Row {
  /// The frame's address (CFA): register `number` plus `offset`, or an expression.
  Rule frame;
  std::array<Rule, kRegisters> registers;
  std::uint64_t return_register = 0;
  bool signal = false;      ///< The kernel called it: its caller was interrupted, and made no call.
  std::uint64_t begin = 0;  ///< The function's, in the file's addresses.
  std::uint64_t end = 0;
};

/// A section as it lies in a file's address space.
struct Section {
  std::uint64_t address = 0;
  std::span<const std::byte> bytes;
};

/// Bytes that are wrong are no rules. The sections must outlive it.
class CallFrames {
 public:
  CallFrames() = default;
  /// `header` is .eh_frame_hdr, and may be empty: then all of `frames` is read.
  CallFrames(const Section& header, const Section& frames);

  /// The rules at an address of the file; nothing where none are known.
  [[nodiscard]] std::optional<Row> find(std::uint64_t address) const;

 private:
  struct Cie;
  struct Fde;
  class Program;
  [[nodiscard]] bool read_header(const Section& header);
  void read_all();
  [[nodiscard]] std::optional<std::uint64_t> entry_of(std::uint64_t address) const;
  [[nodiscard]] std::optional<Cie> read_cie(std::uint64_t offset) const;
  [[nodiscard]] std::optional<Fde> read_fde(std::uint64_t offset) const;

  Section frames_;
  /// .eh_frame_hdr's table of the first address of functions and of their entries.
  std::span<const std::byte> table_;
  std::uint64_t table_base_ = 0;
  /// Without such a table: those, and the entries' offsets, sorted.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all_;
};

}  // namespace fathom::sample::native
