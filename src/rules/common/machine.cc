// Reads telemetry over the counted steps.
#include "rules/common/machine.h"

#include <algorithm>
#include <utility>

#include "analysis/structure/stretches.h"
#include "base/quantity_text.h"

namespace fathom {
namespace {

/// Windows that touch or overlap are one: then short steps are not each blind.
std::vector<Interval> counted(const RuleContext& rules) {
  std::vector<Interval> windows;
  windows.reserve(rules.steps.size());
  for (const Step* const step : rules.steps) windows.push_back(step->window);
  return merged(std::move(windows));
}

}  // namespace

MachineView::MachineView(const RuleContext& rules)
    : rules_(rules), telemetry_(rules.context.telemetry()), windows_(counted(rules)) {}

Abstention MachineView::abstention() {
  return {"no telemetry was recorded for these steps: record with fathom run"};
}

std::optional<LevelSummary> MachineView::level(std::string_view name, std::int32_t device) const {
  const CounterLine* const line = telemetry_.find(name, device);
  return line == nullptr ? std::nullopt : fathom::level(*line, windows_);
}

std::optional<double> MachineView::rise(std::string_view name, std::int32_t device) const {
  const CounterLine* const line = telemetry_.find(name, device);
  return line == nullptr ? std::nullopt : fathom::rise(*line, windows_);
}

std::optional<double> MachineView::percent(std::string_view name) const {
  const CounterLine* const line = telemetry_.find(name);
  return line == nullptr ? std::nullopt : percent_of_time(*line, windows_);
}

std::optional<double> MachineView::per_second(std::string_view name) const {
  const std::optional<double> percent_of = percent(name);
  if (!percent_of) return {};
  return *percent_of / 100.0;
}

std::optional<double> MachineView::most_ever(std::string_view name, std::int32_t device) const {
  const CounterLine* const line = telemetry_.find(name, device);
  if (line == nullptr) return {};
  return *std::ranges::max_element(line->values);
}

std::optional<std::int32_t> MachineView::gpu() const { return telemetry_.gpu_of(rules_.device); }

double MachineView::seconds(std::string_view name, std::int32_t device) const {
  const CounterLine* const line = telemetry_.find(name, device);
  if (line == nullptr) return 0;
  return 1e-9 * static_cast<double>(to_ns(known(*line, windows_)));
}

Evidence sentence(std::string text) {
  return {.text = std::move(text), .slices = {}, .where = {}, .location = ""};
}

std::string plain_text(double value) {
  std::string text = real_text(value);
  if (text.find('.') == std::string::npos) return text;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string unit_text(double value, std::string_view unit) {
  return plain_text(value) + " " + std::string(unit);
}

}  // namespace fathom
