// Builds the module tree from frames and joins operators to it.
#include "analysis/structure/modules.h"

#include <map>
#include <unordered_map>
#include <vector>

#include "analysis/structure/forward_ops.h"
#include "analysis/structure/phases.h"

namespace fathom {
namespace {

constexpr std::string_view kPrefix = "nn.Module: ";

/// Modules further inside than Python calls by default belong to the one there: their paths would
/// be longer than any memory.
constexpr std::uint32_t kDeepest = 1000;

/// Finds or adds children of nodes.
class Tree {
 public:
  explicit Tree(Modules& modules) : modules_(modules), depths_(1) { modules_.nodes.push_back({}); }

  std::uint32_t child(std::uint32_t parent, StringId name, SliceId frame) {
    const std::uint32_t depth = depths_[parent] + 1;
    if (depth > kDeepest) return parent;
    const auto next = static_cast<std::uint32_t>(modules_.nodes.size());
    const auto [at, added] = known_.try_emplace(std::uint64_t{parent} << 32 | name.value, next);
    if (added) {
      modules_.nodes.push_back({.parent = parent, .name = name, .first = frame});
      depths_.push_back(depth);
    }
    return at->second;
  }

 private:
  Modules& modules_;
  std::vector<std::uint32_t> depths_;  // by node
  std::unordered_map<std::uint64_t, std::uint32_t> known_;
};

void place_frames(const Trace& trace, const Nesting& nesting, Modules& modules) {
  Tree tree(modules);
  for (const Nesting::Thread& thread : nesting.frames) {
    for (const SliceId frame : thread.slices) {
      const SliceId parent = nesting.parent[frame.row()];
      const std::uint32_t around = parent.valid() ? modules[parent] : Modules::kTop;
      const bool module = is_module_frame(trace.name(frame));
      modules.of[frame.row()] =
          module ? tree.child(around, trace.slices.name[frame.row()], frame) : around;
    }
  }
}

/// Host work of a thread lies in the innermost frame that is open when it starts. What has ended by
/// one start has ended by the next, so that each frame is left once.
void place_work(const Trace& trace, const Nesting& nesting, const Nesting::Thread& thread,
                const Nesting::Thread& frames, Modules& modules) {
  std::size_t next = 0;
  SliceId frame;
  for (const SliceId slice : thread.slices) {
    const Time start = trace.slices.start[slice.row()];
    while (next < frames.slices.size() && trace.slices.start[frames.slices[next].row()] <= start)
      frame = frames.slices[next++];
    while (frame.valid() && trace.slices.end(frame) <= start) frame = nesting.parent[frame.row()];
    modules.of[slice.row()] = frame.valid() ? modules[frame] : Modules::kTop;
  }
}

/// Backward operators run outside of module frames; their forward operator shows where they belong.
void join_backward(const Trace& trace, const Nesting& nesting, Modules& modules) {
  const ForwardOps forward(trace);
  for (const Nesting::Thread& thread : nesting.work) {
    for (const SliceId slice : thread.slices) {
      if (modules[slice] != Modules::kTop) continue;
      const SliceId parent = nesting.parent[slice.row()];
      const SliceId op = forward.of(slice);
      const bool inherits = parent.valid() && modules.joined[parent.row()] != 0;
      if (!op.valid() && !inherits) continue;
      modules.of[slice.row()] = op.valid() ? modules[op] : modules[parent];
      modules.joined[slice.row()] = modules[slice] != Modules::kTop ? 1 : 0;
    }
  }
}

}  // namespace

Modules compute_modules(const Trace& trace, const Nesting& nesting) {
  Modules modules;
  modules.of.resize(trace.slices.size());
  modules.joined.resize(trace.slices.size());
  place_frames(trace, nesting, modules);
  if (modules.nodes.size() == 1) return modules;
  std::map<TrackId, const Nesting::Thread*> frames;
  for (const Nesting::Thread& thread : nesting.frames) frames[thread.track] = &thread;
  for (const Nesting::Thread& thread : nesting.work) {
    const auto own = frames.find(thread.track);
    if (own != frames.end()) place_work(trace, nesting, thread, *own->second, modules);
  }
  join_backward(trace, nesting, modules);
  return modules;
}

std::string Modules::path(const Trace& trace, std::uint32_t node) const {
  std::vector<std::string_view> names;
  for (; node != kTop; node = nodes[node].parent)
    names.push_back(trace.text(nodes[node].name).substr(kPrefix.size()));
  std::string path;
  for (auto name = names.rbegin(); name != names.rend(); ++name)
    path.append(path.empty() ? "" : "/").append(*name);
  return path;
}

}  // namespace fathom
