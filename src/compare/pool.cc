// Adds profiles up.
#include "compare/pool.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/distinct_texts.h"
#include "base/hash.h"

namespace fathom {
namespace {

/// The work of a recording whose batches begin at `offset`.
void add_work(WorkTime& into, const WorkTime& work, std::size_t offset) {
  into.time_ns += work.time_ns;
  into.calls += work.calls;
  into.by_batch.add(work.by_batch, offset);
}

struct Sum {
  WorkTime work;
  std::vector<Occurrence> occurrences;
  SharedText place;
  std::size_t order = 0;
  std::map<SharedText, WorkTime> kernels;
};

void add_rows(std::map<WorkKey, Sum>& sums, const Profile& profile, std::size_t offset) {
  // Rows that earlier runs lack come after theirs.
  std::size_t last = 0;
  for (const auto& [key, sum] : sums) last = std::max(last, sum.order);
  for (const ProfileRow& row : profile.rows) {
    const auto [at, added] = sums.try_emplace(row.key);
    Sum& sum = at->second;
    if (added) sum.order = last + row.order;
    add_work(sum.work, row.work, offset);
    add_occurrences(sum.occurrences, row.occurrences);
    if (sum.place.empty()) sum.place = row.place;
    for (const KernelTime& kernel : row.kernels)
      add_work(sum.kernels[kernel.name], kernel.work, offset);
  }
}

/// Keeps what both have.
void add_counters(std::vector<Counter>& counters, const Profile& profile) {
  std::erase_if(counters, [&](const Counter& each) {
    return std::ranges::find(profile.counters, each.id, &Counter::id) == profile.counters.end();
  });
  for (Counter& each : counters) {
    const Counter& other = *std::ranges::find(profile.counters, each.id, &Counter::id);
    each.value = each.per_step ? each.value + other.value : std::max(each.value, other.value);
  }
}

void add_clock(Profile& into, const Profile& profile, double runs) {
  if (!into.clock_mhz || !profile.clock_mhz) {
    into.clock_mhz.reset();
  } else {
    *into.clock_mhz += (*profile.clock_mhz - *into.clock_mhz) / runs;
  }
}

}  // namespace

Profile pooled(std::span<const Profile* const> profiles) {
  Profile out = *profiles.front();
  if (profiles.size() == 1) return out;
  std::map<WorkKey, Sum> sums;
  std::size_t offset = 0;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    const Profile& each = *profiles[i];
    add_rows(sums, each, offset);
    offset += each.batches.size();
    if (i == 0) continue;
    out.content = hash_mix(out.content, each.content);
    out.steps_left_out += each.steps_left_out;
    out.runs += each.runs;
    out.lengths_ns.insert(out.lengths_ns.end(), each.lengths_ns.begin(), each.lengths_ns.end());
    out.unrounded_ns.insert(out.unrounded_ns.end(), each.unrounded_ns.begin(),
                            each.unrounded_ns.end());
    out.batches.insert(out.batches.end(), each.batches.begin(), each.batches.end());
    add_counters(out.counters, each);
    add_clock(out, each, static_cast<double>(i + 1));
  }
  out.input += " and " + std::to_string(profiles.size() - 1) +
               (profiles.size() == 2 ? " more run" : " more runs");
  out.conditions = pooled_conditions(profiles);
  out.rows.clear();
  for (auto& [key, sum] : sums) {
    ProfileRow& row = out.rows.emplace_back();
    row.key = key;
    row.work = std::move(sum.work);
    row.occurrences = std::move(sum.occurrences);
    row.keep_whole_occurrences();
    row.place = std::move(sum.place);
    row.order = sum.order;
    for (auto& [name, work] : sum.kernels) row.kernels.push_back({name, std::move(work)});
  }
  return out;
}

std::vector<Condition> pooled_conditions(std::span<const Profile* const> profiles) {
  std::vector<Condition> out;
  std::vector<std::vector<std::string>> values;
  for (const Profile* const profile : profiles) {
    for (const Condition& each : profile->conditions) {
      const auto at = std::ranges::find(out, each.id, &Condition::id) - out.begin();
      if (at == std::ssize(out)) {
        out.push_back({.id = each.id, .title = each.title, .value = {}});
        values.emplace_back();
      }
      if (!each.value.empty()) add_distinct(values[static_cast<std::size_t>(at)], each.value);
    }
  }
  for (std::size_t i = 0; i < out.size(); ++i) out[i].value = comma_separated(values[i]);
  return out;
}

}  // namespace fathom
