// Cost of convolutions and pooling.
#include "analysis/roofline/op_formulas.h"

namespace fathom::cost {
namespace {

using Sizes = std::vector<std::int64_t>;

/// How the window moves, by spatial dimension.
struct Window {
  Sizes stride, padding, dilation;
};

/// Argument `i` with one value per spatial dimension; one value stands for all, an empty list for
/// `otherwise`.
std::optional<Sizes> sizes(const OpArguments& arguments, std::size_t i, std::size_t count,
                           const Sizes& otherwise = {}) {
  std::optional<Sizes> values = arguments.integers(i);
  if (values && values->empty() && !otherwise.empty()) values = otherwise;
  if (values && values->size() == 1) values = Sizes(count, values->front());
  if (!values || values->size() != count) return std::nullopt;
  return values;
}

/// Channels-last or not, dims are [batch, channels, spatial...].
std::size_t spatial(const TensorArgument& tensor) {
  return tensor.dims.size() < 3 ? 0 : tensor.dims.size() - 2;
}

/// Positions of the window, all dimensions together; nothing where it does not fit.
std::optional<double> positions(const TensorArgument& input, const Sizes& kernel,
                                const Window& window) {
  double out = 1;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const std::int64_t covered = window.dilation[i] * (kernel[i] - 1) + 1;
    const std::int64_t room = input.dims[i + 2] + 2 * window.padding[i] - covered;
    if (room < 0 || window.stride[i] <= 0) return std::nullopt;
    const std::int64_t steps = room / window.stride[i];  // what is left over is not covered
    out *= static_cast<double>(steps + 1);
  }
  return out;
}

/// Elements of one filter: the weight without its first dimension.
double filter(const TensorArgument& weight) {
  return weight.dims[0] == 0 ? 0 : weight.elements() / weight.dim(0);
}

bool is_convolution(const TensorArgument* input, const TensorArgument* weight) {
  return input != nullptr && weight != nullptr && spatial(*input) > 0 &&
         input->dims.size() == weight->dims.size() && weight->dims[0] > 0;
}

/// Where the window's arguments stand.
struct Places {
  std::size_t bias, stride, padding, dilation, transposed;
};
constexpr std::size_t kNowhere = SIZE_MAX;

Cost forward(const OpArguments& arguments, const Places& places) {
  const TensorArgument* const input = arguments.tensor(0);
  const TensorArgument* const weight = arguments.tensor(1);
  if (!is_convolution(input, weight)) return std::nullopt;
  const std::size_t count = spatial(*input);
  const auto stride = sizes(arguments, places.stride, count);
  const auto padding = sizes(arguments, places.padding, count);
  const auto dilation = sizes(arguments, places.dilation, count);
  if (!stride || !padding || !dilation) return std::nullopt;
  // Of a transposed one, each element of the input meets a whole filter; its output is not priced
  // exactly without the output padding, which changes little.
  const bool transposed =
      places.transposed != kNowhere && arguments.text(places.transposed) == "True";
  OpCost cost{.type = input->type, .matrix = true};
  double outputs = input->dim(0);
  if (transposed) {
    outputs *= weight->dim(1);
    for (std::size_t i = 0; i < count; ++i) {
      outputs *= static_cast<double>((input->dims[i + 2] - 1) * (*stride)[i] - 2 * (*padding)[i] +
                                     (*dilation)[i] * (weight->dims[i + 2] - 1) + 1);
    }
    cost.flops = 2 * input->elements() * filter(*weight);
  } else {
    const Sizes kernel(weight->dims.begin() + 2, weight->dims.end());
    const auto windows = positions(*input, kernel, {*stride, *padding, *dilation});
    if (!windows) return std::nullopt;
    outputs *= weight->dim(0) * *windows;
    cost.flops = 2 * outputs * filter(*weight);
  }
  cost.bytes = input->bytes() + weight->bytes() + outputs * input->item_bytes();
  if (const TensorArgument* const bias = arguments.tensor(places.bias)) {
    cost.flops += outputs;
    cost.bytes += bias->bytes();
  }
  return cost;
}

/// Is that gradient asked for? Where the mask was not recorded, both are.
bool wanted(std::string_view mask, std::size_t i) {
  if (mask.empty()) return true;
  for (; i > 0 && !mask.empty(); --i) {
    const std::size_t comma = mask.find(',');
    mask = comma == std::string_view::npos ? std::string_view() : mask.substr(comma + 1);
  }
  const std::size_t begin = mask.find_first_not_of("[ ");
  return begin != std::string_view::npos && mask.substr(begin).starts_with("True");
}

/// A product as large as forward for each gradient that `mask` asks for: input, weight, bias.
Cost backward(const TensorArgument* gradient, const TensorArgument* input,
              const TensorArgument* weight, std::string_view mask, bool transposed) {
  if (!is_convolution(input, weight) || gradient == nullptr) return std::nullopt;
  const TensorArgument& positions_of = transposed ? *input : *gradient;
  const double product = 2 * positions_of.elements() * filter(*weight);
  OpCost cost{.type = gradient->type, .matrix = true};
  cost.bytes = gradient->bytes();
  const bool of_input = wanted(mask, 0);
  const bool of_weight = wanted(mask, 1);
  if (of_input) {
    cost.flops += product;
    cost.bytes += weight->bytes() + input->bytes();
  }
  if (of_weight) {
    cost.flops += product;
    cost.bytes += input->bytes() + weight->bytes();
  }
  if (!mask.empty() && wanted(mask, 2)) cost.flops += gradient->elements();
  return cost;
}

struct Pool {
  double outputs;
  double window;
};

std::optional<Pool> pool(const OpArguments& arguments, std::size_t dilation_place) {
  const TensorArgument* const input = arguments.tensor(0);
  if (input == nullptr || spatial(*input) == 0) return std::nullopt;
  const std::size_t count = spatial(*input);
  const auto kernel = sizes(arguments, 1, count);
  if (!kernel) return std::nullopt;
  const auto stride = sizes(arguments, 2, count, *kernel);
  const auto padding = sizes(arguments, 3, count);
  const auto dilation = dilation_place == kNowhere ? std::optional<Sizes>(Sizes(count, 1))
                                                   : sizes(arguments, dilation_place, count);
  if (!stride || !padding || !dilation) return std::nullopt;
  const auto windows = positions(*input, *kernel, {*stride, *padding, *dilation});
  if (!windows) return std::nullopt;
  Pool out{.outputs = static_cast<double>(input->dims[0] * input->dims[1]) * *windows, .window = 1};
  for (const std::int64_t size : *kernel) out.window *= static_cast<double>(size);
  return out;
}

}  // namespace

