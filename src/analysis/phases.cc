// Phases from names, sequence numbers and module frames; children inherit.
#include "analysis/phases.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

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
    if (kind != SliceKind::cpu_op && kind != SliceKind::user_annotation) return Phase::other;
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

/// Being forward is said loosely (operators that autograd reruns in backward carry sequence numbers
/// too), so it never overrules what is around.
Phase combine(Phase around, Phase own) {
  if (own == Phase::other) return around;
  return own == Phase::forward && around != Phase::other ? around : own;
}

/// Outermost stretches of nn.Module frames on one thread, in order.
std::vector<Interval> module_stretches(const Trace& trace, const Nesting::Thread& frames) {
  std::vector<Interval> out;
  for (const SliceId frame : frames.slices) {
    const Interval own{trace.slices.start[frame.row()], trace.slices.end(frame)};
    if (!out.empty() && own.end <= out.back().end) continue;
    if (is_module_frame(trace.name(frame))) out.push_back(own);
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

void inherit(const Nesting& nesting, const Nesting::Thread& thread, Phase of_roots,
             Phases& phases) {
  for (const SliceId slice : thread.slices) {
    const SliceId parent = nesting.parent[slice.row()];
    const Phase around = parent.valid() ? phases[parent] : of_roots;
    phases.of[slice.row()] = combine(around, phases[slice]);
  }
}

/// What still has no phase but runs inside a module is forward. Children of such slices run inside
/// it too.
void mark_modules(const Trace& trace, const Nesting::Thread& thread, const Nesting::Thread& frames,
                  Phases& phases) {
  const std::vector<Interval> modules = module_stretches(trace, frames);
  std::size_t next = 0;
  for (const SliceId slice : thread.slices) {
    const Time start = trace.slices.start[slice.row()];
    while (next < modules.size() && modules[next].end <= start) ++next;
    if (next == modules.size()) return;
    if (phases[slice] == Phase::other && modules[next].begin <= start)
      phases.of[slice.row()] = Phase::forward;
  }
}

}  // namespace

std::string_view to_string(Phase phase) { return kNames[static_cast<std::size_t>(phase)]; }

bool is_module_frame(std::string_view name) { return name.starts_with("nn.Module: "); }

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
  std::map<TrackId, const Nesting::Thread*> frames;
  for (const Nesting::Thread& thread : nesting.frames) frames[thread.track] = &thread;
  NamePhases names(trace);
  for (const Nesting::Thread& thread : nesting.work) {
    for (const SliceId slice : thread.slices) {
      Phase& phase = phases.of[slice.row()];
      if (phase == Phase::other) phase = names.of(slice);
      if (phase == Phase::other) phase = phase_of_sequence(trace, slice);
    }
  }
  const bool large = trace.slices.size() > kWorthThreads;
  for_each_in_parallel(nesting.work.size(), large ? 0 : 1, [&](std::size_t i) {
    const Nesting::Thread& thread = nesting.work[i];
    const bool backward = only_runs_backward(phases, nesting, thread);
    inherit(nesting, thread, backward ? Phase::backward : Phase::other, phases);
    const auto own_frames = frames.find(thread.track);
    if (own_frames != frames.end()) mark_modules(trace, thread, *own_frames->second, phases);
  });
  return phases;
}

}  // namespace fathom
