#include "store/stack_texts.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace fathom {
namespace {

/// A sample of a new row for each name.
StackSample stack_of(Trace& trace, const std::vector<std::string>& names) {
  StackSample sample;
  for (const std::string& name : names) {
    trace.stack_frames.push_back({.parent = sample.frame, .function = trace.strings.intern(name)});
    sample.frame = static_cast<std::uint32_t>(trace.stack_frames.size() - 1);
  }
  return sample;
}

TEST(StackTexts, StacksOfOneTextAreOneNode) {
  Trace trace;
  const StackSample first = stack_of(trace, {"main", "work"});
  const StackSample again = stack_of(trace, {"main", "work"});
  const StackSample other = stack_of(trace, {"main", "rest"});
  StackTexts texts(trace);
  EXPECT_EQ(texts.of(first, false), texts.of(again, false));
  EXPECT_NE(texts.of(first, false), texts.of(other, false));
  EXPECT_NE(texts.of(first, false), texts.of(first, true));
  EXPECT_EQ(texts.text(texts.of(again, false)), "main;work");
  EXPECT_EQ(texts.text(texts.of(other, true)), "main;rest;(blocked)");
}

TEST(StackTexts, PlacesAndThreadsWithoutPythonAreNamed) {
  Trace trace;
  trace.stack_frames.push_back({.function = trace.strings.intern("a;b\n"),
                                .file = trace.strings.intern("app.py"),
                                .line = 3});
  StackTexts texts(trace);
  EXPECT_EQ(texts.text(texts.of({.frame = 0}, false)), "a,b, (app.py:3)");
  EXPECT_EQ(texts.text(texts.of({.thread = trace.strings.intern("sort")}, false)), "[sort]");
}

TEST(StackTexts, WhatIsTooDeepIsTheFrameAtTheLimit) {
  Trace trace;
  const StackSample deep = stack_of(trace, {"a", "b", "c", "d"});
  StackTexts texts(trace, 2);
  EXPECT_EQ(texts.text(texts.of(deep, false)), "a;b");
  EXPECT_EQ(texts.text(texts.of(deep, true)), "a;b;(blocked)");
  EXPECT_EQ(texts.of({.frame = 1}, false), texts.of(deep, false));
}

TEST(StackTexts, AnOutermostFrameWithoutANameAddsNothing) {
  Trace trace;
  const StackSample nameless = stack_of(trace, {"", "a", "", "b"});
  StackTexts texts(trace);
  EXPECT_EQ(texts.text(texts.of(nameless, false)), "a;;b");
  EXPECT_EQ(texts.text(texts.of({.frame = 0}, false)), "");
}

TEST(StackTexts, TheirOrderIsThatOfTheTexts) {
  Trace trace;
  // Characters before and behind ";", beginnings of one another, and bytes beyond ASCII.
  const std::vector<std::string> names = {"a", "a!", "a<", "ab", "", "b", "\xc3\xa9", "a\xc3\xa9"};
  std::vector<StackSample> samples;
  for (const std::string& outer : names) {
    samples.push_back(stack_of(trace, {outer}));
    for (const std::string& inner : names) {
      samples.push_back(stack_of(trace, {outer, inner}));
      for (const std::string& last : names)
        samples.push_back(stack_of(trace, {outer, inner, last}));
    }
  }
  StackTexts texts(trace);
  std::vector<StackTexts::Node> nodes;
  nodes.reserve(samples.size());
  for (const StackSample& sample : samples) nodes.push_back(texts.of(sample, false));
  for (const StackTexts::Node a : nodes) {
    for (const StackTexts::Node b : nodes) {
      ASSERT_EQ(texts.less(a, b), texts.text(a) < texts.text(b))
          << '"' << texts.text(a) << "\" and \"" << texts.text(b) << '"';
    }
  }
}

}  // namespace
}  // namespace fathom
