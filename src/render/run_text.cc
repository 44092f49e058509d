// Writes the run behind a recording as text.
#include "render/run_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include "base/quantity_text.h"
#include "render/finding_text.h"
#include "render/percentile_text.h"
#include "render/text_width.h"

namespace fathom {
namespace {

constexpr std::size_t kCellWidth = 12;
constexpr std::size_t kCells = 4;
constexpr std::size_t kWidestName = 60;
constexpr std::size_t kNarrowestName = 20;
constexpr std::size_t kMostRanks = 8;

std::string bytes_of(double bytes) { return bytes_text(std::llround(bytes)); }

std::string time_of(std::int64_t ns) {
  return ns == kAbsent ? std::string(kNoValue) : duration_text(duration_ns(ns));
}

void list(std::string& text, const std::string& part, std::string_view separator = "; ") {
  if (!part.empty()) text += (text.empty() ? std::string() : std::string(separator)) + part;
}

/// With so many decimals: "251", "0.0001".
std::string fixed(double number, int decimals) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, number);
  return text.data();
}

std::string processors(const TreeUsage& tree, const std::optional<double>& of) {
  const std::optional<double> cores = tree.cores();
  if (!cores) return {};
  return "CPU " + processors_text(*cores) + (of ? " of " + processors_text(*of) : "") + " cores";
}

std::string memory(const RunUsage& usage) {
  if (!usage.tree.memory_peak) return {};
  std::string text = "memory peak " + bytes_of(*usage.tree.memory_peak);
  if (!usage.memory_limit || *usage.memory_limit <= 0) return text;
  return text + " of " + bytes_of(*usage.memory_limit) +
         (usage.limited_by_group ? " that the container may use" : "");
}

std::string storage(const TreeUsage& tree) {
  if (!tree.read_bytes && !tree.written_bytes) return {};
  return "storage " + bytes_of(tree.read_bytes.value_or(0)) + " read, " +
         bytes_of(tree.written_bytes.value_or(0)) + " written";
}

std::string gpu(const GpuUsage& usage) {
  std::string text;
  if (usage.utilization) list(text, percent_text(*usage.utilization) + " busy", ", ");
  if (usage.watts) {
    list(text,
         fixed(*usage.watts, 0) + (usage.watts_limit ? " of " + fixed(*usage.watts_limit, 0) : "") +
             " W",
         ", ");
  }
  if (usage.memory_peak) {
    list(text,
         "memory peak " + bytes_of(*usage.memory_peak) +
             (usage.memory_total ? " of " + bytes_of(*usage.memory_total) : ""),
         ", ");
  }
  return text.empty() ? text : "GPU " + std::to_string(usage.gpu) + " " + text;
}

std::string telemetry(const RunUsage& usage) {
  std::string text;
  list(text, processors(usage.tree, usage.cores));
  list(text, memory(usage));
  list(text, storage(usage.tree));
  for (const GpuUsage& each : usage.gpus) list(text, gpu(each));
  return text;
}

std::string cores_text(double cores) {
  const std::string text = processors_text(cores);
  return text + (text == "1" ? " core" : " cores");
}

/// A rank with its children: "rank 0 1.2 cores, 690 MiB".
std::string ranks(const RunUsage& usage) {
  std::string text;
  const std::size_t shown = std::min(usage.ranks.size(), kMostRanks);
  for (std::size_t i = 0; i < shown; ++i) {
    const RankUsage& rank = usage.ranks[i];
    std::string part;
    if (const auto cores = rank.usage.cores()) list(part, cores_text(*cores), ", ");
    if (rank.usage.memory_peak) list(part, bytes_of(*rank.usage.memory_peak), ", ");
    list(text, std::to_string(rank.rank) + ": " + part);
  }
  if (shown < usage.ranks.size())
    text += "; " + std::to_string(usage.ranks.size() - shown) + " more";
  return text;
}

std::string energy(const RunSummary& run) {
  if (!run.usage.joules) return {};
  std::string text = real_text(*run.usage.joules) + " J in the run";
  if (run.usage.joules_per_step) {
    text += ", " + real_text(*run.usage.joules_per_step) + " J per step (mean of " +
            count_text(static_cast<std::int64_t>(run.usage.steps)) + ")";
  }
  text += ", of " + run.usage.consumers;
  if (run.price) text += "; costs " + fixed(*run.price, 4);
  if (run.co2_g) text += "; " + fixed(*run.co2_g, 2) + " g CO2";
  return text;
}

std::string percent_of(Duration part, Duration whole) {
  return percent_text(100.0 * static_cast<double>(to_ns(part)) / static_cast<double>(to_ns(whole)));
}

