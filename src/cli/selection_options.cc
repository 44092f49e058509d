// Declares and parses the options that tables and the diagnosis share.
#include "cli/selection_options.h"

namespace fathom::cli {

namespace {

void declare_steps(Options& options, std::optional<Selection::StepRange>& steps) {
  options.parsed(
      "--steps", "A-B",
      [&steps](const std::string& text) -> Result<void> {
        Result<Selection::StepRange> parsed = parse_steps(text);
        if (!parsed) return std::move(parsed).error();
        steps = *parsed;
        return {};
      },
      "Only these steps, by their recorded numbers: 5, 3-7, 3-");
}

void declare_window(Options& options, std::optional<WindowRequest>& window) {
  options.parsed(
      "--window", "A:B",
      [&window](const std::string& text) -> Result<void> {
        Result<WindowRequest> parsed = parse_window(text);
        if (!parsed) return std::move(parsed).error();
        window = *parsed;
        return {};
      },
      "Only this stretch of time, counted as in tables from the start of the trace: 10ms:25ms, "
      ":1s, "
      "2s:");
}

}  // namespace

Result<std::vector<pid_t>> parse_pids(const std::vector<std::string>& operands) {
  std::vector<pid_t> pids;
  for (const std::string& operand : operands) {
    pid_t pid = 0;
    const Options::Parse parse = number_into<pid_t>(pid, 1);
    const Result<void> parsed = parse(operand);
    if (!parsed) return parsed.error();
    pids.push_back(pid);
  }
  return pids;
}

Options::Parse rate_into(double& target) {
  return [&target](const std::string& text) -> Result<void> {
    const Result<double> value = parse_rate(text);
    if (!value) return value.error();
    target = *value;
    return {};
  };
}

Options::Parse rate_into(std::optional<double>& target) {
  return [&target](const std::string& text) -> Result<void> {
    double value = 0;
    Result<void> parsed = rate_into(value)(text);
    if (parsed) target = value;
    return parsed;
  };
}

void declare_selection(Options& options, std::optional<Selection::StepRange>& steps,
                       std::optional<std::int32_t>& device, std::optional<WindowRequest>& window) {
  options.group("What to look at");
  declare_steps(options, steps);
  options.parsed("--device", "N", number_into<std::int32_t>(device, 0), "Only this device");
  declare_window(options, window);
}

void declare_time_selection(Options& options, std::optional<Selection::StepRange>& steps,
                            std::optional<WindowRequest>& window) {
  options.group("What to look at");
  declare_steps(options, steps);
  declare_window(options, window);
}

void declare_text_output(Options& options, OutputArguments& args) {
  options.flag("--wide", args.wide, "Shorten no name and leave out no column");
  options.parsed(
      "--color", "WHEN",
      [&args](const std::string& text) -> Result<void> {
        if (text == "auto") {
          args.colour = ColourChoice::automatic;
        } else if (text == "always") {
          args.colour = ColourChoice::always;
        } else if (text == "never") {
          args.colour = ColourChoice::never;
        } else {
          return Error{ErrorCode::invalid_argument, "'" + text + "' is not auto, always or never"};
        }
        return {};
      },
      "auto (on a terminal, unless NO_COLOR is set), always or never", {"auto", "always", "never"});
  options.text("-o,--output", "FILE", args.path, "Write to this file instead of standard output");
}

void declare_reading(Options& options, InputArguments& args) {
  options.flag("-q,--quiet", args.quiet, "No warnings and no progress on standard error");
  options.parsed("--threads", "N", number_into<unsigned>(args.threads, 1U),
                 "Threads to use (default: one per usable core)");
  options.flag("--no-cache", args.no_cache,
               "Read the input anew, and keep nothing for the next time");
}

}  // namespace fathom::cli
