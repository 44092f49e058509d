// Which part of the steps is worth a diagnosis of its own.
#pragma once

#include <span>
#include <string>

#include "analysis/context.h"

namespace fathom {

/// The name to focus on next: of the module that the most time of `steps` belongs to, where modules
/// were recorded, else of the operator or annotation. Time is that of `device`, or of the host
/// where `by_host` or there is no device (-1). Empty where nothing takes between 5 and 90 % of the
/// steps: less is not worth a look, more narrows nothing. Of equal ones the first in the alphabet;
/// names too long to be copied are passed over. O(n log n).
std::string narrower_name(const Context& context, std::span<const Step* const> steps,
                          std::int32_t device, bool by_host);

}  // namespace fathom
