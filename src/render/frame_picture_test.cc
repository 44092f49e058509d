#include "render/frame_picture.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace fathom {
namespace {

constexpr std::size_t kNoteColumns = 178;   // 1176 px of 6.6
constexpr std::size_t kTitleColumns = 130;  // of 9

std::string words_of(std::size_t words) {
  std::string text = "first";
  for (std::size_t each = 1; each < words; ++each) text += " word" + std::to_string(each);
  return text;
}

/// The texts of a class, in order.
std::vector<std::string> texts(const std::string& svg, const std::string& kind) {
  const std::string start = "<text class=\"" + kind + "\"";
  std::vector<std::string> found;
  for (std::size_t at = svg.find(start); at != svg.npos; at = svg.find(start, at + 1)) {
    const std::size_t begin = svg.find('>', at) + 1;
    found.push_back(svg.substr(begin, svg.find('<', begin) - begin));
  }
  return found;
}

TEST(FramePicture, ANoteIsWrappedWholeAndWhatIsDrawnBeginsBelowIt) {
  FramePicture without({.label = "", .title = "title", .note = "", .caption = "foot"}, 100);
  const std::string note = words_of(60);
  FramePicture with({.label = "", .title = "title", .note = note, .caption = "foot"}, 100);
  const std::vector<std::string> lines = texts(with.take(), "soft");
  ASSERT_EQ(lines.size(), 4U);  // three of the note, and the caption
  std::string joined;
  for (std::size_t at = 0; at + 1 < lines.size(); ++at) {
    EXPECT_LE(lines[at].size(), kNoteColumns);
    joined += (at == 0 ? "" : " ") + lines[at];
  }
  EXPECT_EQ(joined, note);
  EXPECT_EQ(lines.back(), "foot");
  EXPECT_EQ(with.head(), without.head() + 3 * 16);
}

TEST(FramePicture, ATitleIsShortenedToItsLargerLetters) {
  FramePicture picture({.label = "", .title = words_of(60), .note = "", .caption = ""}, 100);
  const std::vector<std::string> title = texts(picture.take(), "title");
  ASSERT_EQ(title.size(), 1U);
  EXPECT_EQ(title[0].size(), kTitleColumns - 1 + std::string("…").size());
  EXPECT_TRUE(title[0].starts_with("first word1 ") && title[0].ends_with(" word59")) << title[0];
}

TEST(FramePicture, WhatIsBeyondTheRightEdgeHasNoRoom) {
  FramePicture picture({.label = "", .title = "", .note = "", .caption = ""}, 100);
  picture.words(FramePicture::kWidth, 10, "words", "soft");
  EXPECT_EQ(texts(picture.take(), "soft").front(), "");
}

}  // namespace
}  // namespace fathom
