// Reads crash files of Python's faulthandler.
#include "capture/launcher/crashes.h"

#include <algorithm>
#include <charconv>

#include "base/base_name.h"
#include "base/folder.h"
#include "capture/system/files.h"

namespace fathom::capture {
namespace {

constexpr std::string_view kError = "Fatal Python error: ";
constexpr std::string_view kThread = "Current thread ";
constexpr std::string_view kFrame = "  File \"";
constexpr std::string_view kStart = "crash-";
constexpr std::string_view kEnd = ".txt";

std::string_view line_at(std::string_view text, std::size_t at) {
  return text.substr(at, text.find('\n', at) - at);
}

/// Python's own modules and installed ones: whoever calls them is the better place to look at.
bool is_of_library(std::string_view frame) {
  return frame.find("/lib/python") != std::string_view::npos ||
         frame.find("/site-packages/") != std::string_view::npos;
}

/// The innermost frame of the program's own, else the innermost. `text` begins with frames.
std::string_view telling_frame(std::string_view text) {
  std::string_view found;
  while (text.starts_with(kFrame)) {
    const std::string_view frame = line_at(text, 0);
    if (found.empty() || !is_of_library(frame)) found = frame;
    if (!is_of_library(frame)) break;
    text.remove_prefix(std::min(text.size(), frame.size() + 1));
  }
  return found;
}

/// Of `File "/home/me/train.py", line 12 in step`, what a reader looks for.
std::string place_of(std::string_view frame) {
  const std::size_t quote = frame.empty() ? frame.npos : frame.find('"', kFrame.size());
  constexpr std::string_view kLine = "\", line ";
  if (quote == std::string_view::npos || !frame.substr(quote).starts_with(kLine)) return {};
  const std::string_view path = frame.substr(kFrame.size(), quote - kFrame.size());
  return std::string(base_name(path)) + ":" + std::string(frame.substr(quote + kLine.size()));
}

}  // namespace

Crash parse_crash(std::string_view text) {
  Crash crash;
  const std::size_t error = text.find(kError);
  if (error == std::string_view::npos) return crash;
  crash.signal = line_at(text, error + kError.size());
  const std::size_t thread = text.find(kThread, error);
  if (thread == std::string_view::npos) return crash;
  const std::size_t next = text.find('\n', thread);
  if (next == std::string_view::npos) return crash;
  crash.place = place_of(telling_frame(text.substr(next + 1)));
  return crash;
}

std::vector<Crash> crashes_of(const std::string& folder) {
  std::vector<Crash> crashes;
  for (const std::string& name : names_in(folder)) {
    if (!name.starts_with(kStart) || !name.ends_with(kEnd)) continue;
    Crash crash =
        parse_crash(read_small(std::string(folder).append("/").append(name)).value_or(""));
    if (crash.signal.empty()) continue;
    std::from_chars(name.data() + kStart.size(), name.data() + name.size() - kEnd.size(),
                    crash.pid);
    crashes.push_back(std::move(crash));
  }
  std::ranges::sort(crashes, {}, &Crash::pid);
  return crashes;
}

std::string sentence_of(const Crash& crash) {
  return "process " + std::to_string(crash.pid) + " crashed: " + crash.signal +
         (crash.place.empty() ? "" : " at " + crash.place);
}

NotRecorded lost_by(const Crash& crash) {
  const std::string file = "crash-" + std::to_string(crash.pid) + ".txt";
  return {"what process " + std::to_string(crash.pid) + " had not yet written when it crashed",
          crash.signal + (crash.place.empty() ? "" : " at " + crash.place) + "; " + file +
              " has all threads",
          "--steps active=1,repeat=0 writes a trace after each step",
          "the trace that torch.profiler was recording, up to half a second of other records"};
}

}  // namespace fathom::capture
