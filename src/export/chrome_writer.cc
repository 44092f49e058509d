// Chrome trace events, as Kineto writes them and as this program reads them.
#include <array>
#include <string>
#include <vector>

#include "export/chosen.h"
#include "export/chrome_header.h"
#include "export/json_text.h"
#include "export/launch_flows.h"
#include "export/memory_totals.h"
#include "export/slice_arguments.h"
#include "export/writer.h"
#include "formats/chrome/derived.h"
#include "formats/chrome/shared_tables.h"
#include "store/kineto_category.h"

namespace fathom {
namespace {

/// Opens the arguments of an event at the first of them.
class ArgumentWriter {
 public:
  ArgumentWriter(const Trace& trace, JsonText& json, WriteBuffer& out)
      : trace_(trace), json_(json), out_(out) {}

  void integer(std::string_view key, std::int64_t value) { begin(key).number(value); }
  void real(std::string_view key, double value) { write_real(begin(key), value); }
  void text(std::string_view key, StringId value) {
    begin(key);
    json_.quoted(value);
  }
  void json(std::string_view key, StringId value) { begin(key).text(trace_.text(value)); }
  void sizes(std::string_view key, const std::array<std::int32_t, 3>& value) {
    begin(key).character('[').number(value[0]).character(',').number(value[1]);
    out_.character(',').number(value[2]).character(']');
  }
  void end() {
    if (any_) out_.character('}');
    any_ = false;
  }

 private:
  WriteBuffer& begin(std::string_view key) {
    out_.text(any_ ? "," : ",\"args\":{");
    any_ = true;
    json_.quoted(key);
    return out_.character(':');
  }

  const Trace& trace_;
  JsonText& json_;
  WriteBuffer& out_;
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
    write_chrome_header(trace_, json_, out_);
    any_ = write_chrome_metadata(trace_, json_, out_);
    slices();
    flows();
    instants();
    memory();
    memory_counters();
    samples();
    out_.text("\n]}\n");
    counts_.bytes = out_.written();
    const Result<void> done = out_.finish();
    if (!done) return done.error();
    return counts_;
  }

