// Makes a subcommand of a report.
#pragma once

#include "cli/command.h"

namespace fathom::cli {

/// `fathom <report> INPUT…`, with every option that tables have. The report must outlive it.
Command report_command(const Report& report);

}  // namespace fathom::cli
