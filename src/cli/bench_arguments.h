// What `fathom bench` was asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/options.h"
#include "cli/selection_options.h"
#include "measure/bench.h"
#include "measure/varied.h"

namespace fathom::cli {

struct BenchArguments {
  measure::BenchOptions options;
  std::optional<measure::Varied> sweep;
  std::optional<measure::VariedRange> crossover;
  std::optional<measure::VariedRange> bisect;
  std::optional<double> target;
  std::string model;   ///< A recording of what the steps compute.
  std::string svg;     ///< File of a plot.
  std::string folder;  ///< That keeps the results and what the runs timed.
  std::string base;
  std::optional<std::size_t> runs;
  std::optional<Duration> time;
  std::optional<double> resolution;
  std::optional<std::uint64_t> seed;
  OutputArguments output;
  bool csv = false;
  bool markdown = false;
  bool quiet = false;
};

/// Declares all options.
void declare_bench(Options& options, BenchArguments& args);

/// One of --runs, --time and --resolution ends it; with none, the resolution of 1 % or a minute.
measure::SamplingPlan plan_of(const BenchArguments& args);

/// Why what was asked for does not go together; "" where it does.
std::string contradiction_in(const BenchArguments& args);

}  // namespace fathom::cli
