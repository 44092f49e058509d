// Any bytes may be passed as a capture file: read once, for as many inputs a second as there can
// be. fathom_wire_fuzz checks more of each.
#include "formats/format.h"
#include "store/validate.h"
#include "tests/fuzz/as_block.h"
#include "tests/fuzz/fail.h"

namespace fathom {

Format fathom_wire();

namespace {

void check(std::string_view bytes) {
  const Result<std::unique_ptr<ByteSource>> source = open_bytes(std::as_bytes(std::span(bytes)));
  if (!source) return;
  const Result<Trace> trace = fathom_wire().read(**source, {});
  if (!trace) return;
  if (const std::string broken = broken_promise(*trace); !broken.empty()) fail(broken);
}

}  // namespace
}  // namespace fathom

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with(fathom::wire::kMagic)) {
    fathom::check(bytes);
  } else {
    fathom::check(fathom::as_block(bytes));
  }
  return 0;
}
