// Any bytes may be passed as a capture file: nothing crashes, promises are kept, every byte is
// accounted for, and how the bytes come makes no difference.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/crc32.h"
#include "formats/format.h"
#include "store/digest.h"
#include "store/merge.h"
#include "store/validate.h"
#include "wire/block.h"
#include "wire/reader.h"
#include "wire/wire_test_support.h"

namespace fathom {

Format fathom_wire();

namespace {

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::abort();
}

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

/// Fuzzed bytes rarely have a right sum: as the payload of a block they are looked into.
std::string as_block(std::string_view payload) {
  std::string bytes(wire::kMagic.size() + wire::kHeaderBytes, '\0');
  bytes += payload;
  wire::Packer(bytes.data() + wire::kMagic.size() + wire::kCheckedFrom)
      << wire::kRecordsBlock << std::uint16_t{0} << std::uint64_t{0};
  const std::string_view summed =
      std::string_view(bytes).substr(wire::kMagic.size() + wire::kCheckedFrom);
  wire::Packer(bytes.data() + wire::kMagic.size())
      << wire::kSync << static_cast<std::uint32_t>(payload.size()) << crc32(summed);
  bytes.replace(0, wire::kMagic.size(), wire::kMagic);
  return bytes;
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
