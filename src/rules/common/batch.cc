// Reads from recorded shapes how many samples or tokens a step works on.
#include "rules/common/batch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>

#include "rules/common/arguments.h"
#include "rules/common/host_steps.h"
#include "rules/common/names.h"

namespace fathom {
namespace {

/// What shows the batch, the clearest first.
enum class Layer : std::uint8_t { embedding, convolution, linear, none };
constexpr std::size_t kLayers = static_cast<std::size_t>(Layer::none);

Layer layer_of(std::string_view name) {
  if (name == "aten::embedding") return Layer::embedding;
  if (name == "aten::conv1d" || name == "aten::conv2d" || name == "aten::conv3d")
    return Layer::convolution;
  return name == "aten::linear" ? Layer::linear : Layer::none;
}

bool is_loss(std::string_view name) {
  return name.starts_with("aten::") && name.ends_with("_loss") && name != "aten::nll_loss";
}

/// Are the indices those of a bias by relative position, one for each pair of tokens, in a table of
/// few distances? They show no batch.
bool is_of_pairs(const TensorArgument& table, const TensorArgument& indices) {
  return indices.dims.size() == 2 && indices.dim(0) == indices.dim(1) && !table.dims.empty() &&
         table.dim(0) < indices.dim(0);
}

/// The size of one call, and which argument it is called with.
struct Sizes {
  double samples = 0;  ///< 0: not known.
  double tokens = 0;
  [[nodiscard]] double elements() const { return std::max(samples, tokens); }
};

/// The batch in the shapes of a call; `flat`: a list of indices holds tokens, not samples.
Sizes sizes_of(Layer layer, const OpArguments& arguments, bool flat) {
  const TensorArgument* const first = arguments.tensor(0);
  const TensorArgument* const second = arguments.tensor(1);
  if (first == nullptr || second == nullptr || second->dims.empty()) return {};
  const TensorArgument& input = layer == Layer::embedding ? *second : *first;
  const std::size_t rank = input.dims.size();
  switch (layer) {
    case Layer::embedding:
      if (is_of_pairs(*first, input)) return {};
      if (rank == 2) return {.samples = input.dim(0), .tokens = input.elements()};
      if (rank != 1) return {};
      return flat ? Sizes{.tokens = input.dim(0)} : Sizes{.samples = input.dim(0)};
    case Layer::convolution:
      return rank == second->dims.size() ? Sizes{.samples = input.dim(0)} : Sizes{};
    default:
      return rank == 2 && !flat ? Sizes{.samples = input.dim(0)} : Sizes{};
  }
}

/// Of one step, the call of a layer that shows the batch, and how often it comes.
struct Shown {
  std::string_view name;
  Time start{};
  Sizes sizes;
  double calls = 0;
};

struct StepCalls {
  std::array<std::map<std::uint32_t, Shown>, kLayers> layers;  ///< By signature.
  double losses = 0;
};

/// The largest embedding, else the first call; of calls at one time the largest, whatever their
/// numbers in the trace.
const Shown* choose(Layer layer, const std::map<std::uint32_t, Shown>& calls) {
  const auto order = [layer](const Shown& shown) {
    const double largest = layer == Layer::embedding ? shown.sizes.elements() : 0;
    return std::tuple(-largest, shown.start, -shown.sizes.elements(), -shown.sizes.samples,
                      shown.calls, shown.name);
  };
  const Shown* best = nullptr;
  for (const auto& [signature, shown] : calls) {
    if (best == nullptr || order(shown) < order(*best)) best = &shown;
  }
  return best;
}

/// How often the model runs in the step; 0 where that is not known.
double passes(const Shown& shown, double losses) {
  if (shown.calls == 1) return 1;
  const bool whole = losses >= 1 && shown.calls / losses == std::floor(shown.calls / losses);
  return whole ? losses : 0;
}

class BatchFinder {
 public:
  explicit BatchFinder(const RuleContext& rules)
      : rules_(rules),
        trace_(rules.trace()),
        layers_(trace_, [](std::string_view name) { return layer_of(name) != Layer::none; }),
        losses_(trace_, is_loss),
        attention_(trace_, [](std::string_view name) {
          return name.find("attention") != std::string_view::npos;
        }) {}

  std::optional<Batch> find() {
    if (!layers_.any()) return std::nullopt;
    for (std::size_t row = 0; row < trace_.slices.size(); ++row) add(SliceId(row));
    for (std::size_t layer = 0; layer < kLayers; ++layer) {
      if (std::optional<Batch> batch = by(static_cast<Layer>(layer))) return batch;
    }
    return std::nullopt;
  }

 private:
  void add(SliceId op) {
    const StringId name = trace_.slices.name[op.row()];
    const bool layer = layers_.contains(name);
    if (!layer && !losses_.contains(name)) return;
    const Time start = trace_.slices.start[op.row()];
    const Step* const on_host = step_on_host(rules_, start);
    const Step* const step = on_host != nullptr ? on_host : rules_.step_at(start);
    if (step == nullptr || trace_.kind(op) != SliceKind::cpu_op) return;
    StepCalls& calls = steps_[step];
    if (layer) {
      add_layer(op, start, calls);
    } else {
      ++calls.losses;
    }
  }

  void add_layer(SliceId op, Time start, StepCalls& calls) {
    const Signature* const signature = signature_of(trace_, op);
    if (signature == nullptr) return;
    const auto row = static_cast<std::uint32_t>(signature - trace_.signatures.data());
    const Layer layer = layer_of(trace_.name(op));
    Shown& shown = calls.layers[static_cast<std::size_t>(layer)][row];
    if (++shown.calls > 1) return;
    shown.name = trace_.name(op);
    shown.start = start;
    const std::optional<OpArguments> arguments = arguments_of(trace_, op);
    if (arguments) shown.sizes = sizes_of(layer, *arguments, attention_.any());
  }

  /// The mean over all counted steps, where each of them shows it by this layer.
  [[nodiscard]] std::optional<Batch> by(Layer layer) const {
    Sizes sum;
    std::string_view name;
    for (const Step* const step : rules_.steps) {
      const auto calls = steps_.find(step);
      if (calls == steps_.end()) return std::nullopt;
      const Shown* const shown =
          choose(layer, calls->second.layers[static_cast<std::size_t>(layer)]);
      if (shown == nullptr) return std::nullopt;
      const double times = passes(*shown, calls->second.losses);
      if (times == 0 || shown->sizes.elements() == 0) return std::nullopt;
      sum.samples += times * shown->sizes.samples;
      sum.tokens += times * shown->sizes.tokens;
      name = shown->name;
    }
    if (sum.elements() == 0) return std::nullopt;
    const auto steps = static_cast<double>(rules_.steps.size());
    Batch batch;
    if (sum.samples > 0) batch.samples = sum.samples / steps;
    if (sum.tokens > 0) batch.tokens = sum.tokens / steps;
    batch.source = name;
    return batch;
  }

  const RuleContext& rules_;
  const Trace& trace_;
  const NameSet layers_;
  const NameSet losses_;
  const NameSet attention_;
  std::map<const Step*, StepCalls> steps_;
};

}  // namespace

std::optional<Batch> find_batch(const RuleContext& rules) { return BatchFinder(rules).find(); }

}  // namespace fathom
