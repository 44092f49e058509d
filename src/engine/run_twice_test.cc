// A session whose device work was recorded by torch.profiler and by the CUDA injection: reports see
// each kernel once.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "analysis/health/health.h"
#include "engine/inputs/run_folder.h"
#include "engine/session.h"
#include "store/validate.h"
#include "wire/device.h"
#include "wire/writer.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr int kPid = 4321;
constexpr int kRounds = 40;
constexpr std::int64_t kPace = 1'000'000;

class RecordedTwice : public testing::Test {
 public:
  RecordedTwice() {
    std::string pattern = (fs::temp_directory_path() / "fathom_twice_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    read_clocks();
  }
  ~RecordedTwice() override { fs::remove_all(folder_); }
  RecordedTwice(const RecordedTwice&) = delete;
  RecordedTwice& operator=(const RecordedTwice&) = delete;

 protected:
  /// Rounds of a launch and a kernel as Kineto shows them, from this moment on.
  void torch(int rounds) const {
    std::ofstream file(folder_ / ("torch-" + std::to_string(kPid) + "-1.pt.trace.json"));
    file << R"({"baseTimeNanoseconds": )" << unix_ << R"(, "traceEvents": [
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":4321,"tid":4321,"ts":0,"dur":)"
         << kPace * kRounds / 1000 << "}";
    for (int i = 0; i < rounds; ++i) {
      file << R"(,
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":4321,"tid":4321,"ts":)"
           << i * kPace / 1000 << R"(,"dur":5,"args":{"correlation":)" << i + 1 << "}}"
           << R"(,
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":)"
           << i * kPace / 1000 + 20 << R"(,"dur":100,"args":{"device":0,"stream":7,"correlation":)"
           << i + 1 << "}}";
    }
    file << "]}";
  }

  /// The same rounds as CUPTI shows them, with numbers of its own and a clock that is `off`.
  void injection(int rounds, std::int64_t off) const {
    Result<std::unique_ptr<wire::Writer>> writer =
        wire::Writer::open((folder_ / ("process-" + std::to_string(kPid) + ".fathom")).string());
    ASSERT_TRUE(writer);
    (*writer)->process(monotonic_, kPid, 1, -1, "python", "main");
    for (int i = 0; i < rounds; ++i) {
      const std::int64_t start = monotonic_ + i * kPace + off;
      wire::Call call;
      call.start = start;
      call.duration = 5'000;
      call.pid = kPid;
      call.tid = kPid;
      call.name = "cudaLaunchKernel";
      call.category = "cuda_runtime";
      call.correlation = 1000 + i;
      (*writer)->call(call);
      wire::DeviceActivity kernel;
      kernel.start = start + 20'000;
      kernel.duration = 100'000;
      kernel.pid = kPid;
      kernel.stream = 7;
      kernel.name = "gemm";
      kernel.category = "kernel";
      kernel.correlation = 1000 + i;
      (*writer)->device(kernel);
    }
    ASSERT_TRUE((*writer)->close());
  }

  /// Both clocks at one moment: the closest of many readings, as the machine may be busy.
  void read_clocks() {
    std::int64_t closest = INT64_MAX;
    for (int i = 0; i < 1000; ++i) {
      const std::int64_t before = wire::monotonic_ns();
      const std::int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::system_clock::now().time_since_epoch())
                                   .count();
      const std::int64_t after = wire::monotonic_ns();
      if (after - before >= closest) continue;
      closest = after - before;
      monotonic_ = before + closest / 2;
      unix_ = now;
    }
  }

  [[nodiscard]] Trace read() const {
    const std::vector<RunRecording> recordings = *find_recordings(folder_.string());
    EXPECT_EQ(recordings.size(), 1U);
    Result<Trace> trace = read_run(recordings.front(), {.threads = 1});
    EXPECT_TRUE(trace);
    EXPECT_EQ(broken_promise(*trace), "");
    return std::move(*trace);
  }

  static std::uint64_t kernels(const Trace& trace) {
    std::uint64_t found = 0;
    for (const Category& category : trace.categories)
      found += category.kind == SliceKind::kernel ? category.slices : 0;
    return found;
  }

 private:
  fs::path folder_;
  std::int64_t monotonic_ = 0;
  std::int64_t unix_ = 0;
};

TEST_F(RecordedTwice, EachKernelIsCountedOnceAndHealthSaysSo) {
  torch(kRounds);
  injection(kRounds, 1'000);
  const Session session(read(), "session");
  const Trace& trace = session.trace();
  EXPECT_EQ(kernels(trace), kRounds);
  const Context context{trace, session.analyses(), {}, {}};
  const Health health = compute_health(context);
  ASSERT_NE(health.find("clocks_of_sources"), nullptr);
  ASSERT_NE(health.find("recorded_twice"), nullptr);
  EXPECT_EQ(health.find("recorded_twice")->count, 2U * kRounds) << "launches and kernels";
}

TEST_F(RecordedTwice, AProfileOfTheHostTakesTheDeviceFromTheInjection) {
  torch(0);
  injection(kRounds / 2, 100'000);
  const Session session(read(), "session");
  EXPECT_EQ(kernels(session.trace()), kRounds / 2);
  const Links& links = session.analyses().links();
  std::uint64_t attributed = 0;
  for (const SliceId activity : links.activities) {
    const SliceId op = links.op[activity.row()];
    attributed += op.valid() && session.trace().name(op) == "aten::mm" ? 1 : 0;
  }
  EXPECT_EQ(attributed, kRounds / 2) << "launches lie in torch's operator";
}

}  // namespace
}  // namespace fathom
