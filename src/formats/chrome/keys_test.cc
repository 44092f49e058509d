// Every spelling in the key tables is found again.
#include "formats/chrome/keys.h"

#include <gtest/gtest.h>

namespace fathom::chrome {
namespace {

TEST(Keys, AreFoundByText) {
  EXPECT_EQ(event_keys().find("ph").key, Key::ph);
  EXPECT_EQ(event_keys().find("dur").key, Key::dur);
  EXPECT_EQ(args_keys().find("External id").key, Key::external_id);
  EXPECT_EQ(args_keys().find("external id").key, Key::external_id);
  EXPECT_EQ(args_keys().find("wait_on_cuda_event_record_corr_id").key, Key::wait_correlation);
  EXPECT_EQ(args_keys().find("est. achieved occupancy %").key, Key::occupancy);
}

TEST(Keys, OfTheEventAndOfItsArgsAreApart) {
  EXPECT_EQ(event_keys().find("correlation").key, Key::unknown);
  EXPECT_EQ(args_keys().find("ph").key, Key::unknown);
  EXPECT_EQ(event_keys().find("name").key, Key::name);
  EXPECT_EQ(args_keys().find("name").key, Key::meta_name);
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
