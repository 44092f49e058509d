// What is asked of a report, from options as an address has them.
#pragma once

#include "engine/query/typed.h"
#include "engine/session.h"

namespace fathom {

/// Every option that changes which rows, columns and cells `fathom <report> --json` gives. No
/// option opens a file: a device for --peaks is one of the known ones. Errors: invalid_argument,
/// also for an option that the report has not.
Result<Request> typed_request(const Report& report, const TypedOptions& options);

}  // namespace fathom
