// Reads what an operator was called with.
#include "rules/common/arguments.h"

namespace fathom {

bool is_product(std::string_view name) {
  return name == "aten::mm" || name == "aten::addmm" || name == "aten::bmm" ||
         name == "aten::baddbmm";
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

std::optional<OpArguments> arguments_of(const Trace& trace, SliceId op) {
  const Signature* const signature = signature_of(trace, op);
  if (signature == nullptr || !signature->shapes.valid() || !signature->types.valid()) return {};
  return OpArguments(trace.text(signature->shapes), trace.text(signature->types), {});
}

}  // namespace fathom
