// The tracks of the timeline, grouped: processes with their threads, devices with their streams,
// counters.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/json_writer.h"
#include "server/route.h"

namespace fathom::server {
namespace {

class TracksWriter {
 public:
  TracksWriter(JsonWriter& json, const OpenInput& input, const TimelineModel& model)
      : json_(json), trace_(input.session().trace()), model_(model) {
    for (const Process& process : trace_.processes) know(process);
  }

  void write() {
    json_.object().key("classes").texts(slice_class_ids());
    json_.key("groups").array();
    divide();
    for (const auto& [key, places] : processes_) write_process(key, places);
    for (std::size_t place = 0; place < model_.devices.size(); ++place)
      write_device(place, model_.devices[place]);
    write_counters();
    json_.end().end();
  }

 private:
  using Places = std::vector<std::size_t>;
  /// Sort index, number and text of a process.
  using ProcessKey = std::tuple<std::int64_t, std::int64_t, std::string>;

  [[nodiscard]] const Track& track(std::size_t place) const {
    return trace_.tracks[model_.lanes.tracks()[place].track.row()];
  }

  /// What is recorded of a process, which may be in several rows.
  struct Known {
    std::int64_t sort = INT64_MAX;
    std::string title;
  };
  void know(const Process& process) {
    Known& known = known_[process.id.value];
    if (process.sort_index != kAbsent) known.sort = process.sort_index;
    if (!known.title.empty()) return;
    known.title = trace_.text(process.name);
    const std::string_view labels = trace_.text(process.labels);
    if (!labels.empty()) known.title.append(known.title.empty() ? "" : " ").append(labels);
    if (!known.title.empty()) known.title.append(" (").append(trace_.text(process.id)).append(")");
  }
  [[nodiscard]] const Known* known_of(const Track& track) const {
    const auto known = known_.find(track.process.value);
    return known == known_.end() ? nullptr : &known->second;
  }

  [[nodiscard]] ProcessKey process_of(const Track& track) const {
    const Known* const known = known_of(track);
    return {known == nullptr ? INT64_MAX : known->sort, track.pid,
            std::string(trace_.text(track.process))};
  }

  void divide() {
    for (std::size_t place = 0; place < model_.lanes.tracks().size(); ++place) {
      const Track& own = track(place);
      if (own.kind == TrackKind::device_stream) {
        streams_[own.device].push_back(place);
      } else {
        processes_[process_of(own)].push_back(place);
      }
    }
    const auto by_order = [this](std::size_t place) {
      const Track& own = track(place);
      const std::int64_t sort = own.sort_index == kAbsent ? INT64_MAX : own.sort_index;
      return std::tuple(sort, own.kind == TrackKind::device_stream ? own.stream : own.tid, place);
    };
    for (auto& [key, places] : processes_) std::ranges::sort(places, {}, by_order);
    for (auto& [device, places] : streams_) std::ranges::sort(places, {}, by_order);
  }

  [[nodiscard]] std::string process_title(const Track& track) const {
    const Known* const known = known_of(track);
    if (known != nullptr && !known->title.empty()) return known->title;
    return "process " + std::string(trace_.text(track.process));
  }

  [[nodiscard]] std::string lane_title(std::size_t place) const {
    const LaneTrack& lanes = model_.lanes.tracks()[place];
    const Track& own = track(place);
    const std::string_view thread = trace_.text(own.thread);
    std::string title(trace_.text(own.name));
    if (own.kind == TrackKind::device_stream) {
      if (title.empty())
        title = own.stream == kAbsent ? thread : "stream " + std::to_string(own.stream);
    } else if (title.empty()) {
      title = "thread " + std::string(thread);
    } else if (title.find(thread) == std::string::npos) {
      title += " (" + std::string(thread) + ")";
    }
    if (lanes.part == TrackPart::frames) title += ", Python frames";
    if (lanes.part == TrackPart::projected) title += ", annotations and waits";
    if (lanes.first_lane > 0) title += ", from lane " + std::to_string(lanes.first_lane + 1);
    return title;
  }

  static std::string_view kind_of(TrackPart part) {
    if (part == TrackPart::activities) return "stream";
    return part == TrackPart::projected ? "annotations" : "host";
  }

