// Reads a text as one format, for tests.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "formats/format.h"
#include "store/stack_texts.h"
#include "store/validate.h"

namespace fathom {

inline bool sniffs(const Format& format, std::string_view text) {
  return format.sniff(std::as_bytes(std::span(text.substr(0, kSniffBytes))));
}

inline Result<Trace> read_as(const Format& format, std::string_view text) {
  const Result<std::unique_ptr<ByteSource>> source = open_bytes(std::as_bytes(std::span(text)));
  Result<Trace> trace = format.read(**source, {});
  if (trace) {
    EXPECT_EQ(broken_promise(*trace), "");
  }
  return trace;
}

/// "main (app.py:3);work 12" of each sample, a line each.
inline std::string stacks_of(const Trace& trace) {
  std::string text;
  StackTexts texts(trace);
  for (const StackSample& sample : trace.stack_samples)
    text += texts.text(texts.of(sample, false)) + " " + std::to_string(to_ns(sample.on_cpu)) + "\n";
  return text;
}

}  // namespace fathom
