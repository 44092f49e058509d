// The rules of CUPTI that fakes enforce: who breaks one ends at once with kBroken, and says which.
// CUPTI_FAKE_FAIL="cuptiActivityFlushAll:999:2;…" has the second call of that function fail with
// that code, and every one where the number is 0; "cuptiEnableCallback/1/307:…" is for that call of
// the program's, by domain and number. CUPTI_FAKE_VERSION is the library's version.
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

/// While one lives, this thread is in a callback about a buffer: there CUPTI is not called, but to
/// read what is in it.
class InBufferCallback {
 public:
  InBufferCallback();
  ~InBufferCallback();
  InBufferCallback(const InBufferCallback&) = delete;
  InBufferCallback& operator=(const InBufferCallback&) = delete;
};

/// A fatal error: from now on CUPTI is not called, but to read what it handed over.
void end_cupti();

}  // namespace fathom::test
