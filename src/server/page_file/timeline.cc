// Carries the timeline: all of it coarsely, then finer by levels, then its places to single slices.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/timeline/tile.h"
#include "base/quantity_text.h"
#include "server/page_file/parts.h"
#include "server/page_file/question.h"
#include "server/page_file/tile_bytes.h"

namespace fathom::server {
namespace {

// As the page asks for them.
constexpr std::uint32_t kNames = 1024;
constexpr std::string_view kCounterBins = "400";
// What the routes answer at a time.
constexpr std::size_t kMostTracks = 64;
constexpr std::size_t kMostLanes = 2048;

/// Strings of a JSON document from `from` on.
std::uint32_t strings_in(std::string_view json, std::size_t from) {
  std::uint32_t quotes = 0;
  for (std::size_t at = from; at < json.size(); ++at) {
    if (json[at] == '\\') {
      ++at;
    } else if (json[at] == '"') {
      ++quotes;
    }
  }
  return quotes / 2;
}

class TileCarrier {
 public:
  TileCarrier(Carrier& carrier, OpenInput& input)
      : carrier_(carrier),
        input_(input),
        path_("api/tiles/" + input.digest()),
        shown_path_("api/tiles/" + carrier.shown(input.digest())) {
    Tracks tracks;
    for (std::size_t place = 0; place < input.timeline().lanes.tracks().size(); ++place)
      tracks.push_back(static_cast<std::uint32_t>(input.timeline().id_of_lanes(place)));
    all_ = std::make_shared<const Tracks>(std::move(tracks));
    while (level_ < kTileLevels && TileSpan{level_, 0}.interval().end < input.range().end) ++level_;
  }

  /// All of the time, level by level, to where the next is not to be expected to fit.
  void carry_all(double share) {
    merged_ = carry(level_, {{0, all_}});
    for (std::size_t grown = 0; !merged_.empty() && level_ > 0 && fits(2 * grown, share);) {
      const std::size_t before = carrier_.packed();
      --level_;
      merged_ = carry(level_, halves(merged_, input_.range(), level_));
      grown = carrier_.packed() - before;
    }
  }

  /// Some stretches from where all ended, level by level; true where every slice has its box.
  bool carry_places(const std::vector<Interval>& stretches, double share) {
    std::vector<std::vector<Part>> merged(stretches.size(), merged_);
    bool finer = !merged_.empty();
    std::size_t grown = 0;
    for (int level = level_ - 1; finer && level >= 0 && fits(2 * grown, share); --level) {
      const std::size_t before = carrier_.packed();
      finer = false;
      for (std::size_t i = 0; i < stretches.size(); ++i) {
        merged[i] = carry(level, halves(merged[i], stretches[i], level));
        finer = finer || !merged[i].empty();
      }
      grown = carrier_.packed() - before;
    }
    return !finer;
  }

  [[nodiscard]] bool complete() const { return merged_.empty(); }
  [[nodiscard]] Duration bin() const { return Duration(TileSpan{level_, 0}.bin_ns()); }

 private:
  using Tracks = std::vector<std::uint32_t>;

  /// A tile and the tracks that may have boxes in it. Where thousands have few each, asking all of
  /// them for each tile would cost their product.
  struct Part {
    std::int64_t tile = 0;
    std::shared_ptr<const Tracks> tracks;
  };

  /// What a tile told: null where a finer one would tell no more.
  using Told = std::shared_ptr<const Tracks>;

  [[nodiscard]] bool fits(std::size_t bytes, double share) const {
    return static_cast<double>(carrier_.packed() + bytes) <
           share * static_cast<double>(carrier_.most());
  }

  /// The tiles below these, as far as they meet the stretch.
  static std::vector<Part> halves(const std::vector<Part>& parts, const Interval& stretch,
                                  int level) {
    std::vector<Part> below;
    for (const Part& part : parts) {
      for (const std::int64_t half : {2 * part.tile, 2 * part.tile + 1}) {
        const Interval own = TileSpan{level, half}.interval();
        if (own.begin < stretch.end && own.end > stretch.begin)
          below.push_back({half, part.tracks});
      }
    }
    return below;
  }

  /// Those of the tiles of which a finer one would tell more, with the tracks that are in them.
  std::vector<Part> carry(int level, const std::vector<Part>& parts) {
    std::vector<Part> merged;
    for (const Part& part : parts) {
      if (Told told = carry_tile(level, part)) merged.push_back({part.tile, std::move(told)});
    }
    return merged;
  }

  /// Tracks as they are asked for together.
  [[nodiscard]] std::vector<std::string> batches(const Tracks& ids) const {
    std::vector<std::string> batches;
    std::size_t tracks = kMostTracks;
    std::size_t lanes = 0;
    for (const std::uint32_t id : ids) {
      const std::size_t own = input_.timeline().lanes.tracks()[id - 1].lanes.size();
      if (tracks == kMostTracks || lanes + own > kMostLanes) {
        batches.push_back(std::to_string(id));
        tracks = lanes = 0;
      } else {
        batches.back() += "," + std::to_string(id);
      }
      ++tracks;
      lanes += own;
    }
    return batches;
  }

