// Chrome trace events, as Kineto writes them and as this program reads them.
#include <array>
#include <string>
#include <vector>

#include "export/chosen.h"
#include "export/chrome_header.h"
#include "export/launch_flows.h"
#include "export/memory_totals.h"
#include "export/slice_arguments.h"
#include "export/trace_json.h"
#include "export/writer.h"
#include "formats/chrome/derived.h"
#include "formats/chrome/shared_tables.h"
#include "store/kineto_category.h"

namespace fathom {
namespace chrome_format {
namespace {

/// Opens the arguments of an event at the first of them.
class ArgumentWriter {
 public:
  ArgumentWriter(const Trace& trace, TraceJson& json) : trace_(trace), json_(json) {}

  void integer(std::string_view key, std::int64_t value) { begin(key).integer(value); }
  // JSON has no other numbers; readers take null as not recorded.
  void real(std::string_view key, double value) { begin(key).real(value); }
  void text(std::string_view key, StringId value) { begin(key).name(value); }
  void json(std::string_view key, StringId value) { begin(key).raw(trace_.text(value)); }
  void sizes(std::string_view key, const std::array<std::int32_t, 3>& value) {
    begin(key).array();
    for (const std::int32_t size : value) json_.integer(size);
    json_.end();
  }
  void end() {
    if (any_) json_.end();
    any_ = false;
  }

 private:
  TraceJson& begin(std::string_view key) {
    if (!any_) json_.key("args").object();
    any_ = true;
    json_.key(key);
    return json_;
  }

  const Trace& trace_;
  TraceJson& json_;
  bool any_ = false;
};

/// The category as readers of Chrome traces know its kind: a recording of ours has others.
std::string_view chrome_category(const Trace& trace, const Category& category) {
  const std::string_view name = trace.text(category.name);
  if (chrome::kind_of_category(name) == category.kind) return name;
  return category.kind == SliceKind::other ? name : kineto_category(category.kind);
}

class ChromeWriter {
 public:
  ChromeWriter(const Trace& trace, const WriteSelection& selection, ByteSink& sink)
      : trace_(trace),
        chosen_(trace, selection),
        out_(sink),
        json_(trace, out_),
        offset_(static_cast<std::uint64_t>(chrome_offset_ns(trace))) {
    for (const Category& category : trace.categories)
      categories_.push_back(chrome_category(trace, category));
  }

  Result<WriteCounts> run() {
    constexpr JsonLayout kLines = {"\n", ",\n", "", ": "};
    constexpr JsonLayout kEvents = {"\n", ",\n", "\n", ":"};
    json_.object(kLines);
    write_chrome_header(trace_, json_);
    json_.key("traceEvents").array(kEvents);
    write_chrome_metadata(trace_, json_);
    slices();
    flows();
    instants();
    memory();
    memory_counters();
    samples();
    json_.end().end();
    out_.character('\n');
    counts_.bytes = out_.written();
    const Result<void> done = out_.finish();
    if (!done) return done.error();
    return counts_;
  }

 private:
  void begin(std::string_view phase) {
    json_.object(kJsonCompact).key("ph").plain_text(phase);
    ++counts_.events;
  }
  void end() { json_.end(); }
  void place(TrackId id) {
    const Track& track = trace_.tracks[id.row()];
    const bool thread =
        track.kind == TrackKind::host_thread || track.kind == TrackKind::device_stream;
    json_.key("pid");
    json_.number_or_text(trace_.text(track.process)).key("tid");
    json_.number_or_text(thread ? trace_.text(track.thread) : "0");
  }
  void time(Time at) {
    json_.key("ts");
    json_.micro(static_cast<std::int64_t>(static_cast<std::uint64_t>(to_ns(at)) + offset_));
  }
  void category_and_name(SliceId id) {
    json_.member("cat", categories_[trace_.slices.category[id.row()]]).key("name");
    json_.name(trace_.slices.name[id.row()]);
  }

  void slices();
  void end_of(SliceId id);
  void flow(std::string_view phase, std::int64_t id, StringId category, std::string_view name,
            TrackId track, Time at);
  void flows();
  void instants();
  void memory();
  void memory_counters();
  void samples();

