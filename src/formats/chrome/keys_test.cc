// Every spelling in the key tables is found again.
#include "formats/chrome/keys.h"

#include <gtest/gtest.h>

#include "formats/chrome/attributes.h"

namespace fathom::chrome {
namespace {

TEST(Keys, AreFoundByText) {
  EXPECT_EQ(event_keys().find("ph").key, Key::ph);
  EXPECT_EQ(event_keys().find("dur").key, Key::dur);
}

TEST(Keys, OfEveryAttributeAreFoundInEverySpelling) {
  std::size_t at = 0;
  const auto check = [&at](std::string_view key) {
    EXPECT_EQ(args_keys().find(key).key, Key::attribute) << key;
    EXPECT_EQ(args_keys().find(key).attribute, at++) << key;
  };
  std::apply([&check](const auto&... attribute) { (check(attribute.key), ...); }, kAttributes);
  for (const OtherSpelling& other : kOtherSpellings) {
    EXPECT_EQ(args_keys().find(other.text).attribute, args_keys().find(other.key).attribute)
        << other.text;
    EXPECT_EQ(args_keys().find(other.text).key, Key::attribute) << other.text;
  }
}

TEST(Keys, OfTheEventAndOfItsArgsAreApart) {
  EXPECT_EQ(event_keys().find("correlation").key, Key::unknown);
  EXPECT_EQ(args_keys().find("ph").key, Key::unknown);
  EXPECT_EQ(event_keys().find("name").key, Key::name);
  EXPECT_EQ(args_keys().find("name").key, Key::attribute);
}

TEST(Keys, UnknownTextIsUnknown) {
  for (const char* const text :
       {"", "x", "External id ", "Ext", "a key that is longer than any in the table of keys"}) {
    EXPECT_EQ(args_keys().find(text).key, Key::unknown) << text;
    EXPECT_EQ(args_keys().find(text).quoted_size, 0) << text;
  }
}

TEST(Keys, CarryTheirQuotedForm) {
  const KeyEntry& entry = args_keys().find("stream");
  EXPECT_EQ(std::string_view(entry.quoted.data(), entry.quoted_size), "\"stream\":");
  EXPECT_EQ(entry.text(), "stream");
}

}  // namespace
}  // namespace fathom::chrome
