// The library fathom::benchmark: what include/fathom/benchmark.h declares, on the engine's bench.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include <fathom/benchmark.h>

#include "measure/function_json.h"
#include "measure/function_text.h"

namespace fathom {
namespace {

using measure::Side;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kResolution = 0.01;
constexpr Duration kDefaultTime = std::chrono::seconds(10);
constexpr std::size_t kFewestPairs = 6;
constexpr double kMostSeconds = 1e9;  // as nanoseconds a whole number still

measure::SamplingPlan plan_of(const BenchOptions& options, bool paired) {
  measure::SamplingPlan plan;
  plan.paired = paired;
  if (options.runs > 0) plan.runs = options.runs;
  if (options.seconds > 0)
    plan.time = duration_ns(std::llround(std::min(options.seconds, kMostSeconds) * 1e9));
  plan.resolution = options.resolution > 0 ? options.resolution : kResolution;
  plan.until_precise = !plan.runs && (!plan.time || options.resolution > 0);
  if (!plan.runs && !plan.time && !(options.resolution > 0)) {
    plan.time = kDefaultTime;
    plan.least = kFewestPairs;
  }
  plan.seed = options.seed != 0 ? options.seed : measure::new_seed();
  return plan;
}

BenchSide side_of(const measure::FunctionResult& result, Side side) {
  BenchSide found;
  const bool base = side == Side::base;
  if (result.metrics.empty() || (base && !result.paired())) return found;
  const measure::MeasuredMetric& metric = result.metrics.front();
  const SampleSummary& summary = (base ? *metric.base : metric.now).summary;
  const auto place = static_cast<std::size_t>(side);
  found.count = summary.count;
  found.median = summary.median;
  found.median_low = summary.median_interval ? summary.median_interval->low : kUnknown;
  found.median_high = summary.median_interval ? summary.median_interval->high : kUnknown;
  found.mean = summary.mean;
  found.stddev = summary.stddev;
  found.min = summary.min;
  found.max = summary.max;
  found.p95 = summary.p95.value_or(kUnknown);
  found.p99 = summary.p99.value_or(kUnknown);
  found.first_call = result.outcome.first_call_ns[place].value_or(kUnknown);
  found.calls = result.outcome.calls[place];
  return found;
}

}  // namespace

namespace detail {

struct BenchData {
  measure::FunctionResult result;
  [[nodiscard]] const measure::Claim* claim() const {
    return result.paired() && !result.metrics.empty() ? &result.metrics.front().claim : nullptr;
  }
  [[nodiscard]] const PairedRatio* ratio() const {
    const measure::Claim* const found = claim();
    return found != nullptr && found->ratio ? &*found->ratio : nullptr;
  }
};

BenchResult run_bench(const BenchCall& call, const BenchCall& base, const BenchOptions& options) {
  measure::FunctionOptions asked;
  asked.now = options.name;
  asked.base = options.base_name;
  asked.plan = plan_of(options, base.run != nullptr);
  asked.warmup = options.warmup;
  if (options.calls > 0) asked.calls = options.calls;
  measure::FunctionHooks hooks;
  std::function<bool()> settle;
  if (options.settle != nullptr) {
    settle = [wait = options.settle] {
      wait();
      return true;
    };
  }
  hooks.timer = measure::wall_timer(std::move(settle));
  hooks.call = [&](Side side, std::size_t calls) {
    const BenchCall& chosen = side == Side::base ? base : call;
    chosen.run(chosen.object, calls);
    return true;
  };
  measure::FunctionOutcome outcome = measure::bench_function(asked, hooks);
  return BenchResult(std::make_shared<const BenchData>(
      BenchData{measure::function_result(std::move(asked), std::move(outcome))}));
}

}  // namespace detail

BenchResult::BenchResult(std::shared_ptr<const detail::BenchData> data) : data_(std::move(data)) {}

BenchVerdict BenchResult::verdict() const {
  const measure::Claim* const claim = data_->claim();
  if (claim == nullptr) return BenchVerdict::none;
  switch (claim->verdict) {
    case measure::Verdict::faster:
      return BenchVerdict::faster;
    case measure::Verdict::slower:
      return BenchVerdict::slower;
    case measure::Verdict::same:
      return BenchVerdict::same;
    case measure::Verdict::cannot_tell:
      break;
  }
  return BenchVerdict::cannot_tell;
}

std::string BenchResult::reason() const {
  const measure::Claim* const claim = data_->claim();
  return claim == nullptr ? std::string() : claim->reason;
}

double BenchResult::ratio() const {
  const PairedRatio* const found = data_->ratio();
  return found == nullptr ? kUnknown : found->ratio;
}
double BenchResult::ratio_low() const {
  const PairedRatio* const found = data_->ratio();
  return found == nullptr ? kUnknown : found->interval.low;
}
double BenchResult::ratio_high() const {
  const PairedRatio* const found = data_->ratio();
  return found == nullptr ? kUnknown : found->interval.high;
}

std::size_t BenchResult::pairs() const { return data_->result.outcome.sampled.now.size(); }
BenchSide BenchResult::side() const { return side_of(data_->result, Side::now); }
BenchSide BenchResult::base() const { return side_of(data_->result, Side::base); }
std::string BenchResult::text() const { return measure::function_text(data_->result); }
std::string BenchResult::json() const { return measure::function_json(data_->result); }

bool BenchResult::save(const std::string& path) const {
  std::ofstream file(path, std::ios::binary);
  file << json() << '\n';
  return static_cast<bool>(file.flush());
}

}  // namespace fathom
