// Limits: which of the program's CUDA activity is recorded, as the launcher's options say.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "capture/inside/settings.h"
#include "capture/inside/shared_page.h"

namespace fathom::cuda {

/// By time, by a signal, and by the steps and ranges that other parts of Fathom in the process know
/// of. Used by one thread at a time.
class Limits {
 public:
  Limits() = default;
  /// `start`: of the process, CLOCK_MONOTONIC, as all times here. `arrivals`: of the signal that
  /// begins and ends recording; null: there is none.
  Limits(const inside::Settings& settings, std::int64_t start, const inside::SharedPage* arrivals);

  /// What begins then is kept.
  [[nodiscard]] bool keeps(std::int64_t time) const;
  /// CUPTI is to record now. Sooner than something is kept where that is known in advance.
  [[nodiscard]] bool wants(std::int64_t now) const;
  /// --steps or --range were given, and no part has reported yet that it counts them.
  [[nodiscard]] bool undecided() const { return elsewhere_ && pages_.empty(); }
  /// Looks for who does, not each time it is called.
  void look();

 private:
  std::int64_t from_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t to_ = std::numeric_limits<std::int64_t>::max();
  const inside::SharedPage* arrivals_ = nullptr;
  bool elsewhere_ = false;
  std::uint64_t looks_ = 0;
  std::vector<const inside::SharedPage*> pages_;
};

}  // namespace fathom::cuda
