// Every report. To add one: its declaration, and its line in the table, in the order of --help.
#include <algorithm>

#include "reports/report.h"

namespace fathom {

Report accounting();
Report collectives();
Report copies();
Report critical_path();
Report energy();
Report functions();
Report gaps();
Report health();
Report hot();
Report info();
Report kernels();
Report launches();
Report lines();
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
Report threads();
Report waits();

std::span<const Report> all_reports() {
  static const Report table[] = {
      overview(), health(),  info(),     steps(),     accounting(),  gaps(),     critical_path(),
      ops(),      kernels(), roofline(), copies(),    collectives(), launches(), syncs(),
      modules(),  stacks(),  ranges(),   functions(), lines(),       hot(),      threads(),
      waits(),    energy(),  loader(),   telemetry(), processes(),
  };
  return table;
}

namespace {

class NoRows final : public RowSource {
 public:
  [[nodiscard]] std::size_t rows() const override { return 0; }
  [[nodiscard]] Cell cell(std::size_t /*row*/, std::size_t /*column*/) const override { return {}; }
};

std::string why_empty(const Report& report, const Selection& selection) {
  std::string chosen;
  const auto add = [&chosen](bool is_set, std::string_view what) {
    if (is_set) chosen += (chosen.empty() ? "" : " and ") + std::string(what);
  };
  add(selection.steps.has_value(), "--steps");
  add(selection.window.has_value(), "--window");
  add(selection.device.has_value(), "--device");
  if (chosen.empty()) return std::string(report.none);
  return "Nothing of it is in what " + chosen +
         " selects; without, the table is of the whole "
         "recording.";
}

}  // namespace

Result<Computed> compute_report(const Report& report, const Context& context,
                                const OptionValues& own) {
  for (const Need& need : report.needs) {
    if (const auto reason = missing(context, need))
      return Computed{std::make_unique<const NoRows>(), {*reason}, {}};
  }
  Result<Computed> computed = report.compute(context, own);
  if (computed && !report.none.empty() && (*computed).source->rows() == 0)
    (*computed).notes.push_back(why_empty(report, context.selection));
  return computed;
}

const Report* find_report(std::string_view id) {
  const std::span<const Report> reports = all_reports();
  const auto at = std::ranges::find(reports, id, &Report::id);
  return at == reports.end() ? nullptr : &*at;
}

}  // namespace fathom
