// CodeTable: the code objects of a process, read once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
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

/// Where a code object was, another one may lie soon: a module's is gone when it has run. What it
/// hands out stays valid as long as it lives. `memory` and `layout` must outlive it.
class CodeTable {
 public:
  CodeTable(const Memory& memory, const Layout& layout) : memory_(memory), layout_(layout) {}

  /// Nothing where no code object lies there.
  const Code* find(Address address);
  /// From now on each is compared with the process once before it is handed out.
  void look_again();
  /// What is to be read to compare those that were needed in the last look: whoever reads something
  /// else first may read it in the same system call. Valid until the next call of anything else.
  [[nodiscard]] std::span<const Piece> to_compare();
  /// The first so many of these were read.
  void compare(std::size_t read);
  [[nodiscard]] std::size_t size() const { return codes_.size(); }

 private:
  struct Entry {
    std::unique_ptr<Code> code;
    std::uint64_t compared = 0;  ///< In which look it was, and in which it was handed out.
    std::uint64_t used = 0;
  };
  [[nodiscard]] bool is_code_type(Address type);
  [[nodiscard]] std::unique_ptr<Code> read(Address address);
  [[nodiscard]] bool parse_head(Address address, std::span<const std::byte> head, Code& code,
                                Address& type) const;
  [[nodiscard]] bool read_head(Address address, Code& code, Address& type) const;
  [[nodiscard]] bool is_same(const Code& then, const Code& now, Address type) const;
  [[nodiscard]] bool is_full() const;
  const Code* replace(Address address, Entry& entry);

  const Memory& memory_;
  const Layout& layout_;
  Address code_type_ = 0;
  std::unordered_map<Address, Entry> codes_;
  /// Those that lay there before: samples may still point to them, and they may come again.
  std::unordered_multimap<Address, std::unique_ptr<Code>> former_;
  std::uint64_t look_ = 0;
  std::vector<Address> used_;    ///< In this look.
  std::vector<Address> recent_;  ///< In the last one that needed any: most are needed again.
  std::vector<std::byte> heads_;
  std::vector<Piece> pieces_;  ///< Of the recent ones' heads.
};

}  // namespace fathom::sample
