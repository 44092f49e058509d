// Gzip: members, headers, padding, damage.
#include "base/gzip_source.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <isa-l/igzip_lib.h>

#include "base/read_back.h"

namespace fathom {
namespace {

/// One gzip member. `header` adds the optional fields: extra, name, comment, header checksum.
std::string gzip(const std::string& text, bool header = false) {
  isal_zstream stream;
  isal_deflate_init(&stream);
  std::string out(text.size() + text.size() / 8 + 1024, '\0');
  stream.next_out = reinterpret_cast<std::uint8_t*>(out.data());
  stream.avail_out = static_cast<std::uint32_t>(out.size());
  std::string extra = "12345";
  std::string name = "trace.json";
  std::string comment = "a comment";
  isal_gzip_header fields;
  isal_gzip_header_init(&fields);
  if (header) {
    fields.extra = reinterpret_cast<std::uint8_t*>(extra.data());
    fields.extra_len = static_cast<std::uint32_t>(extra.size());
    fields.name = name.data();
    fields.name_buf_len = static_cast<std::uint32_t>(name.size() + 1);
    fields.comment = comment.data();
    fields.comment_buf_len = static_cast<std::uint32_t>(comment.size() + 1);
    fields.hcrc = 1;
  }
  EXPECT_EQ(isal_write_gzip_header(&stream, &fields), 0U);
  stream.gzip_flag = IGZIP_GZIP_NO_HDR;
  stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<std::uint32_t>(text.size());
  stream.end_of_stream = 1;
  EXPECT_EQ(isal_deflate(&stream), COMP_OK);
  out.resize(out.size() - stream.avail_out);
  return out;
}

TEST(GzipSource, ContentsComeOutInBlocksOfAnySize) {
  const std::string text = numbers(200000);
  const std::string bytes = gzip(text);
  for (const std::size_t block : {std::size_t{4097}, std::size_t{3} << 20}) {
    const ReadBack read = read_back(bytes, block);
    EXPECT_TRUE(read.text == text);
    EXPECT_EQ(read.damage, "");
    EXPECT_EQ(read.compression, "gzip");
  }
  EXPECT_EQ(read_back(gzip("abc"), 1).text, "abc");
}

TEST(GzipSource, MembersFollowEachOther) {
  const std::string text = numbers(50000);
  const ReadBack read = read_back(gzip(text) + gzip("") + gzip("tail"));
  EXPECT_TRUE(read.text == text + "tail");
  EXPECT_EQ(read.damage, "");
}

TEST(GzipSource, ManyTinyMembersAreReadToTheLast) {
  std::string bytes;
  std::string text;
  for (int i = 0; i < 20000; ++i) {
    bytes += gzip(std::to_string(i) + ";");
    text += std::to_string(i) + ";";
  }
  const ReadBack read = read_back(bytes, std::size_t{1} << 20);
  EXPECT_TRUE(read.text == text);
  EXPECT_EQ(read.damage, "");
}

TEST(GzipSource, OptionalHeaderFieldsAreSkipped) {
  const ReadBack read = read_back(gzip("contents", true) + gzip(" more", true));
  EXPECT_EQ(read.text, "contents more");
  EXPECT_EQ(read.damage, "");
}

TEST(GzipSource, ZeroPaddingAfterTheEndIsNoDamage) {
  const ReadBack read = read_back(gzip("contents") + std::string(100000, '\0'));
  EXPECT_EQ(read.text, "contents");
  EXPECT_EQ(read.damage, "");
}

TEST(GzipSource, ForeignBytesAfterTheEndAreIgnoredAndReported) {
  const ReadBack read = read_back(gzip("contents") + "garbage");
  EXPECT_EQ(read.text, "contents");
  EXPECT_EQ(read.damage,
            "gzip, after 8 bytes of contents: 7 bytes that are no gzip follow and were ignored");
}

TEST(GzipSource, WrongChecksumIsReportedAndLaterMembersAreStillRead) {
  std::string first = gzip("contents");
  first[first.size() - 6] = static_cast<char>(first[first.size() - 6] ^ 1);
  const ReadBack read = read_back(first + gzip(" more"));
  EXPECT_EQ(read.text, "contents more");
  EXPECT_NE(read.damage.find("after 8 bytes of contents: the checksum does not match"),
            std::string::npos);
}

TEST(GzipSource, TruncatedAnywhereGivesAPrefixAndSaysSo) {
  const std::string text = numbers(3000);
  const std::string bytes = gzip(text, true);
  for (std::size_t cut = 3; cut < bytes.size(); ++cut) {
    const ReadBack read = read_back(bytes.substr(0, cut));
    EXPECT_TRUE(read.text == text.substr(0, read.text.size()));
    EXPECT_NE(read.damage.find("ends in the middle"), std::string::npos) << cut;
  }
}

TEST(GzipSource, DamagedBitsGiveWhatCameBefore) {
  const std::string text = numbers(100000);
  std::string bytes = gzip(text);
  for (std::size_t i = 0; i < 40; ++i) bytes[bytes.size() / 2 + i] = '\xff';
  const ReadBack read = read_back(bytes);
  EXPECT_GT(read.text.size(), text.size() / 4);
  EXPECT_EQ(read.text.substr(0, text.size() / 4), text.substr(0, text.size() / 4));
  EXPECT_NE(read.damage, "");
}

}  // namespace
}  // namespace fathom
