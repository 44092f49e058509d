// Three bytes become four characters.
#include "base/base64.h"

namespace fathom {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t here = bytes.size() - at < 3 ? bytes.size() - at : 3;
    std::uint32_t three = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      three = (three << 8U) | (i < here ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i)
      text += i <= here ? kDigits[(three >> (18U - 6U * i)) & 63U] : '=';
  }
  return text;
}

}  // namespace fathom
