// Turns the options of a what-if into edits of slices.
#include "engine/whatif/what_if_edits.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include "analysis/accounting/syncs.h"
#include "analysis/roofline/roofline.h"
#include "engine/query/name_pattern.h"
#include "engine/whatif/kept_edits.h"
#include "engine/whatif/what_if_targets.h"

namespace fathom {
namespace {

/// What stays of loading when workers do it: taking the batch over.
constexpr float kHandingOver = 0.2F;
/// What stays of the host's work when a graph cannot be captured, but the step is compiled.
constexpr float kCompiled = 0.3F;
/// A copy from pinned memory is asked for in this time.
constexpr double kAskForCopyNs = 10'000;

Error refuse(std::string_view option, const std::string& why) {
  return {ErrorCode::invalid_argument, std::string(option) + ": " + why};
}

struct Assignment {
  std::string target;
  float value = 1;
};

/// "TARGET=NUMBER": the last equals sign divides.
Result<Assignment> parse_assignment(std::string_view option, const std::string& text, double most) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
    return refuse(option, "'" + text + "': write a name, an equals sign and a number");
  const std::string number = text.substr(equals + 1);
  double value = 0;
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), value);
  if (number.empty() || parsed.ec != std::errc() || parsed.ptr != number.data() + number.size() ||
      !(value >= 0) || value > most) {
    return refuse(option, "'" + number + "' is not a number from 0 to " +
                              std::to_string(static_cast<long>(most)));
  }
  return Assignment{text.substr(0, equals), static_cast<float>(value)};
}

class EditMaker {
 public:
  EditMaker(const Context& context, WhatIfEdits& edits, const ReplayedEdits* replayed)
      : context_(context), trace_(context.trace), edits_(edits), replayed_(replayed) {}

  Result<void> scale(const std::string& text) {
    const Result<Assignment> assignment = parse_assignment("--scale", text, 1000);
    if (!assignment) return assignment.error();
    const Result<std::shared_ptr<const FoundTargets>> found = targets_of(assignment->target);
    if (!found) return refuse("--scale", found.error().message);
    const Targets& targets = (**found).targets;
    edits_.best.scale.reserve(edits_.best.scale.size() + targets.size());
    edits_.worst.scale.reserve(edits_.worst.scale.size() + targets.size());
    for (const SliceId slice : targets.host) scale_both(slice, assignment->value);
    for (const SliceId slice : targets.activities) scale_both(slice, assignment->value);
    return done("scale " + text, (**found).slices,
                "everything that is scaled takes exactly that part of its time; delays that "
                "nothing explains stay",
                {"--scale", "fathom ops and fathom kernels list names"});
  }

  Result<void> roof(const std::string& text) {
    const Result<Assignment> assignment = parse_assignment("--roof", text, 1);
    if (!assignment) return assignment.error();
    if (assignment->value <= 0) return refuse("--roof", "nothing reaches 0 of its roof");
    const Result<NamePattern> pattern = NamePattern::parse(assignment->target);
    if (!pattern) return refuse("--roof", pattern.error().message);
    const Roofline& roofline = known_roofline();
    if (roofline.device == nullptr) return refuse("--roof", roofline.note);
    const std::vector<bool> names =
        names_that(trace_, [&](std::string_view name) { return pattern->matches(name); });
    std::size_t found = 0;
    for (const SliceId activity : context_.links().activities) {
      const RooflineRow* const row = roofline.row_of(activity);
      if (row == nullptr || row->bound == Bound::unknown) continue;
      if (!names[row->name.row()] && !names[trace_.slices.name[activity.row()].row()]) continue;
      ++found;
      const double reached = row->roof_percent / 100;
      if (reached >= assignment->value) continue;
      const double best = reached / assignment->value;
      scale_in(edits_.best, activity, static_cast<float>(best));
      scale_in(edits_.worst, activity, static_cast<float>((1 + best) / 2));
    }
    return done("roof " + text, found,
                "best: these kernels take the least time that the peaks allow over that fraction "
                "(" +
                    roofline.note +
                    "); worst: half of what that gives; what is nearer to its "
                    "roof stays",
                {"--roof", "fathom roofline lists what has a roof"});
  }

