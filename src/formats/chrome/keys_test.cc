// Every spelling in the key tables is found again.
#include "formats/chrome/keys.h"

#include <gtest/gtest.h>

namespace fathom::chrome {
namespace {

TEST(Keys, AreFoundByText) {
  EXPECT_EQ(find_event_key("ph").key, Key::ph);
  EXPECT_EQ(find_event_key("dur").key, Key::dur);
  EXPECT_EQ(find_args_key("External id").key, Key::external_id);
  EXPECT_EQ(find_args_key("external id").key, Key::external_id);
  EXPECT_EQ(find_args_key("wait_on_cuda_event_record_corr_id").key, Key::wait_correlation);
  EXPECT_EQ(find_args_key("est. achieved occupancy %").key, Key::occupancy);
}

TEST(Keys, OfTheEventAndOfItsArgsAreApart) {
  EXPECT_EQ(find_event_key("correlation").key, Key::unknown);
  EXPECT_EQ(find_args_key("ph").key, Key::unknown);
  EXPECT_EQ(find_event_key("name").key, Key::name);
  EXPECT_EQ(find_args_key("name").key, Key::meta_name);
}

TEST(Keys, UnknownTextIsUnknown) {
  for (const char* const text :
       {"", "x", "External id ", "Ext", "a key that is longer than any in the table of keys"}) {
    EXPECT_EQ(find_args_key(text).key, Key::unknown) << text;
    EXPECT_EQ(find_args_key(text).quoted_size, 0) << text;
  }
}

TEST(Keys, CarryTheirQuotedForm) {
  const KeyEntry& entry = find_args_key("stream");
  EXPECT_EQ(std::string_view(entry.quoted.data(), entry.quoted_size), "\"stream\":");
  EXPECT_EQ(entry.text(), "stream");
}

}  // namespace
}  // namespace fathom::chrome
