// Any bytes may be passed as a profile of Python: nothing crashes, promises are kept, and each
// beginning of it gives a beginning of its functions.
#include <string_view>

#include "formats/format.h"
#include "store/merge.h"
#include "store/validate.h"
#include "tests/fuzz/fail.h"

namespace fathom {

Format pstats();

namespace {

Result<Trace> read(std::string_view bytes) {
  const Result<std::unique_ptr<ByteSource>> source = open_bytes(std::as_bytes(std::span(bytes)));
  if (!source) return source.error();
  return pstats().read(**source, {});
}

bool same(const Trace& a, const FunctionTime& one, const Trace& b, const FunctionTime& other) {
  return a.text(one.file) == b.text(other.file) && a.text(one.name) == b.text(other.name) &&
         one.line == other.line && one.calls == other.calls && one.self == other.self &&
         one.total == other.total;
}

void check(std::string_view bytes) {
  Result<Trace> trace = read(bytes);
  if (!trace) {
    if (trace.error().message.empty()) fail("an error says nothing");
    return;
  }
  if (const std::string broken = broken_promise(*trace); !broken.empty()) fail(broken);
  if (trace->bytes_read > bytes.size() && trace->import.total() == 0) fail("more than there is");
  for (const std::size_t size : {bytes.size() / 2, bytes.size() - 1}) {
    const Result<Trace> part = read(bytes.substr(0, size));
    if (!part) continue;
    if (part->functions.size() > trace->functions.size()) fail("a part holds more functions");
    for (std::size_t at = 0; at < part->functions.size(); ++at)
      if (!same(*part, part->functions[at], *trace, trace->functions[at])) fail("a part differs");
  }
  merge_into(*trace, *read(bytes), {});
  if (const std::string broken = broken_promise(*trace); !broken.empty()) fail(broken);
}

}  // namespace
}  // namespace fathom

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Compressed input is the fuzzers' of chrome-json.
  if (size > 0 && (data[0] & 0x7fU) == '{')
    fathom::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