  Result<void> fuse(const std::string& expression) {
    const Result<NamePattern> pattern = NamePattern::parse(expression);
    if (!pattern) return refuse("--fuse", pattern.error().message);
    const std::vector<bool> names =
        names_that(trace_, [&](std::string_view name) { return pattern->matches(name); });
    std::size_t fused = 0;
    std::map<TrackId, std::vector<SliceId>> chains;
    for (const SliceId activity : context_.links().activities) {
      std::vector<SliceId>& chain = chains[trace_.slices.track[activity.row()]];
      if (fusible(activity, names)) {
        chain.push_back(activity);
      } else {
        fused += fuse_chain(chain);
      }
    }
    for (auto& [track, chain] : chains) fused += fuse_chain(chain);
    return done("fuse " + expression, fused,
                "best: a fused chain takes as long as its longest kernel; worst: as long as all of "
                "them, and only launches are saved",
                {"--fuse", "no two kernels in a row are called so; fathom kernels lists names"});
  }

  Result<void> remove_syncs() {
    std::vector<SliceId> calls;
    for (const SyncCall& sync : compute_syncs(context_)) calls.push_back(sync.call);
    edits_.best.no_wait.insert(edits_.best.no_wait.end(), calls.begin(), calls.end());
    const std::vector<SliceId> kept = last_of_steps(calls);
    for (const SliceId call : calls) {
      if (!std::ranges::binary_search(kept, call)) edits_.worst.no_wait.push_back(call);
    }
    return done("remove synchronisation", calls.size(),
                "best: no call waits for the device; worst: the last of each step still does",
                {"--remove-syncs", "no call waits for the device, as fathom syncs shows"});
  }

  Result<void> overlap_input() {
    const Phases& phases = context_.phases();
    std::size_t found = 0;
    for (const Nesting::Thread& thread : context_.nesting().work) {
      for (const SliceId slice : thread.slices) {
        if (phases[slice] != Phase::data) continue;
        const SliceId parent = context_.nesting().parent[slice.row()];
        scale_in(edits_.worst, slice, kHandingOver);
        if (parent.valid() && phases[parent] == Phase::data) continue;
        edits_.best.overlap.push_back(slice);
        ++found;
      }
    }
    return done("overlap input", found,
                "best: loading runs ahead on threads of its own and takes no time of the loop "
                "unless it is slower than the rest of the step; worst: a fifth of it stays",
                {"--overlap-input",
                 "no loading of data is known, as fathom accounting --group-by phase shows"});
  }

  Result<void> launch_once() {
    edits_.best.launch_once = true;
    const Phases& phases = context_.phases();
    for (const Nesting::Thread& thread : context_.nesting().work) {
      for (const SliceId slice : thread.slices) {
        const SliceKind kind = trace_.kind(slice);
        const bool call = is_runtime_call(kind);
        if (phases[slice] == Phase::data || waits(slice)) continue;
        if (kind == SliceKind::cpu_op || call) scale_in(edits_.worst, slice, kCompiled);
      }
    }
    return done("launch once", count_launches(context_),
                "best: between two waits for the device everything is launched by one call, as a "
                "captured graph is, and loading data stays; worst: operators and launches take "
                "three tenths of their host time, as compiled code might",
                {"--launch-once", "no call launches anything, as fathom launches shows"});
  }

  Result<void> pin_copies() {
    std::size_t found = 0;
    for (const SliceId activity : context_.links().activities) {
      const std::uint32_t copy = trace_.slices.detail[activity.row()];
      const SliceId call = context_.links().launch[activity.row()];
      if (trace_.kind(activity) != SliceKind::memcpy || copy == SliceId::kNone || !call.valid())
        continue;
      const bool to_device = trace_.copies.source[copy] == MemoryKind::pageable;
      if (!to_device && trace_.copies.destination[copy] != MemoryKind::pageable) continue;
      ++found;
      edits_.best.no_wait.push_back(call);
      if (!to_device) continue;
      edits_.worst.no_wait.push_back(call);
      const auto duration = static_cast<double>(to_ns(trace_.slices.duration[call.row()]));
      if (duration > kAskForCopyNs) scale_both(call, static_cast<float>(kAskForCopyNs / duration));
    }
    return done("pin copies", found,
                "copies from and to pageable memory no longer keep the host; worst: those to the "
                "host still do, because what they bring is needed at once",
                {"--pin-copies", "no copy is from or to pageable memory, as fathom copies shows"});
  }

