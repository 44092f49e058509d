// syncs: the calls that made the host wait for the device, by where they come from.
#include "analysis/accounting/syncs.h"

#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "reports/groups.h"
#include "reports/report.h"

namespace fathom {
namespace syncs_report {
namespace {

constexpr std::string_view kGroupBy[] = {"call", "site"};

/// The innermost line of an operator's recorded call stack ("a.py(1): f\nb.py(2): g" or separated
/// by ';').
std::string_view innermost_line(std::string_view stack) {
  return stack.substr(0, stack.find_first_of(";\n"));
}

/// Borrowed from the trace; empty where none was recorded.
std::string_view frame_text(const Trace& trace, const SyncCall& sync) {
  if (sync.frame.valid()) return trace.name(sync.frame);
  if (!sync.op.valid()) return {};
  const std::uint32_t detail = trace.slices.detail[sync.op.row()];
  return detail == SliceId::kNone ? std::string_view()
                                  : innermost_line(trace.text(trace.ops.stack[detail]));
}

std::string_view thread_text(const Trace& trace, TrackId thread) {
  const Track& track = trace.tracks[thread.row()];
  const std::string_view name = trace.text(track.name);
  return name.empty() ? trace.text(track.thread) : name;
}

/// Calls of one name that wait for one reason in one place of the program, or a single call.
struct Site {
  SyncCall first;
  std::string_view frame;  // borrowed from the trace
  std::uint64_t calls = 0;
  Duration blocked{};
  std::optional<Duration> idle_after;
  Agreed<TrackId> thread;
  Agreed<std::int32_t> device;  // -1 where it is not known
};

using SyncRows = ReportRows<Site, const Trace*>;

std::optional<std::string_view> operator_of(const Site& site, const Trace* trace) {
  return site.first.op.valid() ? std::optional(trace->name(site.first.op)) : std::nullopt;
}

std::optional<std::string_view> thread_of(const Site& site, const Trace* trace) {
  const std::optional<TrackId> thread = site.thread.get();
  return thread ? std::optional(thread_text(*trace, *thread)) : std::nullopt;
}

Duration start_of(const Site& site, const Trace* trace) {
  return trace->slices.start[site.first.call.row()] - trace->span.begin;
}

constexpr SyncRows::Column kColumns[] = {
    {"name", ColumnKind::name, "", "Name of the synchronising call.",
     [](const Site& site, const Trace* trace) { return trace->name(site.first.call); }},
    {"operator", ColumnKind::name, "", "Innermost operator around the call, or null.",
     by<operator_of>},
    {"python_frame", ColumnKind::name, "", "Innermost Python frame around the call, or null.",
     [](const Site& site) { return text_or_null(site.frame); }},
    {"reason", ColumnKind::text, "",
     "Why it waits: synchronize, blocking copy, blocking fill or pageable copy.",
     [](const Site& site) { return to_string(site.first.reason); }},
    {"calls", ColumnKind::count, "", "How many calls the row sums up.", by<&Site::calls>},
    {"blocked_ns", ColumnKind::duration_ns, "ns",
     "Sum of the durations of the calls: how long the host waited.", by<&Site::blocked>},
    {"idle_after_ns", ColumnKind::duration_ns, "ns",
     "Device idle from the return of a call to the next activity, or to the next synchronising "
     "call about it, summed; null where the trace does not show it.",
     by<&Site::idle_after>},
    {"start_ns", ColumnKind::time_ns, "ns",
     "Start of the call, or of the first of them, from the start of the trace.", by<start_of>},
    {"thread", ColumnKind::text, "", "Thread that waited, where all calls agree.", by<thread_of>},
    {"device", ColumnKind::integer, "",
     "Device that they most likely waited for, where all agree, or null.",
     [](const Site& site) { return shared_value(site.device, -1); }},
};

class Sites {
 public:
  Sites(const Trace& trace, bool every_call) : trace_(trace), every_call_(every_call) {}

  void add(const SyncCall& sync) {
    Site& site = site_of(sync);
    ++site.calls;
    site.blocked += trace_.slices.duration[sync.call.row()];
    if (sync.idle_after) site.idle_after = site.idle_after.value_or(Duration()) + *sync.idle_after;
    site.thread.add(trace_.slices.track[sync.call.row()]);
    site.device.add(sync.device.value_or(-1));
  }
  [[nodiscard]] std::vector<Site> take() { return std::move(sites_); }

 private:
  using Key = std::tuple<std::uint32_t, SyncReason, std::uint32_t, std::string_view>;

  Site& site_of(const SyncCall& sync) {
    const auto name = [this](SliceId slice) {
      return slice.valid() ? trace_.slices.name[slice.row()].value : StringId::kNone;
    };
    const std::string_view frame = frame_text(trace_, sync);
    std::size_t number = sites_.size();
    if (!every_call_) {
      const Key key{name(sync.call), sync.reason, name(sync.op), frame};
      number = numbers_.try_emplace(key, number).first->second;
    }
    if (number == sites_.size()) {
      Site& site = sites_.emplace_back();
      site.first = sync;
      site.frame = frame;
    }
    return sites_[number];
  }

  const Trace& trace_;
  bool every_call_;
  std::map<Key, std::size_t> numbers_;
  std::vector<Site> sites_;
};

Result<SyncRows> compute(const Context& context) {
  const Selector selector = context.selector();
  Sites sites(context.trace, context.options.group_by != "site");
  for (const SyncCall& sync : compute_syncs(context)) {
    if (!selector.host(context.trace, sync.call)) continue;
    if (selector.device && sync.device != selector.device) continue;
    sites.add(sync);
  }
  return SyncRows{.rows = sites.take(), .shared = &context.trace};
}

constexpr std::string_view kImportance[] = {
    "name",     "operator",     "calls",  "idle_after_ns", "blocked_ns",
    "start_ns", "python_frame", "reason", "device",        "thread"};

constexpr Need kNeeds[] = {{StoreTable::calls}};

Report report() {
  return report_of<kColumns, compute>(
      {.id = "syncs",
       .title = "Calls that make the host wait, what called them, and the idle time they leave",
       .doc = "One row per call; --group-by site sums the calls of one name, reason, operator and "
              "Python "
              "frame. Device, stream and event synchronisation, blocking copies and fills, and "
              "asynchronous copies of pageable host memory that wait. Waiting is harmless while "
              "the device has "
              "work; the idle device time that follows is what a synchronisation costs.",
       .group_by = kGroupBy,
       .sort = "-idle_after_ns",
       .example = "fathom syncs trace.json.gz --group-by site",
       .needs = kNeeds,
       .none = "None of the recorded calls waits for a device.",
       .importance = kImportance});
}

}  // namespace
}  // namespace syncs_report

Report syncs() { return syncs_report::report(); }

}  // namespace fathom
