// Reads Python objects.
#include "sample/object.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/utf8.h"

namespace fathom::sample {
namespace {

constexpr std::uint64_t kMostCharacters = 1024;
constexpr std::uint64_t kNoText = std::uint64_t{1} << 32;  // no name is this long

std::string to_utf8(std::span<const std::byte> bytes, std::size_t kind) {
  std::string text;
  text.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size(); at += kind) {
    std::uint32_t code = number_at<std::uint8_t>(bytes, at);
    if (kind == 2) code = number_at<std::uint16_t>(bytes, at);
    if (kind == 4) code = number_at<std::uint32_t>(bytes, at);
    append_utf8(text, code);
  }
  return text;
}

}  // namespace

std::optional<std::string> read_type_name(const Memory& memory, const Layout& layout,
                                          Address type) {
  const std::optional<Address> name = memory.pointer(type + layout.type_name);
  if (!name) return std::nullopt;
  std::string text;
  for (std::size_t at = 0; at < 63; ++at) {
    const auto c = memory.number<char>(*name + at);
    if (!c) return std::nullopt;
    if (*c == '\0') break;
    text.push_back(*c);
  }
  return text;
}

std::optional<std::string> read_text(const Memory& memory, const Layout& layout, Address object) {
  std::array<std::byte, 128> head{};
  const std::size_t size = std::max(layout.text_length + 8, layout.text_state + 4);
  if (object == 0 || size > head.size() || !memory.read(object, std::span(head).first(size)))
    return std::nullopt;
  const auto length = number_at<std::uint64_t>(head, layout.text_length);
  const std::uint32_t state =
      number_at<std::uint32_t>(head, layout.text_state) >> layout.text_state_shift;
  const std::size_t kind = state & 7U;
  const bool compact = (state & 8U) != 0;
  const bool ascii = (state & 16U) != 0;
  if (!compact || (kind != 1 && kind != 2 && kind != 4) || length >= kNoText) return std::nullopt;
  std::vector<std::byte> characters(std::min(length, kMostCharacters) * kind);
  const Address data = object + (ascii ? layout.text_ascii : layout.text_wide);
  if (!memory.read(data, characters)) return std::nullopt;
  return to_utf8(characters, kind);
}

std::optional<std::vector<std::byte>> read_bytes(const Memory& memory, const Layout& layout,
                                                 Address object, std::size_t limit) {
  if (object == 0) return std::nullopt;
  const auto size = memory.number<std::uint64_t>(object + layout.object_size);
  if (!size || *size > limit) return std::nullopt;
  std::vector<std::byte> bytes(*size);
  if (!memory.read(object + layout.bytes_data, bytes)) return std::nullopt;
  return bytes;
}

}  // namespace fathom::sample
