// Writes images, from front to back; the header comes last, so that a half is none.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include <unistd.h>

#include "base/block_sum.h"
#include "store/image.h"
#include "store/image_details.h"
#include "store/image_layout.h"
#include "store/parts.h"

namespace fathom {
namespace {

using namespace image;  // NOLINT(google-build-using-namespace)

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
    header_.data_sum = add_block(header_.data_sum, block_sum(block_.data(), block_.size()));
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
  writer.begin_part();
  for (std::size_t id = 0; id < trace.strings.size(); ++id) {
    const std::string_view text = trace.text(StringId(id));
    if (text.size() > UINT32_MAX) return Error{ErrorCode::unsupported, "a text of 4 GiB"};
    lengths.push_back(static_cast<std::uint32_t>(text.size()));
    writer.put(text.data(), text.size());
  }
  static constexpr std::array<char, kBehindTexts> kBehind{};
  writer.put(kBehind.data(), kBehind.size());
  writer.end_part();
  part(lengths);
  part(details_of(trace));
  return writer.finish(key);
}

}  // namespace fathom