 private:
  void begin(std::string_view phase) {
    out_.text(any_ ? ",\n{\"ph\":\"" : "{\"ph\":\"").text(phase).character('"');
    any_ = true;
    ++counts_.events;
  }
  void end() { out_.character('}'); }
  void place(TrackId id) {
    const Track& track = trace_.tracks[id.row()];
    const bool thread =
        track.kind == TrackKind::host_thread || track.kind == TrackKind::device_stream;
    out_.text(",\"pid\":");
    json_.number_or_quoted(trace_.text(track.process));
    out_.text(",\"tid\":");
    json_.number_or_quoted(thread ? trace_.text(track.thread) : "0");
  }
  /// Microseconds with what is left of them: exact.
  void micro(std::int64_t ns) {
    constexpr std::uint64_t kUnit = 1000;
    std::uint64_t size = static_cast<std::uint64_t>(ns);
    if (ns < 0) {
      out_.character('-');
      size = 0 - size;
    }
    out_.number(size / kUnit);
    const std::uint64_t rest = size % kUnit;
    if (rest == 0) return;
    out_.character('.').character(static_cast<char>('0' + rest / 100));
    out_.character(static_cast<char>('0' + rest / 10 % 10));
    out_.character(static_cast<char>('0' + rest % 10));
  }
  void time(Time at) {
    out_.text(",\"ts\":");
    micro(static_cast<std::int64_t>(static_cast<std::uint64_t>(to_ns(at)) + offset_));
  }
  void category_and_name(SliceId id) {
    out_.text(",\"cat\":");
    json_.quoted(categories_[trace_.slices.category[id.row()]]);
    out_.text(",\"name\":");
    json_.quoted(trace_.slices.name[id.row()]);
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
  JsonText json_;
  std::uint64_t offset_;
  std::vector<std::string_view> categories_;
  WriteCounts counts_;
  bool any_ = false;  // events so far
};

void ChromeWriter::slices() {
  ArgumentWriter arguments(trace_, json_, out_);
  for (std::size_t row = 0; row < trace_.slices.size() && !out_.stopped(); ++row) {
    if (!chosen_.slice(row)) continue;
    const SliceId id(row);
    const bool async = trace_.track(id).kind == TrackKind::async;
    begin(async ? "b" : "X");
    category_and_name(id);
    if (async) out_.text(",\"id\":").number(row + 1);
    place(trace_.slices.track[row]);
    time(trace_.slices.start[row]);
    if (!async) {
      out_.text(",\"dur\":");
      micro(to_ns(trace_.slices.duration[row]));
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
  out_.text(",\"id\":").number(id.row() + 1);
  place(trace_.slices.track[id.row()]);
  time(trace_.slices.end(id));
  end();
  --counts_.events;
}

void ChromeWriter::flow(std::string_view phase, std::int64_t id, StringId category,
                        std::string_view name, TrackId track, Time at) {
  begin(phase);
  out_.text(",\"id\":").number(static_cast<std::uint64_t>(id));
  place(track);
  time(at);
  const std::string_view text = category.valid() ? trace_.text(category) : name;
  if (category.valid() || !name.empty()) {
    out_.text(",\"cat\":");
    json_.quoted(text);
  }
  out_.text(",\"name\":");
  json_.quoted(text);
  // Binds to the slice around it; otherwise it would bind to the next one.
  if (phase == "f") out_.text(",\"bp\":\"e\"");
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
  ArgumentWriter arguments(trace_, json_, out_);
  auto argument = trace_.instant_arguments.begin();
  for (std::size_t row = 0; row < trace_.instants.size() && !out_.stopped(); ++row) {
    if (!chosen_.moment(trace_.instants.track[row], trace_.instants.time[row])) continue;
    begin("i");
    out_.text(",\"s\":\"t\"");
    out_.text(",\"name\":");
    json_.quoted(trace_.instants.name[row]);
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
  ArgumentWriter arguments(trace_, json_, out_);
  const MemoryEvents& memory = trace_.memory;
  for (std::size_t row = 0; row < memory.size() && !out_.stopped(); ++row) {
    if (!chosen_.moment(memory.track[row], memory.time[row])) continue;
    begin("i");
    out_.text(R"(,"s":"t","cat":"cpu_instant_event","name":"[memory]")");
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
    out_.text(",\"cat\":\"").text(chrome::kDerivedCategory).text("\",\"name\":");
    json_.quoted(MemoryTotals::series(memory, row));
    place(memory.track[row]);
    time(memory.time[row]);
    out_.text(",\"args\":{\"allocated\":").number(total.allocated);
    if (total.reserved != kAbsent) out_.text(",\"reserved\":").number(total.reserved);
    out_.character('}');
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
    out_.text(",\"name\":");
    json_.quoted(series.substr(0, space));
    place(id);
    time(trace_.samples.time[row]);
    out_.text(",\"args\":{");
    const std::string_view unit = track.unit.valid() ? trace_.text(track.unit) : "";
    json_.quoted(space != std::string_view::npos ? series.substr(space + 1)
                 : unit.empty()                  ? "value"
                                                 : unit);
    out_.character(':');
    write_real(out_, trace_.samples.value[row]);
    out_.character('}');
    end();
  }
}

constexpr std::string_view kExtensions[] = {".json"};

}  // namespace

TraceWriter chrome_writer() {
  return {.id = "chrome",
          .title = "Chrome trace events (JSON): Perfetto, chrome://tracing, this program",
          .text = true,
          .extensions = kExtensions,
          .write = [](const Trace& trace, const WriteSelection& selection, ByteSink& sink) {
            return ChromeWriter(trace, selection, sink).run();
          }};
}

}  // namespace fathom