  const Trace& trace_;
  Chosen chosen_;
  WriteBuffer out_;
  TraceJson json_;
  std::uint64_t offset_;
  std::vector<std::string_view> categories_;
  WriteCounts counts_;
};

void ChromeWriter::slices() {
  ArgumentWriter arguments(trace_, json_);
  for (std::size_t row = 0; row < trace_.slices.size() && !out_.stopped(); ++row) {
    if (!chosen_.slice(row)) continue;
    const SliceId id(row);
    const bool async = trace_.track(id).kind == TrackKind::async;
    begin(async ? "b" : "X");
    category_and_name(id);
    if (async) json_.member("id", row + 1);
    place(trace_.slices.track[row]);
    time(trace_.slices.start[row]);
    if (!async) {
      json_.key("dur");
      json_.micro(to_ns(trace_.slices.duration[row]));
    }
    visit_arguments(trace_, id, arguments);
    arguments.end();
    end();
    if (async) end_of(id);
  }
}

/// The end of a slice that may overlap its neighbours.
void ChromeWriter::end_of(SliceId id) {
  begin("e");
  category_and_name(id);
  json_.member("id", id.row() + 1);
  place(trace_.slices.track[id.row()]);
  time(trace_.slices.end(id));
  end();
  --counts_.events;
}

void ChromeWriter::flow(std::string_view phase, std::int64_t id, StringId category,
                        std::string_view name, TrackId track, Time at) {
  begin(phase);
  json_.member("id", static_cast<std::uint64_t>(id));
  place(track);
  time(at);
  const std::string_view text = category.valid() ? trace_.text(category) : name;
  if (category.valid() || !name.empty()) json_.member("cat", text);
  json_.member("name", text);
  // Binds to the slice around it; otherwise it would bind to the next one.
  if (phase == "f") json_.member("bp", "e");
  end();
}

void ChromeWriter::flows() {
  constexpr std::array<std::string_view, 3> kPhases = {"s", "t", "f"};
  const FlowPoints& points = trace_.flows;
  for (std::size_t row = 0; row < points.size() && !out_.stopped(); ++row) {
    if (!chosen_.flow(row)) continue;
    flow(kPhases[static_cast<std::size_t>(points.phase[row])], points.id[row], points.category[row],
         {}, points.track[row], points.time[row]);
  }
  // A Chrome trace that came without arrows leaves as it came.
  if (trace_.format == "chrome-json") return;
  std::int64_t id = 0;
  for (const LaunchFlow& arrow : launch_flows(trace_)) {
    if (!chosen_.slice(arrow.launch.row()) || !chosen_.slice(arrow.activity.row())) continue;
    ++id;
    for (const auto& [phase, slice] :
         {std::pair("s", arrow.launch), std::pair("f", arrow.activity)})
      flow(phase, id, {}, kLaunchFlow, trace_.slices.track[slice.row()],
           trace_.slices.start[slice.row()]);
  }
}

void ChromeWriter::instants() {
  ArgumentWriter arguments(trace_, json_);
  auto argument = trace_.instant_arguments.begin();
  for (std::size_t row = 0; row < trace_.instants.size() && !out_.stopped(); ++row) {
    if (!chosen_.moment(trace_.instants.track[row], trace_.instants.time[row])) continue;
    begin("i");
    json_.member("s", "t").key("name");
    json_.name(trace_.instants.name[row]);
    place(trace_.instants.track[row]);
    time(trace_.instants.time[row]);
    while (argument != trace_.instant_arguments.end() && argument->row < row) ++argument;
    for (; argument != trace_.instant_arguments.end() && argument->row == row; ++argument)
      arguments.text(trace_.text(argument->key), argument->value);
    arguments.end();
    end();
  }
}

void ChromeWriter::memory() {
  ArgumentWriter arguments(trace_, json_);
  const MemoryEvents& memory = trace_.memory;
  for (std::size_t row = 0; row < memory.size() && !out_.stopped(); ++row) {
    if (!chosen_.moment(memory.track[row], memory.time[row])) continue;
    begin("i");
    json_.member("s", "t").member("cat", "cpu_instant_event").member("name", "[memory]");
    place(memory.track[row]);
    time(memory.time[row]);
    export_detail::row_arguments(arguments, memory.row(row));
    arguments.end();
    end();
  }
}

/// What the allocator events add up to, for viewers; readers of ours leave this category out.
void ChromeWriter::memory_counters() {
  MemoryTotals totals;
  const MemoryEvents& memory = trace_.memory;
  for (std::size_t row = 0; row < memory.size() && !out_.stopped(); ++row) {
    const MemoryTotals::Total& total = totals.add(memory, row);
    if (!chosen_.moment(memory.track[row], memory.time[row])) continue;
    begin("C");
    json_.member("cat", chrome::kDerivedCategory);
    json_.member("name", MemoryTotals::series(memory, row));
    place(memory.track[row]);
    time(memory.time[row]);
    json_.key("args").object().member("allocated", total.allocated);
    if (total.reserved != kAbsent) json_.member("reserved", total.reserved);
    json_.end();
    end();
  }
}

/// Readers join name and key with a space.
void ChromeWriter::samples() {
  for (std::size_t row = 0; row < trace_.samples.size() && !out_.stopped(); ++row) {
    const TrackId id = trace_.samples.track[row];
    if (!chosen_.moment(id, trace_.samples.time[row])) continue;
    const Track& track = trace_.tracks[id.row()];
    const std::string_view series = trace_.text(track.thread);
    const std::size_t space = series.rfind(' ');
    begin("C");
    json_.member("name", series.substr(0, space));
    place(id);
    time(trace_.samples.time[row]);
    const std::string_view unit = track.unit.valid() ? trace_.text(track.unit) : "";
    const std::string_view key = space != std::string_view::npos ? series.substr(space + 1)
                                 : unit.empty()                  ? "value"
                                                                 : unit;
    json_.key("args").object().member(key, trace_.samples.value[row]).end();
    end();
  }
}

constexpr std::string_view kExtensions[] = {".json"};

}  // namespace
}  // namespace chrome_format

TraceWriter chrome_writer() {
  return {.id = "chrome",
          .title = "Chrome trace events (JSON): Perfetto, chrome://tracing, this program",
          .text = true,
          .extensions = chrome_format::kExtensions,
          .write = [](const Trace& trace, const WriteSelection& selection, ByteSink& sink) {
            return chrome_format::ChromeWriter(trace, selection, sink).run();
          }};
}

}  // namespace fathom
