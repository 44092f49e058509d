// Cost of operators that move more than they compute: elementwise, by index, over lists.
#include <algorithm>
#include <array>
#include <span>

#include "analysis/roofline/op_formulas.h"

namespace fathom::cost {
namespace {

/// Elements of the shape to which all broadcast; dims align at their ends.
double broadcast_elements(std::span<const TensorArgument> tensors) {
  std::size_t rank = 0;
  for (const TensorArgument& tensor : tensors) rank = std::max(rank, tensor.dims.size());
  double out = 1;
  for (std::size_t back = 1; back <= rank; ++back) {
    std::int64_t dim = 1;
    for (const TensorArgument& tensor : tensors) {
      if (back > tensor.dims.size()) continue;
      const std::int64_t own = tensor.dims[tensor.dims.size() - back];
      if (own != 1) dim = own;
    }
    out *= static_cast<double>(dim);
  }
  return out;
}

bool is_floating(NumberType type) { return type != NumberType::other && type != NumberType::int8; }

/// Does `a` decide the type of the result rather than `b`? Numbers and 0-dimensional tensors give
/// way to tensors with dimensions, integers to floating point, narrow to wide.
bool decides(const TensorArgument& a, const TensorArgument& b) {
  const auto weight = [](const TensorArgument& tensor) {
    return std::array<std::int64_t, 3>{tensor.dims.empty() ? 0 : 1,
                                       is_floating(tensor.type) ? 1 : 0, tensor.element_bytes};
  };
  return weight(a) > weight(b);
}

const TensorArgument& result_of(std::span<const TensorArgument> tensors) {
  const TensorArgument* out = tensors.data();
  for (const TensorArgument& tensor : tensors) {
    if (decides(tensor, *out)) out = &tensor;
  }
  return *out;
}

/// The tensors that are read: what follows them is the output of an "out=" variant.
std::span<const TensorArgument> inputs_of(const OpArguments& arguments, PerElement per) {
  const std::span<const TensorArgument> all = arguments.tensors();
  return all.first(std::min(all.size(), static_cast<std::size_t>(per.inputs)));
}

Cost moved(double bytes, NumberType type) {
  return OpCost{.flops = 0, .bytes = bytes, .type = type};
}

}  // namespace

Cost elementwise(const OpArguments& arguments, PerElement per) {
  const auto inputs = inputs_of(arguments, per);
  if (inputs.empty()) return std::nullopt;
  const double outputs = broadcast_elements(inputs);
  const TensorArgument& result = result_of(inputs);
  return OpCost{.flops = outputs * per.flops,
                .bytes = bytes_of(inputs) + outputs * result.item_bytes(),
                .type = result.type};
}

Cost comparison(const OpArguments& arguments, PerElement per) {
  const auto inputs = inputs_of(arguments, per);
  if (inputs.empty()) return std::nullopt;
  const double outputs = broadcast_elements(inputs);
  return OpCost{.flops = outputs * per.flops,
                .bytes = bytes_of(inputs) + outputs,
                .type = result_of(inputs).type};
}

Cost upsample(const OpArguments& arguments, PerElement per) {
  const TensorArgument* const input = arguments.tensor(0);
  const auto size = arguments.integers(1);
  // Without a size, by factors: the operator inside has it.
  if (input == nullptr || !size || size->empty() || input->dims.size() != size->size() + 2) {
    return std::nullopt;
  }
  double outputs = input->dim(0) * input->dim(1);
  for (const std::int64_t length : *size) outputs *= static_cast<double>(length);
  // The nearest neighbours of a smaller output are fewer than the inputs.
  const double read = per.flops == 0 ? std::min(input->elements(), outputs) : input->elements();
  return OpCost{.flops = outputs * per.flops,
                .bytes = (read + outputs) * input->item_bytes(),
                .type = input->type};
}

Cost upsample_backward(const OpArguments& arguments, PerElement per) {
  const TensorArgument* const gradient = arguments.tensor(0);
  const auto size = arguments.integers(2);
  if (gradient == nullptr || !size || size->size() != gradient->dims.size()) return std::nullopt;
  double inputs = 1;
  for (const std::int64_t length : *size) inputs *= static_cast<double>(length);
  return OpCost{.flops = gradient->elements() * per.flops,
                .bytes = gradient->bytes() + inputs * gradient->item_bytes(),
                .type = gradient->type};
}

Cost copy(const OpArguments& arguments, PerElement) {
  const TensorArgument* const target = arguments.tensor(0);
  const TensorArgument* const source = arguments.tensor(1);
  if (target == nullptr || source == nullptr) return std::nullopt;
  return moved(target->bytes() + source->bytes(), target->type);
}

Cost fill(const OpArguments& arguments, PerElement) {
  const TensorArgument* const target = arguments.tensor(0);
  return target == nullptr ? std::nullopt : moved(target->bytes(), target->type);
}

Cost concatenation(const OpArguments& arguments, PerElement) {
  if (arguments.lists().empty() || arguments.lists()[0].bytes == 0) return std::nullopt;
  return moved(2 * arguments.lists()[0].bytes, arguments.lists()[0].type);
}

Cost dropout(const OpArguments& arguments, PerElement) {
  const TensorArgument* const input = arguments.tensor(0);
  if (input == nullptr) return std::nullopt;
  // The output and a mask of one byte per element; a random number each is not counted.
  return OpCost{.flops = 2 * input->elements(),
                .bytes = 2 * input->bytes() + input->elements(),
                .type = input->type};
}

Cost gated_activation(const OpArguments& arguments, PerElement per) {
  const TensorArgument* const output = arguments.tensor(0);
  const TensorArgument* const input = arguments.tensor(1);
  if (output == nullptr || input == nullptr) return std::nullopt;
  return OpCost{.flops = output->elements() * per.flops,
                .bytes = output->bytes() + input->bytes(),
                .type = output->type};
}

Cost generated(const OpArguments& arguments, PerElement) {
  const std::span<const TensorArgument> tensors = arguments.tensors();
  if (tensors.empty()) return std::nullopt;
  return OpCost{.flops = 0,
                .bytes = bytes_of(tensors),
                .type = result_of(tensors).type,
                .flops_known = false};
}

Cost embedding(const OpArguments& arguments, PerElement) {
  const TensorArgument* const table = arguments.tensor(0);
  const TensorArgument* const indices = arguments.tensor(1);
  if (table == nullptr || indices == nullptr || table->dims.size() != 2) return std::nullopt;
  const double row = table->dim(1) * table->item_bytes();
  const double asked = indices->elements();
  const double rows = std::min(asked, table->dim(0));
  return moved(indices->bytes() + rows * row + asked * row, table->type);
}

Cost embedding_backward(const OpArguments& arguments, PerElement) {
  const TensorArgument* const gradient = arguments.tensor(0);
  const TensorArgument* const indices = arguments.tensor(1);
  const auto rows = arguments.integers(2);
  if (gradient == nullptr || indices == nullptr || gradient->dims.empty()) return std::nullopt;
  if (!rows || rows->size() != 1) return std::nullopt;
  const double table = static_cast<double>(rows->front() * gradient->dims.back());
  return OpCost{.flops = gradient->elements(),
                .bytes = gradient->bytes() + indices->bytes() + table * gradient->item_bytes(),
                .type = gradient->type};
}

Cost gather(const OpArguments& arguments, PerElement) {
  const TensorArgument* const source = arguments.tensor(0);
  const TensorArgument* const index = arguments.tensor(2);
  if (source == nullptr || index == nullptr) return std::nullopt;
  return moved(index->bytes() + 2 * index->elements() * source->item_bytes(), source->type);
}

Cost index_select(const OpArguments& arguments, PerElement) {
  const TensorArgument* const source = arguments.tensor(0);
  const TensorArgument* const index = arguments.tensor(2);
  const auto dim = arguments.integers(1);
  if (source == nullptr || index == nullptr || !dim || dim->size() != 1) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(source->dims.size());
  const std::int64_t along = dim->front() < 0 ? dim->front() + rank : dim->front();
  if (along < 0 || along >= rank) return std::nullopt;
  const std::int64_t length = source->dims[static_cast<std::size_t>(along)];
  if (length == 0) return std::nullopt;
  const double row = source->bytes() / static_cast<double>(length);
  return moved(index->bytes() + 2 * index->elements() * row, source->type);
}

Cost scatter_add(const OpArguments& arguments, PerElement) {
  const TensorArgument* const index = arguments.tensor(2);
  const TensorArgument* const source = arguments.tensor(3);
  if (index == nullptr || source == nullptr) return std::nullopt;
  return OpCost{.flops = source->elements(),
                .bytes = index->bytes() + 3 * source->bytes(),
                .type = source->type};
}

Cost scatter(const OpArguments& arguments, PerElement) {
  const TensorArgument* const target = arguments.tensor(0);
  const TensorArgument* const index = arguments.tensor(2);
  if (target == nullptr || index == nullptr) return std::nullopt;
  const TensorArgument* const source = arguments.tensor(3);  // else one number for all
  const double values = index->elements() * target->item_bytes();
  return moved(index->bytes() + values + (source == nullptr ? 0 : values), target->type);
}

Cost foreach (const OpArguments& arguments, PerElement per) {
  const std::vector<TensorListArgument>& lists = arguments.lists();
  if (lists.empty() || lists[0].bytes == 0) return std::nullopt;
  OpCost cost{
      .flops = lists[0].elements * per.flops, .bytes = lists[0].bytes, .type = lists[0].type};
  for (const TensorListArgument& list : lists) cost.bytes += list.bytes;
  return cost;
}

Cost foreach_copy(const OpArguments& arguments, PerElement) {
  if (arguments.lists().size() < 2 || arguments.lists()[0].bytes == 0) return std::nullopt;
  return moved(arguments.lists()[0].bytes + arguments.lists()[1].bytes, arguments.lists()[0].type);
}

Cost foreach_fill(const OpArguments& arguments, PerElement) {
  if (arguments.lists().empty() || arguments.lists()[0].bytes == 0) return std::nullopt;
  return moved(arguments.lists()[0].bytes, arguments.lists()[0].type);
}

Cost fused_optimizer(const OpArguments& arguments, PerElement per) {
  const std::vector<TensorListArgument>& lists = arguments.lists();
  if (lists.size() < 2 || lists[0].bytes == 0) return std::nullopt;
  OpCost cost{.flops = lists[0].elements * per.flops, .type = lists[0].type};
  for (const TensorListArgument& list : lists) cost.bytes += 2 * list.bytes;
  cost.bytes -= lists[1].bytes;
  return cost;
}

}  // namespace fathom::cost
