// ranges: what the program itself named: annotations, ranges and marks of NVTX, torch and the SDK.
#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/groups.h"
#include "reports/report.h"
#include "store/profiler_step.h"

namespace fathom {
namespace ranges_report {
namespace {

constexpr std::string_view kGroupBy[] = {"name", "thread"};

/// What the program details of one range or mark.
struct RangeDetails {
  StringId domain{};
  StringId category{};
  StringId color{};
  StringId payload{};
};

struct Group {
  StringId name{};
  std::string_view kind;
  RangeDetails details;
  TrackId track;
  std::uint64_t calls = 0;
  std::int64_t total = 0;
  std::int64_t min = std::numeric_limits<std::int64_t>::max();
  std::int64_t max = 0;
  std::uint64_t payloads = 0;
  double payload_sum = 0;
  double payload_min = std::numeric_limits<double>::infinity();
  double payload_max = -std::numeric_limits<double>::infinity();
};

struct Shared {
  const Trace* trace = nullptr;
  bool by_thread = false;
};
using RangeRows = ReportRows<Group, Shared>;

bool lasts(const Group& group) { return group.kind != "mark"; }

/// Unset for a mark, which has no duration.
std::optional<std::int64_t> of_range(const Group& group, std::int64_t ns) {
  return lasts(group) ? std::optional(ns) : std::nullopt;
}

std::int64_t mean_of(const Group& group) {
  const auto calls = static_cast<std::int64_t>(group.calls);
  return (group.total + calls / 2) / calls;
}

std::optional<double> of_payloads(const Group& group, double value) {
  return group.payloads == 0 ? std::nullopt : std::optional(value);
}

std::optional<double> payload_mean(const Group& group) {
  return of_payloads(
      group, group.payload_sum / static_cast<double>(std::max<std::uint64_t>(group.payloads, 1)));
}

std::optional<std::string_view> text_of(StringId id, const Shared& shared) {
  return id.valid() ? text_or_null(shared.trace->text(id)) : std::nullopt;
}

std::optional<std::string> thread_of(const Group& group, const Shared& shared) {
  if (!shared.by_thread) return {};
  const Track& track = shared.trace->tracks[group.track.row()];
  return std::string(shared.trace->text(track.process)) + "/" +
         std::string(shared.trace->text(track.thread));
}

constexpr RangeRows::Column kColumns[] = {
    {"name", ColumnKind::name, "", "What the program calls it.",
     [](const Group& group, const Shared& shared) { return text_of(group.name, shared); }},
    {"kind", ColumnKind::text, "",
     "annotation (begins and ends on one thread), range (need not nest), frame, loader.fetch and "
     "the like as recorded, or mark for a moment.",
     by<&Group::kind>},
    {"domain", ColumnKind::text, "", "NVTX's domain, null for the default one.",
     [](const Group& group, const Shared& shared) {
       return text_of(group.details.domain, shared);
     }},
    {"category", ColumnKind::text, "", "NVTX's category: its name, else its number.",
     [](const Group& group, const Shared& shared) {
       return text_of(group.details.category, shared);
     }},
    {"thread", ColumnKind::text, "", "Process/thread, when grouped by thread.", by<thread_of>, true,
     "thread"},
    {"calls", ColumnKind::count, "", "How many there were.", by<&Group::calls>},
    {"total_ns", ColumnKind::duration_ns, "ns",
     "Sum of their durations; what is inside of another of the same name counts twice.",
     [](const Group& group) { return of_range(group, group.total); }},
    {"mean_ns", ColumnKind::duration_ns, "ns", "Mean duration, rounded.",
     [](const Group& group) { return of_range(group, mean_of(group)); }},
    {"min_ns", ColumnKind::duration_ns, "ns", "Shortest duration.",
     [](const Group& group) { return of_range(group, group.min); }, true},
    {"max_ns", ColumnKind::duration_ns, "ns", "Longest duration.",
     [](const Group& group) { return of_range(group, group.max); }},
    {"payloads", ColumnKind::count, "", "How many came with a number of the program's.",
     by<&Group::payloads>, true},
    {"payload_mean", ColumnKind::real, "", "Mean of these numbers.", by<payload_mean>},
    {"payload_min", ColumnKind::real, "", "Smallest of these numbers.",
     [](const Group& group) { return of_payloads(group, group.payload_min); }, true},
    {"payload_max", ColumnKind::real, "", "Largest of these numbers.",
     [](const Group& group) { return of_payloads(group, group.payload_max); }, true},
    {"color", ColumnKind::text, "", "Colour as #aarrggbb, of the first that has one.",
     [](const Group& group, const Shared& shared) { return text_of(group.details.color, shared); },
     true},
};

class Ranges {
 public:
  explicit Ranges(const Context& context)
      : trace_(context.trace),
        selector_(context.selector()),
        by_thread_(context.options.group_by == "thread"),
        annotation_(trace_.categories.size()) {
    for (std::size_t row = 0; row < trace_.categories.size(); ++row)
      annotation_[row] = trace_.categories[row].kind == SliceKind::user_annotation;
  }

