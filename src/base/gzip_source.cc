// Streaming inflate through ISA-L's igzip: members one after the other, nothing held but a window.
#include "base/gzip_source.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <isa-l/igzip_lib.h>

#include "base/peeked_source.h"

namespace fathom {
namespace {

constexpr std::array<std::byte, 3> kMagic = {std::byte{0x1f}, std::byte{0x8b}, std::byte{8}};

std::string_view reason(int code) {
  switch (code) {
    case ISAL_INVALID_WRAPPER:
      return "a member's header is invalid";
    case ISAL_UNSUPPORTED_METHOD:
      return "a member is not compressed by deflate";
    case ISAL_INCORRECT_CHECKSUM:
      return "the checksum does not match: bytes were changed";
    default:
      return "the compressed data is invalid";
  }
}

class GzipSource final : public PeekedSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> raw) : input_(std::move(raw)) {
    isal_inflate_init(&state_);
    state_.crc_flag = ISAL_GZIP;
  }

  [[nodiscard]] std::string_view damage() const override { return damage_; }
  [[nodiscard]] std::string_view compression() const override { return "gzip"; }

 private:
  Result<std::size_t> read_more(std::span<std::byte> out) override;
  Result<bool> start_next_member();
  bool inflate(std::span<std::byte> out, std::size_t& filled);
  void end_with(std::string_view why);

  CompressedInput input_;
  std::uint64_t inflated_ = 0;
  std::string damage_;
  bool done_ = false;
  inflate_state state_;
};

/// Remembers the first damage and ends the stream.
void GzipSource::end_with(std::string_view why) {
  if (damage_.empty()) {
    damage_ =
        "gzip, after " + std::to_string(inflated_) + " bytes of contents: " + std::string(why);
  }
  done_ = true;
}

/// Inflates what is available; false when that needs more input than there is.
bool GzipSource::inflate(std::span<std::byte> out, std::size_t& filled) {
  const std::span<const std::byte> in = input_.available();
  // ISA-L takes a mutable pointer and only reads through it.
  state_.next_in = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(in.data()));
  state_.avail_in = static_cast<std::uint32_t>(in.size());
  const std::size_t room =
      std::min<std::size_t>(out.size() - filled, std::numeric_limits<std::int32_t>::max());
  state_.next_out = reinterpret_cast<std::uint8_t*>(out.data() + filled);
  state_.avail_out = static_cast<std::uint32_t>(room);
  const int code = isal_inflate(&state_);
  const std::size_t consumed = in.size() - state_.avail_in;
  const std::size_t produced = room - state_.avail_out;
  input_.consume(consumed);
  filled += produced;
  inflated_ += produced;
  if (code == ISAL_INCORRECT_CHECKSUM && state_.block_state == ISAL_BLOCK_FINISH) {
    // The member was read whole; later members may still be sound.
    end_with(reason(code));
    done_ = false;
  } else if (code != ISAL_DECOMP_OK) {
    end_with(reason(code));
  }
  return consumed > 0 || produced > 0;
}

/// After a member: sets up for the next one, or ends the stream when what follows is none.
Result<bool> GzipSource::start_next_member() {
  if (input_.available().size() < kMagic.size()) {
    const Result<bool> more = input_.refill();
    if (!more) return more.error();
  }
  if (looks_like_gzip(input_.available())) {
    isal_inflate_reset(&state_);
    state_.crc_flag = ISAL_GZIP;
    return true;
  }
  const Result<CompressedInput::Rest> rest = input_.drain();
  if (!rest) return rest.error();
  done_ = true;
  if (!rest->zeros) {
    end_with(std::to_string(rest->bytes) + " bytes that are no gzip follow and were ignored");
  }
  return false;
}

Result<std::size_t> GzipSource::read_more(std::span<std::byte> out) {
  std::size_t filled = 0;
  while (!done_ && filled < out.size()) {
    if (state_.block_state == ISAL_BLOCK_FINISH) {
      const Result<bool> next = start_next_member();
      if (!next) return next.error();
      if (!*next) break;
    }
    if (input_.available().empty()) {
      const Result<bool> more = input_.refill();
      if (!more) return more.error();
    }
    // ISA-L may still hold output when the input is used up, so it decides, not we.
    if (!inflate(out, filled) && !done_ && state_.block_state != ISAL_BLOCK_FINISH) {
      end_with("the file ends in the middle of the compressed data");
    }
  }
  return filled;
}

}  // namespace

bool looks_like_gzip(std::span<const std::byte> head) {
  return head.size() >= kMagic.size() && std::ranges::equal(kMagic, head.first(kMagic.size()));
}

Result<std::unique_ptr<ByteSource>> open_gzip(std::unique_ptr<ByteSource> raw) {
  auto source = std::make_unique<GzipSource>(std::move(raw));
  Result<void> peeked = source->peek();
  if (!peeked) return std::move(peeked).error();
  return std::unique_ptr<ByteSource>(std::move(source));
}

}  // namespace fathom
