// Parses a report's options with what parses them on the command line.
#include "engine/typed_request.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engine/device_peaks.h"
#include "engine/own_options.h"

namespace fathom {
namespace {

/// How the rows are shaped; false for other options.
Result<bool> take_shape(const std::string& name, const std::string& text, Request& request) {
  if (name == "filter") {
    request.query.filters.push_back(text);
  } else if (name == "sort") {
    request.query.sort = text;
  } else if (name == "columns") {
    request.query.columns = split_commas(text);
  } else if (name == "group-by") {
    request.options.group_by = text;
  } else if (name == "limit") {
    const Result<std::int64_t> limit = parse_whole(text, 0);
    if (!limit) return Error(limit.error()).in("--limit");
    request.query.limit.reset();
    if (*limit != 0) request.query.limit = static_cast<std::uint64_t>(*limit);
  } else {
    return false;
  }
  return true;
}

/// What the report declares: texts for parse_options(), and devices, which it would look for as
/// files.
struct Own {
  OptionTexts texts;
  std::vector<std::pair<std::string, OptionValue>> devices;
};

Result<void> take_device(const std::string& name, const std::string& text, Own& own) {
  Result<DevicePeaks> known = DevicePeaks::known(text);
  if (!known) return std::move(known).error().in("--" + name);
  const auto peaks = std::make_shared<const DevicePeaks>(*std::move(known));
  // The device lives in what was found.
  own.devices.emplace_back(name, std::shared_ptr<const DeviceSpec>(peaks, peaks->chosen()));
  return {};
}

Result<void> take_own(const Report& report, const std::string& name, const std::string& text,
                      Own& own) {
  const auto option = std::ranges::find(report.options, name, &ReportOption::name);
  if (option == report.options.end()) return unknown_option(name);
  if (option->type == OptionType::device) return take_device(name, text, own);
  if (option->type == OptionType::sources) {
    return Error{ErrorCode::invalid_argument,
                 "--" + name + " reads files, which is for the command line and Python"};
  }
  own.texts[name] = text;
  if (option->type != OptionType::flag) return {};
  const Result<bool> given = parse_switch(text);
  if (!given) return Error(given.error()).in("--" + name);
  own.texts[name] = *given ? "true" : "false";
  return {};
}

}  // namespace

Result<Request> typed_request(const Report& report, const TypedOptions& options) {
  Request request;
  Own own;
  const SelectionPlaces places{&request.steps, &request.device, &request.window};
  for (const auto& [name, text] : options) {
    Result<bool> taken = take_selection(name, text, places);
    if (taken && !*taken) taken = take_shape(name, text, request);
    if (!taken) return std::move(taken).error();
    if (*taken) continue;
    Result<void> kept = take_own(report, name, text, own);
    if (!kept) return std::move(kept).error();
  }
  Result<OptionValues> values = parse_options(report, own.texts);
  if (!values) return std::move(values).error();
  request.own = *std::move(values);
  for (auto& [name, device] : own.devices) request.own.set(name, std::move(device));
  return request;
}

}  // namespace fathom
