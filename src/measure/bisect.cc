// Doubles until it fails, then halves the rest.
#include "measure/bisect.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "capture/launcher/redact.h"
#include "capture/system/files.h"
#include "capture/system/host.h"
#include "measure/run_taker.h"

namespace fathom::measure {
namespace {

using Steady = std::chrono::steady_clock;
constexpr std::int64_t kMost = std::int64_t{1} << 40U;

class Bisect {
 public:
  Bisect(const BisectOptions& options, const std::function<void(const Probe&)>& progress)
      : options_(options),
        progress_(progress),
        taker_({.child = options.bench.child, .keep = options.bench.keep, .given = {}}) {}

  Result<BisectOutcome> run() {
    // Without a folder for it, exit codes alone decide.
    static_cast<void>(taker_.watch({.steps = true, .telemetry = options_.bench.telemetry}));
    out_.complete = search();
    if (error_) return std::move(*error_);
    if (taker_.failure()) out_.failure = taker_.failure();
    out_.elapsed = Steady::now() - began_;
    out_.interrupted = taker_.interrupted();
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::int64_t last() const {
    return options_.range.last != 0 ? options_.range.last : kMost;
  }

  /// False where it ended before the answer was known.
  bool search() {
    for (std::int64_t value = options_.range.first;;
         value = value > last() / 2 ? last() : 2 * value) {
      if (!probe(value)) return false;
      if (out_.smallest_failed != 0 || value == last()) break;
    }
    while (true) {
      while (out_.smallest_failed != 0 && out_.smallest_failed - out_.largest > 1 &&
             out_.smallest_failed > options_.range.first) {
        const std::int64_t low = std::max(out_.largest, options_.range.first - 1);
        if (!probe(low + (out_.smallest_failed - low) / 2)) return false;
      }
      if (out_.largest == 0) return true;
      // Once more: what fits only at times does not fit.
      const std::int64_t found = out_.largest;
      if (!probe(found)) return false;
      if (out_.probes.back().fits) return true;
      out_.largest = 0;
      for (const Probe& each : out_.probes) {
        if (each.fits && each.value < found) out_.largest = std::max(out_.largest, each.value);
      }
    }
  }

  /// False where the search ends.
  bool probe(std::int64_t value) {
    const Result<Commanded> command = with_value(options_.bench.command, options_.range.name,
                                                 std::to_string(value), options_.bench.prepare);
    if (!command) {
      error_ = command.error();
      return false;
    }
    Result<std::optional<BenchRun>> taken =
        taker_.take(*command, command->name + "/" + run_folder(out_.probes.size()));
    if (!taken) error_ = taken.error();
    if (!taken || !*taken) return false;
    Probe probe{.value = value, .fits = false, .why = {}, .run = std::move(**taken)};
    const ChildRun& ran = probe.run.child;
    const std::size_t steps = probe.run.steps ? probe.run.steps->ns.size() : 0;
    if (ran.fine()) {
      probe.fits = steps >= kFewestSteps || !stepped_;
      if (probe.fits) stepped_ = stepped_ || steps >= kFewestSteps;
      if (!probe.fits) probe.why = "ended well, but after " + std::to_string(steps) + " steps";
    } else if (ran.ended == Ended::timed_out || out_of_memory(ran, taker_.killed_for_memory())) {
      probe.why = ran.ended == Ended::timed_out ? ending_of(ran) : "out of memory";
    } else {
      out_.failure = Failure{.what = failure_text("the command at " + command->name,
                                                  capture::redacted_line(command->words), ran,
                                                  out_.probes.size() + 1) +
                                     ", and not for lack of memory as far as it says",
                             .last_words = ran.last_words};
      return false;
    }
    if (probe.fits) {
      out_.largest = std::max(out_.largest, value);
    } else {
      out_.smallest_failed =
          out_.smallest_failed == 0 ? value : std::min(out_.smallest_failed, value);
    }
    out_.probes.push_back(std::move(probe));
    if (progress_) progress_(out_.probes.back());
    return true;
  }

  const BisectOptions& options_;
  const std::function<void(const Probe&)>& progress_;
  RunTaker taker_;
  Steady::time_point began_ = Steady::now();
  BisectOutcome out_;
  std::optional<Error> error_;
  bool stepped_ = false;  ///< A run had steps: so each must have some.
};

}  // namespace

Result<BisectOutcome> run_bisect(const BisectOptions& options,
                                 const std::function<void(const Probe&)>& progress) {
  return Bisect(options, progress).run();
}

std::int64_t default_memory_limit(const std::string& root) {
  constexpr std::int64_t kKilo = 1024;
  std::int64_t available = capture::read_host(root).memory;
  if (const auto text = capture::read_small(root + "/proc/meminfo")) {
    constexpr std::string_view kKey = "MemAvailable:";
    const std::size_t at = text->find(kKey);
    if (at != std::string::npos) {
      const std::size_t digits = text->find_first_not_of(' ', at + kKey.size());
      std::int64_t kilobytes = 0;
      if (digits != std::string::npos &&
          std::from_chars(text->data() + digits, text->data() + text->size(), kilobytes).ec ==
              std::errc())
        available = kilobytes * kKilo;
    }
  }
  const std::optional<std::int64_t> group = capture::read_cgroup(root).memory_limit;
  if (group && *group > 0) available = std::min(available, *group);
  return available / 2;
}

}  // namespace fathom::measure
