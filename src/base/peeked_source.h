// PeekedSource: what every ByteSource that streams has in common, the buffered first bytes.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "base/byte_source.h"

namespace fathom {

/// Keeps the first kSniffBytes so that they can be looked at before they are read.
/// Call peek() once after construction; derived classes give the bytes through read_more().
class PeekedSource : public ByteSource {
 public:
  Result<std::size_t> read(std::span<std::byte> out) final;
  [[nodiscard]] std::span<const std::byte> head() const final { return {head_.data(), filled_}; }
  /// Fills the head. Fails as read() does.
  Result<void> peek();

 private:
  /// As ByteSource::read(): fewer bytes than asked only at the end.
  virtual Result<std::size_t> read_more(std::span<std::byte> out) = 0;

  std::array<std::byte, kSniffBytes> head_{};
  std::size_t filled_ = 0;
  std::size_t taken_ = 0;
};

/// A buffer of compressed bytes in front of a source of them. Owns the source.
class CompressedInput {
 public:
  explicit CompressedInput(std::unique_ptr<ByteSource> raw);

  /// The bytes that were read and not yet consumed.
  [[nodiscard]] std::span<const std::byte> available() const {
    return {buffer_.get() + begin_, end_ - begin_};
  }
  void consume(std::size_t bytes) { begin_ += bytes; }
  /// Reads on, keeping what is available; false when nothing more came.
  Result<bool> refill();
  [[nodiscard]] bool at_end() const { return at_end_ && begin_ == end_; }
  /// Drops everything up to the end of the input; how many bytes there were and whether all were
  /// zero.
  struct Rest {
    std::uint64_t bytes = 0;
    bool zeros = true;
  };
  Result<Rest> drain();

 private:
  std::unique_ptr<ByteSource> raw_;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = false;
};

}  // namespace fathom
