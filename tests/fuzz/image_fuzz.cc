// A kept image whose bytes were changed by somebody who sums them up again: it is refused, or no
// number in it leads out of its table. The input is a list of changes: where, in 4 bytes, and the 8
// bytes to put there.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <sys/mman.h>
#include <unistd.h>

#include "base/block_sum.h"
#include "base/descriptor.h"
#include "store/digest.h"
#include "store/image.h"
#include "store/image_layout.h"
#include "store/trace_builder.h"
#include "store/validate.h"
#include "tests/fuzz/fail.h"

namespace fathom {
namespace {

constexpr std::string_view kKey = "key";

Trace sample() {
  TraceBuilder builder;
  builder.step(1, 0, 1000);
  const SliceId op = builder.op("aten::mm", 100, 50).shapes("[[2,3]]").sequence(1).stack("a.py(3)");
  builder.runtime("cudaLaunchKernel", 110, 10, 4);
  builder.kernel("gemm", 200, 30, 4).grid(8, 1, 1).block(128, 1, 1);
  builder.copy(CopyKind::h2d, 5, 1, 9, 64);
  builder.sync("Stream Sync", 7, 1);
  builder.frame("a.py(1): main", 0, 100, 1, 0);
  builder.flow("fwdbwd", 1, op, op);
  builder.op("nccl:all_reduce", 9, 1).collective({.in_elements = 5});
  builder.memory(11, 512, 1, 0, 64, 512, 1024).sample("load", 12, 0.5).instant("mark", 13);
  builder.device({.id = 0, .name = "Device", .sms = 80}).fact("seed", "1");
  builder.process(100, "python", "label");
  return builder.build();
}

Descriptor file_in_memory() { return Descriptor(memfd_create("image", MFD_CLOEXEC)); }

const std::string& whole_image() {
  static const std::string bytes = [] {
    const Descriptor file = file_in_memory();
    if (!write_image(file.get(), kKey, sample())) fail("an image cannot be written");
    std::string all(static_cast<std::size_t>(lseek(file.get(), 0, SEEK_END)), '\0');
    if (pread(file.get(), all.data(), all.size(), 0) != static_cast<ssize_t>(all.size()))
      fail("an image cannot be read");
    return all;
  }();
  return bytes;
}

void sum_up_again(std::string& bytes) {
  image::Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.data_sum = 0;
  for (std::size_t at = image::kPage; at < bytes.size(); at += image::kBlock) {
    const std::size_t block = std::min(image::kBlock, bytes.size() - at);
    header.data_sum = image::add_block(header.data_sum, block_sum(bytes.data() + at, block));
  }
  header.header_sum = image::sum_of(header);
  std::memcpy(bytes.data(), &header, sizeof header);
}

void check(std::string_view changes) {
  std::string bytes = whole_image();
  constexpr std::size_t kWhere = sizeof(std::uint32_t);
  constexpr std::size_t kWhat = sizeof(std::uint64_t);
  for (; changes.size() >= kWhere + kWhat; changes.remove_prefix(kWhere + kWhat)) {
    std::uint32_t where = 0;
    std::memcpy(&where, changes.data(), kWhere);
    std::memcpy(bytes.data() + where % (bytes.size() - kWhat), changes.data() + kWhere, kWhat);
  }
  sum_up_again(bytes);
  static const Descriptor file = file_in_memory();
  if (pwrite(file.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    fail("no room for an image");
  const std::optional<Trace> trace = read_image(file.get(), kKey);
  if (!trace) return;
  if (const std::string broken = broken_promise(*trace); !broken.empty()) fail(broken);
  if (digest(*trace).tables.empty()) fail("a trace without a digest");
}

}  // namespace
}  // namespace fathom

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fathom::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
