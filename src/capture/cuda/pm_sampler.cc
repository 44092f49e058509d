// Takes samples out of the GPUs ten times a second, on a thread of its own.
#include "capture/cuda/pm_sampler.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

#include "capture/cuda/pm_device.h"
#include "capture/cuda/pm_driver.h"
#include "capture/cuda/pm_functions.h"
#include "capture/inside/attempt.h"
#include "wire/writer.h"

namespace fathom::cuda {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
/// Between two looks for a first GPU: soon after the program's start, and later.
constexpr std::int64_t kSoon = 10'000'000;
constexpr std::int64_t kLater = 100'000'000;
constexpr std::int64_t kEarly = 10 * kNsPerSecond;
constexpr int kMostDevices = 64;
constexpr std::string_view kCounters = " (hardware counters of GPU ";

Loss pm_loss(std::string what, const PmRefusal& refusal, const Cupti& cupti) {
  const std::string said = refusal.question + ": " + cupti.text(refusal.result);
  if (refusal.result == CUPTI_ERROR_NOT_INITIALIZED)
    return {std::move(what),
            "CUPTI does not find libnvperf_host.so and libnvperf_target.so (" + said + ")",
            "put them beside libcupti, where CUDA's packages have them"};
  if (refusal.result == CUPTI_ERROR_INVALID_OPERATION)
    return {std::move(what), "something else in this process samples the GPU (" + said + ")",
            "let the other one end, or record with it alone"};
  return loss_of(what, refusal.result, said);
}

}  // namespace

class PmSampler::State {
 public:
  State(const Cupti& cupti, const PmRates& rates) : cupti_(cupti), rates_(rates) {
    sem_init(&wake_, 0, 0);
  }
  ~State() {
    stop();
    sem_destroy(&wake_);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void start();
  void context_on(std::uint32_t device) noexcept;
  PmReport take();
  void look();
  void stop();

 private:
  struct Gpu {
    std::unique_ptr<PmDevice> device;
    int number = 0;
    bool over = false;
  };
  void run();
  void wait() noexcept;
  void find();
  void begin(int device);
  void leave_out(const PmDevice& device, int gpu);
  void look_at(Gpu& gpu);
  void lose_rest(const Gpu& gpu, const PmRefusal& refusal);
  void lose(Loss loss);
  void start_thread();

  const Cupti& cupti_;
  PmRates rates_;
  PmFunctions functions_;
  std::thread thread_;
  sem_t wake_{};
  std::atomic<bool> leave_{false};
  std::atomic<bool> sampling_{false};
  std::atomic<std::uint64_t> contexts_{0};  // a bit for each device

  std::mutex work_;  // whoever calls CUPTI
  PmDriver driver_;
  std::vector<Gpu> gpus_;
  std::uint64_t tried_ = 0;
  std::int64_t began_ = 0;

  std::mutex mutex_;
  PmReport news_;
  std::set<std::pair<std::string, std::string>> lost_;  // what and why; of each GPU once
};

void PmSampler::State::lose(Loss loss) {
  const std::lock_guard lock(mutex_);
  inside::attempt([&] {
    if (lost_.emplace(loss.what, loss.why).second) news_.losses.push_back(std::move(loss));
  });
}

void PmSampler::State::start() {
  std::string missing;
  if (!load_pm(cupti_.path, functions_, missing)) {
    lose({pm_tracks() + " (hardware counters of GPUs)",
          cupti_.path + " has no " + missing + ": PM sampling is of CUDA 12.6 and later",
          "name the libcupti of a newer CUDA in FATHOM_CUPTI"});
    return;
  }
  began_ = wire::monotonic_ns();
  // The program's signals are for its own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = inside::attempt([this] { start_thread(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started)
    lose({pm_tracks() + " (hardware counters of GPUs)", "no further thread could be started",
          "allow another thread, and the memory that it takes"});
}

void PmSampler::State::start_thread() {
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "fathom-metrics");
}

void PmSampler::State::context_on(std::uint32_t device) noexcept {
  if (device >= kMostDevices) return;
  contexts_ |= std::uint64_t{1} << device;
  sem_post(&wake_);
}

void PmSampler::State::wait() noexcept {
  const std::int64_t now = wire::monotonic_ns();
  const std::int64_t pause = sampling_ ? rates_.look_ns : now - began_ < kEarly ? kSoon : kLater;
  const timespec until{(now + pause) / kNsPerSecond, (now + pause) % kNsPerSecond};
  sem_clockwait(&wake_, CLOCK_MONOTONIC, &until);
}

