// Reads code objects.
#include "sample/code.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "sample/line_table.h"
#include "sample/object.h"

namespace fathom::sample {
namespace {

constexpr std::size_t kMostLineBytes = std::size_t{4} << 20;
constexpr std::uint64_t kMostBytecode = std::uint64_t{64} << 20;
constexpr std::uint64_t kMostFrameWords = std::uint64_t{1} << 20;
constexpr std::size_t kMostCodes = std::size_t{1} << 20;
constexpr std::size_t kHeadBytes = 256;

/// Python's own frames of C code that calls a class have this as their file and name.
constexpr std::string_view kOwnFile = "__init__";

std::size_t head_size(const Layout& layout) {
  const std::size_t last = std::max({layout.code_lines, layout.code_bytecode, layout.code_copies,
                                     layout.code_name, layout.code_file});
  return std::min(kHeadBytes, last + 8);
}

std::uint64_t frame_words(std::span<const std::byte> head, const Layout& layout) {
  std::uint64_t words = number_at<std::uint32_t>(head, layout.code_frame_words);
  if (layout.code_stack_words != 0)
    words += number_at<std::uint32_t>(head, layout.code_stack_words) +
             std::uint64_t{layout.frame_locals / 8};
  return words;
}

}  // namespace

std::optional<std::int32_t> Code::line(const Layout& layout, std::int64_t instruction) const {
  // Before the first instruction, the function has just been entered.
  if (instruction < 0) return first_line;
  return line_at(layout.lines, lines, first_line, static_cast<std::uint32_t>(instruction));
}

bool CodeTable::is_code_type(Address type) {
  if (type == 0) return false;
  if (code_type_ == 0 && read_type_name(memory_, layout_, type) == "code") code_type_ = type;
  return type == code_type_;
}

bool CodeTable::read_head(Address address, Code& code, Address& type) const {
  std::array<std::byte, kHeadBytes> bytes{};
  const std::span<std::byte> head = std::span(bytes).first(head_size(layout_));
  if (address == 0 || address % 8 != 0 || !memory_.read(address, head)) return false;
  type = number_at<Address>(head, layout_.object_type);
  code.name_object = number_at<Address>(head, layout_.code_name);
  code.file_object = number_at<Address>(head, layout_.code_file);
  code.lines_object = number_at<Address>(head, layout_.code_lines);
  code.first_line = number_at<std::int32_t>(head, layout_.code_first_line);
  if (layout_.code_copies != 0) code.copies = number_at<Address>(head, layout_.code_copies);
  if (layout_.on_heap()) {
    code.bytecode = number_at<Address>(head, layout_.code_bytecode);
    return true;
  }
  code.bytecode = address + layout_.code_bytecode;
  code.bytecode_bytes = 2 * number_at<std::uint64_t>(head, layout_.object_size);
  const std::uint64_t words = frame_words(head, layout_);
  code.frame_bytes = static_cast<std::uint32_t>(8 * std::min(words, kMostFrameWords));
  return words <= kMostFrameWords && code.bytecode_bytes <= kMostBytecode;
}

std::unique_ptr<Code> CodeTable::read(Address address) {
  auto code = std::make_unique<Code>();
  Address type = 0;
  if (!read_head(address, *code, type) || !is_code_type(type)) return nullptr;
  if (layout_.on_heap()) {
    const auto size = memory_.number<std::uint64_t>(code->bytecode + layout_.object_size);
    if (!size || *size > kMostBytecode) return nullptr;
    code->bytecode_bytes = *size;
  }
  std::optional<std::string> name = read_text(memory_, layout_, code->name_object);
  std::optional<std::string> file = read_text(memory_, layout_, code->file_object);
  auto lines = read_bytes(memory_, layout_, code->lines_object, kMostLineBytes);
  if (!name || !file || !lines) return nullptr;
  code->name = std::move(*name);
  code->file = std::move(*file);
  code->lines = std::move(*lines);
  code->own = code->file == kOwnFile;
  return code;
}

const Code* CodeTable::find(Address address) {
  const auto found = codes_.find(address);
  if (found != codes_.end()) return found->second.get();
  if (codes_.size() >= kMostCodes) return nullptr;
  std::unique_ptr<Code> code = read(address);
  return code ? codes_.emplace(address, std::move(code)).first->second.get() : nullptr;
}

void CodeTable::look_again() {
  for (auto at = codes_.begin(); at != codes_.end();) {
    Code now;
    Address type = 0;
    const Code& then = *at->second;
    const bool same = read_head(at->first, now, type) && type == code_type_ &&
                      now.name_object == then.name_object && now.file_object == then.file_object &&
                      now.lines_object == then.lines_object && now.first_line == then.first_line;
    if (same) {
      ++at;
      continue;
    }
    former_.push_back(std::move(at->second));
    at = codes_.erase(at);
  }
}

}  // namespace fathom::sample
