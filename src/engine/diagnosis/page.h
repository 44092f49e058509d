// What the diagnosis page shows beside the diagnosis itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/diagnosis/diagnosis.h"
#include "engine/session.h"

namespace fathom {

/// A line of the timeline strip: a host thread or a device stream.
struct StripTrack {
  std::string name;
  struct Piece {
    Interval interval{};
    std::string name;
    std::string_view
        kind;  ///< "compute", "communication", "copy", "operator", "annotation", "call".
  };
  std::vector<Piece> pieces;  ///< By time, disjoint: what is shorter than a pixel is joined.
};

/// One frame of the flame graph; children follow their parent, depth first.
struct FlameNode {
  std::string name;
  std::uint32_t depth = 0;
  Duration total{};  ///< Inclusive.
};

struct Page {
  std::vector<std::pair<std::string, std::string>> conditions;  ///< Name, value.
  std::vector<View> phases;  ///< The accounting by phase: one table, or none.
  std::vector<View> tables;
  std::string flame_metric;  ///< "device" or "host".
  std::vector<FlameNode> flame;
  StepAccount median;  ///< The step whose length is the median; the strip shows it.
  std::vector<StripTrack> strip;
};

/// Bounded: at most kPageRows rows per table, kFlameNodes frames, kStripPieces pieces per track.
inline constexpr std::uint64_t kPageRows = 100;
inline constexpr std::size_t kFlameNodes = 1500;
inline constexpr std::size_t kStripPieces = 1200;

Result<Page> collect_page(const Session& session, const DiagnosisRequest& request,
                          const Diagnosis& diagnosis);

}  // namespace fathom
