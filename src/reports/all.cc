// Every report. To add one: its declaration, and its line in the table, in the order of --help.
#include <algorithm>

#include "reports/report.h"

namespace fathom {

Report accounting();
Report copies();
Report critical_path();
Report energy();
Report functions();
Report gaps();
Report health();
Report info();
Report kernels();
Report launches();
Report loader();
Report modules();
Report ops();
Report overview();
Report processes();
Report ranges();
Report roofline();
Report stacks();
Report steps();
Report syncs();
Report telemetry();

std::span<const Report> all_reports() {
  static const Report table[] = {
      overview(), health(),  info(),      steps(),  accounting(), gaps(),      critical_path(),
      ops(),      kernels(), roofline(),  copies(), launches(),   syncs(),     modules(),
      stacks(),   ranges(),  functions(), energy(), loader(),     telemetry(), processes(),
  };
  return table;
}

const Report* find_report(std::string_view id) {
  const std::span<const Report> reports = all_reports();
  const auto at = std::ranges::find(reports, id, &Report::id);
  return at == reports.end() ? nullptr : &*at;
}

}  // namespace fathom
