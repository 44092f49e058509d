// Tells where one iterator ends and the next begins by what a loader calls in between.
#include "rules/common/worker_starts.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "analysis/structure/stretches.h"

namespace fathom {
namespace {

constexpr auto kSampling = std::to_array<std::string_view>(
    {"aten::empty", "aten::random_", "aten::item", "aten::_local_scalar_dense", "aten::randperm",
     "aten::to", "aten::set_", "aten::resize_", "aten::scalar_tensor", "aten::fill_",
     "aten::resolve_conj", "aten::resolve_neg", "detach", "aten::detach"});

}  // namespace

bool is_of_sampler(std::string_view name) {
  return std::ranges::find(kSampling, name) != kSampling.end();
}

bool fetches_from_workers(std::string_view name) {
  return name.find("_MultiProcessingDataLoaderIter") != std::string_view::npos;
}

std::vector<SliceId> turning_fetches(const RuleContext& rules, std::span<const SliceId> fetches) {
  const Trace& trace = rules.trace();
  const auto start_of = [&trace](SliceId at) { return trace.slices.start[at.row()]; };
  // Is the seed drawn among the operators from here on, before one that is not the sampler's?
  const auto meets_seed = [&trace](auto at, auto end) {
    for (; at != end; ++at) {
      const std::string_view name = trace.name(*at);
      if (name == "aten::random_") return true;
      const bool transparent = trace.kind(*at) != SliceKind::cpu_op && !fetches_from_workers(name);
      if (!transparent && !is_of_sampler(name)) return false;
    }
    return false;
  };
  std::vector<SliceId> turning;
  for (const SliceId fetch : fetches) {
    if (!fetches_from_workers(trace.name(fetch))) continue;
    const Nesting::Thread* const thread =
        thread_on(rules.context.nesting().work, trace.slices.track[fetch.row()]);
    if (thread == nullptr) continue;
    const std::span<const SliceId> slices = thread->slices;
    const auto at = std::ranges::lower_bound(slices, start_of(fetch), {}, start_of);
    const auto after = std::ranges::lower_bound(slices, trace.slices.end(fetch), {}, start_of);
    if (meets_seed(std::make_reverse_iterator(at), std::make_reverse_iterator(slices.begin())) ||
        meets_seed(after, slices.end()))
      turning.push_back(fetch);
  }
  return turning;
}

Fix fix_of_worker_starts() {
  return {.text =
              "Start the workers once: persistent_workers=True, and one loader that is iterated "
              "over again. Caveat: they keep their memory between epochs; what the dataset "
              "changes later does not reach them.",
          .before = "loader = DataLoader(dataset, num_workers=n)",
          .after = "loader = DataLoader(dataset, num_workers=n, persistent_workers=True)"};
}

}  // namespace fathom
