// A table of processes, then what is missing.
#include "cli/run_screen.h"

#include <algorithm>

#include "base/quantity_text.h"
#include "capture/supervise.h"
#include "render/text_width.h"

namespace fathom::cli {
namespace {

/// More processes than this are summed up in a line.
constexpr std::size_t kMostProcesses = 12;
constexpr std::size_t kNameWidth = 38;
constexpr std::size_t kCellWidth = 12;

std::string time_cell(std::int64_t ns) {
  return pad_left(ns < 0 ? std::string(kNoValue) : duration_text(duration_ns(ns)), kCellWidth);
}

std::string bytes_cell(std::int64_t bytes) {
  return pad_left(bytes < 0 ? std::string(kNoValue) : bytes_text(bytes), kCellWidth);
}

std::string command_text(const capture::Process& process) {
  std::string text;
  for (const std::string& word : process.command) text += (text.empty() ? "" : " ") + word;
  return printable(text.empty() ? process.name : text);
}

std::string process_line(const capture::Process& process) {
  std::string role = process.role;
  if (process.rank >= 0) role += " " + std::to_string(process.rank);
  const std::string name = shorten_middle(role + "  " + command_text(process), kNameWidth);
  const std::int64_t wall = process.running() ? -1 : process.ended - process.started;
  return "  " + pad_right(name, kNameWidth) + time_cell(wall) + time_cell(process.user) +
         time_cell(process.system) + bytes_cell(process.peak) + "\n";
}

std::string process_table(const capture::Manifest& manifest, const Style& style) {
  std::string out =
      style.bold(pad_right("Processes", kNameWidth + 2)) +
      style.dim(pad_left("wall", kCellWidth) + pad_left("user", kCellWidth) +
                pad_left("system", kCellWidth) + pad_left("peak memory", kCellWidth)) +
      "\n";
  const std::size_t shown = std::min(manifest.processes.size(), kMostProcesses);
  for (std::size_t at = 0; at < shown; ++at) out += process_line(manifest.processes[at]);
  if (shown < manifest.processes.size()) {
    out += "  and " + count_text(static_cast<std::int64_t>(manifest.processes.size() - shown)) +
           " more, in manifest.json\n";
  }
  return out + style.dim("  user and system include the children that a process has waited for") +
         "\n";
}

std::string limits_text(const capture::Manifest& manifest, const Style& style) {
  if (manifest.not_recorded.empty()) return {};
  std::string out = "\n" + style.bold("Not recorded") + "\n";
  const std::size_t room = style.width > 20 ? style.width - 4 : 76;
  for (const capture::NotRecorded& lost : manifest.not_recorded)
    out += "  " + wrap(lost.what + ": " + lost.why + "; " + lost.remedy, room, "    ") + "\n";
  return out;
}

std::string outcome(const Captured& captured) {
  const auto& status = captured.manifest.status;
  if (!status) return "still running";
  return "exit code " + std::to_string(capture::exit_code_of(*status));
}

}  // namespace

std::string run_screen(const Captured& captured, const Style& style) {
  const capture::Manifest& manifest = captured.manifest;
  const capture::Process& main = manifest.processes.front();
  std::string out = style.bold(manifest.name) + " · " + outcome(captured);
  if (!main.running()) out += " · " + duration_text(duration_ns(main.ended - main.started));
  out += "\n\n" + process_table(manifest, style) + limits_text(manifest, style);
  return out;
}

}  // namespace fathom::cli
