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

  /// Builds the graph of these steps, so that the first question about them need not wait for it.
  Result<void> prepare(const std::optional<Selection::StepRange>& steps,
                       const std::optional<WindowRequest>& window);
  /// As what_if().
  Result<WhatIf> run(const WhatIfRequest& request);

 private:
  /// Builds it where the one that is kept is of other steps.
  Result<std::shared_ptr<const WhatIfModel>> model(const std::optional<Selection::StepRange>& steps,
                                                   const std::optional<WindowRequest>& window);
  const Session& session_;
  std::mutex mutex_;
  std::shared_ptr<const WhatIfModel> model_;
  std::optional<Selection::StepRange> steps_;
  std::optional<WindowRequest> window_;
};

}  // namespace fathom::server