void PmSampler::State::run() {
  while (!leave_) {
    look();
    wait();
  }
}

void PmSampler::State::look() {
  const std::lock_guard lock(work_);
  if (!leave_) inside::attempt([this] { find(); });
  for (Gpu& gpu : gpus_) inside::attempt([&] { look_at(gpu); });
}

/// The driver may be loaded later than we are.
void PmSampler::State::find() {
  if (driver_.count == nullptr) driver_ = pm_driver();
  const int count = std::min(driver_.devices(), kMostDevices);
  for (int device = 0; device < count; ++device) {
    const std::uint64_t bit = std::uint64_t{1} << device;
    if ((tried_ & bit) != 0) continue;
    if ((contexts_ & bit) == 0 && !driver_.in_use(device)) continue;
    tried_ |= bit;
    inside::attempt([&] { begin(device); });
  }
}

void PmSampler::State::begin(int device) {
  const int gpu = driver_.gpu_number(device);
  auto sampled = std::make_unique<PmDevice>(functions_, device);
  const PmRefusal refusal = sampled->begin(rates_);
  if (refusal.result != CUPTI_SUCCESS) {
    lose(
        pm_loss(pm_tracks() + std::string(kCounters) + std::to_string(gpu) + ")", refusal, cupti_));
    return;
  }
  leave_out(*sampled, gpu);
  if (sampled->plan().tracks.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    const CUptiResult ended = sampled->host_end();
    news_.begun.push_back(
        {gpu, sampled->chip(), sampled->plan(),
         ended == CUPTI_SUCCESS ? "" : "cuptiProfilerHostDeinitialize: " + cupti_.text(ended)});
  }
  gpus_.push_back({std::move(sampled), gpu});
  sampling_ = true;
}

/// Those of one reason together.
void PmSampler::State::leave_out(const PmDevice& device, int gpu) {
  std::vector<PmLeftOut> reasons;
  for (const PmLeftOut& left : device.plan().left_out) {
    const auto same = std::ranges::find(reasons, left.why, &PmLeftOut::why);
    if (same == reasons.end()) {
      reasons.push_back(left);
    } else {
      same->track += ", " + left.track;
    }
  }
  for (const PmLeftOut& left : reasons)
    lose({left.track + std::string(kCounters) + std::to_string(gpu) + ")", left.why,
          left.failed ? "the libcupti that fits the driver, which FATHOM_CUPTI can name"
                      : "Nsight Compute counts what the chip has, by running each kernel several "
                        "times"});
}

void PmSampler::State::look_at(Gpu& gpu) {
  if (gpu.over) return;
  PmReport::Looked looked{gpu.number, {}};
  PmRefusal refusal;
  gpu.over = !gpu.device->look(looked.batch, refusal);
  {
    const std::lock_guard lock(mutex_);
    if (!looked.batch.times.empty() || looked.batch.overflowed)
      news_.looked.push_back(std::move(looked));
  }
  if (gpu.over) lose_rest(gpu, refusal);
}

void PmSampler::State::lose_rest(const Gpu& gpu, const PmRefusal& refusal) {
  lose(pm_loss("the rest of the hardware counters of GPU " + std::to_string(gpu.number), refusal,
               cupti_));
}

PmReport PmSampler::State::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, {});
}

void PmSampler::State::stop() {
  if (leave_.exchange(true)) return;
  sem_post(&wake_);
  if (thread_.joinable()) thread_.join();
  const std::lock_guard lock(work_);
  for (Gpu& gpu : gpus_) {
    const PmRefusal refusal = gpu.device->stop();
    inside::attempt([&] { look_at(gpu); });
    if (refusal.result != CUPTI_SUCCESS) inside::attempt([&] { lose_rest(gpu, refusal); });
  }
}

PmSampler::PmSampler(const Cupti& cupti, const PmRates& rates)
    : state_(std::make_unique<State>(cupti, rates)) {}
PmSampler::~PmSampler() = default;
void PmSampler::start() { state_->start(); }
void PmSampler::context_on(std::uint32_t device) noexcept { state_->context_on(device); }
PmReport PmSampler::take() { return state_->take(); }
void PmSampler::look() { state_->look(); }
void PmSampler::stop() { state_->stop(); }

}  // namespace fathom::cuda
