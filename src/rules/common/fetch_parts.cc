// Adds up Python frames inside fetches into one tree of calls, and goes down where most time is.
#include "rules/common/fetch_parts.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/structure/stretches.h"
#include "base/quantity_text.h"
#include "rules/common/counted.h"

namespace fathom {
namespace {

/// The way down goes on while a called function has this share of its caller's time.
constexpr double kMostOfCaller = 0.5;
/// What has less of the fetching is not named.
constexpr double kLeastShare = 0.1;

/// What moves samples and calls, and is no part of preparing them.
constexpr auto kPlumbing = std::to_array<std::string_view>(
    {"torch/utils/data/", "torch/utils/_", "torch/nn/modules/module.py", "torch/_ops.py",
     "torch/autograd/profiler.py", "threading.py", "multiprocessing/", "queue.py", "functools.py",
     "contextlib.py", "<frozen", "enumerate(DataLoader)"});

/// Libraries that prepare samples. torch.profiler writes their files without site-packages.
constexpr auto kLibraries = std::to_array<std::string_view>(
    {"torchvision/", "torchaudio/",   "torchtext/",  "albumentations/", "kornia/",
     "monai/",       "PIL/",          "cv2/",        "skimage/",        "librosa/",
     "soundfile",    "numpy/",        "scipy/",      "pandas/",         "h5py/",
     "datasets/",    "transformers/", "tokenizers/", "webdataset/",     "lmdb/"});

/// Is it a function that the user wrote?
bool is_of_program(std::string_view frame) {
  const CodePlace place = parse_place(frame);
  return is_user_code(place) && std::ranges::none_of(kLibraries, [&](std::string_view library) {
           const std::size_t at = place.file.find(library);
           return at != place.file.npos && (at == 0 || place.file[at - 1] == '/');
         });
}

bool is_plumbing(std::string_view frame) {
  return std::ranges::any_of(
      kPlumbing, [&](std::string_view part) { return frame.find(part) != std::string_view::npos; });
}

/// Comprehensions and lambdas are parts of the function around them.
bool is_unnamed(std::string_view frame) {
  const CodePlace place = parse_place(frame);
  return place.valid() && place.function.starts_with('<');
}

struct Call {
  StringId name{};
  std::size_t caller = 0;
  Duration time{};
  SliceId longest{};
};

/// One tree of all calls inside the fetches, by name and caller. The root is no call.
class Calls {
 public:
  explicit Calls(const RuleContext& rules) : rules_(rules), calls_(1) {}

  /// Adds what lies in these fetches of one thread, callers before what they call. What `takes`
  /// refuses is left out.
  template <typename Takes>
  void add(const Nesting::Thread& thread, std::span<const SliceId> fetches, const Takes& takes) {
    const Trace& trace = rules_.trace();
    const Column<SliceId>& parent = rules_.context.nesting().parent;
    const auto start_of = [&trace](SliceId slice) { return trace.slices.start[slice.row()]; };
    for (const SliceId fetch : fetches) {
      const Time end = trace.slices.end(fetch);
      auto at = std::ranges::lower_bound(thread.slices, start_of(fetch), {}, start_of);
      for (; at != thread.slices.end() && start_of(*at) < end; ++at) {
        if (*at == fetch || trace.slices.end(*at) > end || !takes(*at)) continue;
        const auto caller = rows_.find(parent[at->row()].row());
        const std::size_t row =
            call(caller == rows_.end() ? 0 : caller->second, trace.slices.name[at->row()]);
        rows_.emplace(at->row(), row);
        Call& called = calls_[row];
        called.time += rules_.counted(interval_of(trace, *at));
        if (!called.longest.valid() ||
            trace.slices.duration[called.longest.row()] < trace.slices.duration[at->row()]) {
          called.longest = *at;
        }
      }
    }
  }

  /// From the costliest call on to the costliest that it makes, and so on while that has most of
  /// its caller's time; the last one may have less.
  [[nodiscard]] std::vector<const Call*> way_down(Duration whole) const {
    std::vector<std::size_t> costliest(calls_.size(), 0);
    for (std::size_t row = 1; row < calls_.size(); ++row) {
      std::size_t& most = costliest[calls_[row].caller];
      if (most == 0 || calls_[row].time > calls_[most].time) most = row;
    }
    std::vector<const Call*> way;
    Duration above = whole;
    for (std::size_t row = costliest[0]; row != 0; row = costliest[row]) {
      const Call& call = calls_[row];
      if (ns(call.time) < kLeastShare * ns(whole)) break;
      way.push_back(&call);
      if (ns(call.time) < kMostOfCaller * ns(above)) break;
      above = call.time;
    }
    return way;
  }

