// The pids and tids of a file as tracks and processes.
#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>

#include "formats/chrome/finish.h"

namespace fathom::chrome {
namespace {

/// The number a text is, or ends in ("stream 7"), or kAbsent.
std::int64_t trailing_number(std::string_view text) {
  std::size_t first = text.size();
  while (first > 0 && text[first - 1] >= '0' && text[first - 1] <= '9') --first;
  if (first == 1 && text[0] == '-') first = 0;
  std::int64_t value = kAbsent;
  std::from_chars(text.data() + first, text.data() + text.size(), value);
  return value;
}

std::int64_t whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && rest == text.data() + text.size() ? value : kAbsent;
}

TrackKind track_kind(PlaceKind kind) {
  switch (kind) {
    case PlaceKind::device:
      return TrackKind::device_stream;
    case PlaceKind::counter:
      return TrackKind::counter;
    case PlaceKind::async:
      return TrackKind::async;
    default:
      return TrackKind::host_thread;
  }
}

class TrackBuilder {
 public:
  TrackBuilder(Batch& rows, const std::vector<Place>& places, Trace& trace)
      : rows_(rows), places_(places), trace_(trace), used_(places.size(), false) {}

  void build() {
    for (std::size_t i = 0; i < places_.size(); ++i)
      row_of_.emplace(key_of(places_[i].kind, places_[i]), i);
    mark_used();
    resolve_flows();
    make_tracks();
    rewrite(rows_.slices.track);
    rewrite(rows_.memory.track);
    rewrite(rows_.samples.track);
    rewrite(rows_.instants.track);
    rewrite(rows_.flows.track);
    for (const TrackId track : rows_.slices.track) ++trace_.tracks[track.row()].slices;
    describe_devices();
    apply_metadata();
  }

 private:
  using PlaceKey = std::tuple<PlaceKind, std::uint32_t, std::uint32_t>;
  static PlaceKey key_of(PlaceKind kind, const Place& place) {
    return {kind, place.pid.value, place.tid.value};
  }

  void mark_used() {
    for (const Column<TrackId>* column :
         {&rows_.slices.track, &rows_.memory.track, &rows_.samples.track, &rows_.instants.track}) {
      for (const TrackId place : *column) used_[place.row()] = true;
    }
  }

  /// The place of that kind with the same pid and tid, when something lies on it.
  [[nodiscard]] std::size_t used_twin(PlaceKind kind, const Place& place) const {
    const auto at = row_of_.find(key_of(kind, place));
    return at != row_of_.end() && used_[at->second] ? at->second : places_.size();
  }

  /// A flow says only pid and tid. Arrows start on the host and end on the device where both exist.
  void resolve_flows() {
    const std::vector<bool> used_by_others = used_;
    std::vector<std::uint32_t> start(places_.size());
    std::vector<std::uint32_t> finish(places_.size());
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i].kind != PlaceKind::flow) continue;
      const std::size_t host = used_twin(PlaceKind::host, places_[i]);
      const std::size_t device = used_twin(PlaceKind::device, places_[i]);
      const std::size_t none = places_.size();
      start[i] = static_cast<std::uint32_t>(host != none ? host : device != none ? device : i);
      finish[i] = static_cast<std::uint32_t>(device != none ? device : host != none ? host : i);
    }
    for (std::size_t row = 0; row < rows_.flows.size(); ++row) {
      TrackId& place = rows_.flows.track[row];
      place.value = (rows_.flows.phase[row] == FlowPhase::start ? start : finish)[place.row()];
      used_[place.row()] = true;
    }
  }

  void make_tracks() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < places_.size(); ++i) {
      if (used_[i]) order.push_back(i);
    }
    std::vector<Track> made(places_.size());
    for (const std::uint32_t i : order) {
      Track& track = made[i];
      track.kind = track_kind(places_[i].kind);
      track.process = places_[i].pid;
      track.thread = places_[i].tid;
      track.pid = whole_number(trace_.text(track.process));
      track.tid =
          track.kind == TrackKind::counter ? kAbsent : trailing_number(trace_.text(track.thread));
    }
    std::ranges::sort(order, [this, &made](std::uint32_t a, std::uint32_t b) {
      const auto key = [this](const Track& track) {
        return std::tuple(track.kind, track.pid, trace_.text(track.process), track.tid,
                          trace_.text(track.thread));
      };
      return key(made[a]) < key(made[b]);
    });
    track_of_.assign(places_.size(), TrackId());
    for (const std::uint32_t i : order) {
      track_of_[i] = TrackId(trace_.tracks.size());
      trace_.tracks.push_back(made[i]);
    }
  }

  void rewrite(Column<TrackId>& column) const {
    for (TrackId& place : column) place = track_of_[place.row()];
  }

  void describe_devices() {
    for (const Batch::Device& said : rows_.devices) {
      const TrackId id = track_of_[said.place.row()];
      if (!id.valid()) continue;
      Track& track = trace_.tracks[id.row()];
      if (said.device >= 0 && said.device <= INT32_MAX && track.device < 0)
        track.device = static_cast<std::int32_t>(said.device);
      if (said.stream != kAbsent && track.stream == kAbsent) track.stream = said.stream;
    }
    for (Track& track : trace_.tracks) {
      if (track.kind != TrackKind::device_stream) continue;
      if (track.device < 0)
        track.device =
            track.pid >= 0 && track.pid <= INT32_MAX ? static_cast<std::int32_t>(track.pid) : 0;
      if (track.stream == kAbsent) track.stream = track.tid;
    }
  }

  Process& process_of(StringId pid) {
    const auto [at, added] = process_row_.try_emplace(pid.value, trace_.processes.size());
    if (added) trace_.processes.push_back({pid, {}, {}, kAbsent});
    return trace_.processes[at->second];
  }

  void apply_metadata() {
    for (const Track& track : trace_.tracks) process_of(track.process);
    for (const Metadata& entry : rows_.metadata) {
      const Place& place = places_[entry.place.row()];
      switch (entry.what) {
        case Metadata::What::process_name:
          process_of(place.pid).name = entry.text;
          break;
        case Metadata::What::process_labels:
          process_of(place.pid).labels = entry.text;
          break;
        case Metadata::What::process_sort:
          process_of(place.pid).sort_index = entry.number;
          break;
        case Metadata::What::thread_name:
        case Metadata::What::thread_sort:
          apply_to_thread(entry, place);
          break;
      }
    }
  }

  void apply_to_thread(const Metadata& entry, const Place& place) {
    for (const PlaceKind kind : {PlaceKind::host, PlaceKind::device}) {
      const std::size_t row = used_twin(kind, place);
      if (row == places_.size()) continue;
      Track& track = trace_.tracks[track_of_[row].row()];
      if (entry.what == Metadata::What::thread_name) {
        track.name = entry.text;
      } else {
        track.sort_index = entry.number;
      }
    }
  }

  Batch& rows_;
  const std::vector<Place>& places_;
  Trace& trace_;
  std::vector<bool> used_;
  std::map<PlaceKey, std::size_t> row_of_;
  std::vector<TrackId> track_of_;
  std::map<std::uint32_t, std::size_t> process_row_;
};

}  // namespace

void build_tracks(Batch& rows, const std::vector<Place>& places, Trace& trace) {
  TrackBuilder(rows, places, trace).build();
}

}  // namespace fathom::chrome
