// Options that tables and the diagnosis share: what to look at, and how to print it.
#pragma once

#include <charconv>
#include <optional>
#include <string>

#include "cli/each_input.h"
#include "cli/options.h"
#include "engine/session.h"
#include "render/style.h"

namespace fathom::cli {

/// How results are to be written.
struct OutputArguments {
  bool json = false;
  bool wide = false;
  ColourChoice colour = ColourChoice::automatic;
  std::string path;  ///< Empty: standard output.
};

/// A parser of whole numbers of at least `smallest`, for Options::parsed().
template <typename Number, typename Target>
Options::Parse number_into(Target& target, Number smallest) {
  return [&target, smallest](const std::string& text) -> Result<void> {
    Number number{};
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || number < smallest) {
      return Error{ErrorCode::invalid_argument,
                   "'" + text + "' is not a number of at least " + std::to_string(smallest)};
    }
    target = number;
    return {};
  };
}

/// The parser of an option for Options::parsed(): `target` takes the value.
template <typename Value, typename Target>
Options::Parse into(Target& target, Result<Value> (*parse)(std::string_view)) {
  return [&target, parse](const std::string& text) -> Result<void> {
    Result<Value> value = parse(text);
    if (!value) return std::move(value).error();
    target = std::move(*value);
    return {};
  };
}

/// Operands that are numbers of processes.
Result<std::vector<pid_t>> parse_pids(const std::vector<std::string>& operands);

/// A parser of what a kilowatt-hour costs: a number from 0 on.
Options::Parse rate_into(double& target);
/// The same, where none is a value of its own.
Options::Parse rate_into(std::optional<double>& target);

/// --steps, --device, --window.
void declare_selection(Options& options, std::optional<Selection::StepRange>& steps,
                       std::optional<std::int32_t>& device, std::optional<WindowRequest>& window);
/// --steps, --window: for what is about all devices together.
void declare_time_selection(Options& options, std::optional<Selection::StepRange>& steps,
                            std::optional<WindowRequest>& window);
/// --wide, --color, -o.
void declare_text_output(Options& options, OutputArguments& args);
/// -q, --threads.
void declare_reading(Options& options, InputArguments& args);

}  // namespace fathom::cli
