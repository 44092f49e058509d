// Cost of operators that work row by row: reductions, softmax, normalisations.
#include <algorithm>

#include "analysis/roofline/op_formulas.h"

namespace fathom::cost {
namespace {

/// Bytes of a mean or another statistic, which is kept in single precision at least.
double statistic_bytes(const TensorArgument& tensor) {
  return static_cast<double>(std::max<std::int64_t>(4, tensor.element_bytes));
}

/// Elements that are left of `input` when the dimensions in argument 1 are reduced; all of them
/// where no dimensions were given, nothing where values were not recorded.
std::optional<double> reduced_elements(const OpArguments& arguments, const TensorArgument& input) {
  if (!arguments.has_values()) return std::nullopt;
  const auto dims = arguments.integers(1);
  if (!dims || dims->empty()) return 1.0;
  double out = input.elements();
  const auto rank = static_cast<std::int64_t>(input.dims.size());
  for (const std::int64_t given : *dims) {
    const std::int64_t dim = given < 0 ? given + rank : given;
    if (dim < 0 || dim >= rank) return std::nullopt;
    const std::int64_t length = input.dims[static_cast<std::size_t>(dim)];
    if (length > 0) out /= static_cast<double>(length);
  }
  return out;
}

}  // namespace

Cost reduction(const OpArguments& arguments, PerElement per) {
  const TensorArgument* const input = arguments.tensor(0);
  if (input == nullptr) return std::nullopt;
  const auto outputs = reduced_elements(arguments, *input);
  if (!outputs) return std::nullopt;
  return OpCost{.flops = input->elements() * per.flops,
                .bytes = input->bytes() + *outputs * input->item_bytes(),
                .type = input->type};
}

Cost softmax(const OpArguments& arguments, PerElement per) {
  const TensorArgument* const input = arguments.tensor(0);
  if (input == nullptr) return std::nullopt;
  return OpCost{
      .flops = input->elements() * per.flops, .bytes = 2 * input->bytes(), .type = input->type};
}

Cost softmax_backward(const OpArguments& arguments, PerElement per) {
  const TensorArgument* const gradient = arguments.tensor(0);
  const TensorArgument* const output = arguments.tensor(1);
  if (gradient == nullptr || output == nullptr) return std::nullopt;
  return OpCost{.flops = gradient->elements() * per.flops,
                .bytes = 2 * gradient->bytes() + output->bytes(),
                .type = gradient->type};
}

Cost layer_norm(const OpArguments& arguments, PerElement per) {
  const TensorArgument* const input = arguments.tensor(0);
  if (input == nullptr) return std::nullopt;
  double row = 1;
  if (const TensorArgument* const weight = arguments.tensor(2)) {
    row = weight->elements();
  } else if (const auto dims = arguments.integers(1); dims && !dims->empty()) {
    for (const std::int64_t dim : *dims) row *= static_cast<double>(dim);
  } else {
    return std::nullopt;
  }
  const double rows = row > 0 ? input->elements() / row : 0;
  return OpCost{.flops = input->elements() * per.flops,
                .bytes = bytes_of(arguments.tensors()) + input->bytes() +
                         2 * rows * statistic_bytes(*input),  // mean and deviation of each row
                .type = input->type};
}

Cost batch_norm(const OpArguments& arguments, PerElement per) {
  const TensorArgument* const input = arguments.tensor(0);
  if (input == nullptr || input->dims.size() < 2) return std::nullopt;
  const bool training = arguments.text(5) != "False" && arguments.text(5) != "0";
  const double channels = input->dim(1);
  double bytes = bytes_of(arguments.tensors()) + input->bytes();
  if (training) {
    bytes += 2 * channels * statistic_bytes(*input);  // mean and deviation are saved
    // The running ones, where the layer keeps any, are updated.
    for (const std::size_t running : {3U, 4U}) {
      if (const TensorArgument* const kept = arguments.tensor(running)) bytes += kept->bytes();
    }
  }
  // Without training, only a scale and a shift are left to do.
  return OpCost{
      .flops = input->elements() * (training ? per.flops : 2), .bytes = bytes, .type = input->type};
}

Cost group_norm(const OpArguments& arguments, PerElement per) {
  const TensorArgument* const input = arguments.tensor(0);
  const auto groups = arguments.integers(6);
  if (input == nullptr || input->dims.empty() || !groups || groups->size() != 1) {
    return std::nullopt;
  }
  const double rows = static_cast<double>(input->dims[0] * groups->front());
  return OpCost{
      .flops = input->elements() * per.flops,
      .bytes = bytes_of(arguments.tensors()) + input->bytes() + 2 * rows * statistic_bytes(*input),
      .type = input->type};
}

Cost norm_backward(const OpArguments& arguments, PerElement per) {
  const TensorArgument* const first = arguments.tensor(0);
  if (first == nullptr) return std::nullopt;
  // Gradients of weight and bias, which these arguments are of a layer norm; of a batch norm they
  // are the saved statistics, of the same size.
  double parameters = 0;
  if (const TensorArgument* const weight = arguments.tensor(5)) parameters += weight->bytes();
  if (const TensorArgument* const bias = arguments.tensor(6)) parameters += bias->bytes();
  return OpCost{.flops = first->elements() * per.flops,
                .bytes = bytes_of(arguments.tensors()) + first->bytes() + parameters,
                .type = first->type};
}

Cost group_norm_backward(const OpArguments& arguments, PerElement per) {
  const TensorArgument* const gradient = arguments.tensor(0);
  const TensorArgument* const input = arguments.tensor(1);
  if (gradient == nullptr || input == nullptr) return std::nullopt;
  const TensorArgument* const weight = arguments.tensor(4);
  const double parameters = weight == nullptr ? 0 : 2 * weight->bytes();  // their gradients
  return OpCost{.flops = input->elements() * per.flops,
                .bytes = bytes_of(arguments.tensors()) + input->bytes() + parameters,
                .type = input->type};
}

Cost rms_norm_backward(const OpArguments& arguments, PerElement per) {
  const TensorArgument* const gradient = arguments.tensor(0);
  const TensorArgument* const input = arguments.tensor(1);
  if (gradient == nullptr || input == nullptr) return std::nullopt;
  const TensorArgument* const weight = arguments.tensor(4);
  // Without a weight neither a product with it nor a gradient of it.
  const int flops = weight == nullptr ? per.flops - 3 : per.flops;
  return OpCost{.flops = input->elements() * flops,
                .bytes = bytes_of(arguments.tensors()) + input->bytes() +
                         (weight == nullptr ? 0 : weight->bytes()),
                .type = input->type};
}

Cost rms_norm_out(const OpArguments& arguments, PerElement per) {
  const TensorArgument* const output = arguments.tensor(0);
  if (output == nullptr || arguments.tensor(1) == nullptr) return std::nullopt;
  return OpCost{.flops = output->elements() * per.flops,
                .bytes = bytes_of(arguments.tensors()),
                .type = output->type};
}

Cost add_rms_norm(const OpArguments& arguments, PerElement per) {
  const TensorArgument* const input = arguments.tensor(0);
  const TensorArgument* const residual = arguments.tensor(1);
  if (input == nullptr || residual == nullptr) return std::nullopt;
  return OpCost{.flops = input->elements() * per.flops,
                .bytes = bytes_of(arguments.tensors()) + input->bytes() + residual->bytes(),
                .type = input->type};
}

}  // namespace fathom::cost
