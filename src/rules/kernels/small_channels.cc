// small-channels: convolutions with too few channels to use the device.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/quantity_text.h"
#include "rules/common/arguments.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace small_channels_rule {
namespace {

constexpr std::string_view kDoc =
    "A convolution is a matrix multiplication over its channels: with few channels in or out (per "
    "group) the matrices are thin, most of a tile is padding, and the device waits for memory. "
    "Fires when convolutions with fewer than 16 channels in or out take at least 5 % of the step "
    "and together reach less than 60 % of their roof. Nothing is predicted. Abstains where "
    "convolutions take that much and shapes, or the device's peaks, are not known. Source: "
    "NVIDIA's Convolutional Layers User's Guide (channels in multiples of 8, and large); 16, one "
    "tile of tensor cores, and 5 % are our choice.";

constexpr double kLeastPercent = 5.0;
constexpr std::int64_t kFew = 16;

/// All have the filters, of channels out x channels in per group x …, as some argument.
bool is_convolution(std::string_view name) {
  return name == "aten::convolution" || name == "aten::_convolution" ||
         name == "aten::cudnn_convolution" || name == "aten::miopen_convolution" ||
         name == "aten::convolution_backward" || name == "aten::cudnn_convolution_backward";
}
bool is_backward(std::string_view name) { return name.ends_with("backward"); }

struct Channels {
  std::int64_t in = 0;  // per group
  std::int64_t out = 0;
  [[nodiscard]] std::int64_t least() const { return std::min(in, out); }
};

std::optional<Channels> channels_of(const Trace& trace, SliceId op) {
  const std::optional<OpArguments> arguments = arguments_of(trace, op);
  if (!arguments) return {};
  // Forward: input, filters. Backward: gradient, input, filters; cuDNN's: input, gradient, filters.
  const TensorArgument* const filters = arguments->tensor(is_backward(trace.name(op)) ? 2 : 1);
  if (filters == nullptr || filters->dims.size() < 3) return {};
  return Channels{.in = filters->dims[1], .out = filters->dims[0]};
}

/// The same, each signature and direction taken apart once.
class KnownChannels {
 public:
  explicit KnownChannels(const Trace& trace) : trace_(trace) {}

  std::optional<Channels> operator()(SliceId op) {
    const auto [known, is_new] =
        known_.try_emplace({signature_of(trace_, op), is_backward(trace_.name(op))});
    if (is_new) known->second = channels_of(trace_, op);
    return known->second;
  }

 private:
  const Trace& trace_;
  std::map<std::pair<const Signature*, bool>, std::optional<Channels>> known_;
};

struct Convolutions {
  Blamed small;
  double least = 0;  // ns of the roofs' times, of
  double rated = 0;  // ns with a known roof
  Channels fewest{.in = INT64_MAX, .out = INT64_MAX};
  Duration unknown{};  // of convolutions without shapes
};

Convolutions look(const RuleContext& rules, const NameSet& names) {
  const Trace& trace = rules.trace();
  Convolutions found;
  KnownChannels channels_of_call(trace);
  for_each_activity(rules, [&](SliceId activity, SliceId op) {
    const SliceId convolution = op.valid() ? enclosing(rules, op, names) : SliceId();
    if (!convolution.valid()) return;
    const Duration time = trace.slices.duration[activity.row()];
    const std::optional<Channels> channels = channels_of_call(convolution);
    if (!channels) {
      found.unknown += time;
      return;
    }
    if (channels->least() >= kFew) return;
    found.small.add(rules, activity, convolution);
    if (channels->least() < found.fewest.least()) found.fewest = *channels;
    const RooflineRow* const row = rules.roofline.row_of(activity);
    if (row == nullptr || row->bound == Bound::unknown) return;
    const auto ns = static_cast<double>(to_ns(time));
    found.rated += ns;
    found.least += ns * std::min(1.0, row->roof_percent / 100);
  });
  return found;
}

Finding describe(const RuleContext& rules, const Convolutions& found) {
  const double percent = 100 * found.least / found.rated;
  Finding finding;
  finding.title = "Convolutions with fewer than 16 channels reach " + percent_text(percent) +
                  " of their roof: " + per_step(rules, found.small.time);
  finding.family = Family::latency;
  finding.weight = rules.percent(found.small.time) >= 20 ? Weight::warning : Weight::note;
  finding.confidence = Confidence::low;
  finding.effort = Effort::redesign;
  finding.evidence.push_back(
      evidence_of(rules, found.small,
                  count_text(static_cast<std::int64_t>(found.small.activities.size())) +
                      " kernels; the fewest channels are " + count_text(found.fewest.in) +
                      " in (per group) and " + count_text(found.fewest.out) + " out"));
  finding.counter_evidence =
      "A first layer over the 3 channels of an image is small in any model; with channels-last "
      "tensors cuDNN has kernels for it.";
  finding.fix = {
      .text =
          "Channels in multiples of 8, at least 16: fewer groups, wider and fewer layers. Of "
          "an image, fold blocks of pixels into channels (pixel_unshuffle) before the first "
          "layer, or pad 3 channels to 4 or 8 with zeros. The first two change the model and "
          "need training again; padding with zeros does not.",
      .before = "nn.Conv2d(3, 64, 4, stride=4)",
      .after =
          "nn.Sequential(nn.PixelUnshuffle(4), nn.Conv2d(48, 64, 1))  # the same multiplications"};
  finding.verify = "fathom roofline TRACE --filter 'name~convolution'";
  return finding;
}

Outcome check(const RuleContext& rules) {
  if (rules.device < 0) return Abstention{"no device activity was recorded"};
  const NameSet names(rules.trace(), is_convolution);
  if (!names.any()) return std::vector<Finding>{};
  const Convolutions found = look(rules, names);
  if (found.small.activities.empty() && rules.percent(found.unknown) >= kLeastPercent)
    return not_recorded(rules, "shapes were not recorded", "record_shapes=True");
  if (rules.percent(found.small.time) < kLeastPercent) return std::vector<Finding>{};
  if (found.rated <= 0) {
    return Abstention{"the roof of the convolutions is not known: " + rules.roofline.note};
  }
  if (100 * found.least >= kLatencyPercent * found.rated) return std::vector<Finding>{};
  std::vector<Finding> findings;
  findings.push_back(describe(rules, found));
  return findings;
}

}  // namespace
}  // namespace small_channels_rule

Rule small_channels() {
  return {.id = "small-channels",
          .title = "Convolutions with few channels",
          .doc = small_channels_rule::kDoc,
          .check = small_channels_rule::check};
}

}  // namespace fathom
