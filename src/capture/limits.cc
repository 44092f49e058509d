// Each limit is one look at what was asked, what ran, and what it left.
#include "capture/limits.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "capture/checks.h"

namespace fathom::capture {
namespace {

std::string_view last_part(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

const Process* find_python(const Manifest& manifest) {
  const auto at = std::ranges::find_if(manifest.processes, [](const Process& process) {
    return is_python(process.command.empty() ? process.name : process.command.front());
  });
  return at == manifest.processes.end() ? nullptr : &*at;
}

/// Names of the folder's files that begin and end so.
bool holds_file(const std::string& folder, std::string_view start, std::string_view end) {
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(start) && name.find(end) != std::string::npos) return true;
  }
  return false;
}

bool asked_for(const Manifest& manifest, std::string_view extra) {
  return std::ranges::find(manifest.recording.with, extra) != manifest.recording.with.end();
}

void add_python_limits(const Manifest& manifest, const std::string& folder, const Process& python,
                       std::vector<NotRecorded>& limits) {
  if (!holds_file(folder, "process-", ".")) {
    const std::string reason = switch_against_hook(python.command);
    limits.push_back(
        {"what happens inside Python: steps, operators, loaders, garbage collection",
         reason.empty()
             ? "the interpreter did not load the start-up hook: the program ended before, or "
               "PYTHONPATH was taken from it"
             : "Python was started with " + reason + ", which keeps start-up hooks out",
         reason.empty()
             ? "start Python without clearing PYTHONPATH (sudo, env -i)"
             : "start it without " + reason + ", or call fathom.profile() in the program"});
    return;
  }
  if (!holds_file(folder, "torch-", ".pt.trace.json") && !asked_for(manifest, "functions")) {
    limits.push_back({"functions of the Python program", "it slows a program down",
                      "--with functions records a deterministic profile"});
  }
}

}  // namespace

bool is_python(const std::string& program) {
  const std::string_view name = last_part(program);
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

std::vector<NotRecorded> limits_of(const Manifest& manifest, const std::string& folder) {
  std::vector<NotRecorded> limits;
  if (const Process* python = find_python(manifest)) {
    add_python_limits(manifest, folder, *python, limits);
  } else {
    limits.push_back({"functions and kernels of the native program",
                      "no code of Fathom runs inside it",
                      "its own annotations (include/fathom/annotate.h) are recorded; perf and "
                      "nsys record the rest"});
  }
  // Without a driver there is no GPU to miss.
  if (has_nvidia_driver()) {
    for (const Check& check : subscriber_checks())
      limits.push_back({check.lost, check.detail, check.remedy});
  }
  if (manifest.telemetry_hz <= 0)
    limits.push_back({"telemetry", "--telemetry 0", "leave the option out"});
  return limits;
}

}  // namespace fathom::capture
