// Four times the events cost every analysis about four times the work, however unkind the trace is.
// Work is counted, not timed: n log n and growing tables take less than 6 times as much, pairs of
// all events 16 times.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/accounting/accounting.h"
#include "analysis/machine/telemetry.h"
#include "analysis/timeline/account_segments.h"
#include "analysis/timeline/area_sums.h"
#include "analysis/timeline/counter_series.h"
#include "analysis/timeline/flame.h"
#include "analysis/timeline/lane_tracks.h"
#include "analysis/timeline/name_search.h"
#include "analysis/timeline/slice_class.h"
#include "analysis/timeline/slice_links.h"
#include "analysis/timeline/tile.h"
#include "base/byte_sink.h"
#include "base/thread_pool.h"
#include "compare/comparison.h"
#include "compare/profile.h"
#include "engine/diagnosis/diagnosis.h"
#include "engine/export.h"
#include "engine/own_options.h"
#include "engine/session.h"
#include "engine/whatif/what_if.h"
#include "reports/report.h"
#include "rules/rule.h"
#include "tests/scaling/hostile_traces.h"
#include "tests/scaling/work_count.h"

namespace fathom {
namespace {

constexpr double kMostGrowth = 6.0;
/// What does not depend on the number of events.
constexpr double kOnce = 20'000;

using Work = std::map<std::string, std::uint64_t>;

/// Throws away what is written, but for how much it was.
class NoSink : public ByteSink {
 public:
  Result<void> write(std::string_view bytes) override {
    written_ += bytes.size();
    return {};
  }
  Result<void> finish() override { return {}; }
  [[nodiscard]] std::uint64_t written() const { return written_; }

 private:
  std::uint64_t written_ = 0;
};

/// All that can be asked of one trace, and the work that each answer took.
class Counted {
 public:
  explicit Counted(Trace trace) : session_(std::move(trace), "hostile") {
    count_analyses();
    for (const Report& report : all_reports()) count_report(report);
    count_rules();
    count_diagnosis();
    count_what_if();
    count_timeline();
    count_compare();
    for (const ExportFormat& format : export_formats()) count_export(format.id);
  }
  [[nodiscard]] const Work& work() const { return work_; }
  /// How much an answer wrote: a line of a deep stack is as long as that is deep.
  [[nodiscard]] std::uint64_t written(const std::string& name) const {
    const auto at = written_.find(name);
    return at == written_.end() ? 0 : at->second;
  }

 private:
  template <typename Answer>
  auto count(const std::string& name, const Answer& answer) {
    const std::uint64_t before = work_done();
    auto result = answer();
    work_[name] += work_done() - before;
    return result;
  }

  /// Each is computed once: one that is not named here counts for the first that needs it.
  void count_analyses() {
    const Analyses& analyses = session_.analyses();
    count("nesting", [&] { return &analyses.nesting(); });
    count("links", [&] { return &analyses.links(); });
    count("timelines", [&] { return &analyses.timelines(); });
    count("steps", [&] { return &analyses.steps(); });
    count("phases", [&] { return &analyses.phases(); });
    count("modules", [&] { return &analyses.modules(); });
    count("accounting", [&] { return &analyses.accounting(); });
    count("telemetry", [&] { return &analyses.telemetry(); });
  }

  void count_report(const Report& report) {
    const std::string name = "report " + std::string(report.id);
    count_request(report, name, {});
    for (const std::string_view grouping : report.group_by) {
      Request request;
      request.options.group_by = grouping;
      count_request(report, name + " by " + std::string(grouping), request);
    }
    for (const ReportOption& option : report.options) {
      if (option.type == OptionType::flag) count_option(report, name, option, "true");
      for (const std::string_view choice : option.choices)
        count_option(report, name, option, choice);
    }
  }
  void count_option(const Report& report, const std::string& name, const ReportOption& option,
                    std::string_view value) {
    const std::string typed(value);
    Result<OptionValues> own = parse_options(report, {{std::string(option.name), typed}});
    ASSERT_TRUE(own.ok()) << own.error().message;
    Request request;
    request.own = std::move(*own);
    count_request(report, name + " with " + std::string(option.name) + " " + typed, request);
  }
  void count_request(const Report& report, const std::string& name, const Request& request) {
    const auto view = count(name, [&] { return session_.run(report, request); });
    EXPECT_TRUE(view.ok()) << name << ": " << view.error().message;
  }

  void count_rules() {
    const Context context{session_.trace(), session_.analyses(), {}, {}};
    const Roofline roofline = count("roofline", [&] { return compute_roofline(context); });
    const auto syncs = count("syncs", [&] { return compute_syncs(context); });
    const auto sites = count("call sites", [&] { return std::make_unique<CallSites>(context); });
    const auto self =
        count("self times", [&] { return self_times(context.trace, context.nesting()); });
    RuleContext rules{.context = context,
                      .accounting = context.accounting(),
                      .roofline = roofline,
                      .syncs = syncs,
                      .sites = *sites,
                      .self_times = self,
                      .steps = context.steps().counted(),
                      .device = -1};
    const auto& devices = context.timelines().devices;
    if (!devices.empty()) rules.device = devices.front().device;
    for (const Rule& rule : all_rules())
      count("rule " + std::string(rule.id), [&] { return rule.check(rules); });
  }

  void count_diagnosis() {
    const Result<Diagnosis> diagnosis = count("diagnosis", [&] { return diagnose(session_, {}); });
    ASSERT_TRUE(diagnosis.ok()) << diagnosis.error().message;
  }

