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

Result<WhatIf> KeptWhatIf::run(const WhatIfRequest& request) {
  std::shared_ptr<const WhatIfModel> model;
  {
    // Who asks at the same time waits for one graph instead of building two.
    const std::scoped_lock lock(mutex_);
    if (model_ == nullptr || !same(steps_, request.steps) || !same(window_, request.window)) {
      Result<WhatIfModel> built = WhatIfModel::build(session_, request.steps, request.window);
      if (!built) return std::move(built).error();
      model_ = std::make_shared<const WhatIfModel>(*std::move(built));
      steps_ = request.steps;
      window_ = request.window;
    }
    model = model_;
  }
  return model->run(request);
}

}  // namespace fathom::server
