#include "engine/export.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "base/memory_sink.h"
#include "formats/format.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

void add(Trace& trace, std::string_view file, std::uint32_t line, std::string_view name,
         std::int64_t self, std::int64_t pid = kAbsent) {
  FunctionTime function;
  function.pid = pid;
  function.file = trace.strings.intern(file);
  function.name = trace.strings.intern(name);
  function.line = line;
  function.calls = 3;
  function.self = duration_ns(self);
  function.total = duration_ns(self);
  trace.functions.push_back(function);
}

Trace profile() {
  Trace trace;
  add(trace, "app.py", 12, "work;hard", 600);
  add(trace, "~", 0, "<built-in method builtins.len>", 100);
  add(trace, "app.py", 30, "idle", 0);
  return trace;
}

/// What was written, or why not.
std::string exported(Trace trace, std::string_view to, const Request& request = {}) {
  const Session session(std::move(trace), "x");
  MemorySink sink;
  const Result<Exported> done = export_trace(session, request, to, sink);
  const Result<void> checked = check_export(session, request, to);
  EXPECT_EQ(done.ok(), checked.ok());
  if (done) return sink.text;
  EXPECT_EQ(sink.text, "") << "nothing is written before it is known that there is something";
  return "error: " + done.error().message;
}

TEST(Export, FoldedFunctionsHaveTheirOwnTime) {
  EXPECT_EQ(exported(profile(), "folded"),
            "<built-in method builtins.len> 100\nwork,hard (app.py:12) 600\n");
}

