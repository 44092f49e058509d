// Any bytes may be passed as stacks of another profiler: read once, for as many inputs a second as
// there can be. sampled_stacks_fuzz checks more of each.
#include <string_view>

#include "formats/format.h"
#include "store/validate.h"
#include "tests/fuzz/fail.h"

namespace fathom {

Format folded();
Format perf_script();
Format pprof();
Format speedscope();

namespace {

/// The first byte chooses the format, as in sampled_stacks_fuzz.
void check(std::string_view bytes) {
  static const Format formats[] = {folded(), perf_script(), pprof(), speedscope()};
  if (bytes.empty()) return;
  const Format& format = formats[static_cast<unsigned char>(bytes[0]) % std::size(formats)];
  bytes.remove_prefix(1);
  // Compressed input is the fuzzers' of chrome-json.
  if (bytes.starts_with("\x1f\x8b") || bytes.starts_with("\x28\xb5\x2f\xfd")) return;
  const Result<std::unique_ptr<ByteSource>> source = open_bytes(std::as_bytes(std::span(bytes)));
  if (!source) return;
  const Result<Trace> trace = format.read(**source, {.threads = 1});
  if (!trace) return;
  if (const std::string broken = broken_promise(*trace); !broken.empty()) fail(broken);
}

}  // namespace
}  // namespace fathom

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fathom::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
