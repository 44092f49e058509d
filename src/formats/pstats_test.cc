// Profiles as Python 2 and 3 marshal them, and damaged ones.
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "formats/format.h"
#include "store/validate.h"

namespace fathom {

Format pstats();

namespace {

using namespace std::string_view_literals;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

Result<Trace> read(std::string_view text) {
  const Result<std::unique_ptr<ByteSource>> source = open_bytes(bytes_of(text));
  return pstats().read(**source, {});
}

std::string number(std::uint64_t value, int bytes) {
  std::string text;
  for (int at = 0; at < bytes; ++at)
    text += static_cast<char>(value >> (8U * static_cast<unsigned>(at)));
  return text;
}
std::string i(int value) { return "i" + number(static_cast<std::uint32_t>(value), 4); }
std::string g(double value) { return "g" + number(std::bit_cast<std::uint64_t>(value), 8); }
std::string sized(char type, std::string_view text, int bytes = 4) {
  return type + number(text.size(), bytes) + std::string(text);
}
std::string z(std::string_view text) { return sized('z', text, 1); }
/// A tuple with a count of one byte.
std::string tuple(int count, const std::string& elements) {
  return ")" + number(static_cast<std::uint64_t>(count), 1) + elements;
}
/// A tuple as Python 2 has it.
std::string old_tuple(int count, const std::string& elements) {
  return "(" + number(static_cast<std::uint64_t>(count), 4) + elements;
}
std::string numbered(std::string value) {
  value[0] = static_cast<char>(value[0] | 0x80);
  return value;
}
std::string ref(int number_of) { return "r" + number(static_cast<std::uint64_t>(number_of), 4); }
std::string key(std::string_view file, int line, std::string_view name) {
  return tuple(3, z(file) + i(line) + z(name));
}
std::string row(int primitive, int calls, const std::string& self, const std::string& total) {
  return tuple(5, i(primitive) + i(calls) + self + total + "{0");
}
std::string profile(const std::string& items) { return "{" + items + "0"; }

struct Shown {
  std::string file;
  std::uint32_t line;
  std::string name;
  std::uint64_t calls;
  std::int64_t self;
  std::int64_t total;
  bool operator==(const Shown&) const = default;
};

std::vector<Shown> shown(const Trace& trace) {
  std::vector<Shown> rows;
  for (const FunctionTime& each : trace.functions)
    rows.push_back({std::string(trace.text(each.file)), each.line,
                    std::string(trace.text(each.name)), each.calls, to_ns(each.self),
                    to_ns(each.total)});
  return rows;
}

std::uint64_t repairs(const Trace& trace, Repair repair) { return trace.import[repair].count; }

TEST(Pstats, ReadsAFunctionWithItsTimes) {
  const std::string bytes = profile(key("a.py", 12, "f") + row(1, 3, g(0.25), g(1.5)) +
                                    key("~", 0, "<len>") + row(7, 7, g(1e-9), g(2.4e-9)));
  const Result<Trace> trace = read(bytes);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->format, "pstats");
  EXPECT_EQ(shown(*trace), (std::vector<Shown>{{"a.py", 12, "f", 3, 250'000'000, 1'500'000'000},
                                               {"~", 0, "<len>", 7, 1, 2}}));
  EXPECT_EQ(trace->bytes_read, bytes.size());
  EXPECT_EQ(broken_promise(*trace), "");
}

TEST(Pstats, ReadsHowManyCallsWereOutermost) {
  const std::string bytes =
      profile(key("a.py", 1, "f") + row(1, 3, g(1), g(1)) + key("a.py", 2, "g") +
              row(5, 3, g(1), g(1)) + key("a.py", 3, "h") + row(-1, 3, g(1), g(1)));
  const Result<Trace> trace = read(bytes);
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->functions.size(), 3U);
  EXPECT_EQ(trace->functions[0].primitive, 1U);
  EXPECT_EQ(trace->functions[1].primitive, 0U) << "more than all calls: not known";
  EXPECT_EQ(trace->functions[2].primitive, 0U);
}

TEST(Pstats, ReadsWhoCalledWhom) {
  const std::string timed = key("b.py", 2, "g") + tuple(4, i(5) + i(4) + g(0.5) + g(2));
  const std::string counted = key("~", 0, "<map>") + i(3);
  const std::string wrong = key("b.py", 3, "h") + tuple(2, i(1) + i(1)) + i(7) + i(8);
  const std::string bytes =
      profile(key("a.py", 1, "f") +
              tuple(5, i(7) + i(8) + g(1) + g(3) + "{" + timed + counted + wrong + "0"));
  const Result<Trace> trace = read(bytes);
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->function_calls.size(), 2U);
  const FunctionCalls& first = trace->function_calls[0];
  EXPECT_EQ(trace->text(first.name), "f");
  EXPECT_EQ(trace->text(first.caller_file), "b.py");
  EXPECT_EQ(first.caller_line, 2U);
  EXPECT_EQ(trace->text(first.caller_name), "g");
  EXPECT_EQ(first.calls, 5U);
  EXPECT_EQ(first.primitive, 4U);
  EXPECT_EQ(to_ns(first.self), 500'000'000);
  EXPECT_EQ(to_ns(first.total), 2'000'000'000);
  const FunctionCalls& second = trace->function_calls[1];
  EXPECT_EQ(trace->text(second.caller_name), "<map>");
  EXPECT_EQ(second.calls, 3U);
  EXPECT_FALSE(second.timed);
  EXPECT_EQ(repairs(*trace, Repair::wrong_type), 2U);
  EXPECT_EQ(broken_promise(*trace), "");
}

TEST(Pstats, ACallersDictionaryThatManyRowsShareIsNotReadForEach) {
  std::string callers = "{";
  for (int line = 0; line < 20; ++line) callers += key("b.py", line, "g") + i(3);
  std::string items =
      key("a.py", 0, "f") + tuple(5, i(1) + i(1) + g(1) + g(1) + numbered(callers + "0"));
  for (int line = 1; line < 2000; ++line)
    items += key("a.py", line, "f") + tuple(5, i(1) + i(1) + g(1) + g(1) + ref(0));
  const std::string bytes = profile(items);
  const Result<Trace> trace = read(bytes);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->functions.size(), 2000U);
  EXPECT_LE(trace->function_calls.size(), bytes.size() / 10);
  EXPECT_GT(repairs(*trace, Repair::malformed_event), 0U);
}