  void write_lanes(std::size_t place) {
    const LaneTrack& lanes = model_.lanes.tracks()[place];
    const Track& own = track(place);
    json_.object().member("id", model_.id_of_lanes(place)).member("title", lane_title(place));
    json_.member("kind", kind_of(lanes.part)).member("lanes", lanes.lanes.size());
    json_.member("first_lane", lanes.first_lane).member("slices", lanes.slices);
    json_.member("covered_ns", to_ns(lanes.covered)).key("unit").null();
    write_device_number(own.device);
    const bool folded = lanes.part == TrackPart::frames || lanes.first_lane > 0;
    json_.member("frames", lanes.part == TrackPart::frames).member("folded", folded).end();
  }

  void write_device_number(std::int32_t device) {
    json_.member("device", device < 0 ? std::nullopt : std::optional(device));
  }

  void write_unit(std::string_view unit) {
    if (unit.empty()) {
      json_.key("unit").null();
    } else {
      json_.member("unit", unit);
    }
  }

  void write_account(std::size_t place, std::int32_t device) {
    json_.object().member("id", model_.id_of_account(place)).member("title", "Accounting");
    json_.member("kind", "accounting").member("lanes", 1).member("first_lane", 0);
    json_.member("slices", 0).key("covered_ns").null().key("unit").null();
    write_device_number(device);
    json_.member("frames", false).member("folded", false).end();
  }

  /// They are computed when somebody looks at them: their values are not known here.
  void write_device_counters(std::size_t place, std::int32_t device) {
    for (std::size_t counter = 0; counter < kDeviceCounters.size(); ++counter) {
      const std::size_t number = place * kDeviceCounters.size() + counter;
      json_.object().member("id", model_.id_of_device_counter(number));
      json_.member("title", device_counter_title(counter, device));
      json_.member("kind", "counter").member("lanes", 1).member("first_lane", 0);
      json_.member("slices", 0).key("covered_ns").null();
      write_unit(kDeviceCounterUnits[counter]);
      write_device_number(device);
      json_.member("frames", false).member("folded", false).end();
    }
  }

  void begin_group(std::string_view title, std::string_view kind) {
    json_.object().member("title", title).member("kind", kind).key("tracks").array();
  }
  void end_group() { json_.end().end(); }

  void write_process(const ProcessKey& key, const Places& places) {
    begin_group(process_title(track(places.front())), "process");
    // Without a device it is the main thread that is accounted for.
    if (model_.devices.empty() && &key == &processes_.begin()->first) write_account(0, -1);
    for (const std::size_t place : places) write_lanes(place);
    end_group();
  }

  void write_device(std::size_t place, std::int32_t device) {
    const Device* const known = trace_.device(device);
    std::string title = "GPU " + std::to_string(device);
    if (known != nullptr && !known->name.empty()) title += ": " + known->name;
    begin_group(title, "device");
    write_account(place, device);
    write_device_counters(place, device);
    for (const std::size_t stream : streams_[device]) write_lanes(stream);
    end_group();
    streams_.erase(device);
  }

  void write_counters() {
    // Streams of devices that did nothing: annotations only.
    for (const auto& [device, places] : streams_) {
      begin_group("GPU " + std::to_string(device), "device");
      for (const std::size_t place : places) write_lanes(place);
      end_group();
    }
    if (model_.counters.empty()) return;
    begin_group("Counters", "counters");
    for (std::size_t i = 0; i < model_.counters.size(); ++i) {
      const CounterSeries& series = model_.counters[i];
      json_.object().member("id", model_.id_of_counter(i)).member("title", series.title);
      json_.member("kind", "counter").member("lanes", 1).member("first_lane", 0);
      json_.member("slices", series.times.size()).key("covered_ns").null();
      write_unit(series.unit);
      write_device_number(series.device);
      const auto [least, most] = std::ranges::minmax(series.values);
      json_.member("least", least).member("most", most);
      json_.member("frames", false).member("folded", false).end();
    }
    end_group();
  }

  JsonWriter& json_;
  const Trace& trace_;
  const TimelineModel& model_;
  std::unordered_map<std::uint32_t, Known> known_;  // by number of the id
  std::map<ProcessKey, Places> processes_;
  std::map<std::int32_t, Places> streams_;
};

Result<Response> answer_tracks(const Call& call) {
  std::string text;
  JsonWriter json(text, kJsonCompact);
  TracksWriter(json, *call.input, call.input->timeline()).write();
  return json_response(std::move(text));
}

}  // namespace

Route tracks() {
  return {.path = "api/tracks", .answer = answer_tracks, .of_first_screen = [](const Call&) {
            return true;
          }};
}

}  // namespace fathom::server
