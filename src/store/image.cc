// Writes and reads images. A header of one page; then each array on a page of its own; then the
// rest.
#include "store/image.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/parallel.h"
#include "store/parts.h"

namespace fathom {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kMaxParts = 128;
constexpr std::size_t kBlock = std::size_t{1} << 20;  ///< Bytes with a sum of their own.
constexpr std::array<char, 8> kMagic = {'F', 'T', 'M', 'i', 'm', 'a', 'g', '1'};

struct Part {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint64_t header_sum = 0;  ///< Over this header, with 0 here.
  std::uint64_t data_sum = 0;    ///< Over all pages behind the header.
  std::uint64_t file_bytes = 0;
  std::uint32_t parts = 0;
  std::uint32_t key_bytes = 0;
  std::array<char, kImageKeyBytes> key{};
  std::array<Part, kMaxParts> part{};
  std::array<char, 1752> unused{};
};
static_assert(sizeof(Header) == kPage && std::is_trivially_copyable_v<Header>);

constexpr std::size_t page_end(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

std::uint64_t sum_of(const char* bytes, std::size_t count) { return hash_bytes({bytes, count}); }

std::uint64_t sum_of(Header header) {
  header.header_sum = 0;
  return sum_of(reinterpret_cast<const char*>(&header), sizeof header);
}

Error refused(std::string_view what) {
  return {ErrorCode::io, std::string(what) + ": " + std::strerror(errno)};
}

/// Writes pages behind the header in turn, and sums them up block by block.
class PageWriter {
 public:
  explicit PageWriter(int file) : file_(file) { block_.reserve(kBlock); }

  void begin_part() {
    pad();
    if (header_.parts < kMaxParts) header_.part[header_.parts] = {.offset = offset(), .bytes = 0};
  }
  void put(const void* data, std::size_t bytes) {
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
      const std::size_t taken = std::min(bytes, kBlock - block_.size());
      block_.insert(block_.end(), from, from + taken);
      if (block_.size() == kBlock) flush();
      from += taken;
      bytes -= taken;
    }
  }
  void end_part() {
    if (header_.parts < kMaxParts) {
      Part& part = header_.part[header_.parts];
      part.bytes = offset() - part.offset;
    }
    ++header_.parts;
  }

  Result<void> finish(std::string_view key) {
    pad();
    flush();
    if (!error_.empty()) return Error{ErrorCode::io, error_};
    if (key.size() > kImageKeyBytes || header_.parts > kMaxParts)
      return Error{ErrorCode::unsupported, "an image has no room for its key or its parts"};
    std::ranges::copy(key, header_.key.begin());
    header_.key_bytes = static_cast<std::uint32_t>(key.size());
    header_.file_bytes = written_;
    header_.header_sum = sum_of(header_);
    if (pwrite(file_, &header_, kPage, 0) != static_cast<ssize_t>(kPage))
      return refused("writing an image");
    return {};
  }

 private:
  [[nodiscard]] std::uint64_t offset() const { return written_ + block_.size(); }

  void pad() {
    static constexpr std::array<char, kPage> kZeros{};
    put(kZeros.data(), page_end(offset()) - offset());
  }

  void flush() {
    if (block_.empty()) return;
    header_.data_sum = hash_mix(header_.data_sum, sum_of(block_.data(), block_.size()));
    const char* from = block_.data();
    std::size_t left = block_.size();
    while (left > 0 && error_.empty()) {
      const ssize_t done = pwrite(file_, from, left, static_cast<off_t>(written_));
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) {
        error_ = refused("writing an image").message;
        break;
      }
      from += done;
      left -= static_cast<std::size_t>(done);
      written_ += static_cast<std::uint64_t>(done);
    }
    block_.clear();
  }

  int file_;
  Header header_;
  std::uint64_t written_ = kPage;  // the header's page comes last
  std::vector<char> block_;
  std::string error_;
};

/// What each_detail() visits, behind each other in one text.
struct DetailWriter {
  std::string text;

