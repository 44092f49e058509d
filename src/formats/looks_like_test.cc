// Files that people pass by mistake are named for what they are.
#include "formats/looks_like.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace fathom {
namespace {

using namespace std::string_view_literals;

std::string looks(std::string_view text, std::string_view compression = {},
                  std::string_view damage = {}) {
  return looks_like(std::as_bytes(std::span(text)), compression, damage);
}

TEST(LooksLike, NothingIsAnEmptyFile) { EXPECT_EQ(looks(""), "an empty file"); }

TEST(LooksLike, BinaryFormatsAreKnownByTheirMagicNumbers) {
  EXPECT_EQ(looks("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"sv), "a PNG image");
  EXPECT_TRUE(looks("SQLite format 3\0\x10\0"sv).starts_with("an SQLite database"));
  EXPECT_TRUE(looks("\x80\4\x95\x10"sv).starts_with("a Python pickle"));
  EXPECT_TRUE(looks("PK\3\4\x14\0"sv).starts_with("a ZIP archive"));
  EXPECT_TRUE(looks("\x7f"
                    "ELF\2\1\1\0"sv)
                  .starts_with("an ELF"));
  EXPECT_TRUE(
      looks("\xfb\x29\x03\xfa\x15pstats_reader_test.py"sv).starts_with("a Python cProfile file"));
}

TEST(LooksLike, CompressedDataThatEndsInItsHeaderIsNeitherEmptyNorCompressedTwice) {
  EXPECT_EQ(looks("\x1f\x8b"sv), "a gzip file that ends in its header");
  EXPECT_EQ(looks("\x28\xb5\x2f"sv), "a zstd file that ends in its header");
  EXPECT_TRUE(looks("\x1f\x8b\x07\0"sv).starts_with("damaged gzip data"));
  EXPECT_EQ(looks("", "zstd", "zstd, after 0 bytes of contents: the file ends in a frame"),
            "zstd data without contents: the file ends in a frame");
  EXPECT_EQ(looks("", "gzip"), "gzip data of an empty file");
  EXPECT_TRUE(looks("\x1f\x8b\x08\0"sv, "zstd").starts_with("gzip data inside the compressed"));
  EXPECT_TRUE(looks("\x1f\x8b\x08\0"sv, "zstd").ends_with("run unzstd once"));
}

TEST(LooksLike, TextFormatsAreKnownByHowTheyStart) {
  EXPECT_TRUE(looks("\n <!DOCTYPE html><html>").starts_with("an HTML page"));
  EXPECT_TRUE(looks("<?xml version='1.0'?>").starts_with("an XML document"));
  EXPECT_TRUE(
      looks("version https://git-lfs.github.com/spec/v1\noid sha256:1").starts_with("a Git LFS"));
  EXPECT_EQ(looks("time,gpu,util,mem\n1,0,97,5\n"), "a table of comma-separated values");
  EXPECT_EQ(looks("step 1 loss 0.5\n"), "plain text");
  EXPECT_EQ(looks("  \n"), "nothing but white space");
}

TEST(LooksLike, JsonThatIsNoTraceSaysWhatItMayBe) {
  EXPECT_TRUE(looks(R"({"schema": "1.0.3", "pid": 7, "nodes": [)")
                  .starts_with("a PyTorch execution trace"));
  EXPECT_EQ(looks(R"({"a": 1})"), "JSON without \"traceEvents\"");
  EXPECT_EQ(looks("[1, 2]"), "JSON, a list without trace events");
}

TEST(LooksLike, AnythingElseIsBinaryData) {
  EXPECT_EQ(looks("\1\2\3\4\xff\0"sv), "binary data");
  EXPECT_EQ(looks("\0\0\0\0"sv), "nothing but zero bytes");
}

}  // namespace
}  // namespace fathom
