// Computes floating-point operations by torch's formulas.
#include "analysis/operators/torch_flops.h"

#include <string>
#include <vector>

#include "analysis/util/json_list.h"

namespace fathom {
namespace {

using Dims = std::vector<std::int64_t>;

std::uint64_t product(const Dims& dims) {
  std::uint64_t out = 1;
  for (const std::int64_t dim : dims) out *= static_cast<std::uint64_t>(dim);
  return out;
}

std::optional<Dims> dims_of(const std::vector<std::string_view>& shapes, std::size_t i) {
  return i < shapes.size() ? json_integers(shapes[i]) : std::nullopt;
}

/// 2·M·N·K, as torch writes it: 2 · |left| / left.last (/ left.first for batches) · |right|.
std::uint64_t gemm(const std::vector<std::string_view>& shapes, std::size_t first, bool batched) {
  const std::optional<Dims> left = dims_of(shapes, first);
  const std::optional<Dims> right = dims_of(shapes, first + 1);
  if (!left || !right || left->empty() || left->back() == 0) return 0;
  std::uint64_t out = 2 * product(*left) / static_cast<std::uint64_t>(left->back());
  if (batched) {
    if (left->front() == 0) return 0;
    out /= static_cast<std::uint64_t>(left->front());
  }
  return out * product(*right);
}

/// One operation per element of the first input, when that is a tensor.
std::uint64_t elementwise(const std::vector<std::string_view>& shapes, std::string_view types) {
  const std::vector<std::string_view> all = json_elements(types);
  if (all.empty()) return 0;
  const std::string_view type = json_unquoted(all.front());
  if (type.empty() || type == "Scalar" || type == "ScalarList" || type == "TensorList") return 0;
  const std::optional<Dims> dims = dims_of(shapes, 0);
  return dims ? product(*dims) : 0;
}

struct Window {
  Dims stride;
  Dims padding;
  Dims dilation;
  std::uint64_t groups = 0;
};

/// Arguments 3 to 6 of aten::conv2d; nothing when they are not lists of two (padding "same").
std::optional<Window> window_of(const std::vector<std::string_view>& concrete) {
  const auto pair = [&](std::size_t i) { return json_integers(json_unquoted(concrete[i])); };
  const auto stride = pair(3);
  const auto padding = pair(4);
  const auto dilation = pair(5);
  const auto groups = json_integers("[" + std::string(json_unquoted(concrete[6])) + "]");
  if (!stride || !padding || !dilation || !groups || groups->size() != 1) return std::nullopt;
  if (stride->size() != 2 || padding->size() != 2 || dilation->size() != 2) return std::nullopt;
  if ((*stride)[0] == 0 || (*stride)[1] == 0 || groups->front() == 0) return std::nullopt;
  return Window{*stride, *padding, *dilation, static_cast<std::uint64_t>(groups->front())};
}

std::uint64_t conv2d(const std::vector<std::string_view>& shapes,
                     const std::vector<std::string_view>& concrete) {
  const std::optional<Dims> input = dims_of(shapes, 0);
  const std::optional<Dims> weight = dims_of(shapes, 1);
  if (!input || !weight || input->size() != 4 || weight->size() != 4) return 0;
  const std::optional<Window> window = window_of(concrete);
  if (!window) return 0;
  const auto at = [](const Dims& dims, std::size_t i) {
    return static_cast<std::uint64_t>(dims[i]);
  };
  std::uint64_t out = 2 * at(*input, 0) * at(*input, 1) * at(*weight, 0);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::uint64_t kernel = at(*weight, 2 + i);
    const std::uint64_t covered = at(window->dilation, i) * (kernel - 1) + 1;
    const std::uint64_t padded = at(*input, 2 + i) + 2 * at(window->padding, i);
    out *= ((padded - covered) / at(window->stride, i) + 1) * kernel;
  }
  return out / window->groups;
}

}  // namespace

std::optional<std::uint64_t> torch_flops(FlopsFormula formula, std::string_view shapes,
                                         std::string_view types, std::string_view concrete) {
  const std::vector<std::string_view> inputs = json_elements(shapes);
  if (inputs.empty()) return std::nullopt;
  switch (formula) {
    case FlopsFormula::none:
      return std::nullopt;
    case FlopsFormula::mm:
      return gemm(inputs, 0, false);
    case FlopsFormula::addmm:
      return gemm(inputs, 1, false);
    case FlopsFormula::bmm:
      return gemm(inputs, 0, true);
    case FlopsFormula::baddbmm:
      return gemm(inputs, 1, true);
    case FlopsFormula::multiply:
    case FlopsFormula::add:
      if (types.empty()) return std::nullopt;
      return elementwise(inputs, types);
    case FlopsFormula::conv2d: {
      const std::vector<std::string_view> arguments = json_elements(concrete);
      if (arguments.size() < 7) return std::nullopt;
      return conv2d(inputs, arguments);
    }
  }
  return std::nullopt;
}

}  // namespace fathom
