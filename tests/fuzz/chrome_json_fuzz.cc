// Any bytes may be passed as a trace: nothing crashes, promises are kept, and threads do not change
// the result.
#include <string>

#include "formats/format.h"
#include "store/digest.h"
#include "store/validate.h"
#include "tests/fuzz/fail.h"

namespace fathom {

Format chrome_json();

namespace {

struct Outcome {
  std::string digest;   // or the error
  std::string repairs;  // how many of each kind, and where the first is; nothing of an error
  bool read = false;
};

Outcome read(std::span<const std::byte> bytes, const ReadOptions& options) {
  const Result<std::unique_ptr<ByteSource>> source = open_bytes(bytes);
  if (!source) return {source.error().message, ""};
  const Result<Trace> trace = chrome_json().read(**source, options);
  if (!trace) {
    if (trace.error().message.empty()) fail("an error says nothing");
    return {trace.error().message, ""};
  }
  if (const std::string broken = broken_promise(*trace); !broken.empty()) fail(broken);
  Outcome outcome{to_string(digest(*trace)), "", true};
  for (std::size_t i = 0; i < kRepairs; ++i) {
    const auto repair = static_cast<Repair>(i);
    const RepairCount& entry = trace->import[repair];
    if (entry.count == 0) continue;
    outcome.repairs.append(info(repair).id).append(" " + std::to_string(entry.count));
    outcome.repairs.append(" " + std::to_string(entry.first_offset) + "\n");
  }
  return outcome;
}

void check(std::span<const std::byte> bytes) {
  const Outcome one = read(bytes, {.threads = 1, .piece_bytes = 300});
  const Outcome three = read(bytes, {.threads = 3, .piece_bytes = 300});
  if (one.digest != three.digest) fail("threads matter:\n" + one.digest + "---\n" + three.digest);
  if (one.repairs != three.repairs)
    fail("threads matter:\n" + one.repairs + "---\n" + three.repairs);
  // Where a piece ends inside damage, it decides where reading resumes; in a sound trace it never
  // matters. What has no event outside of its damage is no trace in one piece, and may be one in
  // two.
  const Outcome whole = read(bytes, {.threads = 1});
  if (!whole.repairs.empty()) return;
  if (!whole.read && !one.repairs.empty()) return;
  if (one.digest != whole.digest) fail("pieces matter:\n" + whole.digest + "---\n" + one.digest);
  if (!one.repairs.empty()) fail("pieces are taken for damage:\n" + one.repairs);
}

}  // namespace
}  // namespace fathom

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fathom::check(std::as_bytes(std::span(data, size)));
  return 0;
}
