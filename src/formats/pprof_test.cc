// Profiles of pprof: which value counts, inlined functions, labels, and damaged ones.
#include <initializer_list>
#include <string>

#include <gtest/gtest.h>

#include "formats/read_for_test.h"
#include "store/sample_weights.h"

namespace fathom {

Format pprof();

namespace {

/// All numbers of the tests are below 128: one byte each.
std::string number(int field, int value) {
  return {static_cast<char>(field << 3), static_cast<char>(value)};
}
std::string bytes(int field, const std::string& value) {
  return std::string{static_cast<char>(field << 3 | 2), static_cast<char>(value.size())} + value;
}
std::string packed(int field, std::initializer_list<int> values) {
  std::string numbers;
  for (const int value : values) numbers += static_cast<char>(value);
  return bytes(field, numbers);
}
std::string type(int name, int unit) { return bytes(1, number(1, name) + number(2, unit)); }
std::string texts(std::initializer_list<const char*> all) {
  std::string table;
  for (const char* const text : all) table += bytes(6, text);
  return table;
}
std::string line(int function, int at) { return bytes(4, number(1, function) + number(2, at)); }
std::string location(int id, const std::string& lines) { return bytes(4, number(1, id) + lines); }
std::string function(int id, int name, int file) {
  return bytes(5, number(1, id) + number(2, name) + number(4, file));
}

const std::string kTables = location(1, line(1, 3)) + location(2, line(3, 9) + line(2, 7)) +
                            function(1, 5, 8) + function(2, 6, 8) + function(3, 7, 8);
const std::string kTexts = texts({"", "samples", "count", "cpu", "milliseconds", "main", "work",
                                  "inlined", "app.py", "thread", "worker", "tid"});

TEST(Pprof, TimeCountsWhereThereIsOne) {
  const std::string sample =
      bytes(2, packed(1, {2, 1}) + packed(2, {4, 40}) + bytes(3, number(1, 9) + number(2, 10)) +
                   bytes(3, number(1, 11) + number(3, 77)));
  const Result<Trace> trace = read_as(pprof(), type(1, 2) + type(3, 4) + sample + kTables + kTexts);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(stacks_of(*trace), "main (app.py:3);work (app.py:7);inlined (app.py:9) 40000000\n");
  EXPECT_EQ(trace->text(trace->stack_samples[0].thread), "worker");
  EXPECT_EQ(trace->stack_samples[0].tid, 77);
  EXPECT_EQ(weight_unit(*trace), "");
}

TEST(Pprof, OtherTimesAreWeightsAndTheNamedTypeCounts) {
  const std::string texts_of_locks = texts(
      {"", "contentions", "count", "delay", "nanoseconds", "main", "work", "inlined", "app.py"});
  const std::string sample = bytes(2, packed(1, {1}) + packed(2, {4, 40}));
  const std::string types = type(1, 2) + type(3, 4);
  const Result<Trace> last = read_as(pprof(), types + sample + kTables + texts_of_locks);
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(stacks_of(*last), "main (app.py:3) 40\n");
  EXPECT_EQ(weight_unit(*last), "delay nanoseconds");
  const Result<Trace> named =
      read_as(pprof(), types + sample + kTables + texts_of_locks + number(14, 1));
  ASSERT_TRUE(named.ok());
  EXPECT_EQ(stacks_of(*named), "main (app.py:3) 4\n");
  EXPECT_EQ(weight_unit(*named), "contentions");
}

TEST(Pprof, ElseItsLastTypeDoes) {
  const Result<Trace> trace =
      read_as(pprof(), type(1, 2) + bytes(2, number(1, 1) + number(2, 5)) + kTables + kTexts);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(stacks_of(*trace), "main (app.py:3) 5\n");
  EXPECT_EQ(weight_unit(*trace), "samples");
}

TEST(Pprof, WhatIsWrongIsCounted) {
  const std::string whole = type(1, 2) + bytes(2, packed(1, {1}) + packed(2, {5})) +
                            bytes(2, packed(1, {9}) + packed(2, {6})) + bytes(2, packed(1, {1})) +
                            kTables + kTexts;
  const Result<Trace> trace = read_as(pprof(), whole);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(stacks_of(*trace), "main (app.py:3) 5\n[unknown] 6\n");
  EXPECT_EQ(trace->import[Repair::wrong_type].count, 1U);
  EXPECT_EQ(trace->import[Repair::malformed_event].count, 1U);
  const Result<Trace> cut = read_as(pprof(), whole.substr(0, whole.size() - 3));
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(cut->import[Repair::truncated].count, 1U);
  EXPECT_FALSE(read_as(pprof(), kTexts).ok());
}

TEST(Pprof, IsKnownByItsFirstType) {
  EXPECT_TRUE(sniffs(pprof(), type(1, 2) + type(3, 4)));
  EXPECT_TRUE(sniffs(pprof(), type(1, 2) + bytes(2, "x")));
  for (const std::string& other : {std::string("\n\n\n\n"), std::string("\n\x04main"), kTexts,
                                   std::string("\n\0\n\0", 4), std::string()})
    EXPECT_FALSE(sniffs(pprof(), other));
}

}  // namespace
}  // namespace fathom
