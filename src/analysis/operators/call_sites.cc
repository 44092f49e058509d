// Finds the user's frame around a host slice.
#include "analysis/operators/call_sites.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

namespace fathom {
namespace {

constexpr std::string_view kEntryEnds = ";\n";
constexpr std::uint32_t kNoEntry = UINT32_MAX;  // in notes

/// What paths of PyTorch, of Python's library, of launchers and of our own recorder hold.
constexpr std::array<std::string_view, 15> kForeign = {
    "site-packages/",   "dist-packages/",
    "torch/",           "lib/python",
    "<frozen",          "<string>",
    "threading.py",     "contextlib.py",
    "runpy.py",         "functools.py",
    "queue.py",         "socket.py",
    "multiprocessing/", "concurrent/futures/",
    "fathom_recorder/",
};

/// Packages whose files torch.profiler writes without the folder that they are installed in, and
/// whose names nobody gives a folder of a program.
constexpr std::array<std::string_view, 6> kStripped = {"numpy/",   "scipy/",   "pandas/",
                                                       "sklearn/", "skimage/", "librosa/"};

/// Files of Python's library that programs call to compute, as torch.profiler writes them: without
/// their folder.
constexpr auto kLibrary = std::to_array<std::string_view>({"random.py",
                                                           "copy.py",
                                                           "statistics.py",
                                                           "heapq.py",
                                                           "bisect.py",
                                                           "fractions.py",
                                                           "decimal.py",
                                                           "datetime.py",
                                                           "_strptime.py",
                                                           "json/__init__.py",
                                                           "json/decoder.py",
                                                           "json/encoder.py",
                                                           "csv.py",
                                                           "gzip.py",
                                                           "zipfile.py",
                                                           "pathlib.py",
                                                           "glob.py",
                                                           "fnmatch.py",
                                                           "posixpath.py",
                                                           "genericpath.py",
                                                           "collections/__init__.py",
                                                           "_collections_abc.py",
                                                           "dataclasses.py",
                                                           "enum.py",
                                                           "abc.py",
                                                           "re.py",
                                                           "re/__init__.py",
                                                           "weakref.py",
                                                           "subprocess.py"});

std::string text_of(const CodePlace& place) {
  return std::string(place.file) + ":" + std::string(place.line);
}

/// The entry that begins there in "a;b;c".
std::string_view entry_at(std::string_view stack, std::size_t begin) {
  return stack.substr(begin, stack.find_first_of(kEntryEnds, begin) - begin);
}

/// Where the first entry of the user's code begins, innermost first; npos where there is none.
std::size_t first_user_entry(std::string_view stack) {
  for (std::size_t begin = 0; begin < stack.size();) {
    const std::string_view entry = entry_at(stack, begin);
    if (is_user_code(parse_place(entry))) return begin;
    begin += entry.size() + 1;
  }
  return std::string_view::npos;
}

bool begins_recording(const CodePlace& place) {
  return place.function == "_start_trace" && place.file.find("torch/") != std::string_view::npos;
}

/// The thread's first frames, each inside of the one before, down to the one in which
/// torch.profiler began: they were entered before it. None where it began in another thread.
std::vector<SliceId> frames_around_start(const Trace& trace, const Nesting::Thread& thread) {
  std::vector<SliceId> around;
  for (const SliceId frame : thread.slices) {
    if (!around.empty() && trace.slices.start[frame.row()] >= trace.slices.end(around.back()))
      break;
    if (begins_recording(parse_place(trace.name(frame)))) return around;
    around.push_back(frame);
  }
  return {};
}

}  // namespace

CodePlace parse_place(std::string_view frame) {
  const std::size_t close = frame.find("):");
  const std::size_t open = close == std::string_view::npos ? close : frame.rfind('(', close);
  if (open == std::string_view::npos || open == 0) return {};
  const std::string_view line = frame.substr(open + 1, close - open - 1);
  const auto is_digit = [](char c) { return '0' <= c && c <= '9'; };
  if (line.empty() || !std::ranges::all_of(line, is_digit)) return {};
  std::string_view function = frame.substr(close + 2);
  while (function.starts_with(' ')) function.remove_prefix(1);
  return {.file = frame.substr(0, open), .line = line, .function = function};
}

bool is_user_code(const CodePlace& place) {
  const bool stripped = std::ranges::any_of(
      kStripped, [&](std::string_view package) { return place.file.starts_with(package); });
  const bool library = std::ranges::find(kLibrary, place.file) != kLibrary.end();
  return place.valid() && !stripped && !library &&
         std::ranges::none_of(kForeign, [&](std::string_view part) {
           return place.file.find(part) != std::string_view::npos;
         });
}

CallSites::CallSites(const Context& context)
    : trace_(context.trace), nesting_(context.nesting()), frames_(trace_.tracks.size()) {
  for (const Nesting::Thread& thread : nesting_.frames) {
    frames_[thread.track.row()] = &thread;
    const std::vector<SliceId> around = frames_around_start(trace_, thread);
    around_start_.insert(around_start_.end(), around.begin(), around.end());
  }
  std::ranges::sort(around_start_);
  for (FromOutside* const notes : {&user_frames_, &with_stacks_, &backward_})
    notes->resize(nesting_.parent.size());
  entries_.resize(trace_.strings.size());
  if (LineRuns::recorded(trace_)) lines_ = std::make_unique<const Lines>(context);
}

SliceId CallSites::frame(SliceId host) const {
  if (!host.valid()) return {};
  const Nesting::Thread* const thread = frames_[trace_.slices.track[host.row()].row()];
  if (thread == nullptr) return {};
  const SliceId innermost =
      trace_.kind(host) == SliceKind::python_function
          ? host
          : innermost_at(trace_, nesting_, *thread, trace_.slices.start[host.row()],
                         trace_.slices.end(host));
  const auto is_users = [this](SliceId at) { return is_user_code(parse_place(trace_.name(at))); };
  return innermost_around(user_frames_, nesting_.parent, innermost, is_users);
}

CodePlace CallSites::stack_entry(SliceId host) const {
  const std::uint32_t detail = trace_.slices.detail[host.row()];
  if (trace_.kind(host) != SliceKind::cpu_op || detail == SliceId::kNone) return {};
  const StringId id = trace_.ops.stack[detail];
  if (!id.valid()) return {};
  const std::string_view stack = trace_.text(id);
  // Many operators have the same stack: where its entry begins is noted, and 1.
  const std::atomic_ref<std::uint32_t> note(entries_[id.row()]);
  std::uint32_t noted = note.load(std::memory_order_relaxed);
  if (noted == 0) {
    const std::size_t begin = std::min<std::size_t>(first_user_entry(stack), kNoEntry - 1);
    noted = static_cast<std::uint32_t>(begin) + 1;
    note.store(noted, std::memory_order_relaxed);
  }
  return noted == kNoEntry ? CodePlace() : parse_place(entry_at(stack, noted - 1));
}

std::string CallSites::recorded(SliceId host) const {
  const auto has_entry = [this](SliceId at) { return stack_entry(at).valid(); };
  const SliceId op = innermost_around(with_stacks_, nesting_.parent, host, has_entry);
  return op.valid() ? text_of(stack_entry(op)) : std::string();
}

SliceId CallSites::forward_of(SliceId backward) const {
  if (!sequence_of(trace_, backward).is_backward()) return {};
  forward_once_.call([this] { forward_ = std::make_unique<ForwardOps>(trace_); });
  return forward_->of(backward);
}

std::string CallSites::of(SliceId host) const {
  if (!host.valid()) return {};
  std::string place = with_lines(host);
  if (place.empty()) place = with_frames_or_stack(host);
  if (!place.empty()) return place;
  const auto runs_backward = [this](SliceId at) { return forward_of(at).valid(); };
  const SliceId op = innermost_around(backward_, nesting_.parent, host, runs_backward);
  return op.valid() ? with_frames_or_stack(forward_of(op)) : place;
}

std::string CallSites::place_of(StringId statement) const {
  const StatementName name = statement_name(trace_.text(statement));
  return std::string(name.file) + ":" + std::to_string(name.first);
}

/// A frame says itself where it is.
std::string CallSites::with_lines(SliceId host) const {
  if (!lines_ || trace_.kind(host) == SliceKind::python_function) return {};
  const StringId statement = lines_->owners.of(host).line.statement;
  return statement.valid() ? place_of(statement) : std::string();
}

std::string CallSites::text_of_frame(SliceId frame) const {
  const CodePlace place = parse_place(trace_.name(frame));
  if (!std::ranges::binary_search(around_start_, frame)) return text_of(place);
  std::string text(place.file);
  if (place.function != "<module>") text.append(" (").append(place.function).append(")");
  return text;
}

std::string CallSites::with_frames_or_stack(SliceId host) const {
  const SliceId around = frame(host);
  return around.valid() ? text_of_frame(around) : recorded(host);
}

}  // namespace fathom
