// Measuring functions of Python: the sampling and all numbers are the engine's.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "measure/cuda_timer.h"
#include "measure/function_json.h"
#include "measure/function_text.h"
#include "measure/gpu_clock.h"
#include "measure/gpu_conditions.h"
#include "measure/knee.h"
#include "measure/measured_text.h"
#include "measure/size_search.h"
#include "python/bind.h"
#include "python/called.h"
#include "python/errors.h"
#include "stats/median_ratio.h"

namespace fathom::python {
namespace {

namespace nb = nanobind;
using measure::CudaDevice;
using measure::Side;

constexpr double kResolution = 0.01;
constexpr std::int64_t kDefaultSeconds = 10;
constexpr std::size_t kFewestPairs = 6;

/// What Python asks for.
struct BenchArguments {
  std::string mode;  ///< "auto", "device", "events", "wall".
  std::optional<std::string> l2;
  std::string launches;  ///< "seen", "hidden".
  std::uint64_t stream = 0;
  std::string nvml;
  nb::object say;  ///< Is given sentences while measuring goes on, or None.
};

struct Measured {
  measure::FunctionResult result;
  nb::object raised = nb::none();
  std::string place;  ///< Where it was raised.
};

/// As of `fathom bench`, with ten seconds for its minute.
measure::SamplingPlan plan_of(bool paired, std::optional<std::size_t> runs,
                              std::optional<double> seconds, std::optional<double> resolution,
                              std::optional<std::uint64_t> seed) {
  measure::SamplingPlan plan;
  plan.paired = paired;
  plan.runs = runs;
  // As nanoseconds a whole number still.
  constexpr double kMostSeconds = 1e9;
  if (seconds)
    plan.time = duration_ns(static_cast<std::int64_t>(std::min(*seconds, kMostSeconds) * 1e9));
  plan.resolution = resolution.value_or(kResolution);
  plan.until_precise = !runs && (!seconds || resolution);
  if (!runs && !seconds && !resolution) {
    plan.time = std::chrono::seconds(kDefaultSeconds);
    plan.least = kFewestPairs;
  }
  plan.seed = seed ? *seed : measure::new_seed();
  return plan;
}

/// One bench, while it runs.
class Bench {
 public:
  Bench(const BenchArguments& arguments, Called base, Called now)
      : arguments_(arguments), sides_{std::move(base), std::move(now)} {}

  Measured run(measure::FunctionOptions options) {
    items_ = options.items;
    measure::FunctionHooks hooks;
    hooks.conditions = [this] { return conditions(); };
    hooks.timer = measure::wall_timer([this] { return settle_if_any(); });
    hooks.timer.error = [this] { return first_error_; };
    hooks.choose_timer = [this] { return choose(); };
    hooks.prepare = [this](Side side) { return no_signal() && of(side).prepare(); };
    hooks.call = [this](Side side, std::size_t calls) { return of(side).call(calls); };
    hooks.call_for_items = [this](Side side) { return of(side).call_for_items(); };
    hooks.clocks = [this] { return clock_ ? clock_() : measure::ClockReading{}; };
    hooks.announcement = [&](const measure::Announcement& announced) {
      say(measure::within_text(options.plan.resolution) + " takes up to about " +
          std::to_string(announced.pairs) + (options.plan.paired ? " pairs, " : " samples, ") +
          measure::metric_text(static_cast<double>(to_ns(announced.time)), measure::Unit::ns) +
          " in all");
    };
    hooks.warning = [this](const std::string& text) { say(text); };
    measure::FunctionOutcome outcome = measure::bench_function(options, hooks);
    Measured measured;
    measured.raised = raised(outcome);
    if (outcome.failed) measured.place = where(*outcome.failed, outcome, options.plan.paired);
    measured.result = measure::function_result(std::move(options), std::move(outcome));
    describe_device(measured.result);
    return measured;
  }

 private:
  Called& of(Side side) { return sides_[static_cast<std::size_t>(side)]; }

  /// GPUs are looked at where the program uses one already: asking NVML takes its time.
  [[nodiscard]] measure::Conditions conditions() const {
    return CudaDevice::current() ? measure::conditions_with_gpus(arguments_.nvml)
                                 : measure::conditions_at_start();
  }

