// The options of reports: each value is checked by its type, whatever report it is of.
#include "engine/own_options.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "analysis/roofline/device_specs.h"

namespace fathom {
namespace {

Result<OptionValues> parsed(std::string_view report, OptionTexts texts) {
  return parse_options(*find_report(report), texts);
}

const ReportOption& option(std::string_view report, std::string_view name) {
  return *std::ranges::find(find_report(report)->options, name, &ReportOption::name);
}

std::string error_of(std::string_view report, OptionTexts texts) {
  const Result<OptionValues> values = parsed(report, std::move(texts));
  return values ? "fine" : values.error().message;
}

TEST(OwnOptions, HaveTheValueThatWasTyped) {
  EXPECT_TRUE(parsed("ops", {{"torch", "true"}})->flag(option("ops", "torch")));
  EXPECT_FALSE(parsed("ops", {{"torch", "false"}})->flag(option("ops", "torch")));
  const Result<OptionValues> metric = parsed("stacks", {{"metric", "device"}});
  ASSERT_TRUE(metric.ok());
  EXPECT_EQ(metric->text(option("stacks", "metric")), "device");
  EXPECT_EQ(parsed("energy", {{"price", "0.3"}})->number(option("energy", "price")), 0.3);
  const Result<OptionValues> peaks = parsed("roofline", {{"peaks", "h100 sxm"}});
  ASSERT_TRUE(peaks.ok());
  ASSERT_NE(peaks->device(option("roofline", "peaks")), nullptr);
  EXPECT_EQ(peaks->device(option("roofline", "peaks"))->name, "H100 SXM");
}

TEST(OwnOptions, AreUnsetWhereNothingWasTyped) {
  const Result<OptionValues> values = parsed("energy", {});
  ASSERT_TRUE(values.ok());
  EXPECT_FALSE(values->flag(option("ops", "torch")));
  EXPECT_EQ(values->text(option("stacks", "metric")), "");
  EXPECT_EQ(values->number(option("energy", "price")), std::nullopt);
  EXPECT_EQ(values->device(option("roofline", "peaks")), nullptr);
}

TEST(OwnOptions, SayWhatIsWrongWithAValue) {
  EXPECT_EQ(error_of("stacks", {{"metric", "x"}}),
            "--metric: 'x' is not one of host, device, on-cpu, blocked, both");
  EXPECT_EQ(error_of("energy", {{"price", "-1"}}), "--price: '-1' is not a number from 0 on");
  EXPECT_EQ(error_of("ops", {{"torch", "1"}}), "--torch: '1' is not one of true, false");
  EXPECT_TRUE(error_of("roofline", {{"peaks", "h100 sxn"}}).starts_with("--peaks: 'h100 sxn' is"));
}

TEST(OwnOptions, WhereSourcesAreMustBeAFolder) {
  const ReportOption& root = option("lines", "source-root");
  EXPECT_EQ(parsed("lines", {})->sources(root), nullptr);
  const std::string folder = testing::TempDir();
  const Result<OptionValues> values = parsed("lines", {{"source-root", folder}});
  ASSERT_TRUE(values.ok());
  ASSERT_NE(values->sources(root), nullptr);
  EXPECT_FALSE((*values->sources(root))("/home/nobody/no such file.py"));
  EXPECT_TRUE(parsed("lines", {{"source-root", "/home/me=" + folder}}).ok());
  EXPECT_EQ(error_of("lines", {{"source-root", "/home/me=/no/such"}}),
            "--source-root: there is no folder '/no/such'; give one, or OLD=NEW where paths began "
            "with OLD and are below the folder NEW");
  EXPECT_EQ(error_of("lines", {{"source-root", "=" + folder}}),
            "--source-root: '=" + folder + "' has nothing before its =");
}

TEST(OwnOptions, AreRefusedByReportsThatHaveNone) {
  EXPECT_EQ(error_of("gaps", {{"torch", "true"}}), "gaps has no option 'torch'");
  EXPECT_EQ(error_of("energy", {{"torch", "true"}}),
            "energy has no option 'torch'; it has price, carbon");
}

TEST(OwnOptions, AreDeclaredWithAllThatHelpNeeds) {
  for (const Report& report : all_reports()) {
    for (const ReportOption& option : report.options) {
      EXPECT_FALSE(option.doc.empty()) << option.name;
      EXPECT_EQ(option.value.empty(), option.type == OptionType::flag) << option.name;
      EXPECT_EQ(option.choices.empty(), option.type != OptionType::choice) << option.name;
    }
  }
}

}  // namespace
}  // namespace fathom
