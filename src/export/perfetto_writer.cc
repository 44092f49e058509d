// Perfetto's own trace format: packets of track descriptors and track events.
#include "export/bound_flows.h"
#include "export/lanes.h"
#include "export/memory_totals.h"
#include "export/perfetto_fields.h"
#include "export/perfetto_packets.h"
#include "export/perfetto_tracks.h"
#include "export/slice_arguments.h"
#include "export/writer.h"

namespace fathom::perfetto {
namespace {

class Writer {
 public:
  Writer(const Trace& trace, const WriteSelection& selection, ByteSink& sink)
      : trace_(trace),
        chosen_(trace, selection),
        order_(trace, chosen_),
        flows_(bind_flows(trace, chosen_, order_)),
        out_(sink),
        packets_(trace, out_),
        tracks_(trace, packets_) {}

  Result<WriteCounts> run() {
    for (std::size_t track = 0; track < trace_.tracks.size() && !out_.stopped(); ++track)
      slices(TrackId(track));
    instants();
    memory();
    samples();
    counts_.unbound_flows = flows_.unbound;
    counts_.bytes = out_.written();
    const Result<void> done = out_.finish();
    if (!done) return done.error();
    return counts_;
  }

 private:
  void slices(TrackId track) {
    Lanes lanes(trace_);
    std::vector<std::uint64_t> lines;
    const auto end = [this, &lines](std::uint32_t row, std::size_t line) {
      packets_.begin_event(event::kEnd, lines[line], trace_.slices.end(SliceId(row)));
      packets_.end_event();
    };
    for (const std::uint32_t row : order_.of(track.row())) {
      if (out_.stopped()) return;
      const std::size_t line = lanes.place(row, end);
      if (line == lines.size()) lines.push_back(tracks_.of(track, line));
      begin(row, lines[line]);
    }
    lanes.finish(end);
  }

  void begin(std::uint32_t row, std::uint64_t track) {
    packets_.begin_event(event::kBegin, track, trace_.slices.start[row]);
    packets_.name(trace_.slices.name[row]);
    packets_.category(trace_.slices.category[row]);
    for (const BoundFlow& flow : flows_.of(row)) packets_.flow(flow.arrow, flow.ends);
    visit_arguments(trace_, SliceId(row), packets_);
    packets_.end_event();
    ++counts_.events;
  }

  void instants() {
    auto argument = trace_.instant_arguments.begin();
    for (std::size_t row = 0; row < trace_.instants.size() && !out_.stopped(); ++row) {
      const TrackId track = trace_.instants.track[row];
      if (!chosen_.moment(track, trace_.instants.time[row])) continue;
      const std::uint64_t on = tracks_.of(track);
      packets_.begin_event(event::kInstant, on, trace_.instants.time[row]);
      packets_.name(trace_.instants.name[row]);
      while (argument != trace_.instant_arguments.end() && argument->row < row) ++argument;
      for (; argument != trace_.instant_arguments.end() && argument->row == row; ++argument)
        packets_.text(trace_.text(argument->key), argument->value);
      packets_.end_event();
      ++counts_.events;
    }
  }

  void sample(std::uint64_t track, Time time, double value) {
    packets_.begin_event(event::kCounterValue, track, time);
    packets_.value(value);
    packets_.end_event();
    ++counts_.events;
  }

  void memory() {
    MemoryTotals totals;
    const MemoryEvents& memory = trace_.memory;
    for (std::size_t row = 0; row < memory.size() && !out_.stopped(); ++row) {
      const MemoryTotals::Total total = totals.add(memory, row);
      if (!chosen_.moment(memory.track[row], memory.time[row])) continue;
      const std::string series = MemoryTotals::series(memory, row);
      const std::int64_t pid = trace_.tracks[memory.track[row].row()].pid;
      const std::int32_t device = memory.device_type[row] == 0 ? -1 : memory.device[row];
      sample(tracks_.derived_counter(device, pid, series + " allocated"), memory.time[row],
             static_cast<double>(total.allocated));
      if (total.reserved == kAbsent) continue;
      sample(tracks_.derived_counter(device, pid, series + " reserved"), memory.time[row],
             static_cast<double>(total.reserved));
    }
  }

  void samples() {
    for (std::size_t row = 0; row < trace_.samples.size() && !out_.stopped(); ++row) {
      const TrackId track = trace_.samples.track[row];
      if (!chosen_.moment(track, trace_.samples.time[row])) continue;
      sample(tracks_.of(track), trace_.samples.time[row], trace_.samples.value[row]);
    }
  }

  const Trace& trace_;
  Chosen chosen_;
  TrackOrder order_;
  BoundFlows flows_;
  WriteBuffer out_;
  Packets packets_;
  Tracks tracks_;
  WriteCounts counts_;
};

constexpr std::string_view kExtensions[] = {".perfetto-trace", ".pftrace", ".perfetto"};

}  // namespace
}  // namespace fathom::perfetto

namespace fathom {

TraceWriter perfetto_writer() {
  return {.id = "perfetto",
          .title = "Perfetto's own format: ui.perfetto.dev, trace_processor",
          .text = false,
          .extensions = perfetto::kExtensions,
          .write = [](const Trace& trace, const WriteSelection& selection, ByteSink& sink) {
            return perfetto::Writer(trace, selection, sink).run();
          }};
}

}  // namespace fathom
