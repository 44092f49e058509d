// Image: a program or library as a file: where its code lies, how to unwind it, its functions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sample/elf.h"
#include "sample/native/call_frames.h"

namespace fathom::sample::native {

/// A function's name as the file has it, and how far behind its start an address lies.
struct Symbol {
  std::string_view name;
  std::uint64_t offset = 0;
};

/// What is asked for is read once, when it is asked for the first time. Addresses are the file's.
class Image {
 public:
  /// Of a file of so many bytes. Null where it is no 64-bit ELF file of this byte order.
  static std::unique_ptr<Image> read(FileReader file, std::uint64_t size);

  /// The address of what lies at an offset of the file; nothing where it is not loaded.
  [[nodiscard]] std::optional<std::uint64_t> address_at(std::uint64_t offset) const;
  /// Valid until the next call; null where no rules are known.
  [[nodiscard]] const Row* rules_at(std::uint64_t address);
  /// The function that the address lies in; the name lives as long as this.
  [[nodiscard]] std::optional<Symbol> symbol_at(std::uint64_t address);

 private:
  /// A segment that is loaded.
  struct Segment {
    std::uint64_t offset = 0;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;  ///< In the file.
  };
  struct Function {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;   ///< `begin` where its size is not known.
    std::uint32_t name = 0;  ///< In the strings of its table.
    std::uint16_t table = 0;
    std::uint16_t rank = 0;  ///< Of several at one place the lowest is shown.
  };

  explicit Image(FileReader file, std::uint64_t size) : file_(std::move(file)), size_(size) {}
  [[nodiscard]] std::vector<std::byte> read_bytes(std::uint64_t offset, std::uint64_t size) const;
  void read_frames();
  void read_symbols();
  /// Nothing stays open of which all was read: a program may have hundreds of libraries.
  void close_when_read();
  [[nodiscard]] std::string_view name_of(const Function& function) const;

  FileReader file_;  ///< Until everything was read.
  std::uint64_t size_;
  std::vector<Segment> segments_;
  std::uint64_t header_address_ = 0;  ///< Of .eh_frame_hdr.
  std::uint64_t header_offset_ = 0;
  std::uint64_t header_bytes_ = 0;

  bool frames_read_ = false;
  std::vector<std::byte> header_;
  std::vector<std::byte> frames_bytes_;
  std::optional<CallFrames> frames_;
  std::unordered_map<std::uint64_t, std::optional<Row>> rows_;

  bool symbols_read_ = false;
  std::vector<std::string> strings_;
  std::vector<Function> functions_;
};

}  // namespace fathom::sample::native
