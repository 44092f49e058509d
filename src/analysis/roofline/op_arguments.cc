// Parses recorded arguments: dimensions, type, value.
#include "analysis/roofline/op_arguments.h"

#include <string>

#include "analysis/util/json_list.h"

namespace fathom {
namespace {

constexpr std::uint32_t kNoTensor = UINT32_MAX;

TensorListArgument list_of(std::string_view dims, std::string_view type) {
  TensorListArgument list{.type = number_type(type)};
  const std::int64_t size = element_bytes(type);
  if (size == 0) return list;
  for (const std::string_view member : json_elements(dims)) {
    const auto shape = json_integers(member);
    if (shape) list.elements += TensorArgument{.dims = *shape}.elements();
  }
  list.bytes = list.elements * static_cast<double>(size);
  return list;
}

}  // namespace

double TensorArgument::elements() const {
  double out = 1;
  for (const std::int64_t dim : dims) out *= static_cast<double>(dim);
  return out;
}

double bytes_of(std::span<const TensorArgument> tensors) {
  double out = 0;
  for (const TensorArgument& tensor : tensors) out += tensor.bytes();
  return out;
}

OpArguments::OpArguments(std::string_view shapes, std::string_view types, std::string_view concrete,
                         std::string_view list_type)
    : concrete_(json_elements(concrete)) {
  const std::vector<std::string_view> dims = json_elements(shapes);
  for (const std::string_view type : json_elements(types)) {
    const std::size_t i = types_.size();
    types_.push_back(json_unquoted(type));
    add(i < dims.size() ? dims[i] : std::string_view(), types_.back(), list_type);
  }
}

void OpArguments::add(std::string_view dims, std::string_view type, std::string_view list_type) {
  tensor_of_.push_back(kNoTensor);
  if (type == "TensorList") {
    lists_.push_back(list_of(dims, list_type));
    return;
  }
  auto shape = json_integers(dims);
  if (element_bytes(type) == 0 || !shape) return;
  tensor_of_.back() = static_cast<std::uint32_t>(tensors_.size());
  tensors_.push_back({std::move(*shape), number_type(type), element_bytes(type)});
}

const TensorArgument* OpArguments::tensor(std::size_t i) const {
  if (i >= tensor_of_.size() || tensor_of_[i] == kNoTensor) return nullptr;
  return &tensors_[tensor_of_[i]];
}

std::string_view OpArguments::text(std::size_t i) const {
  return i < concrete_.size() ? json_unquoted(concrete_[i]) : std::string_view();
}

std::optional<std::vector<std::int64_t>> OpArguments::integers(std::size_t i) const {
  const std::string_view value = text(i);
  if (value.empty()) return std::nullopt;
  return json_integers(value.front() == '[' ? std::string(value) : '[' + std::string(value) + ']');
}

const Signature* signature_of(const Trace& trace, SliceId op) {
  if (!op.valid()) return nullptr;
  const std::uint32_t detail = trace.slices.detail[op.row()];
  const SliceKind kind = trace.kind(op);
  if (detail == SliceId::kNone ||
      (kind != SliceKind::cpu_op && kind != SliceKind::user_annotation)) {
    return nullptr;
  }
  const SignatureId signature = trace.ops.signature[detail];
  return signature.valid() ? &trace.signatures[signature.row()] : nullptr;
}

}  // namespace fathom
