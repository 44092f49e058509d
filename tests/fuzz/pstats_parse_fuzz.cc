// Any bytes may be passed as a profile of Python: read once, for as many inputs a second as there
// can be. pstats_fuzz checks more of each.
#include <string_view>

#include "formats/format.h"
#include "store/validate.h"
#include "tests/fuzz/fail.h"

namespace fathom {

Format pstats();

namespace {

void check(std::string_view bytes) {
  const Result<std::unique_ptr<ByteSource>> source = open_bytes(std::as_bytes(std::span(bytes)));
  if (!source) return;
  const Result<Trace> trace = pstats().read(**source, {});
  if (!trace) return;
  if (const std::string broken = broken_promise(*trace); !broken.empty()) fail(broken);
}

}  // namespace
}  // namespace fathom

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0 && (data[0] & 0x7fU) == '{')
    fathom::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
