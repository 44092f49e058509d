// Writes the commands to run after a diagnosis.
#include "render/next_commands.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>

#include "base/shell_word.h"
#include "engine/device_peaks.h"
#include "render/finding_text.h"
#include "render/shell.h"
#include "render/text_width.h"

namespace fathom {
namespace {

/// What records the functions of a plain Python program; empty where they are known, or there is no
/// Python inside.
std::string record_functions(const RunSummary& run) {
  constexpr std::size_t kLongest = 200;
  if (!run.functions.empty() || run.phases.empty() || run.command_words.empty()) return {};
  const std::string command = "fathom run --with functions -- " + command_line(run.command_words);
  return command.size() > kLongest ? "fathom run --with functions -- COMMAND" : command;
}

/// Is the verdict one of samples of threads?
bool is_by_samples(VerdictId id) {
  return id >= VerdictId::too_few_cores && id <= VerdictId::waiting;
}

/// The options that select a part of the trace, for every command: " --steps 3-7".
std::string selection_options(const DiagnosisRequest& request) {
  constexpr auto kOpen = std::numeric_limits<std::int64_t>::max();
  std::string options;
  if (request.steps) {
    options += " --steps " + std::to_string(request.steps->first) + "-";
    if (request.steps->last != kOpen) options += std::to_string(request.steps->last);
  }
  if (request.device) options += " --device " + std::to_string(*request.device);
  if (request.window) {
    options += " --window " + std::to_string(to_ns(request.window->begin)) + "ns:";
    if (to_ns(request.window->end) != kOpen) {
      options += std::to_string(to_ns(request.window->end)) + "ns";
    }
  }
  return options;
}

/// " --price 0.3", with as many digits as were typed.
std::string rate_option(std::string_view name, double rate) {
  if (rate < 0) return {};
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), rate).ptr;
  return " --" + std::string(name) + " " + std::string(digits.data(), end);
}

/// The device's name, where --peaks knows it; else the request is of a file, whose name is unknown.
std::string peaks_word(const DeviceSpec& peaks) {
  const std::string name(peaks.name);
  const Result<DevicePeaks> known = DevicePeaks::known(name);
  return known && known->chosen() != nullptr ? shell_word(name) : "FILE";
}

/// What changes a diagnosis beside rank, selection and focus.
std::string judging_options(const DiagnosisRequest& request) {
  std::string options = request.exclude_warmup ? " --exclude-warmup" : "";
  if (request.peaks != nullptr) options += " --peaks " + peaks_word(*request.peaks);
  return options + rate_option("price", request.price_per_kwh) +
         rate_option("carbon", request.carbon_g_per_kwh);
}

std::string labelled(std::string_view label, const std::string& before, const Diagnosis& diagnosis,
                     const Style& style) {
  const std::string command = command_on(before + " TRACE", diagnosis.input);
  return style.bold(pad_right(label, kLabelWidth)) + style.cyan(command) + "\n";
}

}  // namespace

std::string next_commands(const Diagnosis& diagnosis, const DiagnosisRequest& request,
                          const NextView& view, const Style& style) {
  const std::string selection = selection_options(request);
  const std::string rank =
      request.rank && diagnosis.ranks ? " --rank " + std::to_string(*request.rank) : "";
  const std::string judging = judging_options(request);
  std::string out;
  const auto add = [&](const std::string& before) {
    out += labelled(out.empty() ? "Next" : "", before, diagnosis, style);
  };
  if (!view.all && !diagnosis.findings.empty()) {
    const std::string focus = request.focus.empty() ? "" : " --focus " + shell_word(request.focus);
    add("fathom diagnose --all" + rank + selection + judging + focus);
  }
  if (diagnosis.run && diagnosis.run->plain) {
    if (!view.all && diagnosis.findings.empty()) add("fathom diagnose --all" + judging);
    if (is_by_samples(diagnosis.verdict.id)) {
      add("fathom hot");
      add(diagnosis.verdict.id == VerdictId::waiting ? "fathom waits" : "fathom threads");
    }
    if (!diagnosis.run->functions.empty()) add("fathom functions");
    const std::string again = view.bare ? "" : record_functions(*diagnosis.run);
    if (!again.empty()) {
      out +=
          style.bold(pad_right(out.empty() ? "Next" : "", kLabelWidth)) + style.cyan(again) + "\n";
    }
    if (!view.bare && diagnosis.run->processes.size() > 1) add("fathom processes");
    if (!view.bare) add("fathom telemetry");
  } else if (!view.brief || out.empty()) {
    if (diagnosis.profile.empty()) {
      add((diagnosis.device >= 0 ? "fathom gaps" : "fathom ops") + selection);
    } else {
      add("fathom " + std::string(diagnosis.profile));
    }
  }
  if (!view.brief && !diagnosis.findings.empty()) {
    const std::string rule(diagnosis.findings.front().finding.rule);
    out += std::string(kLabelWidth, ' ') + style.cyan("fathom explain " + rule) + "\n";
  }
  if (diagnosis.ranks && !request.rank) {
    const auto is_other = [&ranks = *diagnosis.ranks](const RankRow& row) {
      return row.rank && &row != &ranks.rows[ranks.diagnosed];
    };
    const auto other = std::ranges::find_if(diagnosis.ranks->rows, is_other);
    if (other != diagnosis.ranks->rows.end()) {
      const std::string choice = " --rank " + std::to_string(*other->rank);
      out += labelled("Other ranks", "fathom diagnose" + choice + selection + judging, diagnosis,
                      style);
    }
  }
  if (!view.bare && !diagnosis.narrower.empty()) {
    const std::string focus = " --focus " + shell_word(diagnosis.narrower);
    out += labelled("Narrower", "fathom diagnose" + rank + selection + judging + focus, diagnosis,
                    style);
  }
  if (diagnosis.input == "-" && !out.empty()) {
    out += std::string(kLabelWidth, ' ') +
           "TRACE is the file that standard input came from: it cannot be read again.\n";
  }
  return out;
}

}  // namespace fathom
