#include "engine/diagnosis/function_notes.h"

#include <string_view>

#include <gtest/gtest.h>

#include "engine/diagnosis/diagnosis.h"
#include "engine/session.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

void add(Trace& trace, std::string_view file, std::uint32_t line, std::string_view name,
         std::uint64_t calls, std::int64_t self, std::uint64_t primitive) {
  FunctionTime function;
  function.file = trace.strings.intern(file);
  function.name = trace.strings.intern(name);
  function.line = line;
  function.calls = calls;
  function.primitive = primitive;
  function.self = duration_ns(self);
  function.total = duration_ns(self);
  trace.functions.push_back(function);
}

Trace profile() {
  Trace trace;
  add(trace, "/home/me/app.py", 12, "work", 2, 600'000'000, 2);
  add(trace, "/home/me/app.py", 3, "fib", 8000, 300'000'000, 1);
  add(trace, "~", 0, "<built-in method builtins.len>", 9000, 100'000'000, 9000);
  add(trace, "/home/me/app.py", 30, "idle", 1, 0, 1);
  return trace;
}

TEST(FunctionNotes, SayWhatStandsOut) {
  const std::vector<std::string> notes = function_notes(profile());
  ASSERT_EQ(notes.size(), 4U);
  EXPECT_EQ(notes[0],
            "Most own time, of 1.000 s: work (app.py:12) 60.0 %, fib (app.py:3) 30.0 %, "
            "<built-in method builtins.len> 10.0 %.");
  EXPECT_TRUE(notes[1].starts_with("Most calls: <built-in method builtins.len>, ")) << notes[1];
  EXPECT_TRUE(notes[2].starts_with("Recursion: of ")) << notes[2];
  EXPECT_NE(notes[2].find("calls of fib (app.py:3), "), std::string::npos) << notes[2];
  EXPECT_TRUE(notes[3].starts_with("Not in such a profile: ")) << notes[3];
}

TEST(FunctionNotes, AreSilentOnRecursionThatIsNotKnown) {
  Trace trace;
  add(trace, "a.py", 1, "f", 10, 100, 0);
  for (const std::string& note : function_notes(trace))
    EXPECT_EQ(note.find("Recursion"), std::string::npos) << note;
}

TEST(FunctionNotes, AreNotOfATraceWithATimeline) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 10);
  Trace trace = builder.build();
  add(trace, "a.py", 1, "f", 10, 100, 10);
  EXPECT_TRUE(function_notes(trace).empty());
}

TEST(FunctionNotes, AreInTheDiagnosisOfAProfile) {
  const Session session(profile(), "x.prof");
  const Result<Diagnosis> diagnosis = diagnose(session, {});
  ASSERT_TRUE(diagnosis.ok());
  EXPECT_EQ(diagnosis->notes.size(), 4U);
  EXPECT_EQ(diagnosis->verdict.id, VerdictId::cannot_tell);
  EXPECT_NE(diagnosis->verdict.sentence.find("profile of functions"), std::string::npos)
      << diagnosis->verdict.sentence;
}

}  // namespace
}  // namespace fathom
