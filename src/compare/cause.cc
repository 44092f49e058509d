// The tests of the causes, one function each.
#include "compare/cause.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/quantity_text.h"
#include "compare/folded_rows.h"
#include "compare/result_argument.h"
#include "compare/shares.h"

namespace fathom {
namespace {

struct CauseText {
  std::string_view id;
  std::string_view less;  ///< Of a change that saves time.
  std::string_view more;
};
constexpr std::array<CauseText, kCauses> kTexts = {{
    {"none", "unchanged", "unchanged"},
    {"not_recorded", "not recorded on one side", "not recorded on one side"},
    {"launch_unknown", "launch not recorded", "launch not recorded"},
    {"loader", "less waiting for the data loader", "more waiting for the data loader"},
    {"recompilation", "less compiling", "more compiling"},
    {"warm_up", "less that is done only once", "more that is done only once"},
    {"synchronization", "synchronizations removed", "synchronizations added"},
    {"copies", "fewer copies", "more copies"},
    {"replaced", "operators replaced", "operators replaced"},
    {"shape_or_dtype", "other shapes or types", "other shapes or types"},
    {"kernel", "other kernels", "other kernels"},
    {"calls", "fewer calls", "more calls"},
    {"collective_wait", "shorter collectives", "longer collectives"},
    {"noise", "within the noise", "within the noise"},
    {"clock", "higher clock", "lower clock"},
    {"cycles", "fewer cycles per call", "more cycles per call"},
    {"time_per_call", "less time per call", "more time per call"},
}};

/// Clocks that differ by less explain nothing, and cycles that do not differ by more are the same.
constexpr double kSameClock = 0.01;

bool one_sided(const RowFacts& facts) { return facts.work.base.empty() || facts.work.now.empty(); }

bool any_row(const AlignedWork& work, const auto& holds) {
  return std::ranges::any_of(work.base, holds) || std::ranges::any_of(work.now, holds);
}

/// One side has it, and what it is recognized by is recorded on one side alone.
bool is_not_recorded(const RowFacts& facts) {
  if (facts.maybe_folded) return true;
  if (!one_sided(facts) || facts.work.bucket == AnyBucket::outside()) return false;
  return facts.work.bucket.idle() ? !facts.launches_comparable : !facts.operators_comparable;
}

bool is_launch_unknown(const RowFacts& facts) {
  return facts.work.bucket.is(Bucket::host_unknown) || facts.work.bucket == AnyBucket::outside();
}

bool is_loader(const RowFacts& facts) {
  return facts.work.bucket.is(Bucket::input) || facts.work.bucket.is(HostBucket::input);
}

bool is_recompilation(const RowFacts& facts) {
  return any_row(facts.work, [](const ProfileRow* row) { return row->key.compiling; });
}

bool is_warm_up(const RowFacts& facts) {
  return facts.work.bucket.is(Bucket::warm_up) || facts.work.bucket.is(HostBucket::warm_up);
}

/// The device idles behind a wait for it, or the host waits, and not as often as before.
bool is_synchronization(const RowFacts& facts) {
  const bool waits = facts.work.bucket.is(Bucket::sync) ||
                     any_row(facts.work, [](const ProfileRow* row) { return row->key.after_sync; });
  return waits && (one_sided(facts) || facts.calls_differ());
}

bool is_copy_name(std::string_view op) {
  constexpr std::string_view kNames[] = {"aten::copy_", "aten::_to_copy", "aten::to", "aten::clone",
                                         "aten::contiguous"};
  return std::ranges::find(kNames, op) != std::end(kNames);
}

bool is_copies(const RowFacts& facts) {
  const bool copies = facts.work.bucket.is(Bucket::memcpy) ||
                      std::ranges::all_of(facts.work.base, [](const ProfileRow* row) {
                        return is_copy_name(row->key.op);
                      });
  const bool copies_now = facts.work.bucket.is(Bucket::memcpy) ||
                          std::ranges::all_of(facts.work.now, [](const ProfileRow* row) {
                            return is_copy_name(row->key.op);
                          });
  return copies && copies_now && (one_sided(facts) || facts.mostly_calls());
}

bool is_replaced(const RowFacts& facts) { return in_place_of(facts.work.alignment); }

std::set<std::string_view> values_of(const std::vector<const ProfileRow*>& rows,
                                     SharedText WorkKey::*field) {
  std::set<std::string_view> out;
  for (const ProfileRow* const row : rows) out.insert(row->key.*field);
  return out;
}

/// More than by a result that one side's operator is given.
bool fields_differ(const RowFacts& facts, SharedText WorkKey::*field) {
  const auto differ = [](std::string_view one, std::string_view other) {
    return one != other && !same_but_result(one, other);
  };
  if (facts.work.base.size() == 1 && facts.work.now.size() == 1)
    return differ(facts.work.base.front()->key.*field, facts.work.now.front()->key.*field);
  const std::set<std::string_view> base = values_of(facts.work.base, field);
  const std::set<std::string_view> now = values_of(facts.work.now, field);
  if (base.size() == 1 && now.size() == 1) return differ(*base.begin(), *now.begin());
  return base != now;
}

bool recorded(const std::vector<const ProfileRow*>& rows, SharedText WorkKey::*field) {
  return std::ranges::any_of(rows,
                             [field](const ProfileRow* row) { return !(row->key.*field).empty(); });
}

/// The types of tensors that hold real numbers: "double" of ["double","long int","Scalar"].
std::set<std::string> real_types(const std::vector<const ProfileRow*>& rows) {
  constexpr std::string_view kReal[] = {
      "double", "float", "c10::Half", "c10::BFloat16", "c10::Float8_e4m3fn", "c10::Float8_e5m2"};
  std::set<std::string> out;
  for (const ProfileRow* const row : rows) {
    for (const std::string_view type : kReal) {
      if (row->key.types.view().find('"' + std::string(type) + '"') != std::string::npos)
        out.emplace(type);
    }
  }
  return out;
}

/// Other operators do the same in another type: none of the types of one side is on the other.
bool is_replaced_for_dtype(const RowFacts& facts) {
  if (!in_place_of(facts.work.alignment)) return false;
  const std::set<std::string> base = real_types(facts.work.base);
  const std::set<std::string> now = real_types(facts.work.now);
  return !base.empty() && !now.empty() &&
         std::ranges::none_of(base, [&now](const std::string& type) { return now.contains(type); });
}

/// Both sides have arguments, which differ, and not the number of calls decides.
bool is_shape_or_dtype(const RowFacts& facts) {
  if (one_sided(facts) || facts.mostly_calls()) return false;
  return std::ranges::any_of(
      std::array{&WorkKey::shapes, &WorkKey::types}, [&](SharedText WorkKey::*field) {
        return recorded(facts.work.base, field) && recorded(facts.work.now, field) &&
               fields_differ(facts, field);
      });
}

std::set<std::string_view> kernels_of(const std::vector<const ProfileRow*>& rows) {
  std::set<std::string_view> out;
  for (const ProfileRow* const row : rows)
    for (const KernelTime& kernel : row->kernels) out.insert(kernel.name);
  return out;
}

/// As most work has: one row a side, with one kernel.
bool same_kernel(const AlignedWork& work) {
  const auto only = [](const std::vector<const ProfileRow*>& rows) -> const KernelTime* {
    return rows.size() == 1 && rows.front()->kernels.size() == 1 ? &rows.front()->kernels.front()
                                                                 : nullptr;
  };
  const KernelTime* const base = only(work.base);
  const KernelTime* const now = only(work.now);
  return base != nullptr && now != nullptr && base->name == now->name;
}

bool is_kernel(const RowFacts& facts) {
  if (one_sided(facts) || !facts.work.bucket.busy() || same_kernel(facts.work)) return false;
  const std::set<std::string_view> base = kernels_of(facts.work.base);
  const std::set<std::string_view> now = kernels_of(facts.work.now);
  if (base.empty() || now.empty()) return false;
  // Of many kernels a baseline names the longest: each of these must be on the other side.
  const auto holds = [](const std::set<std::string_view>& all,
                        const std::set<std::string_view>& named) {
    return all.contains(kFoldedKernels) ||
           std::ranges::all_of(named, [&all](std::string_view name) {
             return name == kFoldedKernels || all.contains(name);
           });
  };
  return !holds(base, now) || !holds(now, base);
}

bool is_calls(const RowFacts& facts) { return one_sided(facts) || facts.mostly_calls(); }

bool is_collective_wait(const RowFacts& facts) {
  return facts.work.bucket.is(Bucket::communication) ||
         facts.work.bucket.is(HostBucket::communication);
}

bool is_noise(const RowFacts& facts) { return facts.within_noise.value_or(false); }

double per_call(const WorkTime& work) {
  return work.calls > 0 ? static_cast<double>(work.time_ns) / static_cast<double>(work.calls) : 0;
}

/// Of what multiprocessors do: copies and other devices have no part in their clock.
bool clocks_known(const RowFacts& facts) {
  return facts.work.bucket.is(Bucket::compute) && facts.base_clock_mhz && facts.new_clock_mhz &&
         per_call(facts.base) > 0 && per_call(facts.now) > 0;
}

/// Cycles per call, new by base.
double cycle_ratio(const RowFacts& facts) {
  return per_call(facts.now) * *facts.new_clock_mhz /
         (per_call(facts.base) * *facts.base_clock_mhz);
}

/// The clock differs, and the cycles per call do not.
bool is_clock(const RowFacts& facts) {
  return clocks_known(facts) &&
         std::abs(std::log(*facts.new_clock_mhz / *facts.base_clock_mhz)) > kSameClock &&
         std::abs(std::log(cycle_ratio(facts))) <= kSameClock;
}

bool is_cycles(const RowFacts& facts) { return clocks_known(facts); }

bool is_unchanged(const RowFacts& facts) {
  return Wide{facts.base.time_ns} * facts.new_steps == Wide{facts.now.time_ns} * facts.base_steps;
}

bool always(const RowFacts&) { return true; }

// What shows a cause.

std::string count_per_step(std::int64_t calls, std::int64_t steps) {
  if (calls % steps == 0) return count_text(calls / steps);
  return real_text(static_cast<double>(calls) / static_cast<double>(steps));
}

std::string calls_text(const RowFacts& facts) {
  return count_per_step(facts.base.calls, facts.base_steps) + " → " +
         count_per_step(facts.now.calls, facts.new_steps) + " per step";
}

std::string time_text(const RowFacts& facts) {
  const auto text = [](const WorkTime& work) {
    return duration_text(duration_ns(std::llround(per_call(work))));
  };
  return text(facts.base) + " → " + text(facts.now) + " per call";
}

std::string no_detail(const RowFacts&) { return {}; }

std::string either_text(const RowFacts& facts) {
  if (facts.by_calls && facts.by_time && !facts.mostly_calls()) return time_text(facts);
  return calls_text(facts);
}

std::string lack_text(const RowFacts& facts) {
  if (facts.maybe_folded) return "a baseline adds up the shortest rows";
  return facts.work.bucket.idle() ? "launches on one side only" : "operators on one side only";
}

std::string change_text(const std::set<std::string_view>& base,
                        const std::set<std::string_view>& now) {
  const auto left = [](const std::set<std::string_view>& all,
                       const std::set<std::string_view>& other) {
    std::string text;
    for (const std::string_view value : all) {
      if (other.contains(value) || value.empty()) continue;
      text += (text.empty() ? "" : ", ") + std::string(value);
    }
    return text.empty() ? std::string(kNoValue) : text;
  };
  return left(base, now) + " → " + left(now, base);
}

std::string arguments_text(const RowFacts& facts) {
  const auto field = fields_differ(facts, &WorkKey::types) &&
                             recorded(facts.work.base, &WorkKey::types) &&
                             recorded(facts.work.now, &WorkKey::types)
                         ? &WorkKey::types
                         : &WorkKey::shapes;
  return change_text(values_of(facts.work.base, field), values_of(facts.work.now, field));
}

std::string types_text(const RowFacts& facts) {
  const std::set<std::string> base = real_types(facts.work.base);
  const std::set<std::string> now = real_types(facts.work.now);
  return change_text({base.begin(), base.end()}, {now.begin(), now.end()});
}

std::string kernels_text(const RowFacts& facts) {
  return change_text(kernels_of(facts.work.base), kernels_of(facts.work.now));
}

std::string clock_text(const RowFacts& facts) {
  return real_text(std::round(*facts.base_clock_mhz)) + " → " +
         real_text(std::round(*facts.new_clock_mhz)) + " MHz";
}

struct CauseTest {
  Cause cause;
  bool (*holds)(const RowFacts&);
  std::string (*detail)(const RowFacts&);
};
constexpr CauseTest kTests[] = {
    {Cause::none, is_unchanged, no_detail},
    {Cause::not_recorded, is_not_recorded, lack_text},
    {Cause::launch_unknown, is_launch_unknown, no_detail},
    {Cause::loader, is_loader, either_text},
    {Cause::recompilation, is_recompilation, calls_text},
    {Cause::warm_up, is_warm_up, no_detail},
    {Cause::synchronization, is_synchronization, calls_text},
    {Cause::copies, is_copies, calls_text},
    {Cause::shape_or_dtype, is_replaced_for_dtype, types_text},
    {Cause::replaced, is_replaced, calls_text},
    {Cause::shape_or_dtype, is_shape_or_dtype, arguments_text},
    {Cause::calls, is_calls, calls_text},
    {Cause::kernel, is_kernel, kernels_text},
    {Cause::collective_wait, is_collective_wait, time_text},
    {Cause::noise, is_noise, time_text},
    {Cause::clock, is_clock, clock_text},
    {Cause::cycles, is_cycles, time_text},
    {Cause::time_per_call, always, time_text},
};

}  // namespace

std::string_view to_string(Cause cause) { return kTexts[static_cast<std::size_t>(cause)].id; }

std::string_view cause_title(Cause cause, bool less_time) {
  const CauseText& text = kTexts[static_cast<std::size_t>(cause)];
  return less_time ? text.less : text.more;
}

void RowFacts::divide_change() {
  if (base.calls == 0 || now.calls == 0) return;
  const double base_calls = static_cast<double>(base.calls) / static_cast<double>(base_steps);
  const double new_calls = static_cast<double>(now.calls) / static_cast<double>(new_steps);
  const double calls = (base_calls + new_calls) / 2;
  by_calls = (new_calls - base_calls) * (per_call(base) + per_call(now)) / 2;
  by_time = (per_call(now) - per_call(base)) * calls;
  if (!clocks_known(*this)) return;
  const double cycles = (per_call(base) * *base_clock_mhz + per_call(now) * *new_clock_mhz) / 2;
  by_clock = (1 / *new_clock_mhz - 1 / *base_clock_mhz) * cycles * calls;
}

bool RowFacts::calls_differ() const { return base.calls * new_steps != now.calls * base_steps; }

bool RowFacts::mostly_calls() const {
  if (!calls_differ()) return false;
  return !by_calls || !by_time || std::abs(*by_calls) > std::abs(*by_time);
}

CauseFound find_cause(const RowFacts& facts) {
  for (const CauseTest& test : kTests) {
    if (test.holds(facts)) return {.cause = test.cause, .detail = test.detail(facts)};
  }
  return {};
}

}  // namespace fathom
