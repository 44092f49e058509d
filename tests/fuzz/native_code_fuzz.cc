// Any bytes may lie in a process as code, or as what perf says of it: nothing of it crashes, and no
// stack goes on for ever. The first 2 bytes are the length of .eh_frame_hdr, then come it and
// .eh_frame; all of it is read as an ELF file, as a record of perf and as instructions, too.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "sample/native/call_frames.h"
#include "sample/native/image.h"
#include "sample/native/perf_event.h"
#include "sample/native/process_code.h"
#include "sample/native/thread_reader.h"
#include "sample/native/unwind.h"
#include "tests/fuzz/fail.h"

namespace fathom::sample::native {
namespace {

constexpr std::uint64_t kHeader = 0x1000;
constexpr std::uint64_t kFrames = 0x20000;

class Code final : public CodeLookup {
 public:
  Code(const CallFrames& frames, std::span<const std::byte> code) : frames_(frames), code_(code) {}
  bool is_code(Address address) override { return address < 0x1000000; }
  const Row* rules_at(Address address) override {
    row_ = frames_.find(address);
    return row_ ? &*row_ : nullptr;
  }
  bool calls(Address back, Address) override { return back % 3 == 0; }
  CallBefore call_before(Address back, std::optional<Address>) override {
    return static_cast<CallBefore>(back % 4);
  }
  std::optional<FunctionStart> start_of(Address place) override {
    if (place % 5 == 0) return std::nullopt;
    return FunctionStart{.at = place - place % 0x100, .sure = place % 2 == 0};
  }
  /// The same bytes at each page.
  bool read_code(Address at, std::span<std::byte> to) override {
    const std::size_t from = at % 0x1000;
    if (from > code_.size() || to.size() > code_.size() - from) return false;
    std::copy_n(code_.begin() + static_cast<std::ptrdiff_t>(from), to.size(), to.begin());
    return true;
  }

 private:
  const CallFrames& frames_;
  std::span<const std::byte> code_;
  std::optional<Row> row_;
};

void check(std::span<const std::byte> bytes) {
  const std::size_t header = std::min<std::size_t>(number_at<std::uint16_t>(bytes, 0),
                                                   bytes.size() < 2 ? 0 : bytes.size() - 2);
  const auto rest = bytes.subspan(std::min<std::size_t>(2, bytes.size()));
  const CallFrames frames({.address = kHeader, .bytes = rest.first(header)},
                          {.address = kFrames, .bytes = rest.subspan(header)});
  Code code(frames, bytes);
  for (std::uint64_t address = 0; address < 0x40000; address += 0x777) {
    if (const auto row = frames.find(address); row && (address < row->begin || address >= row->end))
      fail("rules of another function");
    Registers registers;
    registers.set(kMachine.stack, 0x7000);
    registers.set(kMachine.counter, address);
    registers.set(kMachine.frame, 0x7010);
    const Calls calls = unwind(registers, {.begin = 0x7000, .bytes = bytes}, code);
    if (calls.addresses.size() > kMostCalls) fail("a stack without end");
  }
  const auto image = Image::read(
      [bytes](std::uint64_t offset, std::span<std::byte> to) {
        if (offset > bytes.size() || to.size() > bytes.size() - offset) return false;
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), to.size(), to.begin());
        return true;
      },
      bytes.size());
  for (const std::uint64_t address : {0x1000U, 0x401000U}) {
    if (image == nullptr) break;
    (void)image->rules_at(address);
    (void)image->symbol_at(address);
  }
  PerfRecords records;
  records.read(bytes, [](const PerfSample& sample) {
    if (sample.stack.bytes.size() > 65536) fail("more of a stack than a record holds");
  });
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  (void)GeneratedCode(text).name_at(0x1000);
  (void)parse_blocked(text);
}

}  // namespace
}  // namespace fathom::sample::native

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fathom::sample::native::check(std::as_bytes(std::span(data, size)));
  return 0;
}
