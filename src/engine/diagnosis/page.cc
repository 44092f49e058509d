// Collects what the diagnosis page shows beside the diagnosis.
#include "engine/diagnosis/page.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "analysis/operators/folded_stacks.h"

namespace fathom {
namespace {

constexpr std::array<std::string_view, 8> kTables = {"accounting", "gaps",     "ops",   "kernels",
                                                     "copies",     "launches", "syncs", "roofline"};

Request page_request(const DiagnosisRequest& asked) {
  Request request{.steps = asked.steps,
                  .device = asked.device,
                  .window = asked.window,
                  .options = {.peaks = asked.peaks},
                  .query = {}};
  request.query.limit = kPageRows;
  return request;
}

/// Adds the table, unless it is empty.
Result<void> add_table(const Session& session, std::string_view id, const Request& request,
                       std::vector<View>& views) {
  const Report* const report = find_report(id);
  if (report == nullptr) return {};
  Result<View> view = session.run(*report, request);
  if (!view) return std::move(view).error();
  if (!view->table.empty()) views.push_back(std::move(*view));
  return {};
}

Result<std::vector<View>> tables_of(const Session& session, const DiagnosisRequest& asked) {
  std::vector<View> views;
  for (const std::string_view id : kTables) {
    Request request = page_request(asked);
    // A plot is drawn of it, which needs what the table does not show.
    if (id == "roofline") request.query.columns = {"all"};
    const Result<void> added = add_table(session, id, request, views);
    if (!added) return added.error();
  }
  return views;
}

Result<std::vector<View>> phases_of(const Session& session, const DiagnosisRequest& asked) {
  std::vector<View> views;
  Request request = page_request(asked);
  request.options.group_by = "phase";
  const Result<void> added = add_table(session, "accounting", request, views);
  if (!added) return added.error();
  return views;
}

/// What the recording says of the machine and the run, as far as it is short.
std::vector<std::pair<std::string, std::string>> conditions_of(const Session& session) {
  std::vector<std::pair<std::string, std::string>> out;
  out.emplace_back("input", session.input());
  const Trace& trace = session.trace();
  out.emplace_back("format", trace.format);
  for (const Device& device : trace.devices) {
    out.emplace_back("device " + std::to_string(device.id), device.name);
  }
  if (trace.distributed) {
    out.emplace_back("distributed", trace.distributed->backend + ", rank " +
                                        std::to_string(trace.distributed->rank) + " of " +
                                        std::to_string(trace.distributed->world_size));
  }
  constexpr std::size_t kLongest = 80;
  for (const Fact& fact : trace.facts) {
    if (fact.value.size() > kLongest) continue;
    const bool quoted = fact.value.size() >= 2 && fact.value.front() == '"';
    out.emplace_back(fact.key, quoted ? fact.value.substr(1, fact.value.size() - 2) : fact.value);
  }
  return out;
}

/// A tree of stacks, children by time.
struct Frame {
  Duration total{};
  std::map<std::string, Frame, std::less<>> children;
};

void add_stack(Frame& root, const FoldedStack& stack) {
  root.total += stack.time;
  Frame* at = &root;
  std::string_view rest = stack.text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    at = &at->children[std::string(rest.substr(0, end))];
    at->total += stack.time;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

void flatten(const Frame& frame, std::uint32_t depth, Duration least, std::vector<FlameNode>& out) {
  std::vector<const std::pair<const std::string, Frame>*> children;
  for (const auto& child : frame.children) children.push_back(&child);
  std::ranges::stable_sort(children, std::ranges::greater(),
                           [](const auto* child) { return child->second.total; });
  for (const auto* const child : children) {
    if (child->second.total < least || out.size() >= kFlameNodes) return;
    out.push_back({.name = child->first, .depth = depth, .total = child->second.total});
    flatten(child->second, depth + 1, least, out);
  }
}

std::vector<FlameNode> flame_of(const Context& context, StackMetric metric) {
  Frame root;
  for (const FoldedStack& stack : compute_folded_stacks(context, metric)) add_stack(root, stack);
  std::vector<FlameNode> out;
  out.push_back({.name = "all", .depth = 0, .total = root.total});
  flatten(root, 1, root.total / 1000, out);
  return out;
}

const StepAccount* median_step(const Diagnosis& diagnosis) {
  std::vector<const StepAccount*> steps;
  for (const StepAccount& step : diagnosis.steps) steps.push_back(&step);
  if (steps.empty()) return nullptr;
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>((steps.size() - 1) / 2);
  std::ranges::nth_element(steps, middle, {},
                           [](const StepAccount* step) { return step->window.length(); });
  return *middle;
}

/// Puts slices on a line, joining what is too short to be seen with its neighbour.
class StripBuilder {
 public:
  StripBuilder(Interval window, std::string name)
      : window_(window), least_(window.length() / static_cast<std::int64_t>(kStripPieces)) {
    track_.name = std::move(name);
  }
  /// In the order of their starts.
  void add(Interval interval, std::string_view name, std::string_view kind) {
    interval.begin = std::max(interval.begin, end_);
    interval.end = std::min(interval.end, window_.end);
    if (interval.begin >= interval.end) return;
    end_ = interval.end;
    std::vector<StripTrack::Piece>& pieces = track_.pieces;
    if (!pieces.empty() && pieces.back().kind == kind &&
        interval.begin - pieces.back().interval.end < least_ && interval.length() < least_) {
      pieces.back().interval.end = interval.end;
      return;
    }
    pieces.push_back({.interval = interval, .name = std::string(name), .kind = kind});
  }
  [[nodiscard]] StripTrack take() { return std::move(track_); }

 private:
  Interval window_;
  Duration least_;
  Time end_ = window_.begin;
  StripTrack track_;
};

std::string track_name(const Trace& trace, TrackId id) {
  const Track& track = trace.tracks[id.row()];
  if (track.kind == TrackKind::device_stream) {
    return "device " + std::to_string(track.device) + ", stream " + std::to_string(track.stream);
  }
  const std::string_view name = trace.text(track.name);
  return name.empty() ? "thread " + std::string(trace.text(track.thread)) : std::string(name);
}

std::string_view strip_kind(Busy busy) {
  switch (busy) {
    case Busy::compute:
      return "compute";
    case Busy::communication:
      return "communication";
    default:
      return "copy";
  }
}

std::vector<StripTrack> strip_of(const Context& context, Interval window) {
  const Trace& trace = context.trace;
  std::vector<StripTrack> strip;
  constexpr std::size_t kThreads = 4;
  for (const Nesting::Thread& thread : context.nesting().work) {
    if (strip.size() == kThreads) break;
    StripBuilder line(window, track_name(trace, thread.track));
    for (const SliceId slice : thread.slices) {
      // Top-level work only: what lies inside of it is in the tables.
      const SliceId parent = context.nesting().parent[slice.row()];
      const bool inside_step = parent.valid() && trace.kind(parent) == SliceKind::user_annotation;
      if (parent.valid() && !inside_step) continue;
      if (trace.kind(slice) == SliceKind::user_annotation && !inside_step) continue;
      const SliceKind kind = trace.kind(slice);
      const bool work = kind == SliceKind::cpu_op || kind == SliceKind::user_annotation;
      line.add({trace.slices.start[slice.row()], trace.slices.end(slice)}, trace.name(slice),
               work ? "operator" : "call");
    }
    if (StripTrack track = line.take(); !track.pieces.empty()) strip.push_back(std::move(track));
  }
  const Timelines& timelines = context.timelines();
  std::map<std::uint32_t, StripBuilder> streams;
  for (const SliceId activity : context.links().activities) {
    if (trace.slices.end(activity) <= window.begin) continue;
    if (trace.slices.start[activity.row()] >= window.end) break;
    const TrackId track = trace.slices.track[activity.row()];
    auto line = streams.find(track.value);
    if (line == streams.end()) {
      line = streams.emplace(track.value, StripBuilder(window, track_name(trace, track))).first;
    }
    line->second.add({trace.slices.start[activity.row()], trace.slices.end(activity)},
                     trace.name(activity), strip_kind(timelines.busy_kind(trace, activity)));
  }
  for (auto& [track, line] : streams) strip.push_back(line.take());
  return strip;
}

}  // namespace

Result<Page> collect_page(const Session& session, const DiagnosisRequest& request,
                          const Diagnosis& diagnosis) {
  Page page;
  page.conditions = conditions_of(session);
  Result<std::vector<View>> tables = tables_of(session, request);
  if (!tables) return std::move(tables).error();
  page.tables = std::move(*tables);
  Result<std::vector<View>> phases = phases_of(session, request);
  if (!phases) return std::move(phases).error();
  page.phases = std::move(*phases);
  const Result<Selection> selection = session.select({.steps = request.steps,
                                                      .device = request.device,
                                                      .window = request.window,
                                                      .options = {},
                                                      .query = {}});
  if (!selection) return Error(selection.error());
  const TableOptions options{.peaks = request.peaks};
  const Context context{session.trace(), session.analyses(), *selection, options};
  const bool device = diagnosis.device >= 0;
  page.flame_metric = device ? "device" : "host";
  page.flame = flame_of(context, device ? StackMetric::device : StackMetric::host);
  if (const StepAccount* const median = median_step(diagnosis)) {
    page.median = *median;
    page.strip = strip_of(context, median->window);
  }
  return page;
}

}  // namespace fathom
