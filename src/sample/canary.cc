// Reads what python/fathom_hook/fathom_recorder/canary.py writes.
#include "sample/canary.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

namespace fathom::sample {
namespace {

constexpr std::string_view kPath = "/memfd:fathom-canary";
constexpr std::string_view kMark = "fathomCA";

}  // namespace

std::optional<Address> find_canary(const std::vector<Mapping>& mappings) {
  const auto found = std::ranges::find_if(mappings, [](const Mapping& mapping) {
    return mapping.readable && mapping.path.starts_with(kPath);
  });
  return found == mappings.end() ? std::nullopt : std::optional(found->begin);
}

std::optional<Canary> read_canary(const Memory& memory, Address page) {
  std::array<std::byte, 24> bytes{};
  if (!memory.read(page, bytes)) return std::nullopt;
  if (std::memcmp(bytes.data(), kMark.data(), kMark.size()) != 0) return std::nullopt;
  const Canary canary{.native = number_at<std::int64_t>(bytes, 8),
                      .code = number_at<std::uint64_t>(bytes, 16)};
  return canary.native > 0 && canary.code != 0 ? std::optional(canary) : std::nullopt;
}

bool is_on(const Stack& stack, const Canary& canary, CodeTable& codes) {
  const Code* const code = codes.find(canary.code);
  return code != nullptr &&
         std::ranges::find(stack.frames, code, &Frame::code) != stack.frames.end();
}

}  // namespace fathom::sample
