// The order in which threads met the names of a recording never shows: every output is the same
// whatever the ids.
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/diagnosis/diagnosis.h"
#include "engine/session.h"
#include "engine/whatif/what_if.h"
#include "formats/format.h"
#include "render/diagnosis_html.h"
#include "render/diagnosis_json.h"
#include "render/diagnosis_text.h"
#include "render/json.h"
#include "render/text.h"
#include "render/what_if_json.h"
#include "render/what_if_text.h"
#include "store/trace_builder.h"
#include "tests/support/recordings.h"
#include "tests/support/renumbered.h"

namespace fathom {
namespace {

/// What is printed, by the question.
using Answers = std::vector<std::pair<std::string, std::string>>;

void ask_reports(const Session& session, Answers& answers) {
  for (const Report& report : all_reports()) {
    std::vector<std::string> groupings(report.group_by.begin(), report.group_by.end());
    if (groupings.empty()) groupings.emplace_back();
    for (const std::string& grouping : groupings) {
      Request request;
      request.options.group_by = grouping;
      const std::string question = std::string(report.id) + " " + grouping;
      const Result<View> shown = session.run(report, request);
      answers.emplace_back(question, shown ? render_text(*shown, Style{}) : shown.error().message);
      request.query.columns = {"all"};
      const Result<View> all = session.run(report, request);
      answers.emplace_back(question + " --columns all --json",
                           all ? render_json(*all) : all.error().message);
    }
  }
}

void ask_diagnosis(const Session& session, const DiagnosisRequest& request, Answers& answers) {
  const std::string question = "diagnose " + request.focus;
  const Result<Diagnosis> diagnosis = diagnose(session, request);
  if (!diagnosis) {
    answers.emplace_back(question, diagnosis.error().message);
    return;
  }
  answers.emplace_back(question + " --json", render_diagnosis_json(*diagnosis));
  answers.emplace_back(question, render_diagnosis_text(*diagnosis, request, false, Style{}));
  answers.emplace_back(question + " --all",
                       render_diagnosis_text(*diagnosis, request, true, Style{}));
  answers.emplace_back(question + " as HTML", render_diagnosis_html(*diagnosis));
}

void ask_what_if(const Session& session, Answers& answers) {
  const auto ask = [&](const std::string& question, WhatIfRequest request) {
    const Result<WhatIf> result = what_if(session, request);
    answers.emplace_back(question + " --json",
                         result ? render_what_if_json(*result) : result.error().message);
    answers.emplace_back(question,
                         result ? render_what_if_text(*result, Style{}) : result.error().message);
  };
  ask("whatif --scale op:.", {.scale = {"op:.=0.5"}});
  ask("whatif --scale kernel:.", {.scale = {"kernel:.=0.5"}});
  ask("whatif --roof .", {.roof = {".=0.5"}});
  ask("whatif --fuse .", {.fuse = {"."}});
  ask("whatif --remove-syncs …", {.remove_syncs = true,
                                  .overlap_input = true,
                                  .launch_once = true,
                                  .pin_copies = true,
                                  .hide_communication = true});
}

Answers answers_about(Trace trace) {
  const Session session(std::move(trace), "trace.json");
  Answers answers;
  ask_reports(session, answers);
  for (const char* const focus : {"", "forward", "nothing_of_that_name"}) {
    DiagnosisRequest request;
    request.focus = focus;
    ask_diagnosis(session, request, answers);
  }
  ask_what_if(session, answers);
  return answers;
}

/// The first line in which they differ, of each.
std::string difference(const std::string& a, const std::string& b) {
  std::size_t at = 0;
  while (at < a.size() && at < b.size() && a[at] == b[at]) ++at;
  const auto line = [at](const std::string& text) {
    const std::size_t newline = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
    const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
    return text.substr(begin, text.find('\n', at) - begin);
  };
  return line(a) + "\n" + line(b);
}

void expect_the_same(const Answers& one, const Answers& other) {
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_TRUE(one[i] == other[i]) << one[i].first << "\n"
                                    << difference(one[i].second, other[i].second);
  }
}

constexpr std::int64_t kStep = 100'000;

Device some_device() {
  return {.name = "NVIDIA A100-SXM4-40GB",
          .memory_bytes = std::int64_t{40} << 30,
          .compute_major = 8,
          .sms = 108,
          .max_threads_per_sm = 2048,
          .max_threads_per_block = 1024,
          .registers_per_sm = 65536,
          .registers_per_block = 65536,
          .shared_memory_per_sm = 167936,
          .shared_memory_per_block = 49152,
          .shared_memory_per_block_optin = 166912};
}

/// One operator like all others but for its names: of one length, in no order of time or alphabet.
class Twins {
 public:
  explicit Twins(bool device) : device_(device) {
    if (device) builder_.device(some_device());
    builder_.distributed({.backend = "nccl", .rank = 0, .world_size = 2});
  }

