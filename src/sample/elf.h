// Names of an ELF file: in a process by its dynamic table, in the file by its sections.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sample/memory.h"

namespace fathom::sample {

/// A program or library as it lies in a process: found by its header, whatever its file is called.
/// `memory` must outlive it.
class LoadedElf {
 public:
  /// Part of it that may be written to.
  struct Segment {
    Address begin = 0;
    std::uint64_t size = 0;
  };

  /// Nothing where no 64-bit ELF file of this byte order lies at `base`.
  static std::optional<LoadedElf> at(const Memory& memory, Address base);

  /// Where what it exports under this name lies.
  [[nodiscard]] std::optional<Address> find(std::string_view name) const;
  /// What has to be added to the addresses in its file.
  [[nodiscard]] Address bias() const { return bias_; }
  [[nodiscard]] const std::vector<Segment>& writable() const { return writable_; }

 private:
  explicit LoadedElf(const Memory& memory) : memory_(&memory) {}
  void read_dynamic(Address at, std::uint64_t size);
  [[nodiscard]] std::optional<Address> find_by_gnu_hash(std::string_view name) const;
  [[nodiscard]] std::optional<Address> find_by_hash(std::string_view name) const;
  [[nodiscard]] std::optional<Address> value_of(std::uint32_t symbol, std::string_view name) const;

  const Memory* memory_;
  Address bias_ = 0;
  Address symbols_ = 0;
  Address strings_ = 0;
  std::uint64_t string_bytes_ = 0;
  Address gnu_hash_ = 0;
  Address hash_ = 0;
  std::vector<Segment> writable_;
};

/// Reads from a file: whether all of the bytes at this offset could be read.
using FileReader = std::function<bool(std::uint64_t offset, std::span<std::byte> to)>;

/// The address, before it is loaded, of the section with this name.
std::optional<Address> find_section(const FileReader& file, std::string_view name);
/// That of the symbol with this name, in the tables for the linker and for debuggers.
std::optional<Address> find_symbol(const FileReader& file, std::string_view name);

}  // namespace fathom::sample
