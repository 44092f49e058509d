// Follows addresses from their allocation to the peak.
#include "analysis/lines/line_memory.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/lines/saturated.h"

namespace fathom {
namespace {

/// Whose memory: of a process, on its host (-1) or a device.
using Place = std::pair<std::int64_t, std::int32_t>;

class Events {
 public:
  explicit Events(const Context& context)
      : memory_(context.trace.memory), trace_(context.trace), selector_(context.selector()) {
    rows_.resize(memory_.size());
    std::iota(rows_.begin(), rows_.end(), std::size_t{0});
    std::ranges::stable_sort(rows_, {}, [this](std::size_t row) { return memory_.time[row]; });
  }

  [[nodiscard]] const std::vector<std::size_t>& rows() const { return rows_; }  // by time
  [[nodiscard]] Place place(std::size_t row) const {
    const bool host = memory_.device[row] < 0 || memory_.device_type[row] == 0;
    return {trace_.tracks[memory_.track[row].row()].pid,
            host ? -1 : static_cast<std::int32_t>(memory_.device[row])};
  }
  [[nodiscard]] bool selected(std::size_t row) const {
    const std::int32_t device = place(row).second;
    return selector_.time(memory_.time[row]) &&
           (device < 0 || !selector_.device || device == *selector_.device);
  }

 private:
  const MemoryEvents& memory_;
  const Trace& trace_;
  Selector selector_;
  std::vector<std::size_t> rows_;
};

struct Peak {
  std::int64_t bytes = kAbsent;
  std::size_t row = 0;    ///< Its event.
  bool recorded = false;  ///< The allocator said the total; else it is a sum from the beginning on.
};

std::map<Place, Peak> peaks_of(const MemoryEvents& memory, const Events& events) {
  std::map<Place, Peak> peaks;
  std::map<Place, std::int64_t> sums;
  for (const std::size_t row : events.rows()) {
    std::int64_t& sum = sums[events.place(row)];
    add_saturated(sum, memory.bytes[row]);
    if (!events.selected(row)) continue;
    Peak& peak = peaks[events.place(row)];
    const bool recorded = memory.total_allocated[row] != kAbsent;
    if (peak.recorded && !recorded) continue;
    const std::int64_t bytes = recorded ? memory.total_allocated[row] : sum;
    if (recorded == peak.recorded && bytes <= peak.bytes) continue;
    peak = {bytes, row, recorded};
  }
  return peaks;
}

}  // namespace

void add_line_memory(const Context& context, const LineOwners& owners, LineShares& shares) {
  const MemoryEvents& memory = context.trace.memory;
  const Events events(context);
  const auto share = [&](std::size_t row) -> LineShare& {
    return shares.shares[owners.at(memory.track[row], memory.time[row]).line];
  };
  const std::map<Place, Peak> peaks = peaks_of(memory, events);
  std::map<Place, std::unordered_map<std::int64_t, std::size_t>> held;  // row by address
  std::map<Place, bool> over;
  for (const std::size_t row : events.rows()) {
    const Place place = events.place(row);
    const bool host = place.second < 0;
    const std::int64_t bytes = memory.bytes[row];
    if (bytes > 0 && events.selected(row)) {
      LineShare& to = share(row);
      add_saturated(host ? to.host_allocated : to.device_allocated, bytes);
    }
    const auto peak = peaks.find(place);
    if (peak == peaks.end() || over[place]) continue;
    auto& open = held[place];
    if (bytes > 0) {
      open[memory.address[row]] = row;
    } else {
      open.erase(memory.address[row]);
    }
    if (row != peak->second.row) continue;
    over[place] = true;
    std::int64_t rest = peak->second.recorded ? peak->second.bytes : 0;
    for (const auto& [address, from] : open) {
      LineShare& to = share(from);
      add_saturated(host ? to.host_held : to.device_held, memory.bytes[from]);
      if (peak->second.recorded) add_saturated(rest, -memory.bytes[from]);
    }
    LineShare& none = shares.shares[{place.first, StringId()}];
    add_saturated(host ? none.host_held : none.device_held, rest);
  }
}

}  // namespace fathom
