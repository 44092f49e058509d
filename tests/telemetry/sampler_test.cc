// The sampler beside real processes, and its file as the engine reads it.
#include "monitor/sampler.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/machine/telemetry.h"
#include "engine/session.h"
#include "monitor/source.h"

namespace fathom {
namespace {

/// A child that computes until it is ended.
class Worker {
 public:
  Worker() : pid_(::fork()) {
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (volatile unsigned i = 0;;) i = i + 1;
  }
  ~Worker() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

std::string file() {
  return std::string(testing::TempDir()) +
         testing::UnitTest::GetInstance()->current_test_info()->name() + "." +
         std::to_string(getuid()) + ".fathom";
}

/// Samples until `done(sampler)` holds; gives up after a minute.
template <typename Done>
void sample(const std::string& path, const monitor::SamplerOptions& options, const Done& done) {
  auto writer = wire::Writer::open(path);
  ASSERT_TRUE(writer.ok());
  auto sampler = monitor::Sampler::start(**writer, options);
  const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!done(*sampler) && std::chrono::steady_clock::now() < limit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  sampler->stop();
  (*writer)->close();
}

monitor::SamplerOptions options_for(pid_t root, const std::string& nvml) {
  monitor::SamplerOptions options;
  options.period_ns = 5'000'000;
  options.tree = {.root = root, .launcher = static_cast<std::int32_t>(::getpid()), .session = {}};
  options.nvml_path = nvml;
  options.budget = 1;  // sanitizers are slow
  return options;
}

/// Seconds of processor that a process has used, by the kernel.
double cpu_of(pid_t pid) {
  clockid_t clock = 0;
  timespec time{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

TEST(Sampler, RecordsWhatAProcessUsesOnTheClockOfTheFile) {
  ::setenv("FATHOM_NVML_SCRIPT", "", 1);
  const Worker worker;
  const std::string path = file();
  const double start = cpu_of(worker.pid());
  sample(path, options_for(worker.pid(), FATHOM_FAKE_NVML),
         [&](const monitor::Sampler&) { return cpu_of(worker.pid()) > start + 0.3; });
  const auto session = Session::open(path, {});
  ASSERT_TRUE(session.ok()) << session.error().message;
  const Telemetry telemetry((*session)->trace());
  const CounterLine* const cpu = telemetry.find("process.cpu_user", -1, worker.pid());
  ASSERT_NE(cpu, nullptr);
  const Interval all = cpu->span();
  EXPECT_NEAR(rise(*cpu, std::span(&all, 1)).value_or(0), 0.3, 0.15);
  EXPECT_NE(telemetry.find("process.memory", -1, worker.pid()), nullptr);
  ASSERT_NE(telemetry.find("gpu.power", 0), nullptr);
  EXPECT_EQ(telemetry.find("gpu.power", 0)->values.front(), 300);
  ASSERT_NE(telemetry.find("cpu.busy"), nullptr);
  ASSERT_NE((*session)->trace().fact("gpu.0"), nullptr);
  ASSERT_NE((*session)->trace().fact("telemetry.sources"), nullptr);
}

TEST(Sampler, RecordsOnlyCountersOfTheTableWithTheirUnits) {
  ::setenv("FATHOM_NVML_SCRIPT", "", 1);
  const Worker worker;
  const std::string path = file();
  sample(path, options_for(worker.pid(), FATHOM_FAKE_NVML),
         [](const monitor::Sampler& sampler) { return sampler.cost().ticks > 10; });
  const auto session = Session::open(path, {});
  ASSERT_TRUE(session.ok());
  const Trace& trace = (*session)->trace();
  const auto same = [](std::string_view pattern, std::string_view name) {
    const std::size_t star = pattern.find('*');
    return star == std::string_view::npos
               ? pattern == name
               : name.size() >= pattern.size() && name.starts_with(pattern.substr(0, star)) &&
                     name.ends_with(pattern.substr(star + 1));
  };
  std::size_t counters = 0;
  for (const Track& track : trace.tracks) {
    if (track.kind != TrackKind::counter) continue;
    ++counters;
    const std::string_view name = trace.text(track.name);
    bool known = false;
    for (const monitor::CounterSpec& spec : monitor::all_counters()) {
      known = known || (same(spec.name, name) && spec.unit == trace.text(track.unit));
    }
    EXPECT_TRUE(known) << name;
  }
  EXPECT_GT(counters, 30U);
}

TEST(Sampler, TakesALastSampleWhenItIsStopped) {
  const Worker worker;
  const std::string path = file();
  auto options = options_for(worker.pid(), "/nowhere");
  options.period_ns = 3'600'000'000'000;  // nothing is due before the end
  sample(path, options, [](const monitor::Sampler& sampler) { return sampler.cost().ticks > 0; });
  const auto session = Session::open(path, {});
  ASSERT_TRUE(session.ok());
  const Telemetry telemetry((*session)->trace());
  ASSERT_NE(telemetry.find("cpu.busy"), nullptr);
  EXPECT_EQ(telemetry.find("cpu.busy")->times.size(), 2U);
}

TEST(Sampler, EndsWhereADriverHangs) {
  ::setenv("FATHOM_NVML_SCRIPT", "late-stuck", 1);
  const Worker worker;
  const std::string path = file();
  sample(path, options_for(worker.pid(), FATHOM_FAKE_NVML), [](const monitor::Sampler& sampler) {
    ::setenv("FATHOM_NVML_SCRIPT", "stuck", 1);
    return sampler.cost().ticks > 20;
  });
  ::setenv("FATHOM_NVML_SCRIPT", "", 1);  // it comes back when nobody listens any more
  const auto session = Session::open(path, {});
  ASSERT_TRUE(session.ok());
  EXPECT_NE(Telemetry((*session)->trace()).find("cpu.busy"), nullptr);
}

}  // namespace
}  // namespace fathom
