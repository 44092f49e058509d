// KeptEdits: what the options of earlier what-ifs were found to change, for the next that has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "engine/whatif/what_if_edits.h"
#include "engine/whatif/what_if_targets.h"

namespace fathom {

/// Values by name, of which those that were not used for longest go once all together are larger
/// than `most`. Thread-safe.
template <typename T>
class LastUsed {
 public:
  explicit LastUsed(std::size_t most) : most_(most) {}

  [[nodiscard]] std::shared_ptr<const T> find(std::string_view name) {
    const std::scoped_lock lock(mutex_);
    for (auto at = kept_.begin(); at != kept_.end(); ++at) {
      if (at->name != name) continue;
      kept_.splice(kept_.begin(), kept_, at);
      return kept_.front().value;
    }
    return nullptr;
  }
  /// Keeps it, however large it is by itself.
  std::shared_ptr<const T> keep(std::string_view name, T value, std::size_t size) {
    auto shared = std::make_shared<const T>(std::move(value));
    const std::scoped_lock lock(mutex_);
    kept_.push_front({std::string(name), shared, size});
    size_ += size;
    while (size_ > most_ && kept_.size() > 1) {
      size_ -= kept_.back().size;
      kept_.pop_back();
    }
    return shared;
  }

 private:
  struct Kept {
    std::string name;
    std::shared_ptr<const T> value;
    std::size_t size;
  };

  std::size_t most_;
  std::mutex mutex_;
  std::size_t size_ = 0;
  std::list<Kept> kept_;
};

/// What a target of --scale is about.
struct FoundTargets {
  Targets targets;           ///< As far as they can change what is replayed; one at least.
  std::uint64_t slices = 0;  ///< How many there are in the whole recording.
};

/// Of one recording and selection: while a slider moves, neither what it is about changes nor what
/// the switches beside it do. Holds about as much as two columns of the recording.
struct KeptEdits {
  explicit KeptEdits(std::size_t slices) : targets(slices + 1), options(slices + 1) {}

  LastUsed<FoundTargets> targets;  ///< Of --scale, by target.
  LastUsed<WhatIfEdits> options;   ///< Of all others that depend on the recording alone, as typed.
};

}  // namespace fathom