/// "compilation 17.8 s (68 %), steps 2.1 s (8 %)", the largest first.
std::string whole_run(const RunSummary& run) {
  if (run.whole.wall <= Duration{}) return {};
  constexpr double kLeast = 0.005;
  std::vector<RunPart> parts = run.whole.parts;
  std::ranges::stable_sort(parts, std::ranges::greater(), &RunPart::time);
  std::string text = duration_text(run.whole.wall) + ": ";
  std::string listed;
  for (const RunPart& part : parts) {
    const double share =
        static_cast<double>(to_ns(part.time)) / static_cast<double>(to_ns(run.whole.wall));
    if (share < kLeast && part.time != run.whole.steps) continue;
    list(listed,
         std::string(part.name) + " " + duration_text(part.time) + " (" +
             percent_of(part.time, run.whole.wall) + ")",
         ", ");
  }
  text += listed;
  if (run.whole.in_depth > Duration{})
    text += "; what is diagnosed below is " + percent_of(run.whole.in_depth, run.whole.wall) +
            " of the run";
  return text;
}

/// Where the steps are the smaller part, what to do about the larger ones.
std::string beside_steps(const RunSummary& run) {
  std::string text;
  const std::vector<const RunPart*> parts = run.whole.beside_steps();
  for (const RunPart* const part : parts) {
    list(text,
         std::string(part->name) + ", " + duration_text(part->time) + ": " +
             std::string(part->advice),
         "; ");
  }
  if (parts.empty()) return text;
  if (parts.front()->time <= run.whole.steps) return "together more than all steps: " + text;
  return (parts.size() == 1 ? "more than all steps: " : "each more than all steps: ") + text;
}

std::string from_ns(double ns) { return duration_text(duration_ns(std::llround(ns))); }

std::string main_process(const RunSummary& run) {
  const std::optional<ProcessRun>& main = run.usage.main;
  if (!main || main->wall_ns == kAbsent) return {};
  std::string text = time_of(main->wall_ns) + " wall";
  if (main->user_ns != kAbsent) text += ", " + time_of(main->user_ns) + " user";
  if (main->system_ns != kAbsent) text += ", " + time_of(main->system_ns) + " system";
  if (main->peak_bytes != kAbsent) text += ", peak memory " + bytes_text(main->peak_bytes);
  const std::size_t more = run.processes.size() - 1;
  if (more > 0) text += "; and " + std::to_string(more) + (more == 1 ? " child" : " children");
  return text;
}

std::string missing(const RunSummary& run, bool machine) {
  std::string text;
  for (const Unrecorded& lost : run.not_recorded) {
    if (lost.machine == machine) list(text, lost.what, ", ");
  }
  return text;
}

/// In a line; of a program that nothing else is known of with the reasons, and what would help.
std::string not_recorded_briefly(const RunSummary& run, const Style& style) {
  constexpr std::string_view kLabel = "Not recorded";
  std::string out;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) out += paragraph(out.empty() ? kLabel : "", text, style);
  };
  const std::string machine = missing(run, true);
  if (!run.plain) {
    std::string text = missing(run, false);
    list(text, machine, ", ");
    add(text);
    return out;
  }
  for (const Unrecorded& lost : run.not_recorded) {
    if (!lost.machine)
      add(lost.what + ": " + lost.why + (lost.remedy.empty() ? "" : "; " + lost.remedy));
  }
  if (!machine.empty()) add(machine + ": fathom doctor shows why");
  return out;
}

std::string cell(const std::string& text) { return pad_left(text, kCellWidth); }

std::string process_line(const ProcessLine& line, std::size_t width) {
  std::string name = line.role;
  if (line.run.rank >= 0) name += " " + std::to_string(line.run.rank);
  name += (name.empty() ? "" : "  ") + line.command;
  const std::int64_t peak = line.run.peak_bytes;
  return "  " + pad_right(shorten_middle(printable(name), width), width) +
         cell(time_of(line.run.wall_ns)) + cell(time_of(line.run.user_ns)) +
         cell(time_of(line.run.system_ns)) +
         cell(peak == kAbsent ? std::string(kNoValue) : bytes_text(peak)) + "\n";
}

/// "import 58.1 ms, main 6.3 s".
std::string times(const std::vector<NamedTime>& named, bool counts) {
  std::string text;
  for (const NamedTime& each : named) {
    std::string part = each.name + " " + duration_text(each.time);
    if (counts) part += " (" + count_text(static_cast<std::int64_t>(each.count)) + " ×)";
    list(text, part, ", ");
  }
  return text;
}

/// What threads did in the requests that they answered.
std::string request_split(const RunSummary& run) {
  if (!run.request_time) return {};
  return whole_split(*run.request_time) + " (" + count_text(run.request_time->steps) +
         " of them, by the processor time of their threads)";
}

}  // namespace

