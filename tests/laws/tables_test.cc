// What printed tables must agree on, for every recording: windows are accounted for to the
// nanosecond, and however device time is divided, its sum is the same.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <simdjson.h>

#include "engine/query/quantity.h"
#include "engine/session.h"
#include "tests/support/json_rows.h"
#include "tests/support/recordings.h"

namespace fathom {
namespace {

using Row = JsonRow;
using Rows = JsonRows;
using Device = std::optional<std::int64_t>;
using Account = std::map<std::string, std::int64_t>;

bool is_edge(Row row) {
  bool edge = false;
  EXPECT_EQ(row["edge"].get(edge), simdjson::SUCCESS);
  return edge;
}

/// Bucket of the accounting, column of a step.
constexpr std::pair<std::string_view, std::string_view> kBusy[] = {
    {"compute", "compute_ns"},
    {"communication", "exposed_communication_ns"},
    {"memcpy", "exposed_memcpy_ns"},
    {"memset", "exposed_memset_ns"},
};

void steps_are_accounted_for_and_touch(const Session& session) {
  SCOPED_TRACE("steps are accounted for and touch");
  std::map<std::pair<std::string, Device>, std::int64_t> ends;
  for (const Row row : Rows(session, "steps")) {
    const Device device = integer_of(row, "device");
    const std::int64_t window = time_of(row, "window_ns");
    if (device) {
      std::int64_t busy = 0;
      for (const auto& [bucket, column] : kBusy) busy += time_of(row, column);
      EXPECT_EQ(busy + time_of(row, "idle_ns"), window);
      EXPECT_EQ(time_of(row, "busy_ns"), window - time_of(row, "idle_ns"));
    }
    const std::int64_t start = time_of(row, "start_ns");
    const auto [at, first] = ends.try_emplace({text_of(row, "process"), device}, start);
    EXPECT_EQ(start, at->second);
    at->second = start + window;
  }
}

void overview_is_accounted_for(const Session& session) {
  SCOPED_TRACE("the overview is accounted for");
  std::map<std::string, Account> devices;
  for (const Row row : Rows(session, "overview")) {
    const std::string section = text_of(row, "section");
    const std::optional<std::int64_t> value = integer_of(row, "value");
    if (section.starts_with("device") && value) devices[section][text_of(row, "metric")] = *value;
  }
  for (auto& [section, metrics] : devices) {
    if (!metrics.contains("window")) continue;
    std::int64_t sum = 0;
    for (const char* bucket :
         {"compute", "communication exposed", "memcpy exposed", "memset exposed", "idle"}) {
      EXPECT_TRUE(metrics.contains(bucket)) << section << ": " << bucket;
      sum += metrics[bucket];
    }
    EXPECT_EQ(sum, metrics["window"]) << section;
  }
}

void buckets_sum_to_each_step_and_device(const Session& session) {
  SCOPED_TRACE("buckets sum to each step and device");
  using Key = std::pair<std::int64_t, Device>;
  std::map<Key, Account> steps;
  for (const Row row : Rows(session, "steps")) {
    Account& own = steps[{time_of(row, "step"), integer_of(row, "device")}];
    own["window"] += time_of(row, "window_ns");
    for (const auto& [bucket, column] : kBusy)
      own[std::string(bucket)] += integer_of(row, column).value_or(0);
  }
  std::map<Key, Account> accounts;
  for (const Row row : Rows(session, "accounting", grouped_by("step"))) {
    accounts[{time_of(row, "step"), integer_of(row, "device")}][text_of(row, "bucket")] +=
        time_of(row, "time_ns");
    EXPECT_GT(time_of(row, "time_ns"), 0);
  }
  std::vector<Device> devices;
  for (const Row row : Rows(session, "accounting")) devices.push_back(integer_of(row, "device"));
  // Not a step of a process that uses no device, beside devices that no step is known to use.
  std::map<Key, std::int64_t> windows;
  for (auto& [key, own] : steps) {
    if (own["window"] != 0 && std::ranges::count(devices, key.second) != 0)
      windows[key] = own["window"];
  }
  std::map<Key, std::int64_t> sums;
  for (const auto& [key, own] : accounts) {
    for (const auto& [bucket, time] : own) sums[key] += time;
  }
  EXPECT_EQ(sums, windows);
  for (auto& [key, own] : accounts) {
    if (!key.second) continue;
    for (const auto& [bucket, column] : kBusy) {
      const std::string name(bucket);
      EXPECT_EQ(own[name], steps[key][name]) << "step " << key.first << ", " << bucket;
    }
  }
}

void accounts_are_the_same_however_they_are_divided(const Session& session) {
  SCOPED_TRACE("accounts are the same however they are divided");
  bool all_edges = true;
  for (const Row row : Rows(session, "steps")) all_edges = all_edges && is_edge(row);
  std::map<std::string_view, std::map<std::pair<Device, std::string>, std::int64_t>> sums;
  for (const std::string_view by : {"device", "step", "phase", "module", "class"}) {
    const bool steps = by == "step";
    for (const Row row : Rows(session, "accounting", grouped_by(by))) {
      if (steps && !all_edges && is_edge(row)) continue;
      sums[by][{integer_of(row, "device"), text_of(row, "bucket")}] += time_of(row, "time_ns");
    }
    // No module frames were recorded, or no step uses a device.
    if ((steps || by == "module") && !sums.contains(by)) continue;
    EXPECT_EQ(sums[by], sums["device"]) << by;
  }
}

void gaps_and_busy_time_make_up_the_steps(const Session& session) {
  SCOPED_TRACE("gaps and busy time make up the steps");
  Request by_start;
  by_start.query.sort = "start";
  std::map<Device, std::vector<std::pair<std::int64_t, std::int64_t>>> gaps;
  for (const Row row : Rows(session, "gaps", by_start)) {
    const std::int64_t begin = time_of(row, "start_ns");
    auto& own = gaps[integer_of(row, "device")];
    EXPECT_LE(own.empty() ? begin : own.back().second, begin);
    own.emplace_back(begin, begin + time_of(row, "duration_ns"));
  }
  for (const Row row : Rows(session, "steps")) {
    const Device device = integer_of(row, "device");
    if (!device) continue;
    const std::int64_t begin = time_of(row, "start_ns");
    const std::int64_t end = begin + time_of(row, "window_ns");
    std::int64_t idle = 0;
    for (const auto& [since, till] : gaps[device])
      idle += std::max<std::int64_t>(0, std::min(end, till) - std::max(begin, since));
    EXPECT_EQ(idle, time_of(row, "idle_ns")) << "step " << time_of(row, "step");
  }
}

bool holds_device_activity(const Trace& trace) {
  return std::ranges::any_of(trace.categories, [](const Category& category) {
    return category.slices != 0 && is_device_activity(category.kind);
  });
}

std::int64_t device_time(const Session& session, std::string_view report, std::string_view grouping,
                         Request request) {
  request.options.group_by = grouping;
  if (report == "stacks") request.own.set("metric", std::string("device"));
  const bool host_rows = report == "ops" || report == "modules";
  const bool recorded = holds_device_activity(session.trace());
  std::int64_t sum = 0;
  for (const Row row : Rows(session, report, request)) {
    const std::string_view column = host_rows ? "device_self_ns" : "total_ns";
    // Asynchronous annotations launch nothing: they have no device time, not one of zero.
    const bool annotation = report == "ops" && text_of(row, "kind") == "annotation";
    if (!recorded && report == "ops") {
      EXPECT_FALSE(integer_of(row, column).has_value());
    } else {
      sum += annotation ? integer_of(row, column).value_or(0) : time_of(row, column);
    }
  }
  return sum;
}

/// Every division of the whole; of a part the plain tables, which took it apart in other ways.
void device_time_is_the_same_however_it_is_divided(const Session& session, const Request& part,
                                                   bool whole) {
  const auto time = [&](std::string_view report, std::string_view grouping) {
    return device_time(session, report, grouping, part);
  };
  const std::int64_t copies = time("copies", "kind");
  const std::int64_t expected = copies + time("kernels", "name");
  EXPECT_EQ(time("ops", "name"), expected);
  EXPECT_EQ(time("stacks", ""), expected);
  // Empty: no module frames were recorded.
  if (!Rows(session, "modules").empty()) {
    EXPECT_EQ(time("modules", ""), expected);
  }
  if (!whole) return;
  for (const char* by : {"config", "op", "stream"})
    EXPECT_EQ(copies + time("kernels", by), expected) << "kernels by " << by;
  for (const char* by : {"shape", "stack", "phase", "module", "thread"})
    EXPECT_EQ(time("ops", by), expected) << "operators by " << by;
  for (const char* by : {"op", "stream"})
    EXPECT_EQ(time("copies", by), copies) << "copies by " << by;
}

void device_time_is_the_same_in_every_selection(const Session& session) {
  SCOPED_TRACE("device time is the same however it is divided");
  device_time_is_the_same_however_it_is_divided(session, {}, true);
  std::int64_t last = 0;
  for (const Row row : Rows(session, "steps")) last = time_of(row, "step");
  Request step;
  const Result<Selection::StepRange> range = parse_steps(std::to_string(last));
  ASSERT_TRUE(range.ok()) << range.error().message;
  step.steps = *range;
  {
    SCOPED_TRACE("the last step");
    device_time_is_the_same_however_it_is_divided(session, step, false);
  }
  Request window;
  window.window = WindowRequest{.begin = session.trace().span.length() / 2};
  SCOPED_TRACE("the second half");
  device_time_is_the_same_however_it_is_divided(session, window, false);
}

/// Busy and idle time of the devices, as lines have it and as the overview has it.
void lines_sum_to_the_devices(const Session& session, const Request& part) {
  std::map<std::string_view, std::int64_t> lines = {{"busy", 0}, {"idle", 0}};
  std::map<std::string_view, std::int64_t> devices = lines;
  for (const Row row : Rows(session, "lines", part)) {
    lines["busy"] += time_of(row, "device_ns") + time_of(row, "backward_device_ns");
    lines["idle"] += time_of(row, "device_idle_ns");
  }
  for (const Row row : Rows(session, "overview", part)) {
    if (!text_of(row, "section").starts_with("device")) continue;
    const std::string metric = text_of(row, "metric");
    if (metric == "idle") devices["idle"] += time_of(row, "value");
    for (const char* const busy :
         {"compute", "communication exposed", "memcpy exposed", "memset exposed"}) {
      if (metric == busy) devices["busy"] += time_of(row, "value");
    }
  }
  // Of a part, too, one of them is there.
  EXPECT_GT(devices["busy"] + devices["idle"], 0);
  EXPECT_EQ(lines, devices);
}

class Tables : public testing::TestWithParam<std::string> {};

TEST_P(Tables, AgreeWithOneAnother) {
  const Result<std::unique_ptr<Session>> session = Session::open(GetParam(), ReadOptions());
  ASSERT_TRUE(session.ok()) << session.error().message;
  steps_are_accounted_for_and_touch(**session);
  overview_is_accounted_for(**session);
  buckets_sum_to_each_step_and_device(**session);
  accounts_are_the_same_however_they_are_divided(**session);
  gaps_and_busy_time_make_up_the_steps(**session);
  device_time_is_the_same_in_every_selection(**session);
}

INSTANTIATE_TEST_SUITE_P(Recordings, Tables, testing::ValuesIn(recordings()), name_of_recording);

TEST(TablesOfLines, SumToTheDevices) {
  const std::string run = std::string(FATHOM_SOURCE_DIR) + "/tests/data/runs/joined";
  const Result<std::unique_ptr<Session>> session = Session::open(run, ReadOptions());
  ASSERT_TRUE(session.ok()) << session.error().message;
  lines_sum_to_the_devices(**session, {});
  const Duration length = (*session)->trace().span.length();
  for (int part = 0; part < 4; ++part) {
    SCOPED_TRACE("part " + std::to_string(part));
    Request window;
    window.window = WindowRequest{.begin = length / 4 * part, .end = length / 4 * (part + 1)};
    lines_sum_to_the_devices(**session, window);
  }
}

TEST(TablesOfRecordings, AreAskedOfThoseInTheRepository) { EXPECT_GE(recordings().size(), 14U); }

}  // namespace
}  // namespace fathom
