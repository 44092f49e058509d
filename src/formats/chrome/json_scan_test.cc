// Scanning primitives, on every alignment and at the end of the text.
#include "formats/chrome/json_scan.h"

#include <string>

#include <gtest/gtest.h>

namespace fathom::json {
namespace {

/// A text with the padding the scanners need.
class Padded {
 public:
  explicit Padded(std::string text) : size_(text.size()), text_(std::move(text)) {
    text_.append(kPadding, '\0');
  }
  [[nodiscard]] const char* begin() const { return text_.data(); }
  [[nodiscard]] const char* end() const { return text_.data() + size_; }

 private:
  std::size_t size_;
  std::string text_;
};

TEST(JsonScan, SkipsWhiteSpaceOfAnyLength) {
  for (std::size_t spaces = 0; spaces < 40; ++spaces) {
    const Padded text(std::string(spaces, ' ') + "x");
    EXPECT_EQ(skip_space(text.begin()), text.begin() + spaces);
  }
  const Padded mixed(" \n\t\r  \n x");
  EXPECT_EQ(*skip_space(mixed.begin()), 'x');
}

TEST(JsonScan, FindsTheEndOfAStringAfterEscapes) {
  for (std::size_t before = 0; before < 40; ++before) {
    const std::string inside = std::string(before, 'a') + "\\\"b\\\\";
    const Padded text(inside + "\",");
    EXPECT_EQ(find_string_end(text.begin(), text.end()), text.begin() + inside.size());
  }
}

TEST(JsonScan, AStringWithoutEndEndsNowhere) {
  for (const char* const open : {"abc", "abc\\", "", "abc\\\""}) {
    const Padded text(open);
    EXPECT_EQ(find_string_end(text.begin(), text.end()), nullptr) << open;
  }
}

TEST(JsonScan, MatchesBracketsAcrossStringsAndNesting) {
  for (const char* const value :
       {"[]", "{}", "[[512, 3], [], [64, 3, 7, 7]]", R"({"a": "]}", "b": [1, {"c": "\"["}]})",
        R"(["", "", "-1", "False", "[1, 2]"])"}) {
    const Padded text(std::string(value) + " ]]}}");
    EXPECT_EQ(find_bracket_end(text.begin(), text.end()), text.begin() + std::string(value).size())
        << value;
  }
}

TEST(JsonScan, DeepNestingNeedsNoStack) {
  const std::size_t depth = 200000;
  const Padded text(std::string(depth, '[') + std::string(depth, ']'));
  EXPECT_EQ(find_bracket_end(text.begin(), text.end()), text.end());
}

TEST(JsonScan, ACutOffValueEndsNowhere) {
  const std::string whole = R"({"a": [1, "x]", {"b": 2}]})";
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const Padded text(whole.substr(0, size));
    EXPECT_EQ(find_value_end(text.begin(), text.end()), nullptr) << size;
  }
}

TEST(JsonScan, ReadsUpToSixteenDigits) {
  std::string digits;
  std::uint64_t value = 0;
  for (unsigned count = 0; count <= 16; ++count) {
    const Padded text(digits + ",");
    const Digits read = read_digits(text.begin());
    EXPECT_EQ(read.count, count);
    EXPECT_EQ(read.value, value);
    const unsigned next = (count * 7 + 3) % 10;
    digits.push_back(static_cast<char>('0' + next));
    value = value * 10 + next;
  }
  const Padded longer("12345678901234567890,");
  EXPECT_EQ(read_digits(longer.begin()).count, 16U);
}

}  // namespace
}  // namespace fathom::json
