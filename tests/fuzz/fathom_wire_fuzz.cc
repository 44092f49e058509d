// Any bytes may be passed as a capture file: nothing crashes, promises are kept, every byte is
// accounted for, and how the bytes come makes no difference.
#include <string>

#include "formats/format.h"
#include "store/digest.h"
#include "store/merge.h"
#include "store/validate.h"
#include "tests/fuzz/as_block.h"
#include "tests/fuzz/fail.h"
#include "wire/reader.h"
#include "wire/wire_test_support.h"

namespace fathom {

Format fathom_wire();

namespace {

void check_reader(std::string_view bytes) {
  wire::ReadBack whole;
  wire::ReadBack pieces;
  wire::read_back(bytes, whole);
  wire::read_back(bytes, pieces, 7);
  if (whole.listing.lines != pieces.listing.lines) fail("pieces matter");
  if (whole.listing.offsets != pieces.listing.offsets) fail("pieces move records");
  if (whole.damage.skipped_bytes != pieces.damage.skipped_bytes) fail("pieces move damage");
  if (whole.damage.skipped_bytes > bytes.size()) fail("more is skipped than there is");
}

void check_trace(std::span<const std::byte> bytes) {
  const Result<std::unique_ptr<ByteSource>> source = open_bytes(bytes);
  if (!source) return;
  Result<Trace> trace = fathom_wire().read(**source, {});
  if (!trace) {
    if (trace.error().message.empty()) fail("an error says nothing");
    return;
  }
  if (const std::string broken = broken_promise(*trace); !broken.empty()) fail(broken);
  // Merged into itself it still keeps them.
  const Result<std::unique_ptr<ByteSource>> again = open_bytes(bytes);
  const Result<Trace> other = fathom_wire().read(**again, {});
  for (const bool within : {true, false}) {
    MergeOptions options;
    options.within_span = within;
    merge_into(*trace, *other, options);
    if (const std::string broken = broken_promise(*trace); !broken.empty()) fail(broken);
  }
}

void check(std::string_view bytes) {
  check_reader(bytes);
  check_trace(std::as_bytes(std::span(bytes)));
}

}  // namespace
}  // namespace fathom

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  fathom::check(bytes);
  fathom::check(fathom::as_block(bytes));
  return 0;
}