  Result<void> hide_communication() {
    std::size_t found = 0;
    for (const SliceId activity : context_.links().activities) {
      if (context_.timelines().busy_kind(trace_, activity) != Busy::communication) continue;
      edits_.best.hide.push_back(activity);
      if (found++ % 2 == 0) edits_.worst.hide.push_back(activity);
    }
    return done("hide communication", found,
                "best: kernels no longer wait for communication before the step ends; worst: only "
                "every second collective can be hidden",
                {"--hide-communication", "nothing communicates, as fathom accounting shows"});
  }

 private:
  Result<std::shared_ptr<const FoundTargets>> targets_of(std::string_view target) {
    if (replayed_ != nullptr) {
      if (std::shared_ptr<const FoundTargets> known = replayed_->kept.targets.find(target))
        return known;
    }
    Result<Targets> all = find_targets(context_, target);
    if (!all) return std::move(all).error();
    FoundTargets found{.targets = {}, .slices = all->size()};
    if (replayed_ == nullptr) {
      found.targets = *std::move(all);
      return std::make_shared<const FoundTargets>(std::move(found));
    }
    found.targets.host = replayed_->replay.concerned(all->host);
    found.targets.activities = replayed_->replay.concerned(all->activities);
    // What nothing is edited in is not replayed as if something were.
    if (found.targets.size() == 0) {
      (all->host.empty() ? found.targets.activities : found.targets.host)
          .push_back(all->host.empty() ? all->activities.front() : all->host.front());
    }
    const std::size_t size = found.targets.size();
    return replayed_->kept.targets.keep(target, std::move(found), size);
  }

  /// Of the whole trace, whatever is selected: changes are made everywhere.
  const Roofline& known_roofline() {
    if (!roofline_) {
      TableOptions options;
      options.peaks = context_.options.peaks;
      roofline_ = compute_roofline({trace_, context_.analyses, {}, options});
    }
    return *roofline_;
  }

  static void scale_in(Edits& edits, SliceId slice, float factor) {
    edits.scale.emplace_back(slice, factor);
  }
  void scale_both(SliceId slice, float factor) {
    scale_in(edits_.best, slice, factor);
    scale_in(edits_.worst, slice, factor);
  }

  /// For when there is nothing to change: the option, and where one sees that.
  struct Absent {
    std::string_view option;
    std::string_view reason;
  };
  Result<void> done(const std::string& what, std::size_t slices, std::string assumption,
                    const Absent& absent) {
    if (slices == 0) {
      return refuse(absent.option,
                    "there is nothing of that in the trace; " + std::string(absent.reason));
    }
    edits_.changes.push_back({what, slices, std::move(assumption)});
    return {};
  }

  [[nodiscard]] bool waits(SliceId slice) const {
    const SliceKind kind = trace_.kind(slice);
    return is_runtime_call(kind) &&
           context_.links().call_kind(trace_, slice) == CallKind::synchronize;
  }

  [[nodiscard]] bool fusible(SliceId activity, const std::vector<bool>& names) const {
    return trace_.kind(activity) == SliceKind::kernel &&
           context_.links().launch[activity.row()].valid() &&
           names[trace_.slices.name[activity.row()].row()];
  }

  /// Empties the chain; returns how many kernels it was.
  std::size_t fuse_chain(std::vector<SliceId>& chain) {
    const std::vector<SliceId> kernels = std::move(chain);
    chain = {};
    if (kernels.size() < 2) return 0;
    Duration sum{};
    Duration longest{};
    for (const SliceId kernel : kernels) {
      sum += trace_.slices.duration[kernel.row()];
      longest = std::max(longest, trace_.slices.duration[kernel.row()]);
    }
    const auto first = static_cast<float>(to_ns(trace_.slices.duration[kernels[0].row()]));
    if (first > 0) {
      scale_in(edits_.best, kernels[0], static_cast<float>(to_ns(longest)) / first);
      scale_in(edits_.worst, kernels[0], static_cast<float>(to_ns(sum)) / first);
    }
    const SliceId kept = context_.links().op[kernels[0].row()];
    for (std::size_t i = 1; i < kernels.size(); ++i) {
      const SliceId launch = context_.links().launch[kernels[i].row()];
      edits_.best.remove.push_back(launch);
      edits_.worst.remove.push_back(launch);
      const SliceId op = context_.links().op[kernels[i].row()];
      if (op.valid() && op != kept) scale_both(op, 0);
    }
    return kernels.size();
  }

