// Tables as CSV (RFC 4180).
#pragma once

#include <string>

#include "engine/session.h"

namespace fathom {

/// The header line. `with_input` puts a column `input` in front.
std::string csv_header(const View& view, bool with_input);
/// The rows. Missing values are empty, numbers raw, lines end in CR LF.
std::string csv_rows(const View& view, bool with_input);

}  // namespace fathom
