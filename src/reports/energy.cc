// energy: joules of GPUs and processors, by consumer or by step, with money and CO2.
#include "analysis/machine/energy.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/machine/run_usage.h"
#include "reports/report.h"
#include "reports/step_selection.h"

namespace fathom {
namespace energy_report {
namespace {

constexpr std::string_view kGroupBy[] = {"consumer", "step"};

struct Row {
  std::string_view consumer;  ///< Lives in Shared or in the code.
  std::optional<std::int64_t> step;
  Energy energy;
  std::optional<double> per_step;
  std::string_view source;
};

/// What a kilowatt-hour costs, where it is known, and what the rows name.
struct Shared {
  std::optional<double> price;
  std::optional<double> carbon;
  std::shared_ptr<const std::vector<EnergyConsumer>> consumers;

  [[nodiscard]] static std::optional<double> priced(const Row& row,
                                                    const std::optional<double>& per_kwh) {
    return per_kwh ? std::optional(price_of(row.energy.joules, *per_kwh)) : std::nullopt;
  }
};
using Joules = ReportRows<Row, Shared>;

constexpr Joules::Column kColumns[] = {
    {"consumer", ColumnKind::text, "",
     "What used it: a GPU's whole board, a processor package, the memory of one, or all of them.",
     by<&Row::consumer>},
    {"step", ColumnKind::integer, "", "Number of the step.", by<&Row::step>, false, "step"},
    {"time_ns", ColumnKind::duration_ns, "ns", "Time of which the energy is known.",
     [](const Row& row) { return row.energy.known; }},
    {"joules", ColumnKind::real, "J", "Energy over that time.",
     [](const Row& row) { return row.energy.joules; }},
    {"mean_watts", ColumnKind::real, "W", "Mean power over that time.",
     [](const Row& row) { return row.energy.watts(); }},
    {"joules_per_step", ColumnKind::real, "J",
     "Mean energy of the counted steps that telemetry covers whole.", by<&Row::per_step>},
    {"price", ColumnKind::real, "", "Energy times the price of a kilowatt-hour, in its money.",
     [](const Row& row, const Shared& shared) { return Shared::priced(row, shared.price); }},
    {"co2_g", ColumnKind::real, "g", "Energy times the carbon dioxide of a kilowatt-hour.",
     [](const Row& row, const Shared& shared) { return Shared::priced(row, shared.carbon); }},
    {"source", ColumnKind::text, "",
     "counter: the hardware's own count of energy; power: integrated from samples of power.",
     [](const Row& row) { return text_or_null(row.source); }},
};

std::string_view source_of(const EnergyConsumer& consumer) {
  return consumer.counted ? "counter" : "power";
}

/// The steps that are looked at: with a selection those of it, else those of the whole run.
std::vector<RunStep> chosen_steps(const Context& context, bool counted) {
  std::vector<RunStep> chosen;
  if (!context.selection.steps && !context.selection.window)
    chosen = recorded_run_steps(context.trace);
  if (!chosen.empty()) return chosen;
  const auto take = [&](const Step& step) {
    if (selects_step(context, step)) chosen.push_back({step.number, step.window});
  };
  if (counted) {
    // A recording without steps is not one step.
    if (context.steps().source == StepSource::whole_trace) return chosen;
    for (const Step* const step : context.steps().counted()) take(*step);
  } else {
    for (const Step& step : context.steps().steps) take(step);
  }
  return chosen;
}

/// Mean over the steps that are known whole.
std::optional<double> per_step(const std::vector<RunStep>& steps, const EnergyConsumer& consumer) {
  double sum = 0;
  std::size_t count = 0;
  for (const RunStep& step : steps) {
    if (!consumer.covers(step.window)) continue;
    if (const auto energy = energy_of(consumer, std::span(&step.window, 1))) {
      sum += energy->joules;
      ++count;
    }
  }
  if (count == 0) return {};
  return sum / static_cast<double>(count);
}

void add_consumers(const Context& context, const std::vector<EnergyConsumer>& consumers,
                   std::vector<Row>& rows) {
  Energy all;
  std::optional<double> all_per_step;
  std::size_t added = 0;
  const std::vector<RunStep> steps = chosen_steps(context, true);
  for (const EnergyConsumer& consumer : consumers) {
    const Interval window = context.everything() ? consumer.line->span() : context.window();
    const auto energy = energy_of(consumer, std::span(&window, 1));
    if (!energy) continue;
    const auto step = per_step(steps, consumer);
    rows.push_back({consumer.name, {}, *energy, step, source_of(consumer)});
    all.joules += energy->joules;
    all.known = std::max(all.known, energy->known);
    if (step) all_per_step = all_per_step.value_or(0) + *step;
    ++added;
  }
  if (added > 1) rows.push_back({"all", {}, all, all_per_step, {}});
}

void add_steps(const Context& context, const std::vector<EnergyConsumer>& consumers,
               std::vector<Row>& rows) {
  for (const RunStep& step : chosen_steps(context, false)) {
    for (const EnergyConsumer& consumer : consumers) {
      const auto energy = energy_of(consumer, std::span(&step.window, 1));
      if (energy) rows.push_back({consumer.name, step.number, *energy, {}, source_of(consumer)});
    }
  }
}

/// The GPU chosen by --device, if any; processors stay.
std::vector<EnergyConsumer> chosen(const Context& context) {
  std::vector<EnergyConsumer> consumers = energy_consumers(context.telemetry());
  if (const auto& device = context.selection.device) {
    const auto gpu = context.telemetry().gpu_of(*device);
    std::erase_if(consumers, [&](const EnergyConsumer& consumer) {
      return consumer.device >= 0 && consumer.device != gpu.value_or(-1);
    });
  }
  return consumers;
}

constexpr ReportOption kPrice = {
    .name = "price",
    .type = OptionType::rate,
    .doc = "Price of a kilowatt-hour, in any money (default: as given to fathom run)",
    .value = "MONEY"};
constexpr ReportOption kCarbon = {
    .name = "carbon",
    .type = OptionType::rate,
    .doc = "Grams of CO2 per kilowatt-hour (default: as given to fathom run)",
    .value = "GRAMS"};
constexpr ReportOption kOptions[] = {kPrice, kCarbon};

Result<Joules> compute(const Context& context, const OptionValues& own) {
  Joules joules{
      .shared = {rate_per_kwh(context.trace, own.number(kPrice).value_or(-1), kPriceFact),
                 rate_per_kwh(context.trace, own.number(kCarbon).value_or(-1), kCarbonFact),
                 std::make_shared<const std::vector<EnergyConsumer>>(chosen(context))}};
  const std::vector<EnergyConsumer>& consumers = *joules.shared.consumers;
  if (consumers.empty()) {
    joules.notes.emplace_back(
        "No power or energy was recorded; fathom doctor shows what would allow it.");
    return joules;
  }
  if (context.options.group_by == "step") {
    add_steps(context, consumers, joules.rows);
  } else {
    add_consumers(context, consumers, joules.rows);
  }
  if (!joules.shared.price && !joules.shared.carbon && !joules.rows.empty()) {
    joules.notes.emplace_back(
        "--price MONEY and --carbon GRAMS, each per kilowatt-hour, fill price and co2_g.");
  }
  return joules;
}

constexpr std::string_view kImportance[] = {"consumer",        "step",  "joules", "mean_watts",
                                            "joules_per_step", "price", "co2_g",  "time_ns"};

constexpr Need kNeeds[] = {
    {StoreTable::counters, "No telemetry was recorded: record with fathom run."}};

Report report() {
  return report_of<kColumns, compute>(
      {.id = "energy",
       .title = "Energy of GPUs and processors, per step and in all, with money and CO2",
       .doc =
           "One row per consumer over the whole run, or over the steps or the window selected; "
           "--group-by step makes rows per step and consumer. Without a selection, all steps of "
           "the "
           "run count, also those that torch.profiler did not record. Joules come from the "
           "hardware's counters of energy where it has them (Volta and later, RAPL), else from "
           "samples of power by trapezoids. A board's power is an average over up to a second, so "
           "steps shorter than that share it.",
       .group_by = kGroupBy,
       .sort = "",
       .example = "fathom energy fathom-runs/20260101-120000-train --price 0.30 --carbon 380",
       .options = kOptions,
       .needs = kNeeds,
       .importance = kImportance});
}

}  // namespace
}  // namespace energy_report

Report energy() { return energy_report::report(); }

}  // namespace fathom