TEST(Pstats, SumsOfAllTimesStayNumbers) {
  std::string items;
  for (int at = 0; at < 9; ++at) items += key("a.py", at, "f") + row(1, 1, g(1e9), g(1e9));
  const Result<Trace> trace = read(profile(items));
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->functions.size(), 2U);
  EXPECT_EQ(repairs(*trace, Repair::number_out_of_range), 7U);
}

TEST(Pstats, FollowsReferencesOfPython3) {
  // The dictionary is 0, the first key 1, its file 2; of the second key file and tuple are new.
  const std::string first =
      numbered(tuple(3, numbered(z("a.py")) + i(1) + numbered(sized('Z', "f", 1))));
  const std::string second = tuple(3, ref(2) + i(9) + sized('A', "g"));
  const std::string callers = "{" + ref(1) + tuple(4, i(2) + i(2) + g(0.5) + g(0.5)) + "0";
  const std::string bytes = numbered(profile(first + row(1, 1, numbered(g(0.5)), ref(4)) + second +
                                             tuple(5, i(2) + i(2) + ref(4) + ref(4) + callers)));
  const Result<Trace> trace = read(bytes);
  ASSERT_TRUE(trace);
  EXPECT_EQ(shown(*trace), (std::vector<Shown>{{"a.py", 1, "f", 1, 500'000'000, 500'000'000},
                                               {"a.py", 9, "g", 2, 500'000'000, 500'000'000}}));
  EXPECT_EQ(trace->import.total(), 0U);
}

TEST(Pstats, ReadsThoseOfPython2) {
  // Interned texts have numbers of their own, and numbers may be printed.
  const std::string first = old_tuple(3, sized('t', "a.py") + i(1) + sized('t', "f"));
  const std::string second = old_tuple(3, "R" + number(0, 4) + i(5) + sized('s', "g"));
  const std::string bytes = profile(
      first + old_tuple(5, i(1) + i(1) + sized('f', "0.5", 1) + sized('f', "1.25", 1) + "{0") +
      second +
      old_tuple(5, "I" + number(2, 8) + "l" + number(2, 4) + number(1, 2) + number(1, 2) + i(1) +
                       g(2) + "{0"));
  const Result<Trace> trace = read(bytes);
  ASSERT_TRUE(trace);
  EXPECT_EQ(shown(*trace),
            (std::vector<Shown>{{"a.py", 1, "f", 1, 500'000'000, 1'250'000'000},
                                {"a.py", 5, "g", 32769, 1'000'000'000, 2'000'000'000}}));
}

TEST(Pstats, WhatIsNoFunctionIsSkippedAndCounted) {
  const std::string good = key("a.py", 1, "f") + row(1, 1, g(1), g(1));
  const Result<Trace> trace =
      read(profile(key("a.py", 1, "f") + i(3) + i(3) + row(1, 1, g(1), g(1)) + good +
                   tuple(3, i(1) + i(1) + z("f")) + row(1, 1, g(1), g(1)) + key("nan.py", 1, "f") +
                   row(1, 1, g(std::numeric_limits<double>::quiet_NaN()), g(1)) +
                   key("long.py", 1, "f") + row(1, 1, g(1), g(1e300)) + key("below.py", 1, "f") +
                   row(1, 1, g(-2), g(1)) + key("less.py", 1, "f") + row(1, -1, g(1), g(1)) +
                   key("line.py", -4, "f") + row(1, 1, g(1), g(1))));
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->functions.size(), 1U);
  EXPECT_EQ(repairs(*trace, Repair::wrong_type), 3U);
  EXPECT_EQ(repairs(*trace, Repair::number_out_of_range), 5U);
}