  Trace build() {
    for (std::int64_t step = 0; step < kSteps; ++step) {
      // The last step but one is an outlier in which every operator takes its part.
      const std::int64_t stretch = step == kSteps - 2 ? 4 : 1;
      builder_.on_thread(1).step(step, at_, kStep * stretch);
      for (const char name : std::string_view("cafdbe")) add(name, stretch);
      at_ += 10'000 * stretch;
      for (const char name : std::string_view("cafdbe")) add_collective(name, stretch);
      at_ = at_ / kStep * kStep + kStep;
    }
    return builder_.build();
  }

 private:
  static constexpr std::int64_t kSteps = 9;

  void add(char name, std::int64_t stretch) {
    const std::string of(1, name);
    const std::int64_t whole = 5'000 * stretch;
    builder_.frame(of + ".py(1): " + of, at_, whole);
    builder_.frame("nn.Module: " + of, at_ + 10, whole - 20);
    const std::string argument = "[[" + std::to_string(name) + ",64],[64,64]]";
    builder_.op("aten::mm_" + of, at_ + 100, whole / 2)
        .shapes(argument)
        .types(R"(["float","float"])")
        .stack(of + ".py(1): " + of)
        .module(of);
    builder_.op("aten::mm", at_ + 110, whole / 2 - 20)
        .shapes(argument)
        .types(R"(["float","float"])")
        .stack(of + ".py(1): " + of);
    if (device_) add_activities(of, stretch);
    at_ += whole;
  }

  void add_activities(const std::string& of, std::int64_t stretch) {
    const std::int64_t launch = ++correlation_;
    builder_.runtime("cudaLaunchKernel", at_ + 120, 10, launch);
    builder_.kernel("kernel_" + of, at_ + 200, 1'000 * stretch, launch)
        .grid(109, 1, 1)
        .block(of.front(), 1, 1);
    const std::int64_t copy = ++correlation_;
    builder_.op("aten::item_" + of, at_ + 2'600 * stretch, 2'000 * stretch);
    builder_.runtime("cudaMemcpyAsync", at_ + 2'610 * stretch, 100, copy);
    builder_.copy(CopyKind::d2h, at_ + 2'800 * stretch, 10, copy, 4)
        .memory(MemoryKind::device, MemoryKind::pageable);
    builder_.runtime("cudaStreamSynchronize", at_ + 2'720 * stretch, 200, ++correlation_);
    builder_.runtime("cudaMalloc", at_ + 3'000 * stretch, 500, ++correlation_);
  }

  void add_collective(char name, std::int64_t stretch) {
    const std::string of(1, name);
    Collective metadata{.in_elements = 1000, .out_elements = 1000, .group_size = 2};
    builder_.op("gloo:all_reduce_" + of, at_, 2'000 * stretch).collective(metadata);
    if (device_) {
      builder_.runtime("cudaLaunchKernel", at_ + 10, 10, ++correlation_);
      builder_.kernel("ncclDevKernel_AllReduce_" + of, at_ + 100, 1'500 * stretch, correlation_)
          .collective(metadata);
    }
    at_ += 2'500 * stretch;
  }

  TraceBuilder builder_;
  bool device_;
  std::int64_t at_ = 0;
  std::int64_t correlation_ = 0;
};

TEST(OrderOfEquals, NeverShowsWithADevice) {
  expect_the_same(answers_about(Twins(true).build()),
                  answers_about(renumbered(Twins(true).build())));
}

TEST(OrderOfEquals, NeverShowsWithoutADevice) {
  expect_the_same(answers_about(Twins(false).build()),
                  answers_about(renumbered(Twins(false).build())));
}

TEST(OrderOfEquals, NeverShowsWhereTwoProcessesMayOwnADevice) {
  const auto build = [] {
    TraceBuilder builder;
    for (const std::int64_t pid : {300, 100, 200}) {
      builder.on_thread(1, pid).step(1, 0, kStep);
      builder.op("aten::mm_" + std::to_string(pid), 10, 1'000);
      builder.runtime("cudaLaunchKernel", 20, 10, 1);
      builder.runtime("cudaLaunchKernel", 40, 10, 2);
    }
    builder.kernel("kernel", 2'000, 1'000, 1);
    builder.kernel("kernel", 4'000, 1'000, 2);
    return builder.build();
  };
  expect_the_same(answers_about(build()), answers_about(renumbered(build())));
}

class Order : public testing::TestWithParam<std::string> {
 protected:
  static Trace trace() {
    Result<Trace> read = read_trace(GetParam(), ReadOptions());
    EXPECT_TRUE(read.ok()) << read.error().message;
    return read.ok() ? std::move(*read) : Trace();
  }
};

TEST_P(Order, OfNamesNeverShows) {
  expect_the_same(answers_about(trace()), answers_about(renumbered(trace())));
}

TEST_P(Order, OfNamesNeverShowsWhereMuchIsEqual) {
  for (const Duration grid : {duration_ns(20'000), duration_ns(500'000)}) {
    expect_the_same(answers_about(coarse(trace(), grid)),
                    answers_about(renumbered(coarse(trace(), grid))));
  }
}

INSTANTIATE_TEST_SUITE_P(Recordings, Order,
                         testing::ValuesIn(recordings({std::filesystem::path(FATHOM_SOURCE_DIR) /
                                                       "tests/illness/recorded"})),
                         name_of_recording);

}  // namespace
}  // namespace fathom
