// Makes a subcommand of a report.
#include "cli/report_command.h"

#include <memory>

#include "cli/report_options.h"
#include "cli/report_run.h"

namespace fathom::cli {

Command report_command(const Report& report) {
  Command command;
  command.name = report.id;
  command.group = "Tables";
  command.title = report.title;
  command.operand = "INPUT…";
  command.doc = report.doc;
  command.examples = {std::string(report.example)};
  command.report = &report;
  command.declare = [&report](Options& options) -> std::function<int()> {
    const auto args = std::make_shared<ReportRequest>();
    declare_report_options(options, report, *args);
    return [&report, args] { return run_report(report, *args); };
  };
  return command;
}

}  // namespace fathom::cli
