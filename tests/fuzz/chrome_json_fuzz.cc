// Any bytes may be passed as a trace: nothing crashes, promises are kept, and threads do not change
// the result.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "formats/format.h"
#include "store/digest.h"
#include "store/validate.h"

namespace fathom {

Format chrome_json();

namespace {

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::abort();
}

/// What must not depend on how the input is cut: the digest and the repairs, or the error.
std::string summary(std::span<const std::byte> bytes, const ReadOptions& options) {
  const Result<std::unique_ptr<ByteSource>> source = open_bytes(bytes);
  if (!source) return source.error().message;
  const Result<Trace> trace = chrome_json().read(**source, options);
  if (!trace) {
    if (trace.error().message.empty()) fail("an error says nothing");
    return trace.error().message;
  }
  if (const std::string broken = broken_promise(*trace); !broken.empty()) fail(broken);
  std::string text = to_string(digest(*trace));
  for (std::size_t i = 0; i < kRepairs; ++i) {
    const auto repair = static_cast<Repair>(i);
    const RepairCount& entry = trace->import[repair];
    if (entry.count == 0) continue;
    text.append(info(repair).id).append(" " + std::to_string(entry.count));
    text.append(" " + std::to_string(entry.first_offset) + "\n");
  }
  return text;
}

}  // namespace
}  // namespace fathom

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using fathom::summary;
  const auto bytes = std::as_bytes(std::span(data, size));
  const std::string whole = summary(bytes, {.threads = 1});
  const std::string in_pieces = summary(bytes, {.threads = 1, .piece_bytes = 200});
  const std::string in_parallel = summary(bytes, {.threads = 3, .piece_bytes = 300});
  if (whole != in_pieces) fathom::fail("pieces:\n" + whole + "---\n" + in_pieces);
  if (whole != in_parallel) fathom::fail("threads:\n" + whole + "---\n" + in_parallel);
  return 0;
}
