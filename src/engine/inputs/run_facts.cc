// Adds facts about the session and the merging of its files to a trace.
#include "engine/inputs/run_facts.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>

#include "analysis/machine/run_usage.h"
#include "engine/inputs/run_conditions.h"
#include "engine/inputs/run_family.h"

namespace fathom {
namespace {

/// Of Kineto, which states none: on torch 2.15 its clock and ours agree within this.
constexpr std::int64_t kKinetoClockError = 10'000;

std::string what_is_kept(const std::string& path) {
  if (path.ends_with(".pickle"))
    return ": history of torch's allocator, which no table shows; docs.pytorch.org/memory_viz does";
  if (path.ends_with(".prof"))
    return ": the functions with their callers, for pstats, snakeviz and gprof2dot";
  return ": torch's allocator after each phase, which no table shows; it is JSON";
}

}  // namespace

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

void say_counts(Trace& trace, const MergeCounts& counts) {
  std::string text;
  const auto add = [&text](std::uint64_t count, std::string_view what) {
    if (count == 0) return;
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(what);
  };
  add(counts.slices_outside, "slices");
  add(counts.instants_outside, "instants");
  if (!text.empty()) {
    add_text_fact(trace, "left_out",
                  text + " of the capture lie outside of what torch.profiler recorded");
  }
  std::string steps;
  for (const auto& [number, start, end] : counts.steps) {
    steps += steps.empty() ? "[" : ",";
    steps += "[" + std::to_string(number) + "," + std::to_string(start) + "," +
             std::to_string(end) + "]";
  }
  if (!steps.empty()) {
    trace.facts.push_back({std::string(kRunStepsFact), steps + "]"});
    trace.facts.push_back({std::string(kRunStepsOriginFact), std::to_string(trace.origin_ns)});
  }
  const auto count = [&trace](std::string_view key, std::uint64_t events) {
    if (events > 0) trace.facts.push_back({std::string(key), std::to_string(events)});
  };
  count("activities_recorded_twice", counts.activities_known);
  count("calls_recorded_twice", counts.calls_known);
  count("ranges_recorded_twice", counts.ranges_known);
  count("activities_told_otherwise", counts.activities_doubtful);
  if (counts.no_common_clock) {
    add_warning(trace,
                "a file of the session has no Unix time: its slices and samples are not shown");
  }
}

std::int64_t take_clock_error(Trace& trace, const std::string& name) {
  std::int64_t sum = 0;
  bool stated = false;
  for (Fact& fact : trace.facts) {
    // Of Unix time, and of the device's clock (cuda.clock.error_ns).
    if (!fact.key.ends_with("clock_error_ns") && !fact.key.ends_with("clock.error_ns")) continue;
    std::int64_t error = 0;
    const std::string_view digits =
        std::string_view(fact.value).substr(fact.value.starts_with('"') ? 1 : 0);
    std::from_chars(digits.data(), digits.data() + digits.size(), error);
    sum += std::clamp<std::int64_t>(error, 0, 1'000'000'000);
    stated = true;
    fact.key += " " + name;
  }
  return stated ? sum : kKinetoClockError;
}

void say_distance(Trace& trace, const MergeCounts& counts, const std::string& name) {
  if (!counts.distance) return;
  trace.facts.push_back({"clock_offset_ns " + name, std::to_string(counts.distance->offset_ns)});
  if (!counts.beyond_error) return;
  add_warning(trace, "the clock of " + name + " is " + std::to_string(counts.distance->offset_ns) +
                         " ns off, which is more than it states: its times beside others are "
                         "off by that");
}

void add_run_facts(Trace& trace, const RunRecording& recording,
                   const std::vector<std::string>& warnings) {
  if (recording.manifest == nullptr) {
    add_warning(trace, "manifest.json is missing: the conditions of the run are not known");
  } else if (!add_manifest(trace, *recording.manifest)) {
    add_warning(trace, "manifest.json is damaged: the conditions of the run are not known");
  }
  for (const std::string& path : recording.conditions) {
    const Result<std::string> said = read_small_file(path);
    const std::optional<std::string> newer =
        said ? unknown_version(stated_schema(*said), kProcessSchema, kNewestProcess) : std::nullopt;
    if (newer) {
      add_warning(trace, file_name(path) + " is of version " + *newer +
                             "; this Fathom reads version 1: the facts about the program are "
                             "left out");
    } else if (!said || !add_conditions(trace, *said)) {
      add_warning(trace, file_name(path) + " is damaged: the facts about the program are missing");
    }
  }
  if (!recording.program.empty()) add_text_fact(trace, kProgramFact, recording.program);
  for (const std::string& path : recording.aside)
    add_text_fact(trace, "not_merged",
                  file_name(path) + " belongs to another process: read it by name");
  for (const std::string& path : recording.kept) {
    add_text_fact(trace, "kept", file_name(path) + what_is_kept(path));
  }
  for (const std::string& warning : warnings) add_warning(trace, warning);
}

}  // namespace fathom