TEST(Export, SpeedscopeHasAProfileOfFunctionsForEachProcess) {
  Trace trace = profile();
  add(trace, "app.py", 12, "work", 50, 77);
  const std::string text = exported(std::move(trace), "speedscope");
  EXPECT_NE(text.find(R"("name":"work;hard","file":"app.py","line":12)"), std::string::npos)
      << text;
  EXPECT_NE(text.find("own time of functions, process 77"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("endValue":700)"), std::string::npos) << text;
  EXPECT_EQ(text.find("idle"), std::string::npos) << text;
}

TEST(Export, WhatHasNoStacksIsRefusedWithARemedy) {
  for (const std::string_view to : {"folded", "speedscope", "pprof"}) {
    TraceBuilder builder;
    builder.op("aten::mm", 0, 10);
    const std::string text = exported(builder.build(), to);
    EXPECT_TRUE(text.starts_with("error: ")) << to << text;
    EXPECT_NE(text.find("--with samples"), std::string::npos) << to << text;
  }
  const std::string pprof = exported(profile(), "pprof");
  EXPECT_NE(pprof.find("--to prof or folded"), std::string::npos) << pprof;
  Trace still;
  add(still, "app.py", 30, "idle", 0);
  EXPECT_TRUE(exported(std::move(still), "folded").starts_with("error: no function took time"));
}

/// What was written, as it is read again.
Trace reread(std::string_view bytes) {
  const auto source = open_bytes(std::as_bytes(std::span(bytes)));
  for (const Format& format : all_formats()) {
    if (format.id != "pstats") continue;
    Result<Trace> trace = format.read(**source, {});
    EXPECT_TRUE(trace.ok()) << bytes;
    if (trace) return std::move(*trace);
  }
  return {};
}

TEST(Export, AProfileOfFunctionsComesBackAsItWas) {
  Trace trace = profile();
  constexpr std::uint64_t kMany = std::uint64_t{1} << 40U;
  trace.functions[0].calls = kMany;
  trace.functions[0].primitive = 2;
  FunctionCalls calls{.file = trace.functions[0].file,
                      .name = trace.functions[0].name,
                      .line = 12,
                      .caller_file = trace.functions[2].file,
                      .caller_name = trace.functions[2].name,
                      .caller_line = 30,
                      .calls = 5,
                      .primitive = 4,
                      .total = duration_ns(1'234'567'891),
                      .self = duration_ns(7)};
  trace.function_calls.push_back(calls);
  // What the module profile writes has no times of callers.
  calls.name = trace.functions[1].name;
  calls.file = trace.functions[1].file;
  calls.line = 0;
  calls.timed = false;
  trace.function_calls.push_back(calls);
  const Trace read = reread(exported(std::move(trace), "prof"));
  EXPECT_EQ(read.import.total(), 0U);
  ASSERT_EQ(read.functions.size(), 3U);
  EXPECT_EQ(read.text(read.functions[0].name), "work;hard");
  EXPECT_EQ(read.functions[0].calls, kMany);
  EXPECT_EQ(read.functions[0].primitive, 2U);
  EXPECT_EQ(read.functions[0].self, duration_ns(600));
  EXPECT_EQ(read.functions[0].line, 12U);
  EXPECT_EQ(read.text(read.functions[2].file), "~");
  EXPECT_EQ(read.functions[2].primitive, 3U) << "none that is not known is recursive";
  ASSERT_EQ(read.function_calls.size(), 2U);
  const FunctionCalls& timed = read.function_calls[0];
  EXPECT_EQ(read.text(timed.caller_name), "idle");
  EXPECT_EQ(timed.calls, 5U);
  EXPECT_EQ(timed.primitive, 4U);
  EXPECT_EQ(timed.total, duration_ns(1'234'567'891));
  EXPECT_EQ(timed.self, duration_ns(7));
  EXPECT_FALSE(read.function_calls[1].timed);
  EXPECT_EQ(read.function_calls[1].calls, 5U);
}

TEST(Export, AProfileOfFunctionsSumsProcessesUp) {
  Trace trace;
  add(trace, "app.py", 12, "work", 600, 77);
  add(trace, "app.py", 12, "work", 400, 78);
  const Trace read = reread(exported(std::move(trace), "prof"));
  ASSERT_EQ(read.functions.size(), 1U);
  EXPECT_EQ(read.functions[0].calls, 6U);
  EXPECT_EQ(read.functions[0].self, duration_ns(1000));
}

TEST(Export, AProfileOfFunctionsIsRefusedWhereThereIsNone) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 10);
  const std::string text = exported(builder.build(), "prof");
  EXPECT_NE(text.find("--with functions"), std::string::npos) << text;
}

TEST(Export, StepsOfAProfileOfFunctionsAreItsParts) {
  const auto with_steps = [] {
    TraceBuilder builder;
    builder.step(1, 0, 100);
    builder.step(2, 100, 100);
    Trace trace = builder.build();
    add(trace, "app.py", 12, "work", 600);
    return trace;
  };
  Request request;
  request.steps = {2, 2};
  const std::string refused = exported(with_steps(), "prof", request);
  EXPECT_NE(refused.find("of the whole run alone"), std::string::npos) << refused;
  Trace trace = with_steps();
  FunctionTime part = trace.functions[0];
  part.calls = 1;
  part.self = part.total = duration_ns(50);
  for (const std::int64_t step : {1, 2})
    trace.function_parts.push_back(
        {.time = part, .when = {time_ns(step * 100 - 100), time_ns(step * 100)}, .step = step});
  trace.function_calls.push_back({.file = part.file, .name = part.name, .line = 12, .calls = 3});
  const Trace read = reread(exported(std::move(trace), "prof", request));
  ASSERT_EQ(read.functions.size(), 1U);
  EXPECT_EQ(read.functions[0].calls, 1U);
  EXPECT_EQ(read.functions[0].self, duration_ns(50));
  EXPECT_TRUE(read.function_calls.empty()) << "callers are known of the whole run alone";
}

TEST(Export, TracesAreWrittenWithoutStacks) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 10);
  EXPECT_NE(exported(builder.build(), "chrome").find("aten::mm"), std::string::npos);
}

}  // namespace
}  // namespace fathom
