// What is written and read again is what was written.
#include <algorithm>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "base/byte_source.h"
#include "export/writer.h"
#include "formats/chrome/attributes.h"
#include "formats/format.h"
#include "store/digest.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

class TextSink final : public ByteSink {
 public:
  Result<void> write(std::string_view bytes) override {
    text.append(bytes);
    return {};
  }
  Result<void> finish() override {
    finished = true;
    return {};
  }
  std::string text;
  bool finished = false;
};

std::string exported(const Trace& trace, std::string_view to,
                     const WriteSelection& selection = {}) {
  TextSink sink;
  const Result<WriteCounts> done = find_writer(to)->write(trace, selection, sink);
  EXPECT_TRUE(done.ok());
  EXPECT_TRUE(sink.finished);
  EXPECT_EQ((*done).bytes, sink.text.size());
  return std::move(sink.text);
}

Trace reread(std::string_view json) {
  const auto source = open_bytes(std::as_bytes(std::span(json)));
  for (const Format& format : all_formats()) {
    if (format.id == "chrome-json") return std::move(*format.read(**source, {.threads = 1}));
  }
  return {};
}

std::string digest_of(const Trace& trace) { return to_string(digest(trace)); }

/// A value as it is written, that any attribute of the type may have.
template <typename Value>
std::string sample_of(chrome::Form form) {
  if constexpr (std::is_same_v<Value, StringId>) {
    return form == chrome::Form::json ? "[7]" : "\"seven\"";
  } else if constexpr (std::is_same_v<Value, double>) {
    return "7.5";
  } else {
    return std::is_integral_v<Value> ? "7" : "[7,1,1]";
  }
}

/// The beginning of an event that has attributes of this part.
template <typename Part>
std::string event_with() {
  if constexpr (std::is_same_v<Part, MemoryEvents::Row>)
    return R"({"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":5,"args":{)";
  std::string_view category = "cpu_op";
  if constexpr (std::is_same_v<Part, chrome::EventArgs::Place> ||
                std::is_same_v<Part, LaunchConfig> || std::is_same_v<Part, Kernels::Row>)
    category = "kernel";
  if constexpr (std::is_same_v<Part, Copies::Row>) category = "gpu_memcpy";
  if constexpr (std::is_same_v<Part, Frames::Row>) category = "python_function";
  if constexpr (std::is_same_v<Part, Syncs::Row>) category = "cuda_sync";
  return R"({"ph":"X","cat":")" + std::string(category) +
         R"(","name":"it","pid":0,"tid":1,"ts":5,"dur":1,"args":{)" +
         (std::is_same_v<Part, Collective> ? R"("Collective name":"seven",)" : "");
}

TEST(ChromeExport, WritesEveryAttributeThatIsRead) {
  const auto check =
      []<typename Part, typename Value>(const chrome::Attribute<Part, Value>& attribute) {
        if constexpr (!std::is_same_v<Part, chrome::EventArgs::Names>) {
          const std::string said =
              '"' + std::string(attribute.key) + "\":" + sample_of<Value>(attribute.form);
          const std::string text = "[" + event_with<Part>() + said + "}}]";
          EXPECT_NE(exported(reread(text), "chrome").find(said), std::string::npos) << text;
        }
      };
  std::apply([&check](const auto&... attribute) { (check(attribute), ...); }, chrome::kAttributes);
}

TEST(ChromeExport, KeepsEveryTableOfEveryTrace) {
  std::size_t files = 0;
  for (const char* const folder :
       {"/tests/data/traces", "/tests/data/plain", "/tests/data/damaged"}) {
    for (const auto& file : fs::directory_iterator(std::string(FATHOM_SOURCE_DIR) + folder)) {
      const Result<Trace> trace = read_trace(file.path().string(), {.threads = 2});
      if (!trace || (*trace).format != "chrome-json") continue;
      EXPECT_EQ(digest_of(reread(exported(*trace, "chrome"))), digest_of(*trace)) << file.path();
      ++files;
    }
  }
  EXPECT_GT(files, 20U);
}