  /// Around the first calls, which may make a context or not.
  bool settle_if_any() {
    Result<std::shared_ptr<CudaDevice>> device = CudaDevice::current();
    if (!device || (*device)->settle()) return true;
    first_error_ = (*device)->error();
    return false;
  }

  void say(const std::string& text) {
    if (!arguments_.say.is_none()) arguments_.say(text);
  }

  /// Functions that are no Python never see Ctrl-C.
  bool no_signal() {
    if (PyErr_CheckSignals() == 0) return true;
    const nb::python_error error;
    raised_ = nb::borrow(error.value());
    return false;
  }

  std::optional<measure::BlockTimer> refuse(const Error& error) {
    const nb::object type = nb::module_::import_("fathom._errors").attr("FathomError");
    raised_ = type("measure=\"" + arguments_.mode + "\": " + error.message,
                   error.code == ErrorCode::io ? "io" : "unsupported");
    return std::nullopt;
  }

  /// After the first calls, which make the device ready that they use.
  std::optional<measure::BlockTimer> choose() {
    Result<std::shared_ptr<CudaDevice>> found = CudaDevice::current();
    if (!found) {
      if (arguments_.mode == "events" || arguments_.mode == "device") return refuse(found.error());
      if (arguments_.launches == "hidden")
        return refuse({found.error().code,
                       "launches are hidden from events only, and " + found.error().message});
      return measure::wall_timer();
    }
    device_ = *found;
    clock_ = measure::clock_of_gpu(device_->uuid(), arguments_.nvml);
    if (arguments_.mode == "wall" || items_) {
      measure::BlockTimer timer = measure::wall_timer([this] { return device_->settle(); });
      timer.error = [this] { return device_->error(); };
      return timer;
    }
    l2_ = arguments_.l2.value_or("cold");
    const measure::L2 l2 = l2_ == "cold" ? measure::L2::cold : measure::L2::warm;
    Result<measure::BlockTimer> timer =
        arguments_.mode == "device"
            ? CudaDevice::activity_timer(device_, l2, arguments_.stream)
            : CudaDevice::event_timer(device_, l2, arguments_.stream,
                                      {.hidden = arguments_.launches == "hidden"});
    if (!timer) return refuse(timer.error());
    if (arguments_.mode != "device") launches_ = arguments_.launches;
    return std::move(*timer);
  }

  [[nodiscard]] nb::object raised(const measure::FunctionOutcome& outcome) const {
    if (!raised_.is_none()) return raised_;
    for (const Called& side : sides_) {
      if (!side.raised().is_none()) return side.raised();
    }
    if (outcome.timer_error.empty()) return nb::none();
    const nb::object type = nb::module_::import_("fathom._errors").attr("FathomError");
    return type(outcome.timer_error, "io");
  }

  std::string where(const measure::Place& place, const measure::FunctionOutcome& outcome,
                    bool paired) {
    std::string text = measure::place_text(place, paired);
    const std::size_t calls = outcome.calls[static_cast<std::size_t>(place.side)];
    if (place.phase == measure::Phase::pairs && calls > 1)
      text += ", call " + std::to_string(of(place.side).call_number() + 1) + " of " +
              std::to_string(calls);
    return text;
  }

  void describe_device(measure::FunctionResult& result) const {
    if (device_ == nullptr) {
      if (arguments_.l2) result.notes.emplace_back("L2 is not touched: no device was used.");
      return;
    }
    result.device = device_->name() + ", driver for CUDA " + device_->driver_version();
    result.l2 = l2_;
    result.launches = launches_;
    if (arguments_.l2 && l2_.empty())
      result.notes.emplace_back(
          "L2 is left as it is: only measure=\"events\" and \"device\" make it cold.");
    if (!clock_)
      result.notes.emplace_back("Clocks of the device are not known: NVML does not have it.");
  }

