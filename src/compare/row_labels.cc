// Names rows of a comparison.
#include "compare/row_labels.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "compare/same_kernels.h"
#include "store/profiler_step.h"

namespace fathom {
namespace {

/// More texts than these make no name.
constexpr std::size_t kMostNamed = 3;

using Rows = std::vector<const ProfileRow*>;

/// Names in the order of their time, the largest first, each once.
std::string names_of(const Rows& rows) {
  std::map<std::string_view, std::int64_t> times;
  for (const ProfileRow* const row : rows) times[row->key.op.view()] += row->work.time_ns;
  std::vector<std::pair<std::string_view, std::int64_t>> order(times.begin(), times.end());
  std::ranges::stable_sort(order, std::ranges::greater(), [](const auto& at) { return at.second; });
  std::string text;
  for (std::size_t i = 0; i < std::min(order.size(), kMostNamed); ++i)
    text += (i == 0 ? "" : ", ") + std::string(order[i].first);
  if (order.size() > kMostNamed)
    text += " and " + std::to_string(order.size() - kMostNamed) + " more";
  return text;
}

/// What all rows have in a field; null where they differ.
const SharedText* common(const AlignedWork& work, SharedText WorkKey::*field) {
  const bool one_side = work.alignment == Alignment::kernels;
  const Rows* const first = one_side ? &with_operators(work) : &work.base;
  const Rows* const second = one_side ? first : &work.now;
  const SharedText* value = nullptr;
  for (const auto* const side : {first, second}) {
    for (const ProfileRow* const row : *side) {
      if (value != nullptr && *value != row->key.*field) return nullptr;
      value = &(row->key.*field);
    }
  }
  return value;
}

void add(ComparedPart& into, const ComparedPart& part) {
  into.base_sum_ns += part.base_sum_ns;
  into.new_sum_ns += part.new_sum_ns;
  into.base_calls += part.base_calls;
  into.new_calls += part.new_calls;
  into.change_ns += part.change_ns;
}

constexpr auto kChange = [](const auto& at) { return std::abs(at.part.change_ns); };

}  // namespace

SharedText label_of(const AlignedWork& work) {
  if (in_place_of(work.alignment)) return names_of(work.base) + " → " + names_of(work.now);
  if (work.alignment == Alignment::kernels) return names_of(with_operators(work));
  const ProfileRow* const any = work.base.empty() ? work.now.front() : work.base.front();
  const SharedText& op = any->key.op;
  if (work.bucket.is(HostBucket::python))
    return op.empty() || op == kProfilerSteps ? "Python between operators"
                                              : "Python in " + op.str();
  return op.empty() ? SharedText("(no operator)") : op;
}

SharedText module_of(const AlignedWork& work) {
  const SharedText* const module = common(work, &WorkKey::module);
  return module == nullptr ? SharedText() : *module;
}

SharedText phase_of(const AlignedWork& work) {
  if (work.bucket.idle()) return "device idle";
  if (!work.bucket.busy()) return work.bucket.name();
  const SharedText* const phase = common(work, &WorkKey::phase);
  if (phase == nullptr) return "several phases";
  return phase->empty() ? SharedText("other") : *phase;
}

SharedText shapes_of(const AlignedWork& work) {
  if (work.alignment != Alignment::module_operator_shapes) return {};
  return work.base.front()->key.shapes;
}

SharedText place_of(const AlignedWork& work) {
  for (const auto* const side : {&work.now, &work.base}) {
    for (const ProfileRow* const row : *side)
      if (!row->place.empty()) return row->place;
  }
  return {};
}

std::vector<ComparedPhase> phases_of(const std::vector<ComparedRow>& rows) {
  std::vector<ComparedPhase> phases;
  std::map<std::string_view, std::size_t> phase_at;
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> module_at;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ComparedRow& row = rows[i];
    const auto [known_phase, first] = phase_at.try_emplace(row.phase.view(), phases.size());
    if (first) phases.push_back({.phase = row.phase, .part = {}, .modules = {}});
    ComparedPhase& phase = phases[known_phase->second];
    const auto [known_module, added] =
        module_at.try_emplace({row.phase.view(), row.module.view()}, phase.modules.size());
    if (added) phase.modules.push_back({.module = row.module, .part = {}, .rows = {}});
    ComparedModule& module = phase.modules[known_module->second];
    add(phase.part, row.part);
    add(module.part, row.part);
    module.rows.push_back(i);
  }
  for (ComparedPhase& phase : phases)
    std::ranges::stable_sort(phase.modules, std::ranges::greater(), kChange);
  std::ranges::stable_sort(phases, std::ranges::greater(), kChange);
  return phases;
}

}  // namespace fathom
