// The start of a loader's workers, as it shows on the thread that asks for batches.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "rules/rule.h"

namespace fathom {

/// Is it an operator that an iterator of torch's loader calls before its first fetch? It draws a
/// seed, starts its workers, and asks the sampler for indices.
bool is_of_sampler(std::string_view name);

/// Is it a fetch from a loader's workers?
bool fetches_from_workers(std::string_view name);

/// Of these fetches the first of an iterator with workers and the last of the one before: between
/// the two, with no other operator beside them, a seed is drawn and the sampler asked. The first
/// waits for workers that only start, the last, which brings no batch, for workers that end.
/// O(fetches * log n + operators of samplers).
std::vector<SliceId> turning_fetches(const RuleContext& rules, std::span<const SliceId> fetches);

/// Workers that stay: the change, with its caveats.
Fix fix_of_worker_starts();

/// What findings about such starts share.
inline constexpr std::string_view kWorkerStarts = "worker starts";

}  // namespace fathom