TEST(Pstats, ACutProfileKeepsWhatCameBefore) {
  const std::string one = key("a.py", 1, "f") + row(1, 1, g(1), g(1));
  const std::string bytes = profile(one + key("a.py", 2, "g") + row(1, 1, g(1), g(1)));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Result<Trace> trace = read(std::string_view(bytes).substr(0, size));
    ASSERT_EQ(trace.ok(), size > one.size()) << size;
    if (!trace) continue;
    EXPECT_EQ(repairs(*trace, Repair::truncated), 1U) << size;
  }
}

TEST(Pstats, NothingIsBelievedOfSizesAndNumbers) {
  const std::string one = key("a.py", 1, "f") + row(1, 1, g(1), g(1));
  const std::string most = number(0xffffffff, 4);
  for (const std::string& ending :
       {"z" + number(255, 1) + "a", "u" + most + "a", "(" + most + "N", "l" + number(0x7fffffff, 4),
        "l" + number(0x80000000, 4), "s" + number(0x7fffffff, 4)}) {
    const Result<Trace> trace = read(std::string("{").append(one).append(ending));
    ASSERT_TRUE(trace);
    EXPECT_EQ(trace->functions.size(), 1U);
    EXPECT_EQ(repairs(*trace, Repair::truncated), 1U) << ending;
  }
  for (const std::string& ending :
       {ref(0), ref(1 << 30), "R" + number(0, 4), std::string("c"), std::string("\x01"),
        "l" + number(1, 4) + "\xff\xff", std::string("f\x01x")}) {
    const Result<Trace> trace = read(std::string("{").append(one).append(ending));
    ASSERT_TRUE(trace);
    EXPECT_EQ(repairs(*trace, Repair::malformed_event), 1U) << ending;
  }
}

TEST(Pstats, DeepNestingIsRefused) {
  const std::string one = key("a.py", 1, "f") + row(1, 1, g(1), g(1));
  std::string deep;
  for (int level = 0; level < 100'000; ++level) deep += ")\x01";
  const Result<Trace> trace = read("{" + one + deep);
  ASSERT_TRUE(trace);
  EXPECT_EQ(repairs(*trace, Repair::too_deep), 1U);
}

TEST(Pstats, ATupleThatHoldsItselfIsNotFollowed) {
  const Result<Trace> trace =
      read(profile(numbered(tuple(3, ref(0) + i(1) + ref(0))) + row(1, 1, g(1), g(1)) +
                   key("a.py", 1, "f") + row(1, 1, g(1), g(1))));
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->functions.size(), 1U);
  EXPECT_EQ(repairs(*trace, Repair::wrong_type), 1U);
}

TEST(Pstats, OtherBytesAreReplacedAndWhatFollowsIsCounted) {
  const Result<Trace> trace =
      read(profile(key("\xff.py", 1, "f") + row(1, 1, g(1), g(1))) + "more");
  ASSERT_TRUE(trace);
  EXPECT_EQ(shown(*trace)[0].file, "\xef\xbf\xbd.py");
  EXPECT_EQ(repairs(*trace, Repair::invalid_utf8), 1U);
  EXPECT_EQ(repairs(*trace, Repair::trailing_garbage), 1U);
}

TEST(Pstats, ALongTextIsCut) {
  const std::string name(200'000, 'n');
  const Result<Trace> trace =
      read(profile(tuple(3, z("a.py") + i(1) + sized('u', name)) + row(1, 1, g(1), g(1)) +
                   key("b.py", 1, "f") + row(1, 1, g(1), g(1))));
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->functions.size(), 2U);
  EXPECT_EQ(shown(*trace)[0].name.size(), 65536U);
}

TEST(Pstats, NothingInItIsAnError) {
  for (const std::string_view text : {"{0"sv, "{"sv, "{)"sv, "{ii"sv}) {
    const Result<Trace> trace = read(text);
    ASSERT_FALSE(trace);
    EXPECT_EQ(trace.error().code, ErrorCode::corrupt);
  }
}

TEST(Pstats, RecognisesADictionaryOfTuplesAndNoJson) {
  const auto looks = [](std::string_view text) { return pstats().sniff(bytes_of(text)); };
  EXPECT_TRUE(looks("{)\x03z"));
  EXPECT_TRUE(looks("\xfb\xa9\x03\xfa"));
  EXPECT_TRUE(looks("{(\x03\x00\x00\x00"sv));
  EXPECT_TRUE(looks("{0"));
  for (const std::string_view text :
       {""sv, "{"sv, "{\"a\":1}"sv, "{}"sv, "[]"sv, "{ }"sv, "{0: 1}"sv})
    EXPECT_FALSE(looks(text)) << text;
}

}  // namespace
}  // namespace fathom
