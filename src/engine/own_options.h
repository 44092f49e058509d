// The options that a report declares, as they are typed.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "reports/report.h"

namespace fathom {

/// By the names of the options; that of a flag is "true" or "false".
using OptionTexts = std::map<std::string, std::string, std::less<>>;

/// Errors: the report has no such option, or no such value.
Result<OptionValues> parse_options(const Report& report, const OptionTexts& texts);

}  // namespace fathom