  /// What a trace has nothing of to change is answered with an error.
  void count_what_if() {
    const auto with = [&](const std::string& name, const WhatIfRequest& request) {
      count("what-if " + name, [&] { return what_if(session_, request).ok(); });
    };
    with("nothing", {});
    with("scaled operators", {.scale = {"op:.=0.5"}});
    with("scaled host", {.scale = {"host:.=0.5"}});
    with("scaled kernels", {.scale = {"kernel:.=0.5"}});
    with("nearer to the roof", {.roof = {".=0.5"}});
    with("fused kernels", {.fuse = {"."}});
    with("no syncs", {.remove_syncs = true});
    with("overlapped input", {.overlap_input = true});
    with("one launch", {.launch_once = true});
    with("pinned copies", {.pin_copies = true});
    with("hidden communication", {.hide_communication = true});
  }

  /// What the page asks of all tracks over all of the time.
  void count_timeline() {
    const Context context{session_.trace(), session_.analyses(), {}, {}};
    const Trace& trace = context.trace;
    const Interval all = context.window();
    const auto lanes = count("timeline lanes", [&] { return std::make_unique<LaneTracks>(trace); });
    count("timeline classes", [&] { return std::make_unique<SliceClasses>(trace); });
    std::vector<std::size_t> tracks(lanes->tracks().size());
    std::iota(tracks.begin(), tracks.end(), std::size_t{0});
    count("timeline tiles", [&] { return boxes_of(trace, *lanes, all); });
    count("timeline flame", [&] { return flame_of(context, *lanes, tracks, all).size(); });
    for (const SumBy by : {SumBy::name, SumBy::category})
      count("timeline area", [&] { return area_sums(trace, *lanes, tracks, all, by).size(); });
    count("timeline search", [&] { return search_names(trace, "a", all, 100).slices; });
    count("timeline counters", [&] {
      std::size_t bins = 0;
      for (const CounterSeries& series : counter_series(trace))
        bins += counter_bins(series, all, 8).size();
      return bins;
    });
    count("timeline links", [&] {
      const SliceLinks links(context);
      const SliceId last(trace.slices.size() - 1);
      return trace.slices.size() == 0 ? 0 : links.of(last, 10).activities.size();
    });
    const auto& devices = context.timelines().devices;
    std::optional<std::int32_t> device;
    if (!devices.empty()) device = devices.front().device;
    count("timeline accounting",
          [&] { return account_lane(context, device, all, all.length() / 100).segments.size(); });
  }
  /// Boxes of the tiles that show all of it at once.
  static std::size_t boxes_of(const Trace& trace, const LaneTracks& lanes, Interval all) {
    TileSpan span;
    while (span.level + 1 < kTileLevels && span.interval().end < all.end) ++span.level;
    std::size_t boxes = 0;
    for (const LaneTrack& track : lanes.tracks())
      for (const Lane& lane : track.lanes) boxes += tile_boxes(trace, lane, span).size();
    return boxes;
  }

  /// With itself, and with half of its work changed.
  void count_compare() {
    const auto profile = count("profile", [&] { return profile_of(session_, {}); });
    if (!profile) return;  // nothing in it lasts
    Profile other = *profile;
    ++other.content;
    count("compare equal work", [&] { return compare_profiles(*profile, other).rows.size(); });
    for (std::size_t i = 0; i < other.rows.size(); i += 2)
      other.rows[i].key.shapes = "[[" + std::to_string(i) + "]]";
    std::ranges::sort(other.rows, {}, &ProfileRow::key);
    count("compare other shapes", [&] { return compare_profiles(*profile, other).rows.size(); });
    for (std::size_t i = 0; i < other.rows.size(); i += 2)
      other.rows[i].key.op = "other" + std::to_string(i);
    std::ranges::sort(other.rows, {}, &ProfileRow::key);
    count("compare other operators", [&] { return compare_profiles(*profile, other).rows.size(); });
  }

  void count_export(const std::string& format) {
    NoSink sink;
    count("export " + format, [&] { return export_trace(session_, {}, format, sink).ok(); });
    written_["export " + format] = sink.written();
  }

  const ThreadPool alone_{1};  // What other threads do is not counted.
  const Session session_;
  Work work_;
  Work written_;
};

class WorkOnHostileTraces : public testing::TestWithParam<HostileTrace> {
 protected:
  static void SetUpTestSuite() {
    // Tables that are made at their first use would count for the smaller of two traces.
    static_cast<void>(Counted(hostile_traces().front().make(10)));
  }
};

TEST_P(WorkOnHostileTraces, GrowsAboutAsTheEventsDo) {
  if (work_done() == 0) GTEST_SKIP() << "only the build with the address sanitizer counts work";
  const HostileTrace& hostile = GetParam();
  const Counted few(hostile.make(hostile.count));
  const Counted many(hostile.make(4 * hostile.count));
  for (const auto& [name, large] : many.work()) {
    const double small = static_cast<double>(few.work().at(name));
    // What is written may grow faster than the events.
    const double more = static_cast<double>(many.written(name)) /
                        static_cast<double>(std::max<std::uint64_t>(1, few.written(name)));
    EXPECT_LE(static_cast<double>(large), kMostGrowth * std::max(1.0, more / 4) * small + kOnce)
        << name << ": " << small << " basic blocks for " << hostile.count << ", " << large
        << " for " << 4 * hostile.count;
  }
}

INSTANTIATE_TEST_SUITE_P(All, WorkOnHostileTraces, testing::ValuesIn(hostile_traces()),
                         [](const auto& hostile) { return std::string(hostile.param.name); });

}  // namespace
}  // namespace fathom
