// Zstandard: frames, skippable frames, damage.
#include "base/zstd_source.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <zstd.h>

#include "base/read_back.h"

namespace fathom {
namespace {

std::string zstd(const std::string& text) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress2(context.get(), out.data(), out.size(), text.data(), text.size()));
  return out;
}

std::string skippable(const std::string& text) {
  const auto size = static_cast<char>(text.size());
  return std::string("\x52\x2a\x4d\x18", 4) + std::string{size, '\0', '\0', '\0'} + text;
}

TEST(ZstdSource, ContentsComeOutInBlocksOfAnySize) {
  const std::string text = numbers(200000);
  const std::string bytes = zstd(text);
  for (const std::size_t block : {std::size_t{4097}, std::size_t{3} << 20}) {
    const ReadBack read = read_back(bytes, block);
    EXPECT_TRUE(read.text == text);
    EXPECT_EQ(read.damage, "");
    EXPECT_EQ(read.compression, "zstd");
  }
}

TEST(ZstdSource, FramesFollowEachOtherAndSkippableOnesAreSkipped) {
  const std::string text = numbers(50000);
  const ReadBack read =
      read_back(skippable("note") + zstd(text) + zstd("") + skippable("") + zstd("tail"));
  EXPECT_TRUE(read.text == text + "tail");
  EXPECT_EQ(read.damage, "");
}

TEST(ZstdSource, ForeignBytesAfterTheEndAreIgnoredAndReported) {
  const ReadBack read = read_back(zstd("contents") + "garbage");
  EXPECT_EQ(read.text, "contents");
  EXPECT_EQ(read.damage,
            "zstd, after 8 bytes of contents: 7 bytes that are no zstd follow and were ignored");
}

TEST(ZstdSource, TruncatedAnywhereGivesAPrefixAndSaysSo) {
  const std::string text = numbers(3000);
  const std::string bytes = zstd(text);
  for (std::size_t cut = 4; cut < bytes.size(); ++cut) {
    const ReadBack read = read_back(bytes.substr(0, cut));
    EXPECT_TRUE(read.text == text.substr(0, read.text.size()));
    EXPECT_NE(read.damage.find("ends in the middle"), std::string::npos) << cut;
  }
}

TEST(ZstdSource, DamagedBitsGiveWhatCameBefore) {
  const std::string text = numbers(300000);
  std::string bytes = zstd(text);
  for (std::size_t i = 0; i < 40; ++i) bytes[bytes.size() / 2 + i] = '\xff';
  const ReadBack read = read_back(bytes);
  const std::size_t quarter = text.size() / 4;
  EXPECT_TRUE(read.text.substr(0, quarter) == text.substr(0, quarter));
  EXPECT_NE(read.damage, "");
}

}  // namespace
}  // namespace fathom