  void value(const std::string& value) {
    this->value(std::uint64_t{value.size()});
    text += value;
  }
  template <typename T>
  void value(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
};

/// Reads it again; what is not there leaves `whole` false.
struct DetailReader {
  std::string_view text;
  bool whole = true;

  void value(std::string& value) {
    std::uint64_t bytes = 0;
    this->value(bytes);
    if (bytes > text.size()) whole = false;
    if (!whole) return;
    value.assign(text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  template <typename T>
  void value(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (sizeof value > text.size()) whole = false;
    if (!whole) return;
    std::memcpy(&value, text.data(), sizeof value);
    text.remove_prefix(sizeof value);
  }
};

std::string details_of(const Trace& trace) {
  DetailWriter writer;
  const auto value = [&writer](const auto& field) { writer.value(field); };
  const auto list = [&writer](const auto& elements, const auto& fields) {
    if constexpr (requires { elements.size(); }) {
      writer.value(std::uint64_t{elements.size()});
      for (const auto& element : elements) fields(element);
    } else {
      writer.value(std::uint64_t{elements ? 1U : 0U});
      if (elements) fields(*elements);
    }
  };
  each_detail(trace, value, list);
  for (std::size_t i = 0; i < kRepairs; ++i) {
    const RepairCount& repair = trace.import[static_cast<Repair>(i)];
    value(repair.count), value(repair.first_offset), value(repair.example);
  }
  value(std::uint64_t{trace.import.unknown().size()});
  for (const auto& [what, count] : trace.import.unknown()) value(what), value(count);
  return writer.text;
}

bool restore_details(std::string_view text, Trace& trace) {
  DetailReader reader{.text = text};
  const auto value = [&reader](auto& field) { reader.value(field); };
  const auto list = [&](auto& elements, const auto& fields) {
    std::uint64_t count = 0;
    value(count);
    if (count > reader.text.size()) reader.whole = false;
    for (std::uint64_t i = 0; i < count && reader.whole; ++i) {
      if constexpr (requires { elements.emplace_back(); }) {
        fields(elements.emplace_back());
      } else {
        fields(elements.emplace());
      }
    }
  };
  each_detail(trace, value, list);
  for (std::size_t i = 0; i < kRepairs; ++i) {
    RepairCount repair;
    value(repair.count), value(repair.first_offset), value(repair.example);
    if (reader.whole && repair.count > 0)
      trace.import.add(static_cast<Repair>(i), repair.first_offset, repair.example, repair.count);
  }
  std::uint64_t unknown = 0;
  value(unknown);
  for (std::uint64_t i = 0; i < unknown && reader.whole; ++i) {
    std::string what;
    std::uint64_t count = 0;
    value(what), value(count);
    if (reader.whole) trace.import.add_unknown(what, count);
  }
  return reader.whole && reader.text.empty();
}

/// A file in memory.
class Mapping {
 public:
  Mapping(int file, std::size_t bytes) : bytes_(bytes) {
    void* const mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, file, 0);
    if (mapped != MAP_FAILED) data_ = static_cast<const char*>(mapped);
  }
  ~Mapping() {
    if (data_ != nullptr) munmap(const_cast<char*>(data_), bytes_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  [[nodiscard]] const char* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  [[nodiscard]] std::string_view text(const Part& part) const {
    return {data_ + part.offset, part.bytes};
  }

 private:
  const char* data_ = nullptr;
  std::size_t bytes_;
};

std::uint64_t data_sum(const Mapping& mapping) {
  const std::size_t bytes = mapping.size() - kPage;
  const char* const data = mapping.data() + kPage;
  std::vector<std::uint64_t> sums((bytes + kBlock - 1) / kBlock);
  for_each_in_parallel(sums.size(), 0, [&](std::size_t block) {
    sums[block] = sum_of(data + block * kBlock, std::min(kBlock, bytes - block * kBlock));
  });
  std::uint64_t sum = 0;
  for (const std::uint64_t block : sums) sum = hash_mix(sum, block);
  return sum;
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
  if (!sound) return std::nullopt;
  for (std::size_t i = 0; i < header.parts; ++i) {
    const Part& part = header.part[i];
    const bool inside = part.offset % kPage == 0 && part.offset >= kPage &&
                        part.offset <= header.file_bytes &&
                        part.bytes <= header.file_bytes - part.offset;
    if (!inside) return std::nullopt;
  }
  return header;
}

/// One array and where it lies, until all are copied at once.
struct Copy {
  void* to;
  Part part;
};

/// Makes room for a part as an array; false where its bytes are no whole rows.
template <typename Array>
bool make_room(const Part& part, Array& array, std::vector<Copy>& copies) {
  using Row = std::remove_cvref_t<decltype(*array.data())>;
  static_assert(std::is_trivially_copyable_v<Row>);
  if (part.bytes % sizeof(Row) != 0) return false;
  array.resize(part.bytes / sizeof(Row));
  if (part.bytes > 0) copies.push_back({.to = array.data(), .part = part});
  return true;
}

/// The texts in the order of their ids; false where the lengths do not fit.
bool restore_texts(std::string_view texts, std::span<const std::uint32_t> lengths,
                   StringPool& pool) {
  for (std::size_t id = 0; id < lengths.size(); ++id) {
    if (lengths[id] > texts.size()) return false;
    if (pool.intern(texts.substr(0, lengths[id])) != StringId(id)) return false;
    texts.remove_prefix(lengths[id]);
  }
  return texts.empty();
}

bool restore(const Header& header, const Mapping& mapping, Trace& trace) {
  std::vector<std::uint32_t> lengths;
  std::vector<Copy> copies;
  std::size_t next = 0;
  bool whole = true;
  const auto take = [&](auto& array) {
    whole = whole && next < header.parts && make_room(header.part[next++], array, copies);
  };
  each_array(trace, take);
  take(lengths);
  if (!whole || next + 2 != header.parts) return false;
  for_each_in_parallel(copies.size(), 0, [&](std::size_t i) {
    std::memcpy(copies[i].to, mapping.data() + copies[i].part.offset, copies[i].part.bytes);
  });
  return restore_texts(mapping.text(header.part[next]), lengths, trace.strings) &&
         restore_details(mapping.text(header.part[next + 1]), trace);
}

}  // namespace

std::uint64_t image_bytes(const Trace& trace) {
  std::uint64_t bytes = kPage;
  each_array(trace, [&bytes](const auto& array) {
    bytes += page_end(array.size() * sizeof(*array.data()));
  });
  for (std::size_t id = 0; id < trace.strings.size(); ++id)
    bytes += trace.text(StringId(id)).size();
  return bytes + trace.strings.size() * sizeof(std::uint32_t) + 3 * kPage;
}

Result<void> write_image(int file, std::string_view key, const Trace& trace) {
  PageWriter writer(file);
  const auto part = [&writer](const auto& array) {
    writer.begin_part();
    writer.put(array.data(), array.size() * sizeof(*array.data()));
    writer.end_part();
  };
  each_array(trace, part);
  std::vector<std::uint32_t> lengths;
  lengths.reserve(trace.strings.size());
  for (std::size_t id = 0; id < trace.strings.size(); ++id) {
    const std::size_t length = trace.text(StringId(id)).size();
    if (length > UINT32_MAX) return Error{ErrorCode::unsupported, "a text of 4 GiB"};
    lengths.push_back(static_cast<std::uint32_t>(length));
  }
  part(lengths);
  writer.begin_part();
  for (std::size_t id = 0; id < trace.strings.size(); ++id) {
    const std::string_view text = trace.text(StringId(id));
    writer.put(text.data(), text.size());
  }
  writer.end_part();
  part(details_of(trace));
  return writer.finish(key);
}

std::optional<Trace> read_image(int file, std::string_view key) {
  const std::optional<Header> header = read_header(file, key);
  if (!header) return std::nullopt;
  const Mapping mapping(file, header->file_bytes);
  if (mapping.data() == nullptr || data_sum(mapping) != header->data_sum) return std::nullopt;
  Trace trace;
  if (!restore(*header, mapping, trace)) return std::nullopt;
  return trace;
}

}  // namespace fathom
