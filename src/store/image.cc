// Maps images: looks at the header, sums up all bytes, gives each column its pages, and checks
// every number that leads somewhere.
#include "store/image.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/block_sum.h"
#include "base/out_of_memory.h"
#include "base/parallel.h"
#include "store/image_details.h"
#include "store/image_layout.h"
#include "store/parts.h"
#include "store/validate.h"

namespace fathom {
namespace {

using namespace image;  // NOLINT(google-build-using-namespace)

/// Smaller columns are copied to the heap.
constexpr std::size_t kWorthMapping = std::size_t{64} << 10;

/// Whether a part has the machine's pages for itself: some of aarch64 are of 64 KiB, and a column
/// that gives such a page back would take its neighbour's rows along.
bool parts_own_pages() { return sysconf(_SC_PAGESIZE) <= static_cast<long>(kPage); }

/// A file in memory, from which columns take their pages. Private: what is changed of them, as a
/// session folder does when it adds to a trace, is changed in memory only.
class Mapping {
 public:
  Mapping(int file, std::size_t bytes) : data_(map(file, bytes)), bytes_(bytes) {}
  ~Mapping() {
    std::ranges::sort(taken_, {}, &Part::offset);
    std::uint64_t from = 0;
    for (const Part& part : taken_) {
      give_back(from, part.offset);
      from = part.offset + part.bytes;
    }
    give_back(from, bytes_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  [[nodiscard]] const char* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }

  /// A part as an array; false where its bytes are no whole rows.
  template <typename T>
  bool take(const Part& part, Column<T>& column) {
    if (part.bytes % sizeof(T) != 0) return false;
    const std::size_t rows = part.bytes / sizeof(T);
    if (part.bytes < kWorthMapping || !parts_own_pages()) {
      column.resize(rows);
      if (rows > 0) std::memcpy(static_cast<void*>(column.data()), data_ + part.offset, part.bytes);
      return true;
    }
    taken_.push_back({.offset = part.offset, .bytes = page_end(part.bytes)});
    column = Column<T>::of_mapping(data_ + part.offset, page_end(part.bytes), rows);
    return true;
  }
  template <typename T>
  bool take(const Part& part, std::vector<T>& rows) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (part.bytes % sizeof(T) != 0) return false;
    rows.resize(part.bytes / sizeof(T));
    if (!rows.empty()) std::memcpy(rows.data(), data_ + part.offset, part.bytes);
    return true;
  }
  [[nodiscard]] std::string_view text(const Part& part) const {
    return {data_ + part.offset, part.bytes};
  }

 private:
  static char* map(int file, std::size_t bytes) {
    void* const mapped =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file, 0);
    if (mapped == MAP_FAILED) throw OutOfMemory(bytes);
    return static_cast<char*>(mapped);
  }
  void give_back(std::uint64_t from, std::uint64_t to) {
    if (from < to) munmap(data_ + from, to - from);
  }

  char* data_;
  std::size_t bytes_;
  std::vector<Part> taken_;
};

std::uint64_t data_sum(const Mapping& mapping) {
  const std::size_t bytes = mapping.size() - kPage;
  const char* const data = mapping.data() + kPage;
  std::vector<std::uint64_t> sums((bytes + kBlock - 1) / kBlock);
  for_each_in_parallel(sums.size(), 0, [&](std::size_t block) {
    sums[block] = block_sum(data + block * kBlock, std::min(kBlock, bytes - block * kBlock));
  });
  std::uint64_t sum = 0;
  for (const std::uint64_t block : sums) sum = add_block(sum, block);
  return sum;
}

/// Each part on pages of its own, behind the one before: no two columns share a page.
bool parts_fit(const Header& header) {
  std::uint64_t from = kPage;
  for (std::size_t i = 0; i < header.parts; ++i) {
    const Part& part = header.part[i];
    const bool inside = part.offset == from && part.offset <= header.file_bytes &&
                        part.bytes <= header.file_bytes - part.offset;
    if (!inside) return false;
    from += page_end(part.bytes);
  }
  return from == header.file_bytes;
}

/// Of a file whose header is sound and that is as long as it says.
std::optional<Header> read_header(int file, std::string_view key) {
  struct stat status {};
  Header header;
  if (fstat(file, &status) != 0 || pread(file, &header, kPage, 0) != static_cast<ssize_t>(kPage))
    return std::nullopt;
  const bool sound = header.magic == kMagic && header.header_sum == sum_of(header) &&
                     header.file_bytes == static_cast<std::uint64_t>(status.st_size) &&
                     header.file_bytes % kPage == 0 && header.parts <= kMaxParts &&
                     header.key_bytes <= kImageKeyBytes &&
                     std::string_view(header.key.data(), header.key_bytes) == key;
  if (!sound || !parts_fit(header)) return std::nullopt;
  return header;
}

bool restore(const Header& header, Mapping& mapping, Trace& trace) {
  std::size_t next = 0;
  bool whole = true;
  const auto take = [&](auto& array) {
    whole = whole && next < header.parts && mapping.take(header.part[next++], array);
  };
  Column<char> texts;
  std::vector<std::uint32_t> lengths;
  each_array(trace, take);
  take(texts);
  take(lengths);
  if (!whole || next + 1 != header.parts) return false;
  std::optional<StringPool> pool = StringPool::of_texts(std::move(texts), lengths);
  if (!pool) return false;
  trace.strings = std::move(*pool);
  return restore_details(mapping.text(header.part[next]), trace) && broken_promise(trace).empty();
}

}  // namespace

std::optional<Trace> read_image(int file, std::string_view key) {
  const std::optional<Header> header = read_header(file, key);
  if (!header) return std::nullopt;
  Mapping mapping(file, header->file_bytes);
  if (data_sum(mapping) != header->data_sum) return std::nullopt;
  Trace trace;
  if (!restore(*header, mapping, trace)) return std::nullopt;
  return trace;
}

}  // namespace fathom
