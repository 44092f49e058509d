// The rules of CUPTI that fakes enforce: who breaks one ends at once with kBroken, and says which.
// CUPTI_FAKE_FAIL="cuptiActivityFlushAll:999:2;…" has the second call of that function fail with
// that code, and every one where the number is 0. CUPTI_FAKE_VERSION is the library's version.
#pragma once

#include <cstdint>
#include <string_view>

#include <cupti.h>

namespace fathom::test {

inline constexpr int kBroken = 86;

std::uint32_t fake_version();
[[noreturn]] void broken(std::string_view rule);
/// At each call of CUPTI's: what it is to answer. CUPTI_SUCCESS: what the fake itself says.
CUptiResult called(std::string_view function);

}  // namespace fathom::test
