// RawRecords: records of a real libcupti, kept as they are, so that tests without a GPU read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "capture/cuda/cupti.h"

namespace fathom::cuda {

/// A record and the texts that it points to: each with its place in the record.
struct RawRecord {
  std::vector<std::uint64_t> words;
  std::size_t bytes = 0;
  std::map<std::size_t, std::string> texts;

  /// With its pointers; valid as long as this is not changed or moved.
  [[nodiscard]] const CUpti_Activity& activity();
};

/// The first kMost of each kind. Not thread-safe.
///
/// A file of them is `FATHOMRAW1` and a line feed; the version of CUPTI and the number of records
/// as 32-bit numbers; and for each record its bytes, the number of its texts, the bytes themselves,
/// and for each text its place, its length and its characters.
class RawRecords {
 public:
  static constexpr std::size_t kMost = 64;

  explicit RawRecords(std::uint32_t version) : version_(version) {}
  void keep(const CUpti_Activity& record);
  [[nodiscard]] std::string text() const;
  /// Nothing where it is no such file.
  static std::optional<RawRecords> of(const std::string& text);

  [[nodiscard]] std::uint32_t version() const { return version_; }
  [[nodiscard]] std::deque<RawRecord>& records() { return records_; }

 private:
  std::uint32_t version_;
  std::deque<RawRecord> records_;
  std::map<CUpti_ActivityKind, std::size_t> counts_;
};

/// FATHOM_CUDA_RAW names the folder for cupti-<pid>.raw; empty: they are not kept.
std::string raw_path(std::int32_t pid);

}  // namespace fathom::cuda
