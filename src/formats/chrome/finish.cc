// Finishes a trace: pairs, tracks, times from the earliest start.
#include "formats/chrome/finish.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>

#include "formats/chrome/text_cache.h"
#include "store/profiler_step.h"

namespace fathom::chrome {
namespace {

/// Times further than this from the middle of the trace (28 hours) were never true.
constexpr Duration kLongestTrace = duration_ns(100'000'000'000'000);
constexpr std::int64_t kUnixTimesBegin = 1'000'000'000'000'000'000;  // 2001, in ns
constexpr Duration kZeroTimeDistance = std::chrono::seconds(1);

void shift(Column<Time>& times, Duration by) {
  for (Time& time : times) time -= by;
}

/// Keeps the slices for which `keep` is true.
void keep_slices(Batch& rows, const std::vector<bool>& keep) {
  Slices& slices = rows.slices;
  std::vector<std::uint32_t> moved(slices.size(), SliceId::kNone);
  std::size_t out = 0;
  for (std::size_t row = 0; row < slices.size(); ++row) {
    if (!keep[row]) continue;
    moved[row] = static_cast<std::uint32_t>(out);
    Slices::each([&](auto& column) { column[out] = column[row]; }, slices);
    ++out;
  }
  Slices::each([out](auto& column) { column.resize(out); }, slices);
  std::vector<Collective> kept;
  for (Collective collective : rows.collectives) {
    collective.slice.value = moved[collective.slice.row()];
    if (collective.slice.valid()) kept.push_back(collective);
  }
  rows.collectives = std::move(kept);
}

/// The middle one of about a thousand starts spread over the rows.
Time middle_start(const Column<Time>& starts) {
  std::vector<Time> sample;
  const std::size_t stride = std::max<std::size_t>(1, starts.size() / 1000);
  for (std::size_t row = 0; row < starts.size(); row += stride) sample.push_back(starts[row]);
  const auto middle = sample.begin() + static_cast<std::ptrdiff_t>(sample.size() / 2);
  std::nth_element(sample.begin(), middle, sample.end());
  return *middle;
}

Time earliest(const Batch& rows) {
  Time first = Time::max();
  for (const Column<Time>* times : {&rows.slices.start, &rows.flows.time, &rows.memory.time,
                                    &rows.samples.time, &rows.instants.time}) {
    if (times != &rows.slices.start && first != Time::max()) break;
    for (const Time time : *times) first = std::min(first, time);
  }
  return first == Time::max() ? Time() : first;
}

Interval span_of(const Trace& trace) {
  Interval work{Time::max(), Time::min()};
  Interval all = work;
  const auto widen = [](Interval& span, Time begin, Time end) {
    span.begin = std::min(span.begin, begin);
    span.end = std::max(span.end, end);
  };
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const SliceId slice(row);
    const SliceKind kind = trace.kind(slice);
    widen(all, trace.slices.start[row], trace.slices.end(slice));
    if (is_host_work(kind) || is_device_activity(kind) || kind == SliceKind::python_function) {
      widen(work, trace.slices.start[row], trace.slices.end(slice));
    }
  }
  if (work.begin <= work.end) return work;
  return all.begin <= all.end ? all : Interval{};
}

std::int64_t base_time_ns(const Trace& trace) {
  const Fact* const fact = trace.fact("baseTimeNanoseconds");
  if (fact == nullptr) return 0;
  std::string_view text = fact->value;
  if (text.size() > 2 && text.front() == '"') text = text.substr(1, text.size() - 2);
  std::int64_t base = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), base);
  return error == std::errc() && rest == text.data() + text.size() ? base : 0;
}

void log_unknown_categories(Trace& trace, bool too_many) {
  for (const Category& category : trace.categories) {
    if (category.kind != SliceKind::other) continue;
    const std::string_view name = trace.text(category.name);
    if (too_many) {
      trace.import.add_unknown("categories, more than can be distinguished", category.slices);
    } else if (!name.empty()) {
      trace.import.add_unknown("category " + std::string(name), category.slices);
    }
  }
}

/// Kineto of torch 1.8 and 1.9 wrote operators and ranges alike, in one category.
constexpr std::string_view kOldOperators = "Operator";
/// What torch calls without a namespace, and ranges of its own, which analyses know by name.
constexpr std::array<std::string_view, 7> kOfTorch = {
    "detach", kProfilerStep,       "Optimizer.", "enumerate(",
    "fused_", "fallback_function", "TensorExpr"};

/// Of which names the slices of the old category are ranges that the program itself made: no
/// operator of a library, no node of the backward pass, no function of autograd.
class OwnRanges {
 public:
  explicit OwnRanges(const Trace& trace) : trace_(trace), known_(trace.strings.size(), kUnknown) {}
  [[nodiscard]] bool has(StringId name) {
    std::int8_t& known = known_[name.row()];
    if (known == kUnknown) known = is_one(trace_.text(name)) ? 1 : 0;
    return known == 1;
  }

 private:
  static constexpr std::int8_t kUnknown = -1;

