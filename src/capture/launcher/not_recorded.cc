// Lists what a run did not record, with the reason and the remedy.
#include "capture/launcher/not_recorded.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/base_name.h"
#include "base/folder.h"
#include "capture/launcher/crashes.h"
#include "capture/launcher/cuda_notes.h"
#include "capture/launcher/recording.h"
#include "capture/system/disk.h"
#include "capture/system/files.h"
#include "capture/system/launch.h"
#include "capture/system/loader.h"

namespace fathom::capture {
namespace {

constexpr std::string_view kInsidePython =
    "what happens inside Python: steps, operators, loaders, garbage collection";
constexpr std::string_view kLostInPython =
    "steps, operators, kernels, loader times, ranges, threads, pauses of the garbage "
    "collector, energy per step";

const Process* find_python(const Manifest& manifest) {
  const auto at = std::ranges::find_if(manifest.processes, [](const Process& process) {
    return is_python(process.command.empty() ? process.name : process.command.front());
  });
  return at == manifest.processes.end() ? nullptr : &*at;
}

/// The session of a `fathom run` that ours started, which records what it starts itself: "" where
/// the command names none. Unset where there is no such run.
std::optional<std::string> inner_session(const Manifest& manifest) {
  for (const Process& process : manifest.processes) {
    const std::vector<std::string>& words = process.command;
    if (words.size() < 2 || base_name(words[0]) != "fathom" || words[1] != "run") continue;
    const auto ends = std::ranges::find(words, "--");
    const auto option = std::find(words.begin(), ends, "-o");
    return option != ends && option + 1 != ends ? *(option + 1) : std::string();
  }
  return {};
}

/// Names of the folder's files that begin and end so.
bool holds_file(const std::string& folder, std::string_view start, std::string_view end) {
  return std::ranges::any_of(names_in(folder), [&](const std::string& name) {
    return name.starts_with(start) && name.find(end) != std::string::npos;
  });
}

bool asked_for(const Manifest& manifest, std::string_view extra) {
  return std::ranges::find(manifest.recording.with, extra) != manifest.recording.with.end();
}

/// Processes of Pythons that were too old for the hook, as the hook wrote them.
struct OldPythons {
  std::size_t processes = 0;
  std::string versions;  ///< "2.7.18 and 3.6.15"; empty where there were none.
};

OldPythons old_pythons(const std::string& folder) {
  std::set<std::string> versions;
  OldPythons old;
  for (const std::string& name : names_in(folder)) {
    if (!name.starts_with("python-") || !name.ends_with(".txt")) continue;
    std::string version = read_line(std::string(folder).append("/").append(name));
    if (version.empty()) continue;
    ++old.processes;
    versions.insert(std::move(version));
  }
  for (const std::string& version : versions)
    old.versions += (old.versions.empty() ? "" : " and ") + version;
  return old;
}

/// `beside`: other processes of the program ran with a Python that was recorded.
NotRecorded lost_by(const OldPythons& old, bool beside) {
  const std::string who = !beside ? "the program"
                          : old.processes == 1
                              ? "a process of the program"
                              : std::to_string(old.processes) + " processes of the program";
  return {beside ? "what happens inside its older Python" : std::string(kInsidePython),
          who + " ran with Python " + old.versions +
              ", and the recorder inside a program needs Python 3.8 or later; processes, "
              "telemetry, states of threads, NVTX and CUDA are recorded all the same",
          "run it with Python 3.8 or later", std::string(kLostInPython)};
}

void add_python_limits(const Manifest& manifest, const std::string& folder, const Process& python,
                       std::vector<NotRecorded>& limits) {
  const OldPythons old = old_pythons(folder);
  if (!holds_file(folder, "process-", ".")) {
    if (!old.versions.empty()) {
      limits.push_back(lost_by(old, false));
      return;
    }
    if (const std::optional<std::string> inner = inner_session(manifest)) {
      limits.push_back({std::string(kInsidePython),
                        "the command is a fathom run, which recorded it into a session of its own",
                        inner->empty() ? "fathom diagnose that session, or leave one of the two out"
                                       : "fathom diagnose " + *inner,
                        std::string(kLostInPython)});
      return;
    }
    const std::string reason = switch_against_hook(python.command);
    limits.push_back(
        {std::string(kInsidePython),
         reason.empty()
             ? "the interpreter did not load the start-up hook: the program ended before, or "
               "PYTHONPATH was taken from it"
             : "Python was started with " + reason + ", which keeps start-up hooks out",
         reason.empty()
             ? "start Python without clearing PYTHONPATH (sudo, env -i)"
             : "start it without " + reason + ", or call fathom.profile() in the program",
         std::string(kLostInPython)});
    return;
  }
  if (!old.versions.empty()) limits.push_back(lost_by(old, true));
  if (!holds_file(folder, "torch-", ".pt.trace.json") && !asked_for(manifest, "functions")) {
    limits.push_back({"functions of the Python program", "it slows a program down",
                      "--with functions records a deterministic profile",
                      "calls, own and total time of functions (fathom functions)"});
  }
}

/// Its threads are sampled from outside, unless that was refused on the command line.
NotRecorded lost_without_python(const Manifest& manifest, const std::string& folder) {
  const bool annotated = holds_file(folder, "process-", ".fathom");
  const bool sampled = sampling_of(manifest.recording).hz > 0;
  std::string remedy =
      annotated ? "more annotations" : "its annotations (include/fathom/annotate.h)";
  if (sampled) remedy += "; functions are sampled (fathom hot)";
  return {sampled ? "kernels, and single calls of functions, of the native program"
                  : "functions and kernels of the native program",
          annotated ? "nothing but its annotations is recorded inside it"
                    : "no code of Fathom runs inside it",
          remedy + "; perf and nsys record the rest",
          annotated ? "kernels, counts of calls" : "kernels, counts of calls, steps"};
}

/// Extras that were asked for, and that nothing in this program could give.
void add_vain_extras(const Manifest& manifest, const std::string& folder, bool cuda,
                     std::vector<NotRecorded>& limits) {
  std::string of_torch;
  for (const std::string_view extra : kTorchExtras) {
    if (asked_for(manifest, extra)) of_torch += (of_torch.empty() ? "" : ", ") + std::string(extra);
  }
  if (!of_torch.empty() && !holds_file(folder, "torch-", ".pt.trace.json")) {
    limits.push_back({"what --with " + of_torch + " adds to torch's operators",
                      "no process recorded a trace of PyTorch",
                      "see the other messages about traces; programs without PyTorch have none, "
                      "leave the option out",
                      of_torch + " of operators"});
  }
  if (asked_for(manifest, "functions") && !holds_file(folder, "process-", ".json")) {
    limits.push_back({"functions of Python (--with functions)",
                      "no process loaded the start-up hook of Python",
                      "it is for Python programs; perf records functions of native ones",
                      "calls, own and total time of functions (fathom functions)"});
  }
  if (asked_for(manifest, "lines") && !holds_file(folder, "process-", ".json")) {
    limits.push_back({"lines of Python (--with lines)",
                      "no process loaded the start-up hook of Python", "it is for Python programs",
                      "hits and time of lines (fathom lines)"});
  }
  if (asked_for(manifest, "libraries") && !cuda) {
    limits.push_back(
        {"calls of cuBLAS and cuDNN (--with libraries)",
         "no process was recorded with libfathom_cuda.so in it",
         "it is for programs that use CUDA; --cuda always takes those with PyTorch too",
         "arguments of cuBLAS and cuDNN"});
  }
}

/// A program that the libraries which programs load cannot be loaded into.
void add_other_library(const Manifest& manifest, const std::string& folder, bool cuda,
                       std::vector<NotRecorded>& limits) {
  if (manifest.command.empty() || cuda || holds_file(folder, "nvtx-", ".fathom")) return;
  const std::string program = find_program(manifest.command.front());
  const std::string loader = loader_of(program);
  if (!is_of_musl(loader)) return;
  limits.push_back({"ranges of NVTX, and CUDA outside of torch.profiler",
                    program + " is made for musl (" + loader +
                        "), and what Fathom has programs load needs glibc",
                    "run it in an image with glibc, such as debian:stable-slim",
                    "ranges; kernels, copies and calls of CUDA without torch"});
}

}  // namespace

bool is_python(const std::string& program) {
  const std::string_view name = base_name(program);
  return name.starts_with("python") || name.starts_with("pypy");
}

std::string switch_against_hook(const std::vector<std::string>& command) {
  if (command.empty() || !is_python(command.front())) return {};
  for (std::size_t at = 1; at < command.size(); ++at) {
    const std::string& word = command[at];
    if (!word.starts_with('-') || word.starts_with("--") || word == "-") return {};
    for (const char letter : word.substr(1)) {
      if (letter == 'I' || letter == 'E' || letter == 'S') return {'-', letter};
      // What follows in this word, or the next, belongs to it.
      if (letter == 'c' || letter == 'm') return {};
      if (letter == 'X' || letter == 'W') {
        if (word.size() == 2) ++at;
        break;
      }
    }
  }
  return {};
}

std::vector<NotRecorded> limits_of(const Manifest& manifest, const std::string& folder,
                                   const Surroundings& around) {
  std::vector<NotRecorded> limits;
  const CudaNotes cuda = cuda_notes(folder);
  if (const Process* python = find_python(manifest)) {
    add_python_limits(manifest, folder, *python, limits);
  } else if (cuda.recorded) {
    limits.push_back({"functions of the native program",
                      "only its calls of CUDA are recorded from the inside",
                      "its own annotations (include/fathom/annotate.h) are recorded",
                      "functions and steps inside it"});
  } else {
    limits.push_back(lost_without_python(manifest, folder));
  }
  limits.insert(limits.end(), cuda.limits.begin(), cuda.limits.end());
  add_other_library(manifest, folder, cuda.recorded, limits);
  add_vain_extras(manifest, folder, cuda.recorded, limits);
  if (!cuda.recorded && asked_for(manifest, "gpu-metrics")) {
    const bool driver = has_nvidia_driver(around);
    limits.push_back({"hardware counters of the GPU",
                      driver ? "no process of the program used CUDA with libfathom_cuda.so in it"
                             : std::string(without_nvidia_driver()),
                      driver ? "see the other messages about CUDA_INJECTION64_PATH"
                             : "run on a machine with a GPU; fathom doctor shows more",
                      "activity of SMs and Tensor Cores, bandwidth of the GPU's memory"});
  }
  if (is_disk_full(folder)) {
    limits.push_back({"what was recorded after the disk was full",
                      "no space is left on the disk of " + folder,
                      "free some, or name a folder on another disk with -o",
                      "the end of the files: traces, steps, telemetry"});
  }
  if (const std::optional<std::uint64_t> limit = reached_file_limit(folder)) {
    limits.push_back({"what would have made a file of the session larger than it may be",
                      "no file may have more than " + file_limit_text(*limit),
                      "ulimit -f unlimited in the shell before, or fewer steps and extras",
                      "the end of the files: traces, steps, telemetry"});
  }
  for (const Crash& crash : crashes_of(folder)) limits.push_back(lost_by(crash));
  // Without a driver there is no GPU to miss.
  if (has_nvidia_driver(around)) {
    for (const Check& check : gpu_permission_checks(around)) {
      const bool short_of =
          check.state == CheckState::limited || check.state == CheckState::missing;
      if (short_of && !check.lost.empty())
        limits.push_back({check.what, check.detail, check.remedy, check.lost});
    }
  }
  if (manifest.telemetry_hz <= 0) {
    limits.push_back({"telemetry", "--telemetry 0", "leave the option out",
                      "use of processors, memory, storage, network and GPUs; power and energy; the "
                      "rules that judge by them"});
  }
  return limits;
}

}  // namespace fathom::capture
