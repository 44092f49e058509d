// Compresses bytes as gzip, in a stream.
// By ISA-L's igzip at its level 1: half as small again costs ten times more.
#include <array>
#include <cstdint>
#include <vector>

#include <isa-l/igzip_lib.h>

#include "base/byte_sink.h"

namespace fathom {
namespace {

constexpr std::size_t kOutBytes = std::size_t{256} << 10;

class GzipSink final : public ByteSink {
 public:
  explicit GzipSink(ByteSink& below)
      : below_(below), scratch_(ISAL_DEF_LVL1_DEFAULT), out_(kOutBytes) {
    isal_deflate_init(&stream_);
    stream_.level = 1;
    stream_.level_buf = scratch_.data();
    stream_.level_buf_size = static_cast<std::uint32_t>(scratch_.size());
    stream_.gzip_flag = IGZIP_GZIP;
    stream_.flush = NO_FLUSH;
  }

  Result<void> write(std::string_view bytes) override {
    constexpr std::size_t kMost = std::size_t{1} << 30;
    for (; bytes.size() > kMost; bytes.remove_prefix(kMost)) {
      if (Result<void> done = deflate(bytes.substr(0, kMost)); !done) return done;
    }
    return deflate(bytes);
  }

  Result<void> finish() override {
    stream_.end_of_stream = 1;
    if (Result<void> done = deflate({}); !done) return done;
    return below_.finish();
  }

  [[nodiscard]] bool closed() const override { return below_.closed(); }

 private:
  Result<void> deflate(std::string_view bytes) {
    // The library takes its input as mutable and leaves it as it is.
    stream_.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<std::uint32_t>(bytes.size());
    do {
      stream_.next_out = out_.data();
      stream_.avail_out = static_cast<std::uint32_t>(out_.size());
      if (isal_deflate(&stream_) != COMP_OK)
        return Error{ErrorCode::internal, "gzip: the compressor refused its input"};
      const std::size_t made = out_.size() - stream_.avail_out;
      if (made == 0) continue;
      Result<void> written = below_.write({reinterpret_cast<const char*>(out_.data()), made});
      if (!written) return written;
    } while (stream_.avail_out == 0 || stream_.avail_in > 0);
    return {};
  }

  ByteSink& below_;
  isal_zstream stream_{};
  std::vector<std::uint8_t> scratch_;
  std::vector<std::uint8_t> out_;
};

}  // namespace

std::unique_ptr<ByteSink> gzip_sink(ByteSink& below) { return std::make_unique<GzipSink>(below); }

}  // namespace fathom