  [[nodiscard]] bool is_one(std::string_view name) const {
    if (name.empty() || name.find_first_of(":<[") != name.npos) return false;
    for (const std::string_view beginning : kOfTorch)
      if (name.starts_with(beginning)) return false;
    const std::size_t last = name.find_last_not_of("0123456789");
    if (last != name.npos && name.substr(0, last + 1).ends_with("Backward")) return false;
    return !trace_.strings.find(std::string(name) + "Backward").valid();
  }

  const Trace& trace_;
  std::vector<std::int8_t> known_;
};

/// The categories that slices have, in the order of the first slice of each. Of the old category,
/// ranges count to today's.
void count_categories(Trace& trace, SharedTables& tables) {
  const std::vector<StringId> names = tables.categories.take();
  std::vector<Category> all;
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), kLastCategory + 1); ++i)
    all.push_back({names[i], kind_of_category(trace.text(names[i])), 0});
  // Of more spellings than there are rows, those of a kind become one: which of them had found a
  // row differs between runs.
  const bool too_many = names.size() > all.size();
  std::array<std::optional<std::uint8_t>, kLastCategory + 1> moved;
  const auto old = std::ranges::find_if(all, [&trace](const Category& category) {
    return trace.text(category.name) == kOldOperators;
  });
  const auto range_row = tables.first_of_kind[static_cast<std::size_t>(SliceKind::user_annotation)];
  OwnRanges ranges(trace);
  for (std::size_t at = 0; at < trace.slices.size(); ++at) {
    std::uint8_t& row = trace.slices.category[at];
    if (too_many) row = tables.first_of_kind[static_cast<std::size_t>(all[row].kind)];
    if (old == all.begin() + row && ranges.has(trace.slices.name[at])) row = range_row;
    std::optional<std::uint8_t>& now = moved[row];
    if (!now) {
      now = static_cast<std::uint8_t>(trace.categories.size());
      trace.categories.push_back(all[row]);
    }
    row = *now;
    ++trace.categories[row].slices;
  }
  log_unknown_categories(trace, too_many);
}

}  // namespace

void drop_lost_times(Batch& rows) {
  const std::size_t count = rows.slices.size();
  if (count == 0) return;
  std::vector<bool> lost(count, false);
  Time first = Time::max();
  for (const Batch::Suspect& suspect : rows.zero_times) lost[suspect.slice] = true;
  for (std::size_t row = 0; row < count; ++row) {
    if (!lost[row]) first = std::min(first, rows.slices.start[row]);
  }
  const bool zeros_lost =
      !rows.zero_times.empty() && first != Time::max() && first >= Time() + kZeroTimeDistance;
  if (!zeros_lost) {
    for (const Batch::Suspect& suspect : rows.zero_times) lost[suspect.slice] = false;
  }
  for (const Batch::Suspect& suspect : rows.zero_times) {
    if (zeros_lost) rows.log.add(Repair::zero_time, suspect.offset);
  }
  const Time middle = middle_start(rows.slices.start);
  std::map<std::uint32_t, std::uint64_t>
      offsets;  // of those slices that may be far from the middle
  for (const Batch::Suspect& suspect : rows.jumps) offsets.emplace(suspect.slice, suspect.offset);
  bool any = zeros_lost;
  for (std::size_t row = 0; row < count; ++row) {
    const Time start = rows.slices.start[row];
    if (lost[row] || (start >= middle - kLongestTrace && start <= middle + kLongestTrace)) continue;
    if (middle == Time() && zeros_lost) continue;
    lost[row] = true;
    any = true;
    const auto offset = offsets.find(static_cast<std::uint32_t>(row));
    rows.log.add(Repair::number_out_of_range, offset != offsets.end() ? offset->second : UINT64_MAX,
                 "start time");
  }
  if (!any) return;
  lost.flip();
  keep_slices(rows, lost);
}

Trace finish_trace(Batch& rows, SharedTables& tables, std::vector<Fact> facts) {
  close_pairs(rows);
  drop_lost_times(rows);
  Trace trace;
  for (Fact& fact : facts) {
    std::string value;
    canonical_json(fact.value, value);
    trace.facts.push_back({std::move(fact.key), std::move(value)});
  }
  trace.import = std::move(rows.log);
  const std::vector<Place> places = tables.places.take();
  trace.strings = std::move(tables.strings);
  build_tracks(rows, places, trace);

  const Time origin = earliest(rows);
  for (Column<Time>* times : {&rows.slices.start, &rows.flows.time, &rows.memory.time,
                              &rows.samples.time, &rows.instants.time}) {
    shift(*times, origin.time_since_epoch());
  }
  const std::int64_t base = base_time_ns(trace);
  if (__builtin_add_overflow(to_ns(origin), base, &trace.origin_ns))
    trace.origin_ns = to_ns(origin);
  trace.origin_is_unix = trace.origin_ns >= kUnixTimesBegin;

  static_cast<SliceTables&>(trace) = std::move(static_cast<SliceTables&>(rows));
  trace.flows = std::move(rows.flows);
  trace.memory = std::move(rows.memory);
  trace.samples = std::move(rows.samples);
  trace.instants = std::move(rows.instants);
  trace.signatures = tables.signatures.take();
  trace.launch_configs = tables.launch_configs.take();
  count_categories(trace, tables);
  trace.span = span_of(trace);
  read_facts(trace);
  return trace;
}

}  // namespace fathom::chrome
