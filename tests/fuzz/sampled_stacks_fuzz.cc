// Any bytes may be passed as stacks of another profiler: nothing crashes and promises are kept.
#include <string_view>

#include "formats/format.h"
#include "store/merge.h"
#include "store/validate.h"
#include "tests/fuzz/fail.h"

namespace fathom {

Format folded();
Format perf_script();
Format pprof();
Format speedscope();

namespace {

std::int64_t sum_of(const Trace& trace) {
  std::int64_t sum = 0;
  for (const StackSample& sample : trace.stack_samples) sum += to_ns(sample.on_cpu);
  return sum;
}

Result<Trace> read(const Format& format, std::string_view bytes) {
  const Result<std::unique_ptr<ByteSource>> source = open_bytes(std::as_bytes(std::span(bytes)));
  if (!source) return source.error();
  return format.read(**source, {});
}

/// The first byte chooses the format, so that each gets its share.
void check(std::string_view bytes) {
  static const Format formats[] = {folded(), perf_script(), pprof(), speedscope()};
  if (bytes.empty()) return;
  const Format& format = formats[static_cast<unsigned char>(bytes[0]) % std::size(formats)];
  bytes.remove_prefix(1);
  (void)format.sniff(std::as_bytes(std::span(bytes.substr(0, kSniffBytes))));
  // Compressed input is the fuzzers' of chrome-json.
  if (bytes.starts_with("\x1f\x8b") || bytes.starts_with("\x28\xb5\x2f\xfd")) return;
  Result<Trace> trace = read(format, bytes);
  if (!trace) {
    if (trace.error().message.empty()) fail("an error says nothing");
    return;
  }
  if (const std::string broken = broken_promise(*trace); !broken.empty()) fail(broken);
  if (sum_of(*trace) <= 0) fail("samples without weight");
  merge_into(*trace, *read(format, bytes), {});
  if (const std::string broken = broken_promise(*trace); !broken.empty()) fail(broken);
}

}  // namespace
}  // namespace fathom

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fathom::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