  std::vector<Group> all() {
    slices();
    marks();
    return std::move(groups_);
  }

 private:
  void slices() {
    auto next = trace_.slice_arguments.begin();
    for (std::size_t row = 0; row < trace_.slices.size(); ++row) {
      const SliceId slice(row);
      const std::uint8_t category = trace_.slices.category[row];
      if (!annotation_[category] || !selector_.host(trace_, slice)) continue;
      if (is_profiler_step(trace_.name(slice))) continue;  // steps have a table of their own
      const RangeDetails details = said_of(trace_.slice_arguments, next, row);
      Group& group = group_of(trace_.slices.name[row], category, details, trace_.slices.track[row]);
      if (group.calls == 0) group.kind = trace_.text(trace_.categories[category].name);
      const std::int64_t duration = to_ns(trace_.slices.duration[row]);
      group.total += duration;
      group.min = std::min(group.min, duration);
      group.max = std::max(group.max, duration);
      add(group, details);
    }
  }

  void marks() {
    auto next = trace_.instant_arguments.begin();
    for (std::size_t row = 0; row < trace_.instants.size(); ++row) {
      if (!selector_.time(trace_.instants.time[row])) continue;
      const RangeDetails details = said_of(trace_.instant_arguments, next, row);
      Group& group =
          group_of(trace_.instants.name[row], kMark, details, trace_.instants.track[row]);
      group.kind = "mark";
      add(group, details);
    }
  }

  using Next = std::vector<Argument>::const_iterator;
  RangeDetails said_of(const std::vector<Argument>& arguments, Next& next, std::size_t row) const {
    while (next != arguments.end() && next->row < row) ++next;
    RangeDetails details;
    for (; next != arguments.end() && next->row == row; ++next) {
      const std::string_view key = trace_.text(next->key);
      if (key == "domain") details.domain = next->value;
      if (key == "category") details.category = next->value;
      if (key == "color") details.color = next->value;
      if (key == "payload") details.payload = next->value;
    }
    return details;
  }

  Group& group_of(StringId name, std::uint32_t kind, const RangeDetails& details, TrackId track) {
    const std::size_t what = whats_.of(pair_key(name.value, kind));
    const std::size_t where = wheres_.of(pair_key(details.domain.value, details.category.value));
    const std::size_t both =
        boths_.of(pair_key(static_cast<std::uint32_t>(what), static_cast<std::uint32_t>(where)));
    const std::size_t number =
        index_.of(pair_key(static_cast<std::uint32_t>(both), by_thread_ ? track.value : 0));
    if (number == groups_.size())
      groups_.push_back({.name = name, .details = details, .track = track});
    return groups_[number];
  }

  void add(Group& group, const RangeDetails& details) const {
    ++group.calls;
    if (!group.details.color.valid()) group.details.color = details.color;
    if (!details.payload.valid()) return;
    const std::string_view text = trace_.text(details.payload);
    double value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc() || value - value != 0) return;
    ++group.payloads;
    group.payload_sum += value;
    group.payload_min = std::min(group.payload_min, value);
    group.payload_max = std::max(group.payload_max, value);
  }

  static constexpr std::uint32_t kMark = 256;  // above all categories
  const Trace& trace_;
  Selector selector_;
  bool by_thread_;
  std::vector<bool> annotation_;
  GroupIndex whats_;
  GroupIndex wheres_;
  GroupIndex boths_;
  GroupIndex index_;
  std::vector<Group> groups_;
};

Result<RangeRows> compute(const Context& context) {
  RangeRows ranges{.rows = Ranges(context).all(),
                   .shared = {&context.trace, context.options.group_by == "thread"}};
  std::ranges::stable_sort(ranges.rows, std::ranges::greater(), &Group::total);
  return ranges;
}

constexpr Need kNeeds[] = {{StoreTable::ranges}};
constexpr std::string_view kImportance[] = {"name",   "total_ns", "calls",  "mean_ns",     "kind",
                                            "domain", "category", "max_ns", "payload_mean"};

Report report() {
  return report_of<kColumns, compute>(
      {.id = "ranges",
       .title = "Ranges and marks that the program named: NVTX, annotations of torch and ours",
       .doc = "One row per name, kind, domain and category; --group-by thread: per thread too. "
              "Ranges belong to the steps or the window in which they start. Steps are in `steps`; "
              "`ops` has the device time of annotations.",
       .group_by = kGroupBy,
       .sort = "",
       .example = "fathom ranges fathom-runs/20260101-120000-train",
       .needs = kNeeds,
       .none = "Only steps were annotated: fathom steps has them.",
       .importance = kImportance});
}

}  // namespace
}  // namespace ranges_report

Report ranges() { return ranges_report::report(); }

}  // namespace fathom
