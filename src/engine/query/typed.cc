// Parses options that tables and diagnosis share.
#include "engine/query/typed.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace fathom {
namespace {

template <typename Parsed, typename Place>
Result<bool> keep(std::string_view name, Result<Parsed> parsed, Place& place) {
  if (!parsed) return std::move(parsed).error().in("--" + std::string(name));
  place = *std::move(parsed);
  return true;
}

}  // namespace

Result<std::int64_t> parse_whole(std::string_view text, std::int64_t smallest) {
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || number < smallest) {
    return Error{
        ErrorCode::invalid_argument,
        "'" + std::string(text) + "' is not a number of at least " + std::to_string(smallest)};
  }
  return number;
}

Result<bool> parse_switch(std::string_view text) {
  if (text == "true" || text == "1") return true;
  if (text == "false" || text == "0") return false;
  return Error{ErrorCode::invalid_argument, "'" + std::string(text) + "' is not true or false"};
}

std::vector<std::string> split_commas(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    if (comma > begin) words.emplace_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return words;
}

Result<bool> take_selection(std::string_view name, const std::string& text,
                            const SelectionPlaces& places) {
  if (name == "steps" && places.steps != nullptr)
    return keep(name, parse_steps(text), *places.steps);
  if (name == "window" && places.window != nullptr)
    return keep(name, parse_window(text), *places.window);
  if (name != "device" || places.device == nullptr) return false;
  Result<std::int64_t> number = parse_whole(text, 0);
  if (number && *number > std::numeric_limits<std::int32_t>::max())
    number = Error{ErrorCode::invalid_argument, "'" + text + "' is no device"};
  if (!number) return std::move(number).error().in("--device");
  *places.device = static_cast<std::int32_t>(*number);
  return true;
}

TypedOptions selection_options(const std::optional<Selection::StepRange>& steps,
                               const std::optional<std::int32_t>& device,
                               const std::optional<WindowRequest>& window) {
  TypedOptions options;
  if (steps) {
    const std::string first = std::to_string(steps->first);
    const bool open = steps->last == std::numeric_limits<std::int64_t>::max();
    options.emplace_back("steps", steps->last == steps->first ? first
                                  : open                      ? first + "-"
                                         : first + "-" + std::to_string(steps->last));
  }
  if (device) options.emplace_back("device", std::to_string(*device));
  if (window) {
    const std::string begin = std::to_string(to_ns(window->begin)) + "ns:";
    const bool open = window->end == Duration::max();
    options.emplace_back("window",
                         open ? begin : begin + std::to_string(to_ns(window->end)) + "ns");
  }
  return options;
}

Error unknown_option(std::string_view name) {
  return {ErrorCode::invalid_argument, "there is no option '" + std::string(name) + "'"};
}

}  // namespace fathom