  const BenchArguments& arguments_;
  std::array<Called, 2> sides_;  // by Side
  std::shared_ptr<CudaDevice> device_;
  std::function<measure::ClockReading()> clock_;
  std::string l2_;
  std::string launches_;
  std::string first_error_;
  bool items_ = false;
  nb::object raised_ = nb::none();
};

void bind_measured(nb::module_& module) {
  nb::class_<Measured>(module, "Measured", "What fathom.bench() measured.")
      .def(
          "json",
          [](const Measured& self, bool runs) { return measure::function_json(self.result, runs); },
          nb::arg("runs") = true, "Schema fathom.bench/1; without runs their list is empty.")
      .def(
          "text",
          [](const Measured& self, std::size_t width) {
            return measure::function_text(self.result, width);
          },
          nb::arg("width") = 100, "One screen.")
      .def(
          "html", [](const Measured& self) { return measure::function_html(self.result); },
          "A table, for notebooks.")
      .def(
          "claim",
          [](const Measured& self) {
            return self.result.metrics.empty()
                       ? std::string()
                       : measure::claim_line(self.result.metrics.front(),
                                             self.result.options.plan.resolution);
          },
          "The verdict in a line; empty for one side.")
      .def(
          "values",
          [](const Measured& self) {
            return std::pair(self.result.outcome.sampled.base, self.result.outcome.sampled.now);
          },
          "Nanoseconds per call of complete pairs, of both sides.")
      .def(
          "add_facts",
          [](Measured& self, const std::vector<std::pair<std::string, std::string>>& facts,
             const std::vector<std::string>& notes) {
            self.result.facts.insert(self.result.facts.end(), facts.begin(), facts.end());
            self.result.notes.insert(self.result.notes.end(), notes.begin(), notes.end());
          },
          nb::arg("facts"), nb::arg("notes"), "Of the program, which the engine does not know.")
      .def(
          "join",
          [](Measured& self, const Measured& later) {
            self.result = measure::joined(std::move(self.result), later.result);
          },
          nb::arg("later"), "Adds what was measured of the same function later.")
      .def(
          "take_raised", [](Measured& self) { return std::exchange(self.raised, nb::none()); },
          "What a call raised, or None; once.")
      .def_prop_ro(
          "place", [](const Measured& self) { return self.place; }, "Where it was raised.");
}

void bind_sweeps(nb::module_& module) {
  nb::class_<measure::Knee>(module, "Knee", "Which values are as good as the best.")
      .def_ro("best", &measure::Knee::best, "The place of the least median cost.")
      .def_ro("knee", &measure::Knee::knee,
              "Of the smallest value that is certainly as good within the resolution.")
      .def_ro("perhaps", &measure::Knee::perhaps, "Of smaller ones for which that is unknown.")
      .def(
          "withhold",
          [](measure::Knee& self, const std::vector<std::size_t>& places,
             const std::vector<double>& values) {
            for (const std::size_t place : places) {
              if (place < self.rows.size())
                self.rows[place].standing = measure::Standing::cannot_tell;
            }
            measure::settle_knee(self, measure::ascending_places(values));
          },
          nb::arg("places"), nb::arg("values"),
          "For these the result is unknown: the knee is found without them.")
      .def(
          "standing",
          [](const measure::Knee& self, std::size_t place) -> std::optional<std::string> {
            if (place >= self.rows.size() || !self.rows[place].standing) return std::nullopt;
            return std::string(measure::to_string(*self.rows[place].standing));
          },
          nb::arg("place"), "best, within, worse or cannot_tell.");
  module.def(
      "find_knee",
      [](const std::vector<double>& values, const std::vector<std::vector<double>>& costs,
         double resolution) {
        return measure::find_knee(costs, measure::ascending_places(values), resolution);
      },
      nb::arg("values"), nb::arg("costs"), nb::arg("resolution"),
      "Of as many values as lists of costs, one a round, in each of which all were measured.");
  module.def(
      "clocks_forbid",
      [](const Measured& best, std::vector<double> best_costs, const Measured& here,
         std::vector<double> costs, const std::string& standing, double resolution) {
        for (const auto each : {measure::Standing::within, measure::Standing::worse}) {
          if (measure::to_string(each) == standing)
            return measure::clocks_forbid_standing(
                {.result = &best.result, .costs = std::move(best_costs)},
                {.result = &here.result, .costs = std::move(costs)}, each, resolution);
        }
        return std::string();
      },
      nb::arg("best"), nb::arg("best_costs"), nb::arg("here"), nb::arg("costs"),
      nb::arg("standing"), nb::arg("resolution"),
      "Why clocks do not allow that standing of a value against the best; empty where they do.");
  module.def(
      "judge_together",
      [](const std::vector<std::string>& verdicts, const std::vector<std::optional<double>>& p) {
        std::vector<measure::Claim> claims(std::min(verdicts.size(), p.size()));
        for (std::size_t i = 0; i < claims.size(); ++i) {
          claims[i].p = p[i];
          for (const auto each : {measure::Verdict::faster, measure::Verdict::slower,
                                  measure::Verdict::same, measure::Verdict::cannot_tell}) {
            if (measure::to_string(each) == verdicts[i]) claims[i].verdict = each;
          }
        }
        measure::judge_together(claims);
        std::vector<std::string> judged;
        judged.reserve(claims.size());
        for (const measure::Claim& claim : claims)
          judged.emplace_back(measure::to_string(claim.verdict));
        return judged;
      },
      nb::arg("verdicts"), nb::arg("p"),
      "Verdicts of several rows at a false discovery rate of 5 % over all of them.");
  nb::class_<measure::SizeSearch>(module, "CrossoverSearch",
                                  "Doubles sizes, then halves the stretch.")
      .def(nb::init<std::int64_t, std::int64_t, double>(), nb::arg("least"), nb::arg("most"),
           nb::arg("resolution"))
      .def("next", &measure::SizeSearch::next, "The next size; None when it is over.")
      .def(
          "add",
          [](measure::SizeSearch& self, const std::vector<double>& base,
             const std::vector<double>& now, bool certain) { return self.add(base, now, certain); },
          nb::arg("base"), nb::arg("new"), nb::arg("certain") = true,
          "Values of pairs at next(); False where they have no ratio, and it is over. Unless they "
          "are certain, nothing is sure of that size.")
      .def_prop_ro("slower_up_to", &measure::SizeSearch::slower_up_to)
      .def_prop_ro("faster_from", &measure::SizeSearch::faster_from)
      .def_prop_ro("surely_slower", &measure::SizeSearch::surely_slower)
      .def_prop_ro("surely_faster", &measure::SizeSearch::surely_faster);
  module.def(
      "median_ratio",
      [](std::vector<double> base, std::vector<double> now)
          -> std::optional<std::pair<double, std::optional<std::pair<double, double>>>> {
        const std::optional<MedianRatio> found = median_ratio(std::move(base), std::move(now));
        if (!found) return std::nullopt;
        std::optional<std::pair<double, double>> interval;
        if (found->interval) interval.emplace(found->interval->low, found->interval->high);
        return std::pair(found->ratio, interval);
      },
      nb::arg("base"), nb::arg("new"),
      "Of samples that were not taken in pairs: the ratio of medians, and its interval at 95 %.");
  module.def(
      "value_text", [](double ns) { return measure::metric_text(ns, measure::Unit::ns); },
      nb::arg("ns"), "12.34 µs");
}

}  // namespace

void bind_bench(nb::module_& module) {
  bind_measured(module);
  bind_sweeps(module);
  module.def(
      "bench",
      [](nb::object function, nb::object against, const nb::object& setup, std::string name,
         std::string against_name, std::string mode, std::optional<std::string> l2,
         std::string launches, std::uint64_t stream, std::optional<std::size_t> runs,
         std::optional<double> seconds, std::optional<double> resolution, std::size_t warmup,
         std::optional<std::size_t> calls, std::optional<std::uint64_t> seed, bool items,
         std::string nvml, nb::object say) {
        const BenchArguments arguments{.mode = std::move(mode),
                                       .l2 = std::move(l2),
                                       .launches = std::move(launches),
                                       .stream = stream,
                                       .nvml = std::move(nvml),
                                       .say = std::move(say)};
        measure::FunctionOptions options;
        options.base = std::move(against_name);
        options.now = std::move(name);
        options.plan = plan_of(!against.is_none(), runs, seconds, resolution, seed);
        options.warmup = warmup;
        options.calls = calls;
        options.items = items;
        return Bench(arguments, Called(std::move(against), setup),
                     Called(std::move(function), setup))
            .run(std::move(options));
      },
      nb::arg("function"), nb::arg("against").none(), nb::arg("setup").none(), nb::kw_only(),
      nb::arg("name"), nb::arg("against_name"), nb::arg("mode"), nb::arg("l2").none(),
      nb::arg("launches"), nb::arg("stream"), nb::arg("runs").none(), nb::arg("seconds").none(),
      nb::arg("resolution").none(), nb::arg("warmup"), nb::arg("calls").none(),
      nb::arg("seed").none(), nb::arg("items"), nb::arg("nvml"), nb::arg("say").none(),
      "What fathom.bench() calls.");
}

}  // namespace fathom::python