  [[nodiscard]] bool empty() const { return calls_.size() == 1; }

 private:
  static double ns(Duration time) { return static_cast<double>(to_ns(time)); }

  std::size_t call(std::size_t caller, StringId name) {
    const auto [at, is_new] = by_caller_.try_emplace({caller, name}, calls_.size());
    if (is_new) calls_.push_back({.name = name, .caller = caller});
    return at->second;
  }

  const RuleContext& rules_;
  std::vector<Call> calls_;
  std::map<std::pair<std::size_t, StringId>, std::size_t> by_caller_;
  std::unordered_map<std::size_t, std::size_t> rows_;  // Of calls_, by slice.
};

/// "__getitem__ (train.py:60)", or the name of a built-in function, module or annotation.
std::string name_of(std::string_view frame) {
  const CodePlace place = parse_place(frame);
  // "<built-in method full of type object at 0x7f87>": where it lies says nothing.
  if (const std::size_t address = frame.find(" at 0x"); !place.valid() && address != frame.npos)
    return std::string(frame.substr(0, address)) + (frame.ends_with('>') ? ">" : "");
  if (!place.valid()) return std::string(frame);
  const std::size_t slash = place.file.rfind('/');
  const std::string_view file =
      slash == std::string_view::npos ? place.file : place.file.substr(slash + 1);
  return std::string(place.function) + " (" + std::string(file) + ":" + std::string(place.line) +
         ")";
}

std::map<TrackId, std::vector<SliceId>> group_by_thread(const Trace& trace,
                                                        std::span<const SliceId> fetches) {
  std::map<TrackId, std::vector<SliceId>> by_thread;
  for (const SliceId fetch : fetches) by_thread[trace.slices.track[fetch.row()]].push_back(fetch);
  return by_thread;
}

std::string time_of(const RuleContext& rules, const Call& call, Duration whole) {
  const double percent = 100.0 * static_cast<double>(to_ns(call.time)) /
                         static_cast<double>(std::max<std::int64_t>(to_ns(whole), 1));
  return duration_text(call.time / step_count(rules)) + " per step (" + percent_text(percent) +
         " of the fetching)";
}

}  // namespace

std::optional<Evidence> dominating_part(const RuleContext& rules,
                                        std::span<const SliceId> fetches) {
  const Trace& trace = rules.trace();
  const Nesting& nesting = rules.context.nesting();
  Duration whole{};
  for (const SliceId fetch : fetches) whole += rules.counted(interval_of(trace, fetch));
  const std::map<TrackId, std::vector<SliceId>> by_thread = group_by_thread(trace, fetches);
  const auto add = [&by_thread](const Nesting::Thread& thread, Calls& calls, const auto& takes) {
    if (const auto at = by_thread.find(thread.track); at != by_thread.end())
      calls.add(thread, at->second, takes);
  };
  Calls frames(rules);
  for (const Nesting::Thread& thread : nesting.frames)
    add(thread, frames, [](SliceId) { return true; });
  Calls annotations(rules);
  const auto is_annotation = [&trace](SliceId slice) {
    return trace.kind(slice) == SliceKind::user_annotation;
  };
  for (const Nesting::Thread& thread : nesting.work) {
    if (frames.empty()) add(thread, annotations, is_annotation);
  }
  const Call* users = nullptr;
  const Call* inside = nullptr;
  for (const Call* const call : (frames.empty() ? annotations : frames).way_down(whole)) {
    const std::string_view name = trace.text(call->name);
    if (is_plumbing(name) || is_unnamed(name)) continue;
    const bool program = frames.empty() || is_of_program(name);
    // Built-in functions matter only inside of something: the loader's own are plumbing.
    if (program) {
      users = call;
      inside = nullptr;
    } else if (users != nullptr || parse_place(name).valid()) {
      inside = call;
    }
  }
  const Call* const first = users != nullptr ? users : inside;
  if (first == nullptr) return {};
  Evidence evidence;
  evidence.text = name_of(trace.text(first->name)) + " takes " + time_of(rules, *first, whole);
  if (users != nullptr && inside != nullptr) {
    evidence.text +=
        ", " + name_of(trace.text(inside->name)) + " in it " + time_of(rules, *inside, whole);
  }
  evidence.slices = {first->longest};
  evidence.where = interval_of(trace, first->longest);
  evidence.location = rules.sites.of(first->longest);
  return evidence;
}

}  // namespace fathom
