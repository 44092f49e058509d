// The events of one piece of text, as columns, before they join the trace.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "store/trace.h"

namespace fathom::chrome {

/// One end of a B/E or b/e pair. A begin has already made a slice of duration kOpenDuration.
struct PairEnd {
  bool begin = false;
  bool async = false;
  std::uint32_t slice = Id<SliceTable>::kNone;  ///< Row of the slice that a begin made.
  TrackId place;                                ///< Row of SharedTables::places.
  std::int64_t id = 0;                          ///< Async: its id.
  StringId category;
  std::int64_t time_ns = 0;
  // An end may carry arguments, too; they win over those of the begin.
  std::int64_t correlation = kAbsent;
  std::int64_t external_id = kAbsent;
  std::uint32_t op = Id<OpTable>::kNone;  ///< Row of Batch::ops.
  std::uint64_t offset = 0;               ///< Byte of the event in the input.
};

/// A metadata event (M).
struct Metadata {
  enum class What : std::uint8_t {
    process_name,
    process_labels,
    process_sort,
    thread_name,
    thread_sort
  };
  What what = What::process_name;
  TrackId place;  ///< Row of SharedTables::places, of kind host.
  StringId text;
  std::int64_t number = kAbsent;
};

inline constexpr Duration kOpenDuration = duration_ns(INT64_MIN);

/// Parallel to Trace; tracks are rows of SharedTables::places, times are the file's own
/// nanoseconds, and detail rows count from the batch's own tables. Reused: clear() keeps the
/// memory.
struct Batch : SliceTables {
  FlowPoints flows;
  MemoryEvents memory;
  Samples samples;
  Instants instants;
  std::vector<PairEnd> pairs;
  std::vector<Metadata> metadata;
  struct Suspect {
    std::uint32_t slice = 0;
    std::uint64_t offset = 0;
  };
  std::vector<Suspect> zero_times;  ///< Slices of ts 0 and dur 0.
  std::vector<Suspect>
      jumps;  ///< Slices beside which the start times jump by more than a trace can last.
  struct Device {
    TrackId place;
    std::int64_t device = kAbsent;
    std::int64_t stream = kAbsent;
  };
  std::vector<Device>
      devices;  ///< What args said about a device place, when first seen by a parser.
  ImportLog log;
  std::uint64_t events = 0;

  /// Kind of each category row that occurs in slices.
  std::array<SliceKind, 256> kinds{};

  void clear();
  /// Copies the rows of `batch` behind our own. Row numbers inside are shifted as needed.
  void append(const Batch& batch);
};

}  // namespace fathom::chrome
