// Any bytes may be passed as a trace: read once, without threads, for as many inputs a second as
// there can be. chrome_json_fuzz checks more of each.
#include "formats/format.h"
#include "store/validate.h"
#include "tests/fuzz/fail.h"

namespace fathom {

Format chrome_json();

namespace {

/// Half of the inputs are read in many pieces, half in one.
std::size_t piece_bytes(std::size_t size) {
  return size % 2 == 0 ? 300 : ReadOptions().piece_bytes;
}

void check(std::span<const std::byte> bytes) {
  const Result<std::unique_ptr<ByteSource>> source = open_bytes(bytes);
  if (!source) return;
  const Result<Trace> trace =
      chrome_json().read(**source, {.threads = 1, .piece_bytes = piece_bytes(bytes.size())});
  if (!trace) return;
  if (const std::string broken = broken_promise(*trace); !broken.empty()) fail(broken);
}

}  // namespace
}  // namespace fathom

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fathom::check(std::as_bytes(std::span(data, size)));
  return 0;
}