TEST(ChromeExport, LeavesOutWhatStartsOutsideOfTheWindow) {
  TraceBuilder builder;
  const SliceId early = builder.runtime("cudaLaunchKernel", 100, 10, 1);
  builder.runtime("cudaLaunchKernel", 500, 10, 2);
  const SliceId kernel = builder.kernel("late", 600, 10, 1);
  builder.flow("ac2g", 1, early, kernel);
  const Trace trace = builder.build();
  WriteSelection selection;
  selection.window = Interval{time_ns(400), time_ns(1000)};
  const Trace again = reread(exported(trace, "chrome", selection));
  EXPECT_EQ(again.slices.size(), 2U);
  EXPECT_EQ(again.flows.size(), 0U) << "half an arrow";
}

TEST(ChromeExport, LeavesOutTheOtherDevices) {
  TraceBuilder builder;
  builder.op("aten::mm", 0, 10);
  builder.on_stream(7, 0).kernel("here", 20, 10);
  builder.on_stream(7, 1).kernel("there", 20, 10);
  WriteSelection selection;
  selection.device = 1;
  const Trace again = reread(exported(builder.build(), "chrome", selection));
  ASSERT_EQ(again.slices.size(), 2U);
  EXPECT_EQ(again.name(SliceId(1)), "there");
}

TEST(ChromeExport, GivesACaptureFileItsLaunchesAndItsClock) {
  TraceBuilder builder;
  builder.runtime("cudaLaunchKernel", 0, 10, 1);
  builder.kernel("gemm", 20, 10, 1);
  Trace trace = builder.build();
  trace.format = "fathom-wire";
  trace.origin_ns = 1'750'000'000'000'000'001;
  trace.origin_is_unix = true;
  const Trace again = reread(exported(trace, "chrome"));
  EXPECT_EQ(again.origin_ns, trace.origin_ns);
  EXPECT_TRUE(again.origin_is_unix);
  EXPECT_EQ(again.flows.size(), 2U);
}

TEST(ChromeExport, KeepsTheKindOfCategoriesThatOnlyOursHave) {
  TraceBuilder builder;
  builder.annotation("enumerate(DataLoader)#x", 100, 10).category("loader.fetch");
  Trace trace = builder.build();
  trace.format = "fathom-wire";
  const Trace again = reread(exported(trace, "chrome"));
  EXPECT_EQ(again.kind(SliceId(0)), SliceKind::user_annotation);
}

TEST(ChromeExport, NeverLosesASliceAtTimeZero) {
  TraceBuilder builder;
  builder.op("first", 0, 0);
  builder.op("later", 5'000'000'000, 10);
  Trace trace = builder.build();
  trace.format = "fathom-wire";
  EXPECT_EQ(reread(exported(trace, "chrome")).slices.size(), 2U);
}

TEST(ChromeExport, DrawsAllocatedMemoryWithoutReadingItBack) {
  TraceBuilder builder;
  builder.op("aten::empty", 0, 10);
  builder.memory(5, 4096, 1, 0, 1, 4096, 8192);
  const Trace trace = builder.build();
  const std::string text = exported(trace, "chrome");
  EXPECT_NE(text.find(R"("args":{"allocated":4096,"reserved":8192})"), std::string::npos);
  EXPECT_EQ(reread(text).samples.size(), 0U);
}

TEST(TraceWriters, AreChosenByTheNameOfTheFile) {
  EXPECT_EQ(writer_for("a.json")->id, "chrome");
  EXPECT_EQ(writer_for("a.json.gz")->id, "chrome");
  EXPECT_EQ(writer_for("a.pftrace")->id, "perfetto");
  EXPECT_EQ(writer_for("a.prof")->id, "prof");
  EXPECT_EQ(writer_for("a.pprof")->id, "pprof");
  EXPECT_EQ(writer_for("a.txt"), nullptr);
}

TEST(TraceWriters, ReportWhatTheSinkCannotTake) {
  class Full final : public ByteSink {
   public:
    Result<void> write(std::string_view) override { return Error{ErrorCode::io, "disk full"}; }
    Result<void> finish() override { return {}; }
  };
  TraceBuilder builder;
  builder.op("aten::mm", 0, 10);
  const Trace trace = builder.build();
  for (const TraceWriter& writer : all_writers()) {
    Full full;
    const Result<WriteCounts> done = writer.write(trace, {}, full);
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().message, "disk full");
  }
}

}  // namespace
}  // namespace fathom
