// Builds the graph when the steps change.
#include "server/kept_what_if.h"

#include <utility>

namespace fathom::server {
namespace {

bool same(const std::optional<Selection::StepRange>& a,
          const std::optional<Selection::StepRange>& b) {
  return a.has_value() == b.has_value() && (!a || (a->first == b->first && a->last == b->last));
}

bool same(const std::optional<WindowRequest>& a, const std::optional<WindowRequest>& b) {
  return a.has_value() == b.has_value() && (!a || (a->begin == b->begin && a->end == b->end));
}

}  // namespace

Result<std::shared_ptr<const WhatIfModel>> KeptWhatIf::model(
    const std::optional<Selection::StepRange>& steps, const std::optional<WindowRequest>& window) {
  // Who asks at the same time waits for one graph instead of building two.
  const std::scoped_lock lock(mutex_);
  if (model_ == nullptr || !same(steps_, steps) || !same(window_, window)) {
    Result<WhatIfModel> built = WhatIfModel::build(session_, steps, window);
    if (!built) return std::move(built).error();
    model_ = std::make_shared<const WhatIfModel>(*std::move(built));
    steps_ = steps;
    window_ = window;
  }
  return model_;
}

Result<void> KeptWhatIf::prepare(const std::optional<Selection::StepRange>& steps,
                                 const std::optional<WindowRequest>& window) {
  const Result<std::shared_ptr<const WhatIfModel>> kept = model(steps, window);
  if (!kept) return kept.error();
  return {};
}

Result<WhatIf> KeptWhatIf::run(const WhatIfRequest& request) {
  const Result<std::shared_ptr<const WhatIfModel>> kept = model(request.steps, request.window);
  if (!kept) return kept.error();
  return (**kept).run(request);
}

}  // namespace fathom::server
