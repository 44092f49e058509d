// The head of a streaming source, and the buffer in front of a decompressor.
#include "base/peeked_source.h"

#include <algorithm>
#include <cstring>

namespace fathom {
namespace {

// Large enough that the system call costs nothing, small enough to stay in the second-level cache.
constexpr std::size_t kBufferBytes = std::size_t{256} << 10;

}  // namespace

Result<void> PeekedSource::peek() {
  const Result<std::size_t> got = read_more(head_);
  if (!got) return got.error();
  filled_ = *got;
  return {};
}

Result<std::size_t> PeekedSource::read(std::span<std::byte> out) {
  const std::size_t from_head = std::min(out.size(), filled_ - taken_);
  if (from_head > 0) std::memcpy(out.data(), head_.data() + taken_, from_head);
  taken_ += from_head;
  if (from_head == out.size()) return from_head;
  const Result<std::size_t> more = read_more(out.subspan(from_head));
  if (!more) return more.error();
  return from_head + *more;
}

CompressedInput::CompressedInput(std::unique_ptr<ByteSource> raw)
    : raw_(std::move(raw)), buffer_(std::make_unique_for_overwrite<std::byte[]>(kBufferBytes)) {}

Result<bool> CompressedInput::refill() {
  const std::size_t left = end_ - begin_;
  if (left > 0) std::memmove(buffer_.get(), buffer_.get() + begin_, left);
  begin_ = 0;
  end_ = left;
  if (at_end_ || left == kBufferBytes) return false;
  const Result<std::size_t> got = raw_->read({buffer_.get() + left, kBufferBytes - left});
  if (!got) return got.error();
  end_ += *got;
  at_end_ = end_ < kBufferBytes;
  return *got > 0;
}

Result<CompressedInput::Rest> CompressedInput::drain() {
  Rest rest;
  for (;;) {
    const std::span<const std::byte> bytes = available();
    rest.bytes += bytes.size();
    rest.zeros =
        rest.zeros && std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
    consume(bytes.size());
    const Result<bool> more = refill();
    if (!more) return more.error();
    if (!*more) return rest;
  }
}

}  // namespace fathom
