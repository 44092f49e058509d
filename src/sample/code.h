// CodeTable: the code objects of a process, read once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sample/layout.h"
#include "sample/memory.h"

namespace fathom::sample {

/// A function, module, class body or comprehension.
struct Code {
  std::string name;  ///< The qualified one from 3.11 on.
  std::string file;
  std::int32_t first_line = 0;
  std::uint64_t bytecode_bytes = 0;
  std::uint32_t frame_bytes = 0;  ///< What its frame takes in a chunk; 0 where it lies on the heap.
  bool own = false;               ///< The interpreter's own, which Python does not show.

  Address bytecode = 0;  ///< Its start; to 3.10 of the bytes object.
  Address copies = 0;    ///< Of a free-threaded build: copies of the bytecode.
  Address name_object = 0;
  Address file_object = 0;
  Address lines_object = 0;
  std::vector<std::byte> lines;

  /// The line of the instruction at this offset; nothing where it belongs to none.
  [[nodiscard]] std::optional<std::int32_t> line(const Layout& layout,
                                                 std::int64_t instruction) const;
};

/// What it hands out stays valid as long as it lives. `memory` and `layout` must outlive it.
class CodeTable {
 public:
  CodeTable(const Memory& memory, const Layout& layout) : memory_(memory), layout_(layout) {}

  /// Nothing where no code object lies there.
  const Code* find(Address address);
  /// Reads the heads of all again and forgets those where another object lies now.
  void look_again();
  [[nodiscard]] std::size_t size() const { return codes_.size(); }

 private:
  [[nodiscard]] bool is_code_type(Address type);
  [[nodiscard]] std::unique_ptr<Code> read(Address address);
  [[nodiscard]] bool read_head(Address address, Code& code, Address& type) const;

  const Memory& memory_;
  const Layout& layout_;
  Address code_type_ = 0;
  std::unordered_map<Address, std::unique_ptr<Code>> codes_;
  std::vector<std::unique_ptr<Code>> former_;  ///< Samples may still point to them.
};

}  // namespace fathom::sample
