// Phases from names, sequence numbers and module frames; children inherit.
#include "analysis/structure/phases.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/structure/phases_around.h"
#include "analysis/structure/phases_inferred.h"
#include "base/parallel.h"

namespace fathom {
namespace {

constexpr std::array<std::string_view, kPhases> kNames = {"other",     "forward", "backward",
                                                          "optimizer", "data",    "communication"};
static_assert(kNames[static_cast<std::size_t>(Phase::communication)] == "communication");

struct Prefix {
  std::string_view text;
  Phase phase;
};

// What torch itself writes, on operators and annotations alike.
constexpr auto kPrefixes = std::to_array<Prefix>({
    {"autograd::engine::evaluate_function", Phase::backward},
    {"torch::autograd::AccumulateGrad", Phase::backward},
    {"Optimizer.", Phase::optimizer},
    {"enumerate(DataLoader)", Phase::data},
    {"enumerate(DataPipe)", Phase::data},
    {"record_param_comms", Phase::communication},
    {"c10d::", Phase::communication},
    {"_c10d_functional::", Phase::communication},
    {"c10d_functional::", Phase::communication},
    {"nccl:", Phase::communication},
    {"rccl:", Phase::communication},
    {"gloo:", Phase::communication},
    {"mpi:", Phase::communication},
    {"ucc:", Phase::communication},
    {"xccl:", Phase::communication},
    {"hccl:", Phase::communication},
});

// What people and frameworks write on annotations; compared in lower case, the first that occurs
// counts.
constexpr auto kWords = std::to_array<Prefix>({
    {"optimizer_step", Phase::optimizer},
    {"optimizer_zero_grad", Phase::optimizer},
    {"optimizer.step", Phase::optimizer},
    {"optimizer", Phase::optimizer},
    {"dataloader", Phase::data},
    {"training_step", Phase::forward},
    {"data_loading", Phase::data},
    {"backward", Phase::backward},
    {"forward", Phase::forward},
});

/// Phases by name, each looked at once.
class NamePhases {
 public:
  explicit NamePhases(const Trace& trace) : trace_(trace), known_(trace.strings.size(), kUnknown) {}

  Phase of(SliceId slice) {
    const SliceKind kind = trace_.kind(slice);
    // A plain Chrome trace knows no kinds: there, what torch itself writes is recognised as on
    // operators.
    if (kind != SliceKind::cpu_op && kind != SliceKind::user_annotation &&
        kind != SliceKind::other) {
      return Phase::other;
    }
    const std::size_t name = trace_.slices.name[slice.row()].row();
    // One name may be an operator here and an annotation there: only the latter is read as free
    // text.
    const auto slot = static_cast<std::uint8_t>(kind == SliceKind::user_annotation ? 4 : 0);
    const auto known = static_cast<std::uint8_t>(known_[name] >> slot & kUnknownHalf);
    if (known != kUnknownHalf) return static_cast<Phase>(known);
    const Phase phase = phase_of_name(trace_.name(slice), kind);
    const auto cleared = static_cast<std::uint8_t>(known_[name] & ~(kUnknownHalf << slot));
    known_[name] = static_cast<std::uint8_t>(cleared | static_cast<std::uint8_t>(phase) << slot);
    return phase;
  }

