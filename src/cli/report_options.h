// The options of a table.
#pragma once

#include <string_view>

#include "cli/options.h"
#include "cli/report_run.h"

namespace fathom::cli {

/// The heading over those that not every table has.
inline constexpr std::string_view kOwnOptions = "Of this table";

/// Declares all of them; what is parsed goes to `args`, which must outlive it.
void declare_report_options(Options& options, const Report& report, ReportRequest& args);

}  // namespace fathom::cli
