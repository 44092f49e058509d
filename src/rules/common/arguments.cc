// Reads what an operator was called with.
#include "rules/common/arguments.h"

namespace fathom {

bool is_product(std::string_view name) {
  return name == "aten::mm" || name == "aten::addmm" || name == "aten::bmm" ||
         name == "aten::baddbmm";
}

std::optional<OpArguments> arguments_of(const Trace& trace, SliceId op) {
  const Signature* const signature = signature_of(trace, op);
  if (signature == nullptr || !signature->shapes.valid() || !signature->types.valid()) return {};
  return OpArguments(trace.text(signature->shapes), trace.text(signature->types), {});
}

}  // namespace fathom
