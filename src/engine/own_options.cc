// Parses each value by the type of its option.
#include "engine/own_options.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/device_peaks.h"
#include "engine/inputs/source_root.h"
#include "engine/query/quantity.h"

namespace fathom {
namespace {

template <typename Names>
std::string list_of(const Names& names) {
  std::string list;
  for (const std::string_view name : names) {
    list += list.empty() ? "" : ", ";
    list += name;
  }
  return list;
}

Error not_one_of(const std::string& text, std::span<const std::string_view> choices) {
  return {ErrorCode::invalid_argument, "'" + text + "' is not one of " + list_of(choices)};
}

Error no_such_option(const Report& report, const std::string& name) {
  std::vector<std::string_view> names;
  for (const ReportOption& option : report.options) names.push_back(option.name);
  return {ErrorCode::invalid_argument,
          std::string(report.id) + " has no option '" + name + "'" +
              (names.empty() ? std::string() : "; it has " + list_of(names))};
}

Result<OptionValue> parse_flag(const std::string& text) {
  constexpr std::string_view kFlags[] = {"true", "false"};
  if (std::ranges::find(kFlags, text) == std::end(kFlags)) return not_one_of(text, kFlags);
  return OptionValue(text == "true");
}

Result<OptionValue> parse_choice(const ReportOption& option, const std::string& text) {
  if (std::ranges::find(option.choices, text) == option.choices.end())
    return not_one_of(text, option.choices);
  return OptionValue(text);
}

Result<OptionValue> parse_device(const std::string& text) {
  Result<DevicePeaks> read = DevicePeaks::asked(text);
  if (!read) return std::move(read).error();
  const auto peaks = std::make_shared<const DevicePeaks>(*std::move(read));
  // The device lives in what was read.
  return OptionValue(std::shared_ptr<const DeviceSpec>(peaks, peaks->chosen()));
}

Result<OptionValue> parse_sources(const std::string& text) {
  Result<SourceRoot> root = SourceRoot::asked(text);
  if (!root) return std::move(root).error();
  SourceFinder find = [found = *std::move(root)](std::string_view file) {
    return found.text(file);
  };
  return OptionValue(std::make_shared<const SourceFinder>(std::move(find)));
}

Result<OptionValue> parse_value(const ReportOption& option, const std::string& text) {
  switch (option.type) {
    case OptionType::flag:
      return parse_flag(text);
    case OptionType::choice:
      return parse_choice(option, text);
    case OptionType::device:
      return parse_device(text);
    case OptionType::sources:
      return parse_sources(text);
    case OptionType::rate:
      break;
  }
  const Result<double> rate = parse_rate(text);
  if (!rate) return rate.error();
  return OptionValue(*rate);
}

}  // namespace

Result<OptionValues> parse_options(const Report& report, const OptionTexts& texts) {
  OptionValues values;
  for (const auto& [name, text] : texts) {
    const auto option = std::ranges::find(report.options, name, &ReportOption::name);
    if (option == report.options.end()) return no_such_option(report, name);
    Result<OptionValue> value = parse_value(*option, text);
    if (!value) return std::move(value).error().in("--" + name);
    values.set(name, *std::move(value));
  }
  return values;
}

}  // namespace fathom