std::string timed_briefly(const RunSummary& run) {
  if (!run.timed) return {};
  const Summary& ns = run.timed->ns;
  return from_ns(ns.median) + (run.timed->requests ? " per request" : " per step") +
         ", median of " + count_text(static_cast<std::int64_t>(ns.count)) + " timed (mean " +
         from_ns(ns.mean) + ", standard deviation " + from_ns(ns.stddev) + ", " +
         percentile_text(0.95, ns.p95, ns.count) + ", " + percentile_text(0.99, ns.p99, ns.count);
}

std::string timed_steps(const RunSummary& run) {
  if (!run.timed) return {};
  const TimedSteps& timed = *run.timed;
  const Summary& ns = timed.ns;
  const auto count = [](std::size_t number) {
    return count_text(static_cast<std::int64_t>(number));
  };
  std::string text = timed_briefly(run) + ", longest " + from_ns(ns.max);
  if (!timed.outliers.empty()) {
    text += "; " + count(timed.outliers.size()) +
            " far longer than the others, most of all number " +
            std::to_string(timed.outliers.front().number);
  }
  if (timed.fetches > 0) {
    text += "; " + duration_text(timed.waited) + " in " + count(timed.fetches) +
            " waits for data loaders";
  }
  return text + "); " + count(timed.in_depth) + " recorded in depth";
}

std::string run_lines(const RunSummary& run, const Style& style) {
  std::string out;
  const auto add = [&](std::string_view label, const std::string& text) {
    if (!text.empty()) out += paragraph(label, text, style);
  };
  add("Program", run.program);
  std::string ending = run.exit;
  if (!ending.empty() && ending != "0")
    ending = (ending.starts_with("S") ? "ended by " : "exit code ") + ending + "; ";
  if (ending == "0") ending.clear();
  const std::string process = main_process(run);
  add("Run", process.empty() ? process : ending + process);
  add("Requests", request_split(run));
  for (const HangLook& hang : run.hangs) {
    add("Hang", hang.why + (hang.where.empty() ? "" : ": " + hang.where) + "; " + hang.file +
                    " of the session folder has all threads");
  }
  add("Whole run", whole_run(run));
  add("", beside_steps(run));
  add("Telemetry", telemetry(run.usage));
  add("Ranks", ranks(run.usage));
  add("Energy", energy(run));
  return out + not_recorded_briefly(run, style);
}

std::string process_lines(const RunSummary& run, std::size_t most, const Style& style) {
  if (run.processes.empty()) return {};
  const std::size_t room = style.width > 2 + kCells * kCellWidth + kNarrowestName
                               ? style.width - 2 - kCells * kCellWidth
                               : kNarrowestName;
  const std::size_t width = std::min(room, kWidestName);
  std::string out = style.bold(pad_right("Processes", width + 2)) +
                    style.dim(cell("wall") + cell("user") + cell("system") + cell("peak memory")) +
                    "\n";
  const std::size_t shown = std::min(run.processes.size(), most);
  for (std::size_t i = 0; i < shown; ++i) out += process_line(run.processes[i], width);
  if (shown < run.processes.size()) {
    out += "  and " + count_text(static_cast<std::int64_t>(run.processes.size() - shown)) +
           " more: fathom processes\n";
  }
  if (run.processes.size() > 1) {
    out += style.dim("  user and system include the children that a process has waited for") + "\n";
  }
  return out;
}

std::string inside_lines(const RunSummary& run, const Style& style) {
  std::string out;
  const auto add = [&](std::string_view label, const std::string& text) {
    if (!text.empty()) out += paragraph(label, text, style);
  };
  add("Phases", times(run.phases, false));
  std::string python;
  if (run.threads > 0) {
    python = count_text(static_cast<std::int64_t>(run.threads)) +
             (run.threads == 1 ? " thread" : " threads") + " started";
  }
  if (run.collector) {
    const auto pauses = static_cast<std::int64_t>(run.collector->count);
    list(python, pauses == 0
                     ? std::string("the garbage collector never paused it")
                     : count_text(pauses) + (pauses == 1 ? " pause" : " pauses") +
                           " of the garbage collector, " + duration_text(run.collector->time));
  }
  add("Python", python);
  add("Annotations", times(run.ranges, true));
  add("Functions", times(run.functions, true));
  return out;
}

std::string not_recorded_lines(const RunSummary& run, const Style& style) {
  if (run.not_recorded.empty()) return {};
  std::string out = style.bold("Not recorded") + "\n";
  const std::size_t room = style.width > kNarrowestName ? style.width - 2 : kNarrowestName;
  for (const Unrecorded& lost : run.not_recorded) {
    std::string text = lost.what + ": " + lost.why;
    if (!lost.lost.empty()) text += "; missing: " + lost.lost;
    if (!lost.remedy.empty()) text += "; remedy: " + lost.remedy;
    out += "  " + wrap(printable(text), room, "    ") + "\n";
  }
  return out;
}

}  // namespace fathom