  /// The last of the calls (by time) that lies in each step's host span; sorted.
  [[nodiscard]] std::vector<SliceId> last_of_steps(const std::vector<SliceId>& calls) const {
    std::vector<SliceId> last;
    const auto start = [this](SliceId call) { return trace_.slices.start[call.row()]; };
    for (const Step& step : context_.steps().steps) {
      auto at = std::ranges::lower_bound(calls, step.host.end, {}, start);
      while (at != calls.begin()) {
        --at;
        if (start(*at) < step.host.begin) break;
        if (step.process.valid() && trace_.track(*at).process != step.process) continue;
        last.push_back(*at);
        break;
      }
    }
    std::ranges::sort(last);
    return last;
  }

  const Context& context_;
  const Trace& trace_;
  WhatIfEdits& edits_;
  const ReplayedEdits* replayed_;
  std::optional<Roofline> roofline_;
};

template <typename T>
void append(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

void append(Edits& all, const Edits& more) {
  append(all.scale, more.scale);
  append(all.remove, more.remove);
  append(all.no_wait, more.no_wait);
  append(all.overlap, more.overlap);
  append(all.hide, more.hide);
  all.launch_once = all.launch_once || more.launch_once;
}

void append(WhatIfEdits& all, const WhatIfEdits& more) {
  append(all.best, more.best);
  append(all.worst, more.worst);
  append(all.changes, more.changes);
}

std::size_t size_of(const Edits& edits) {
  return edits.scale.size() + edits.remove.size() + edits.no_wait.size() + edits.overlap.size() +
         edits.hide.size();
}

}  // namespace

std::uint64_t count_launches(const Context& context) {
  std::uint64_t launches = 0;
  for (const Nesting::Thread& thread : context.nesting().work) {
    launches +=
        static_cast<std::uint64_t>(std::ranges::count_if(thread.slices, [&](const SliceId slice) {
          return is_runtime_call(context.trace.kind(slice)) &&
                 starts_activity(context.links().call_kind(context.trace, slice));
        }));
  }
  return launches;
}

Result<WhatIfEdits> what_if_edits(const Context& context, const WhatIfRequest& request,
                                  const ReplayedEdits* replayed) {
  WhatIfEdits all;
  EditMaker maker(context, all, replayed);
  KeptEdits* const kept = replayed == nullptr ? nullptr : &replayed->kept;
  Result<void> made;
  for (const std::string& text : request.scale) {
    if (made) made = maker.scale(text);
  }
  for (const std::string& text : request.roof) {
    if (made) made = maker.roof(text);
  }
  /// What depends on nothing but the recording and the option.
  const auto part = [&](const std::string& name, const auto& change) {
    if (!made) return;
    if (kept != nullptr) {
      if (const std::shared_ptr<const WhatIfEdits> known = kept->options.find(name))
        return append(all, *known);
    }
    WhatIfEdits own;
    EditMaker of_own(context, own, replayed);
    made = change(of_own);
    if (!made) return;
    append(all, own);
    const std::size_t size = size_of(own.best) + size_of(own.worst);
    if (kept != nullptr) kept->options.keep(name, std::move(own), size);
  };
  const auto once = [&](bool enabled, const char* name, auto change) {
    if (enabled) part(name, [change](EditMaker& own) { return (own.*change)(); });
  };
  for (const std::string& text : request.fuse)
    part("fuse=" + text, [&text](EditMaker& own) { return own.fuse(text); });
  once(request.remove_syncs, "remove-syncs", &EditMaker::remove_syncs);
  once(request.overlap_input, "overlap-input", &EditMaker::overlap_input);
  once(request.launch_once, "launch-once", &EditMaker::launch_once);
  once(request.pin_copies, "pin-copies", &EditMaker::pin_copies);
  once(request.hide_communication, "hide-communication", &EditMaker::hide_communication);
  if (!made) return std::move(made).error();
  return all;
}

}  // namespace fathom
