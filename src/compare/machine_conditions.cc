// Reads them from JSON.
#include "compare/machine_conditions.h"

#include <array>
#include <charconv>
#include <set>

#include <simdjson.h>

#include "base/json_result.h"

namespace fathom {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;

/// As short as it can be said.
std::string number_text(double number) {
  std::array<char, 40> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

}  // namespace

std::string power_limits(std::string_view gpus) {
  simdjson::dom::parser parser;
  array each;
  std::set<std::string> limits;
  if (!get_json(parser.parse(gpus.data(), gpus.size()).get<array>(), each)) return {};
  for (const element gpu : each) {
    double watts = 0;
    if (get_json(gpu["power_limit_w"].get<double>(), watts))
      limits.insert(number_text(watts) + " W");
  }
  std::string text;
  for (const std::string& limit : limits) text += (text.empty() ? "" : ", ") + limit;
  return text;
}

std::string load_condition(std::string_view load, std::string_view cores) {
  simdjson::dom::parser of_load;
  simdjson::dom::parser of_cores;
  array minutes;
  double last = 0;
  double count = 0;
  if (!get_json(of_load.parse(load.data(), load.size()).get<array>(), minutes) ||
      !get_json(minutes.at(0).get<double>(), last) ||
      !get_json(of_cores.parse(cores.data(), cores.size()).get<double>(), count) || !(count > 0))
    return {};
  if (last <= count / 2) return "at most half of the cores";
  return number_text(last) + " on " + number_text(count) + (count == 1 ? " core" : " cores");
}

}  // namespace fathom