Cost convolution(const OpArguments& arguments, PerElement) {
  return forward(arguments, {.bias = 2, .stride = 3, .padding = 4, .dilation = 5, .transposed = 6});
}

Cost cudnn_convolution(const OpArguments& arguments, PerElement) {
  return forward(
      arguments,
      {.bias = kNowhere, .stride = 3, .padding = 2, .dilation = 4, .transposed = kNowhere});
}

Cost mkldnn_convolution(const OpArguments& arguments, PerElement) {
  return forward(arguments,
                 {.bias = 2, .stride = 4, .padding = 3, .dilation = 5, .transposed = kNowhere});
}

Cost convolution_backward(const OpArguments& arguments, PerElement) {
  return backward(arguments.tensor(0), arguments.tensor(1), arguments.tensor(2), arguments.text(10),
                  arguments.text(7) == "True");
}

Cost cudnn_convolution_backward(const OpArguments& arguments, PerElement) {
  return backward(arguments.tensor(1), arguments.tensor(0), arguments.tensor(2), arguments.text(10),
                  false);
}

Cost max_pool(const OpArguments& arguments, PerElement) {
  const std::optional<Pool> windows = pool(arguments, 4);
  if (!windows) return std::nullopt;
  const TensorArgument& input = *arguments.tensor(0);
  // Beside each largest element its index, of 64 bits.
  return OpCost{.flops = windows->outputs * windows->window,
                .bytes = input.bytes() + windows->outputs * (input.item_bytes() + 8),
                .type = input.type};
}

Cost avg_pool(const OpArguments& arguments, PerElement) {
  const std::optional<Pool> windows = pool(arguments, kNowhere);
  if (!windows) return std::nullopt;
  const TensorArgument& input = *arguments.tensor(0);
  return OpCost{.flops = windows->outputs * windows->window,
                .bytes = input.bytes() + windows->outputs * input.item_bytes(),
                .type = input.type};
}

Cost max_pool_backward(const OpArguments& arguments, PerElement) {
  const TensorArgument* const gradient = arguments.tensor(0);
  const TensorArgument* const input = arguments.tensor(1);
  if (gradient == nullptr || input == nullptr) return std::nullopt;
  return OpCost{.flops = gradient->elements(),
                .bytes = gradient->bytes() + gradient->elements() * 8 + input->bytes(),
                .type = gradient->type};
}

}  // namespace fathom::cost
