// Ends a program that breaks a rule of CUPTI; has calls fail by CUPTI_FAKE_FAIL.
#include "tests/programs/fake_cupti_rules.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

#include <sys/syscall.h>
#include <unistd.h>

#include "capture/inside/never_freed.h"
#include "tests/programs/fed.h"

namespace fathom::test {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<bool> driver_ended{false};
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<bool> cupti_ended{false};
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
[[gnu::tls_model("initial-exec")]] thread_local int in_buffer_callback = 0;

/// What reads records that were handed over, or is a table of texts.
bool reads(std::string_view function) {
  return function == "cuptiActivityGetNextRecord" || function == "cuptiGetCallbackName" ||
         function == "cuptiActivityGetNumDroppedRecords" || function == "cuptiGetResultString";
}

/// The driver is loaded, and so registers its end, before the recorder is.
[[gnu::constructor]] void load_driver() {
  static_cast<void>(std::atexit([] { driver_ended = true; }));
}

struct Calls {
  std::mutex mutex;
  std::map<std::string, int, std::less<>> made;
};

/// Of a list "name:code:number;…", the code for that call.
int code_for(std::string_view list, std::string_view function, int call) {
  while (!list.empty()) {
    const std::string one(list.substr(0, list.find(';')));
    list.remove_prefix(std::min(list.size(), one.size() + 1));
    const std::size_t first = one.find(':');
    const std::size_t second = one.find(':', first + 1);
    if (second == std::string::npos || std::string_view(one).substr(0, first) != function) continue;
    const int number = std::atoi(one.c_str() + second + 1);
    if (number == 0 || number == call) return std::atoi(one.c_str() + first + 1);
  }
  return 0;
}

}  // namespace

std::uint32_t fake_version() {
  const char* const said = std::getenv("CUPTI_FAKE_VERSION");
  return said == nullptr ? CUPTI_API_VERSION : static_cast<std::uint32_t>(std::atoi(said));
}

void broken(std::string_view rule) {
  std::fprintf(stderr, "fake CUPTI: %.*s\n", static_cast<int>(rule.size()), rule.data());
  for (;;) syscall(SYS_exit_group, kBroken);
}

InBufferCallback::InBufferCallback() { ++in_buffer_callback; }
InBufferCallback::~InBufferCallback() { --in_buffer_callback; }

void end_cupti() { cupti_ended = true; }

CUptiResult called(std::string_view function) {
  if (driver_ended) broken(std::string(function) + " was called after the driver's end");
  if (cupti_ended && !reads(function))
    broken(std::string(function) + " was called after a fatal error");
  if (in_buffer_callback > 0 && !reads(function))
    broken(std::string(function) + " was called in a callback about a buffer");
  const char* const list = std::getenv("CUPTI_FAKE_FAIL");
  if (list == nullptr) return CUPTI_SUCCESS;
  const Fed fed;
  auto& calls = inside::never_freed<Calls>();
  const std::lock_guard lock(calls.mutex);
  const int call = ++calls.made[std::string(function)];
  return static_cast<CUptiResult>(code_for(list, function, call));
}

}  // namespace fathom::test
