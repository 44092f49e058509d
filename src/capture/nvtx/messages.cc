// Turns NVTX messages into UTF-8 texts that stay.
#include "capture/nvtx/messages.h"

#include <string>
#include <string_view>

#include "capture/inside/text_table.h"

namespace fathom::nvtx {
namespace {

void add_utf8(std::string& text, char32_t c) {
  constexpr char32_t kReplacement = 0xfffd;
  if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) c = kReplacement;
  const auto byte = [&](char32_t bits) { text.push_back(static_cast<char>(bits)); };
  const auto rest = [&](unsigned shift) { byte(0x80U | ((c >> shift) & 0x3fU)); };
  if (c < 0x80) return byte(c);
  if (c < 0x800) {
    byte(0xc0U | c >> 6U);
  } else if (c < 0x10000) {
    byte(0xe0U | c >> 12U);
    rest(6);
  } else {
    byte(0xf0U | c >> 18U);
    rest(12);
    rest(6);
  }
  rest(0);
}

}  // namespace

const char* text_of(const char* message) {
  return message == nullptr ? "" : inside::permanent(message);
}

const char* text_of(const wchar_t* message) {
  if (message == nullptr) return "";
  std::string text;
  for (; *message != L'\0'; ++message) add_utf8(text, static_cast<char32_t>(*message));
  return inside::permanent(text);
}

const char* text_of(std::int32_t type, const nvtxMessageValue_t& message) {
  switch (type) {
    case NVTX_MESSAGE_TYPE_ASCII:
      return text_of(message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE:
      return text_of(message.unicode);
    case NVTX_MESSAGE_TYPE_REGISTERED:
      return message.registered == nullptr ? "" : reinterpret_cast<const char*>(message.registered);
    default:
      return "";
  }
}

}  // namespace fathom::nvtx
