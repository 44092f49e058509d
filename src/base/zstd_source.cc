// Streaming zstd: frames one after the other, memory bounded by the window the library allows.
#include "base/zstd_source.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#define ZSTD_STATIC_LINKING_ONLY  // ZSTD_createDCtx_advanced
#include <zstd.h>

#include "base/out_of_memory.h"
#include "base/peeked_source.h"

namespace fathom {
namespace {

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

class ZstdSource final : public PeekedSource {
 public:
  explicit ZstdSource(std::unique_ptr<ByteSource> raw)
      : input_(std::move(raw)), context_(ZSTD_createDCtx_advanced({take, give_back, &refused_})) {
    if (context_ == nullptr) throw OutOfMemory(refused_);
  }

  [[nodiscard]] std::string_view damage() const override { return damage_; }
  [[nodiscard]] std::string_view compression() const override { return "zstd"; }

 private:
  /// The library's allocator: C does not throw, so it notes what was refused.
  static void* take(void* refused, std::size_t bytes) {
    void* const memory = std::malloc(bytes);
    if (memory == nullptr) *static_cast<std::size_t*>(refused) = bytes;
    return memory;
  }
  static void give_back(void* /*refused*/, void* memory) { std::free(memory); }

  Result<std::size_t> read_more(std::span<std::byte> out) override;
  Result<void> end_at_foreign_bytes();
  bool decompress(std::span<std::byte> out, std::size_t& filled);
  void end_with(std::string_view why);

  CompressedInput input_;
  std::size_t refused_ = 0;
  std::unique_ptr<ZSTD_DCtx, FreeContext> context_;
  std::uint64_t produced_ = 0;
  std::string damage_;
  bool between_frames_ = true;
  bool done_ = false;
};

void ZstdSource::end_with(std::string_view why) {
  damage_ = "zstd, after " + std::to_string(produced_) + " bytes of contents: " + std::string(why);
  done_ = true;
}

/// Decompresses what is available; false when that needs more input than there is.
bool ZstdSource::decompress(std::span<std::byte> out, std::size_t& filled) {
  const std::span<const std::byte> available = input_.available();
  ZSTD_inBuffer in = {available.data(), available.size(), 0};
  ZSTD_outBuffer to = {out.data(), out.size(), filled};
  const std::size_t code = ZSTD_decompressStream(context_.get(), &to, &in);
  input_.consume(in.pos);
  const std::size_t produced = to.pos - filled;
  produced_ += produced;
  filled = to.pos;
  if (refused_ != 0) throw OutOfMemory(refused_);
  if (ZSTD_isError(code) != 0) {
    end_with(ZSTD_getErrorName(code));
    return true;
  }
  if (code == 0) {
    between_frames_ = true;
  } else if (in.pos > 0 || produced > 0) {
    between_frames_ = false;
  }
  return in.pos > 0 || produced > 0;
}

/// Between frames, bytes that start no frame: drops them and ends the stream.
Result<void> ZstdSource::end_at_foreign_bytes() {
  const Result<CompressedInput::Rest> rest = input_.drain();
  if (!rest) return rest.error();
  done_ = true;
  if (!rest->zeros) {
    end_with(std::to_string(rest->bytes) + " bytes that are no zstd follow and were ignored");
  }
  return {};
}

Result<std::size_t> ZstdSource::read_more(std::span<std::byte> out) {
  constexpr std::size_t kMagicBytes = 4;
  std::size_t filled = 0;
  while (!done_ && filled < out.size()) {
    if (input_.available().size() < kMagicBytes) {
      const Result<bool> more = input_.refill();
      if (!more) return more.error();
    }
    if (between_frames_) {
      if (input_.at_end()) break;
      if (!looks_like_zstd(input_.available())) {
        const Result<void> ended = end_at_foreign_bytes();
        if (!ended) return ended.error();
        break;
      }
    }
    if (!decompress(out, filled)) end_with("the file ends in the middle of the compressed data");
  }
  return filled;
}

}  // namespace

bool looks_like_zstd(std::span<const std::byte> head) {
  if (head.size() < 4) return false;
  std::uint32_t magic = 0;
  for (std::size_t i = 4; i-- > 0;) magic = magic << 8U | std::to_integer<std::uint32_t>(head[i]);
  return magic == ZSTD_MAGICNUMBER ||
         (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

Result<std::unique_ptr<ByteSource>> open_zstd(std::unique_ptr<ByteSource> raw) {
  auto source = std::make_unique<ZstdSource>(std::move(raw));
  Result<void> peeked = source->peek();
  if (!peeked) return std::move(peeked).error();
  return std::unique_ptr<ByteSource>(std::move(source));
}

}  // namespace fathom