 private:
  static constexpr std::uint8_t kUnknown = 0xff;
  static constexpr std::uint8_t kUnknownHalf = 0xf;
  const Trace& trace_;
  std::vector<std::uint8_t> known_;  // low half: as an operator, high half: as an annotation
};

Phase phase_of_sequence(const Trace& trace, SliceId slice) {
  const std::uint32_t detail = trace.slices.detail[slice.row()];
  if (trace.kind(slice) != SliceKind::cpu_op || detail == SliceId::kNone) return Phase::other;
  if (trace.ops.sequence[detail] == kAbsent || trace.ops.sequence[detail] < 0) return Phase::other;
  const std::int64_t thread = trace.ops.forward_thread[detail];
  return thread == kAbsent || thread == 0 ? Phase::forward : Phase::backward;
}

/// Being forward is recorded loosely (operators that autograd reruns in backward carry sequence
/// numbers too), so it never overrules what is around, unless a range is named so.
Phase combine(Phase around, Phase own, bool range) {
  if (own == Phase::other) return around;
  return own == Phase::forward && around != Phase::other && !range ? around : own;
}

/// Ranges of collectives (nccl:all_reduce) last until the collective is done: what runs meanwhile
/// is no part of it. Its own operators are inside record_param_comms, too.
bool is_collective_range(const Trace& trace, SliceId slice) {
  return trace.kind(slice) == SliceKind::user_annotation &&
         phase_of_name(trace.name(slice), SliceKind::cpu_op) == Phase::communication;
}

using Evidence = std::array<std::uint64_t, kPhaseEvidences>;

void count(Evidence& evidence, PhaseEvidence kind) { ++evidence[static_cast<std::size_t>(kind)]; }

/// Phases of Python frames by StringId row, each name looked at once.
std::vector<Phase> phases_of_frames(const Trace& trace, const Nesting& nesting) {
  std::vector<Phase> phases(trace.strings.size());
  std::vector<bool> known(trace.strings.size());
  for (const Nesting::Thread& thread : nesting.frames) {
    for (const SliceId frame : thread.slices) {
      const std::size_t name = trace.slices.name[frame.row()].row();
      if (known[name]) continue;
      known[name] = true;
      phases[name] = phase_of_frame(trace.name(frame));
    }
  }
  return phases;
}

struct Stretch {
  Interval interval;
  Phase phase;
};

/// Outermost stretches of frames that show a phase on one thread, in order.
std::vector<Stretch> frame_stretches(const Trace& trace, const std::vector<Phase>& by_name,
                                     const Nesting::Thread& frames) {
  std::vector<Stretch> out;
  for (const SliceId frame : frames.slices) {
    const Phase phase = by_name[trace.slices.name[frame.row()].row()];
    if (phase == Phase::other) continue;
    const Interval own{trace.slices.start[frame.row()], trace.slices.end(frame)};
    if (out.empty() || own.end > out.back().interval.end) out.push_back({own, phase});
  }
  return out;
}

/// A thread that runs nodes of the backward graph, and nothing that belongs to another phase.
bool only_runs_backward(const Phases& phases, const Nesting& nesting,
                        const Nesting::Thread& thread) {
  bool backward = false;
  for (const SliceId slice : thread.slices) {
    if (nesting.parent[slice.row()].valid()) continue;
    const Phase phase = phases[slice];
    if (phase == Phase::forward || phase == Phase::optimizer || phase == Phase::data) return false;
    backward = backward || phase == Phase::backward;
  }
  return backward;
}

/// The optimizer's steps that are given a closure: gradients are zeroed in them, or a backward pass
/// runs there. Ascending; by what the slices show themselves.
std::vector<SliceId> with_closures(const Trace& trace, const Nesting::Thread& thread,
                                   const Phases& own) {
  std::vector<SliceId> found;
  SliceId step;
  for (const SliceId slice : thread.slices) {
    if (step.valid() && trace.slices.start[slice.row()] >= trace.slices.end(step)) step = {};
    if (step.valid()) {
      const bool closure =
          own[slice] == Phase::backward || trace.name(slice).starts_with("Optimizer.zero_grad");
      if (closure && (found.empty() || found.back() != step)) found.push_back(step);
    } else if (trace.name(slice).starts_with("Optimizer.step")) {
      step = slice;
    }
  }
  std::ranges::sort(found);
  return found;
}

void inherit(const Trace& trace, const Nesting& nesting, const Nesting::Thread& thread,
             Phase of_roots, Phases& phases, Evidence& evidence) {
  // What is around a range of a collective is around what runs inside it.
  std::unordered_map<std::uint32_t, Phase> around_collective;
  const std::vector<SliceId> closures = with_closures(trace, thread, phases);
  for (const SliceId slice : thread.slices) {
    const SliceId parent = nesting.parent[slice.row()];
    Phase around = parent.valid() ? phases[parent] : of_roots;
    if (around == Phase::communication && parent.valid()) {
      const auto beyond = around_collective.find(parent.value);
      if (beyond != around_collective.end()) around = beyond->second;
    }
    const Phase own = phases[slice];
    // An optimizer updates without gradients; what has a sequence number beside a backward pass is
    // the closure's forward pass.
    const bool in_closure = parent.valid() && std::ranges::binary_search(closures, parent);
    const bool range = trace.kind(slice) == SliceKind::user_annotation || in_closure;
    phases.of[slice.row()] = combine(around, own, range);
    if (own == Phase::communication && is_collective_range(trace, slice))
      around_collective.emplace(slice.value, around);
    if (!parent.valid() && phases[slice] != own) count(evidence, PhaseEvidence::threads);
  }
}

/// What still has no phase gets that of the frames around it. Children of such slices run inside
/// them too.
void mark_by_frames(const Trace& trace, const Nesting::Thread& thread,
                    const std::vector<Stretch>& stretches, Phases& phases, Evidence& evidence) {
  std::size_t next = 0;
  for (const SliceId slice : thread.slices) {
    const Time start = trace.slices.start[slice.row()];
    while (next < stretches.size() && stretches[next].interval.end <= start) ++next;
    if (next == stretches.size()) return;
    if (phases[slice] != Phase::other || stretches[next].interval.begin > start) continue;
    phases.of[slice.row()] = stretches[next].phase;
    count(evidence, PhaseEvidence::frames);
  }
}

/// What the slice itself shows, and by what.
void mark_own(const Trace& trace, NamePhases& names, SliceId slice, Phases& phases) {
  Phase& phase = phases.of[slice.row()];
  const bool collective = phase != Phase::other;
  if (!collective) phase = names.of(slice);
  if (phase != Phase::other) {
    const bool range = !collective && trace.kind(slice) == SliceKind::user_annotation;
    count(phases.evidence, range ? PhaseEvidence::annotations : PhaseEvidence::operators);
    return;
  }
  phase = phase_of_sequence(trace, slice);
  if (phase != Phase::other) count(phases.evidence, PhaseEvidence::sequence_numbers);
}

}  // namespace

std::string_view to_string(Phase phase) { return kNames[static_cast<std::size_t>(phase)]; }

bool is_module_frame(std::string_view name) { return name.starts_with("nn.Module: "); }

Phase phase_of_frame(std::string_view name) {
  const auto within = [name](std::string_view file) {
    return name.find(file) != std::string_view::npos;
  };
  if (is_module_frame(name)) return Phase::forward;
  if (within("utils/data/dataloader.py(")) return Phase::data;
  const bool zero = name.ends_with(": zero_grad");
  if ((name.ends_with(": step") || zero) && within("torch/optim/")) return Phase::optimizer;
  const bool backward = name.ends_with(": backward");
  if (backward && (within("torch/_tensor.py(") || within("torch/autograd/__init__.py("))) {
    return Phase::backward;
  }
  return Phase::other;
}

Phase phase_of_name(std::string_view name, SliceKind kind) {
  for (const Prefix& prefix : kPrefixes) {
    if (name.starts_with(prefix.text)) return prefix.phase;
  }
  if (kind != SliceKind::user_annotation) return Phase::other;
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  for (const Prefix& word : kWords) {
    if (lower.find(word.text) != std::string::npos) return word.phase;
  }
  return Phase::other;
}

Phases compute_phases(const Trace& trace, const Nesting& nesting) {
  Phases phases;
  phases.of.resize(trace.slices.size());
  for (const Collective& collective : trace.collectives)
    phases.of[collective.slice.row()] = Phase::communication;
  NamePhases names(trace);
  for (const Nesting::Thread& thread : nesting.work) {
    for (const SliceId slice : thread.slices) mark_own(trace, names, slice, phases);
  }
  std::map<TrackId, const Nesting::Thread*> frames;
  for (const Nesting::Thread& thread : nesting.frames) frames[thread.track] = &thread;
  const std::vector<Phase> by_name = phases_of_frames(trace, nesting);
  std::vector<Evidence> evidence(nesting.work.size());
  const bool large = trace.slices.size() > kWorthThreads;
  for_each_in_parallel(nesting.work.size(), large ? 0 : 1, [&](std::size_t i) {
    const Nesting::Thread& thread = nesting.work[i];
    const bool backward = only_runs_backward(phases, nesting, thread);
    inherit(trace, nesting, thread, backward ? Phase::backward : Phase::other, phases, evidence[i]);
    const auto own_frames = frames.find(thread.track);
    if (own_frames == frames.end()) return;
    mark_by_frames(trace, thread, frame_stretches(trace, by_name, *own_frames->second), phases,
                   evidence[i]);
  });
  for (const Evidence& of_thread : evidence) {
    for (std::size_t kind = 0; kind < kPhaseEvidences; ++kind)
      phases.evidence[kind] += of_thread[kind];
  }
  mark_around_passes(trace, nesting, phases);
  infer_phases(trace, nesting, phases);
  return phases;
}

}  // namespace fathom
