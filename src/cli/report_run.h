// Runs a report over one or several inputs and writes it out.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "cli/each_input.h"
#include "cli/selection_options.h"
#include "engine/own_options.h"
#include "engine/session.h"

namespace fathom::cli {

/// Rows of a table in text, unless --limit says otherwise.
inline constexpr std::uint64_t kTextRows = 30;

/// Everything on the command line of a report.
struct ReportRequest {
  InputArguments read;
  Request request;
  std::optional<std::uint64_t> limit;  ///< 0 means all.
  OutputArguments output;
  bool csv = false;
  bool folded = false;
  bool svg = false;
  OptionTexts own;                    ///< Of the options that the report declares.
  std::map<std::string, bool> flags;  ///< Those of them that are flags.
};

/// Returns the exit code. Inputs are read one after the other, so that memory holds one at a time.
int run_report(const Report& report, const ReportRequest& args);

}  // namespace fathom::cli
