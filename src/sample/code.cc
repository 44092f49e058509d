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
  return address != 0 && address % 8 == 0 && memory_.read(address, head) &&
         parse_head(address, head, code, type);
}

bool CodeTable::parse_head(Address address, std::span<const std::byte> head, Code& code,
                           Address& type) const {
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

bool CodeTable::is_same(const Code& then, const Code& now, Address type) const {
  return type == code_type_ && now.name_object == then.name_object &&
         now.file_object == then.file_object && now.lines_object == then.lines_object &&
         now.first_line == then.first_line;
}

const Code* CodeTable::find(Address address) {
  const auto found = codes_.find(address);
  if (found == codes_.end()) {
    if (is_full()) return nullptr;
    std::unique_ptr<Code> code = read(address);
    if (!code) return nullptr;
    used_.push_back(address);
    return codes_.emplace(address, Entry{std::move(code), look_, look_}).first->second.code.get();
  }
  Entry& entry = found->second;
  if (entry.used != look_) used_.push_back(address);
  entry.used = look_;
  if (entry.compared != look_ && !recent_.empty()) compare(memory_.read_pieces(to_compare()));
  if (entry.compared == look_) return entry.code.get();
  Code now;
  Address type = 0;
  if (!read_head(address, now, type) || !is_same(*entry.code, now, type))
    return replace(address, entry);
  // More copies are made as more threads run it, and then they lie elsewhere.
  entry.code->copies = now.copies;
  entry.compared = look_;
  return entry.code.get();
}

std::span<const Piece> CodeTable::to_compare() {
  const std::size_t size = head_size(layout_);
  heads_.resize(recent_.size() * size);
  pieces_.clear();
  for (std::size_t i = 0; i < recent_.size(); ++i)
    pieces_.push_back({.at = recent_[i], .to = std::span(heads_).subspan(i * size, size)});
  return pieces_;
}

void CodeTable::compare(std::size_t read) {
  for (std::size_t i = 0; i < read; ++i) {
    const auto found = codes_.find(recent_[i]);
    if (found == codes_.end()) continue;
    Code now;
    Address type = 0;
    Entry& entry = found->second;
    if (!parse_head(recent_[i], pieces_[i].to, now, type) || !is_same(*entry.code, now, type))
      continue;
    entry.code->copies = now.copies;
    entry.compared = look_;
  }
  recent_.clear();
}

bool CodeTable::is_full() const { return codes_.size() + former_.size() >= kMostCodes; }

/// What lies there now; nothing where it is no code object any more, or one too many.
const Code* CodeTable::replace(Address address, Entry& entry) {
  std::unique_ptr<Code> now = read(address);
  const auto [first, last] = former_.equal_range(address);
  const auto known = now == nullptr ? last : std::find_if(first, last, [&](const auto& former) {
    const Code& then = *former.second;
    return then.name == now->name && then.file == now->file && then.lines == now->lines &&
           then.first_line == now->first_line && then.bytecode == now->bytecode &&
           then.bytecode_bytes == now->bytecode_bytes && then.frame_bytes == now->frame_bytes;
  });
  if (known != last) {
    std::swap(known->second, entry.code);
    Code& again = *entry.code;
    again.name_object = now->name_object;
    again.file_object = now->file_object;
    again.lines_object = now->lines_object;
    again.copies = now->copies;
    entry.compared = look_;
    return &again;
  }
  if (now != nullptr && is_full()) return nullptr;
  former_.emplace(address, std::move(entry.code));
  if (now == nullptr) {
    codes_.erase(address);
    return nullptr;
  }
  entry = {std::move(now), look_, look_};
  return entry.code.get();
}

void CodeTable::look_again() {
  ++look_;
  // After a look that has needed none, those before it are needed again.
  if (used_.empty()) return;
  recent_.swap(used_);
  used_.clear();
}

}  // namespace fathom::sample
