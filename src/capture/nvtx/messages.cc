// Turns NVTX messages into UTF-8 texts that stay.
#include "capture/nvtx/messages.h"

#include <string>
#include <string_view>

#include "base/utf8.h"
#include "capture/inside/text_table.h"

namespace fathom::nvtx {
const char* text_of(const char* message) {
  return message == nullptr ? "" : inside::permanent(message);
}

const char* text_of(const wchar_t* message) {
  if (message == nullptr) return "";
  std::string text;
  for (; *message != L'\0'; ++message) append_utf8(text, static_cast<char32_t>(*message));
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
