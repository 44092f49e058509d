// Real traces cut at every byte and with random bytes changed: no crash, no hang, nothing invented.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "formats/format.h"
#include "store/validate.h"

namespace fathom {

Format chrome_json();

namespace {

std::string file(const std::string& name) {
  std::ifstream stream(std::string(FATHOM_SOURCE_DIR) + "/tests/fuzz/corpus/chrome_json/" + name,
                       std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

struct Outcome {
  bool read = false;
  std::size_t rows = 0;
  std::string broken;
  bool repaired = false;
};

Outcome outcome_of(std::string_view text, const ReadOptions& options) {
  const auto source = open_bytes(std::as_bytes(std::span(text)));
  if (!source) return {};
  const Result<Trace> trace = chrome_json().read(**source, options);
  if (!trace) return {};
  const std::size_t rows = trace->slices.size() + trace->flows.size() + trace->memory.size() +
                           trace->instants.size() + trace->samples.size();
  return {true, rows, broken_promise(*trace), trace->import.total() > 0};
}

TEST(ChromeJsonDamage, CutAtAnyByteATraceGivesTheEventsBeforeTheCut) {
  const std::string text = file("hta_inference_rank1_old_schema.json");
  ASSERT_GT(text.size(), 1000U);
  const Outcome whole = outcome_of(text, {.threads = 1});
  const std::size_t list = text.find("traceEvents") + 15;
  std::size_t rows_before = 0;
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    const Outcome outcome = outcome_of(std::string_view(text).substr(0, cut), {.threads = 1});
    ASSERT_EQ(outcome.broken, "") << "cut at " << cut;
    ASSERT_GE(outcome.rows, rows_before) << "cut at " << cut;
    ASSERT_LE(outcome.rows, whole.rows) << "cut at " << cut;
    if (cut >= list) {
      ASSERT_TRUE(outcome.read) << "cut at " << cut;
      ASSERT_TRUE(outcome.repaired) << "cut at " << cut;
    }
    rows_before = outcome.rows;
  }
  EXPECT_EQ(rows_before, whole.rows);
}

TEST(ChromeJsonDamage, CutAtAnyByteThePiecesOfThreadsDoNotMatter) {
  const std::string text = file("kineto_tb_resnet50_workers0_feb2021.json");
  ASSERT_GT(text.size(), 1000U);
  for (std::size_t cut = 0; cut < text.size(); cut += 7) {
    const std::string_view part = std::string_view(text).substr(0, cut);
    const Outcome whole = outcome_of(part, {.threads = 1});
    const Outcome pieces = outcome_of(part, {.threads = 1, .piece_bytes = 256});
    ASSERT_EQ(whole.read, pieces.read) << "cut at " << cut;
    ASSERT_EQ(whole.rows, pieces.rows) << "cut at " << cut;
    ASSERT_EQ(whole.repaired, pieces.repaired) << "cut at " << cut;
  }
}

TEST(ChromeJsonDamage, ChangedBytesNeverBreakAPromise) {
  const std::string text = file("sidnb13_h100_transformer_step.json");
  ASSERT_GT(text.size(), 1000U);
  std::mt19937 random(20240229);
  std::uniform_int_distribution<std::size_t> place(0, text.size() - 1);
  std::uniform_int_distribution<int> byte(0, 255);
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = text;
    for (int i = 0; i < 1 + round % 20; ++i)
      damaged[place(random)] = static_cast<char>(byte(random));
    const Outcome outcome = outcome_of(damaged, {.threads = 1});
    ASSERT_EQ(outcome.broken, "") << "round " << round;
  }
}

TEST(ChromeJsonDamage, RemovedAndRepeatedStretchesNeverBreakAPromise) {
  const std::string text = file("tl_b200_eager_rank0_of_8.json");
  ASSERT_GT(text.size(), 1000U);
  std::mt19937 random(7);
  std::uniform_int_distribution<std::size_t> place(0, text.size() - 1);
  for (int round = 0; round < 1000; ++round) {
    std::string damaged = text;
    const std::size_t from = place(random);
    const std::size_t length = std::min<std::size_t>(place(random) % 300, damaged.size() - from);
    if (round % 2 == 0) {
      damaged.erase(from, length);
    } else {
      damaged.insert(place(random), text, from, length);
    }
    const Outcome outcome = outcome_of(damaged, {.threads = 1});
    ASSERT_EQ(outcome.broken, "") << "round " << round;
  }
}

}  // namespace
}  // namespace fathom
