// What all parsing threads of one file add to: names, tracks, categories, signatures, launch
// configurations.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "base/hash.h"
#include "formats/chrome/interner.h"
#include "store/trace.h"

namespace fathom::chrome {

/// What an event's pid and tid stand for. Flows say neither, so their place is settled at the end.
enum class PlaceKind : std::uint8_t { host, device, counter, async, flow };

struct Place {
  PlaceKind kind = PlaceKind::host;
  StringId pid;
  StringId tid;  ///< For counters and async: the series.
  friend bool operator==(const Place&, const Place&) = default;
};

struct PlaceHash {
  std::size_t operator()(const Place& place) const {
    return hash_mix(hash_mix(static_cast<std::uint64_t>(place.kind), place.pid.value),
                    place.tid.value);
  }
};

struct SignatureHash {
  std::size_t operator()(const Signature& s) const {
    return hash_mix(hash_mix(s.shapes.value, s.types.value),
                    hash_mix(s.strides.value, s.concrete.value));
  }
};

struct IdHash {
  std::size_t operator()(StringId id) const { return hash_mix(0, id.value); }
};

inline constexpr std::uint32_t kLastCategory = 255;

struct SharedTables {
  SharedTables();

  /// The row of a category. One that comes when the table is full shares the row of the first of
  /// its kind: which these are depends on the order of the threads, so see finish_trace().
  std::uint8_t category(StringId name, SliceKind kind);

  StringPool strings;
  Interner<Place, PlaceHash> places;
  Interner<StringId, IdHash> categories;  ///< Every spelling, also beyond kLastCategory.
  Interner<Signature, SignatureHash> signatures;
  Interner<LaunchConfig, LaunchConfigHash> launch_configs;
  /// The first row of each kind; of SliceKind::other that of no category.
  std::array<std::uint8_t, kSliceKinds> first_of_kind{};
};

/// Kind of a category's spelling; SliceKind::other when it is none of those Fathom knows.
SliceKind kind_of_category(std::string_view category);

}  // namespace fathom::chrome
