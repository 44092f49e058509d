// KeptWhatIf: the graph that sliders replay, built once for the steps that they are about.
#pragma once

#include <memory>
#include <mutex>

#include "engine/whatif/what_if.h"

namespace fathom::server {

/// The last graph is kept; another choice of steps takes its place. Thread-safe. Borrows the
/// session.
class KeptWhatIf {
 public:
  explicit KeptWhatIf(const Session& session) : session_(session) {}

  /// As what_if().
  Result<WhatIf> run(const WhatIfRequest& request);

 private:
  const Session& session_;
  std::mutex mutex_;
  std::shared_ptr<const WhatIfModel> model_;
  std::optional<Selection::StepRange> steps_;
  std::optional<WindowRequest> window_;
};

}  // namespace fathom::server