  Told carry_tile(int level, const Part& part) {
    const Parameters place = {{"level", std::to_string(level)},
                              {"tile", std::to_string(part.tile)}};
    const std::string shown = question(shown_path_, place);
    if (const auto known = told_.find(shown); known != told_.end()) return known->second;
    TileBytes tile;
    for (const std::string& tracks : batches(*part.tracks)) {
      Parameters asked = place;
      asked.emplace_back("tracks", tracks);
      tile.add(carrier_.ask(question(path_, asked)).bytes());
    }
    for (const std::uint32_t name : tile.names()) carry_names(name / kNames * kNames);
    Response response;
    response.type = "application/octet-stream";
    response.body = tile.bytes();
    carrier_.keep_as(shown, response);
    Told told = tile.merged() ? std::make_shared<const Tracks>(tile.tracks()) : nullptr;
    told_.emplace(shown, told);
    return told;
  }

  /// A page of names; where they are long, in several answers.
  void carry_names(std::uint32_t first) {
    const auto total = static_cast<std::uint32_t>(input_.timeline().names.size());
    const std::uint32_t end = std::min(first + kNames, total);
    const std::uint32_t page = first + kNames;
    while (first < end) {
      const std::string asked = question(
          "api/names", {{"first", std::to_string(first)}, {"count", std::to_string(page - first)}});
      if (carrier_.has(asked)) return;
      const Response response = carrier_.ask(asked);
      carrier_.keep_as(asked, response);
      const std::size_t names = response.bytes().find("\"names\":[");
      const std::uint32_t got =
          names == std::string_view::npos ? 0 : strings_in(response.bytes(), names + 8);
      if (got == 0) return;
      first += got;
    }
  }

  Carrier& carrier_;
  OpenInput& input_;
  std::string path_;
  std::string shown_path_;  // as the page asks, whose digest may be redacted
  std::shared_ptr<const Tracks> all_;
  int level_ = 0;             // the finest that all of the time has
  std::vector<Part> merged_;  // its tiles of which a finer one would tell more
  std::unordered_map<std::string, Told> told_;
};

std::string ns_text(Time time) { return std::to_string(to_ns(time)); }

void carry_accounts(Carrier& carrier, const TimelineModel& model, const Interval& stretch) {
  std::vector<std::string> devices;
  for (const std::int32_t device : model.devices) devices.push_back(std::to_string(device));
  if (devices.empty()) devices.emplace_back();  // the main thread is accounted for
  for (const std::string& device : devices) {
    carrier.keep(question(
        "api/accounting",
        {{"begin", ns_text(stretch.begin)}, {"end", ns_text(stretch.end)}, {"device", device}}));
  }
}

/// What is shown along the time beside slices.
void carry_lines(Carrier& carrier, OpenInput& input, const Places& places) {
  const TimelineModel& model = input.timeline();
  Interval whole = input.range();
  whole.begin = std::max(whole.begin, Time{});
  carry_accounts(carrier, model, whole);
  for (const Step* const step : places.steps) carry_accounts(carrier, model, step->window);
  // Those of devices have the numbers behind.
  const std::size_t counters = model.counters.size() + model.device_counters();
  for (std::size_t place = 0; place < counters; ++place) {
    carrier.keep(question("api/counters", {{"track", std::to_string(model.id_of_counter(place))},
                                           {"begin", ns_text(whole.begin)},
                                           {"end", ns_text(whole.end)},
                                           {"bins", std::string(kCounterBins)}}));
  }
  carrier.keep(question("api/critical-path",
                        {{"begin", ns_text(whole.begin)}, {"end", ns_text(whole.end)}}));
  carrier.keep("api/flame");
  for (const Step* const step : places.steps) {
    carrier.keep(question(
        "api/flame", {{"begin", ns_text(step->window.begin)}, {"end", ns_text(step->window.end)}}));
  }
}

std::string steps_text(const std::vector<const Step*>& steps) {
  if (steps.size() < 2 || steps[0] == steps[1])
    return "step " + std::to_string(steps.front()->number);
  return "steps " + std::to_string(steps[0]->number) + " (the median) and " +
         std::to_string(steps[1]->number) + " (the longest)";
}

}  // namespace

void carry_timeline(Carrier& carrier, OpenInput& input, const Places& places,
                    const TimelineShares& shares, const std::string& of) {
  carrier.keep("api/tracks");
  carry_lines(carrier, input, places);
  TileCarrier tiles(carrier, input);
  tiles.carry_all(shares.whole);
  std::vector<Interval> steps;
  for (const Step* const step : places.steps) steps.push_back(step->window);
  const bool steps_complete = tiles.carry_places(steps, shares.steps);
  tiles.carry_places(places.stretches, shares.findings);
  if (!tiles.complete()) {
    std::string sentence = "The timeline " + of + (of.empty() ? "" : " ") +
                           "shows slices longer than " + duration_text(2 * tiles.bin()) +
                           " one by one, and sums up shorter ones";
    if (!steps.empty()) {
      sentence += steps_complete ? "; of " : "; more of ";
      sentence += steps_text(places.steps) +
                  (steps_complete ? " each slice is here" : " is here, as far as there was room");
    }
    carrier.leave_out(sentence + ".");
  }
}

}  // namespace fathom::server
