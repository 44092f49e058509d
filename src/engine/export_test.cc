#include "engine/export.h"

#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "base/memory_sink.h"
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
std::string exported(Trace trace, std::string_view to) {
  const Session session(std::move(trace), "x");
  MemorySink sink;
  const Result<Exported> done = export_trace(session, {}, to, sink);
  const Result<void> checked = check_export(session, {}, to);
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
  EXPECT_NE(pprof.find("--to folded"), std::string::npos) << pprof;
  Trace still;
  add(still, "app.py", 30, "idle", 0);
  EXPECT_TRUE(exported(std::move(still), "folded").starts_with("error: no function took time"));
}

TEST(Export, TracesAreWrittenWithoutStacks) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 10);
  EXPECT_NE(exported(builder.build(), "chrome").find("aten::mm"), std::string::npos);
}

}  // namespace
}  // namespace fathom
