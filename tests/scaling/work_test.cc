// Four times the events cost every analysis about four times the work, however unkind the trace is.
// Work is counted, not timed: n log n and growing tables take less than 6 times as much, pairs of
// all events 16 times.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/accounting/accounting.h"
#include "analysis/machine/telemetry.h"
#include "analysis/timeline/counter_series.h"
#include "analysis/timeline/lane_tracks.h"
#include "analysis/timeline/slice_class.h"
#include "analysis/timeline/tile.h"
#include "base/byte_sink.h"
#include "base/thread_pool.h"
#include "compare/comparison.h"
#include "compare/profile.h"
#include "engine/diagnosis/diagnosis.h"
#include "engine/export.h"
#include "engine/inputs/run_conditions.h"
#include "engine/inputs/run_family.h"
#include "engine/own_options.h"
#include "engine/session.h"
#include "engine/whatif/what_if.h"
#include "reports/report.h"
#include "rules/common/claims.h"
#include "rules/common/edits.h"
#include "rules/rule.h"
#include "server/route.h"
#include "store/merge.h"
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
    count_server();
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
      Request request = of_one_row();
      request.options.group_by = grouping;
      count_request(report, name + " by " + std::string(grouping), request);
    }
    for (const ReportOption& option : report.options) {
      if (option.type == OptionType::flag) count_option(report, name, option, "true");
      for (const std::string_view choice : option.choices)
        count_option(report, name, option, choice);
    }
  }
  /// All rows were put in order when the report was asked for without options.
  static Request of_one_row() {
    Request request;
    request.query.limit = 1;
    return request;
  }
  void count_option(const Report& report, const std::string& name, const ReportOption& option,
                    std::string_view value) {
    const std::string typed(value);
    Result<OptionValues> own = parse_options(report, {{std::string(option.name), typed}});
    ASSERT_TRUE(own.ok()) << own.error().message;
    Request request = of_one_row();
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
    count_what_rules_ask(rules);
    for (const Rule& rule : all_rules())
      count("rule " + std::string(rule.id), [&] { return rule.check(rules); });
  }

  /// Of all host work, as if a rule found it all.
  void count_what_rules_ask(const RuleContext& rules) {
    std::vector<SliceId> work;
    for (const Nesting::Thread& thread : rules.context.nesting().work)
      work.insert(work.end(), thread.slices.begin(), thread.slices.end());
    count("trees", [&] {
      std::size_t inside = 0;
      for (const SliceId slice : work)
        if (!rules.context.nesting().parent[slice.row()].valid())
          inside += tree(rules, slice).size();
      EXPECT_EQ(inside, work.size());
      return inside;
    });
    count("frames around", [&] {
      std::size_t found = 0;
      for (const SliceId slice : work) found += rules.sites.frame(slice).valid() ? 1 : 0;
      return found;
    });
    count("claims on host work", [&] {
      std::vector<Claim> claims;
      claim_host_work(rules, work, 0.5, claims);
      return claims.size();
    });
    count("scaled trees", [&] {
      Edits edits;
      scale_trees(rules, work, 0.5F, edits);
      EXPECT_EQ(edits.scale.size(), work.size());
      return edits.scale.size();
    });
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

  /// All tracks over all of the time, of which a server answers for a few at a time.
  void count_timeline() {
    const Context context{session_.trace(), session_.analyses(), {}, {}};
    const Trace& trace = context.trace;
    const Interval all = context.window();
    const auto lanes = count("timeline lanes", [&] { return std::make_unique<LaneTracks>(trace); });
    count("timeline classes", [&] { return std::make_unique<SliceClasses>(trace); });
    count("timeline tiles", [&] { return boxes_of(trace, *lanes, all); });
    count("timeline counters", [&] {
      std::size_t bins = 0;
      for (const CounterSeries& series : counter_series(trace))
        bins += counter_bins(series, all, 8).size();
      return bins;
    });
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

  /// What the page asks its server for: all of the time, and as many tracks as one answer has.
  void count_server() {
    const std::shared_ptr<const Session> borrowed(std::shared_ptr<const Session>(), &session_);
    const auto viewed = count("server opens", [&] {
      return std::make_unique<server::Viewed>(
          server::ViewRequest{.inputs = {.arguments = {}, .files = {{.path = "hostile"}}},
                              .threads = 1},
          borrowed);
    });
    Result<std::shared_ptr<server::OpenInput>> opened = viewed->open(0);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    server::OpenInput& input = **opened;
    std::set<std::string> asked;
    const auto ask = [&](const std::string& route, const server::Parameters& parameters,
                         const std::string& rest = "") {
      asked.insert(route);
      std::string name = "server " + route;
      for (const auto& [key, value] : parameters)
        if (key == "group" || key == "weight") name.append(" by ").append(value);
      const std::atomic<bool> dropped = false;
      const server::Target target{.path = route + rest, .parameters = parameters};
      const server::Response response = count(name, [&] {
        return server::answer(*viewed, {.path = target.path, .target = target, .dropped = dropped});
      });
      EXPECT_LT(response.status, 500U) << name << ": " << response.bytes();
      written_[name] = response.bytes().size();
    };
    ask("api/session", {});
    ask("api/tracks", {});
    ask("api/names", {});
    ask("api/tiles/", tile_of_all(input), input.digest());
    for (const char* const group : {"name", "category"}) ask("api/selection", {{"group", group}});
    ask("api/accounting", {});
    ask("api/counters", {{"track", std::to_string(input.timeline().id_of_counter(0))}});
    ask("api/search", {{"q", "a"}});
    const std::string last = std::to_string(session_.trace().slices.size() - 1);
    for (const char* const route : {"api/slice", "api/flows"}) ask(route, {{"id", last}});
    for (const char* const weight : {"time", "memory"}) ask("api/flame", {{"weight", weight}});
    ask("api/critical-path", {});
    // They hand on what is counted elsewhere.
    asked.insert({"api/diagnosis", "api/reports/", "api/whatif", "api/compare"});
    for (const server::Route& route : server::all_routes()) {
      EXPECT_TRUE(!route.needs_input || asked.contains(std::string(route.path)))
          << "what " << route.path << " costs is not counted";
    }
  }
  /// The tile that shows all of the first tracks, as many as one answer may have.
  static server::Parameters tile_of_all(server::OpenInput& input) {
    TileSpan span;
    while (span.level + 1 < kTileLevels && span.interval().end < input.range().end) ++span.level;
    constexpr std::size_t kMost = 64;
    std::string tracks;
    for (std::size_t i = 0; i < std::min(kMost, input.timeline().lanes.tracks().size()); ++i)
      tracks += (i == 0 ? "" : ",") + std::to_string(input.timeline().id_of_lanes(i));
    return {{"level", std::to_string(span.level)}, {"tile", "0"}, {"tracks", tracks}};
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

/// The work that `use` does with what `make` gives for 1000, and for four times as many.
template <typename Make, typename Use>
void expect_about_as_much_each(const Make& make, const Use& use) {
  if (work_done() == 0) GTEST_SKIP() << "only the build with the address sanitizer counts work";
  const auto work_for = [&](std::size_t count) {
    auto made = make(count);
    const std::uint64_t before = work_done();
    use(made);
    return static_cast<double>(work_done() - before);
  };
  const double few = work_for(1000);
  EXPECT_LE(work_for(4000), kMostGrowth * few + kOnce);
}

TEST(WorkOnSessions, ProcessesOfAManifestMayComeInAnyOrder) {
  const auto manifest = [](std::size_t count) {
    std::string json = R"({"ended_unix_ns": 2, "processes": [)";
    for (std::size_t pid = count; pid > 0; --pid)
      json += R"({"pid": )" + std::to_string(pid) + (pid > 1 ? "}, " : "}]}");
    return json;
  };
  expect_about_as_much_each(manifest, [](const std::string& json) {
    Trace trace;
    EXPECT_TRUE(add_manifest(trace, json));
    EXPECT_TRUE(std::ranges::is_sorted(trace.process_runs, {}, &ProcessRun::pid));
  });
}

TEST(WorkOnSessions, ProcessesOfAnotherRecordingMayComeBeforeAllThatAreKnown) {
  const auto recordings = [](std::size_t count) {
    std::pair<Trace, Trace> both;
    for (std::size_t i = 0; i < count; ++i) {
      both.first.process_runs.emplace_back().pid = static_cast<std::int64_t>(count + 1 + i);
      both.second.process_runs.emplace_back().pid = static_cast<std::int64_t>(1 + i);
    }
    return both;
  };
  expect_about_as_much_each(recordings, [](std::pair<Trace, Trace>& both) {
    merge_into(both.first, both.second, {});
    EXPECT_TRUE(std::ranges::is_sorted(both.first.process_runs, {}, &ProcessRun::pid));
  });
}

TEST(WorkOnSessions, ProcessesMayBeInAChainOrACircle) {
  for (const bool circle : {false, true}) {
    const auto family = [circle](std::size_t count) {
      RunFamily made;
      const auto top = static_cast<std::int64_t>(count);
      for (std::int64_t pid = 1; pid < top; ++pid) made.parents[pid] = pid + 1;
      if (circle) made.parents[top] = 1;
      return made;
    };
    expect_about_as_much_each(family, [](const RunFamily& made) {
      const std::set<std::int64_t> roots = {-2, -1};
      Ancestors ancestors(made, roots);
      for (const auto& [pid, parent] : made.parents)
        EXPECT_FALSE(ancestors.root_of(pid).has_value());
    });
  }
}

INSTANTIATE_TEST_SUITE_P(All, WorkOnHostileTraces, testing::ValuesIn(hostile_traces()),
                         [](const auto& hostile) { return std::string(hostile.param.name); });

}  // namespace
}  // namespace fathom
