// energy: joules of GPUs and processors, by consumer or by step, with money and CO2.
#include "analysis/machine/energy.h"

#include <optional>
#include <utility>

#include "analysis/machine/run_usage.h"
#include "reports/report.h"
#include "reports/rows.h"
#include "reports/step_selection.h"

namespace fathom {
namespace {

constexpr ColumnSpec kColumns[] = {
    {"consumer", ColumnKind::text, "",
     "What used it: a GPU's whole board, a processor package, the memory of one, or all of them."},
    {"step", ColumnKind::integer, "", "Number of the step.", false, "step"},
    {"time_ns", ColumnKind::duration_ns, "ns", "Time of which the energy is known."},
    {"joules", ColumnKind::real, "J", "Energy over that time."},
    {"mean_watts", ColumnKind::real, "W", "Mean power over that time."},
    {"joules_per_step", ColumnKind::real, "J",
     "Mean energy of the counted steps that telemetry covers whole."},
    {"price", ColumnKind::real, "", "Energy times the price of a kilowatt-hour, in its money."},
    {"co2_g", ColumnKind::real, "g", "Energy times the carbon dioxide of a kilowatt-hour."},
    {"source", ColumnKind::text, "",
     "counter: the hardware's own count of energy; power: integrated from samples of power."},
};

constexpr std::string_view kGroupBy[] = {"consumer", "step"};

class Rows {
 public:
  explicit Rows(const Context& context)
      : price_(rate_per_kwh(context.trace, context.options.price_per_kwh, kPriceFact)),
        carbon_(rate_per_kwh(context.trace, context.options.carbon_g_per_kwh, kCarbonFact)) {}

  void add(std::string_view consumer, std::optional<std::int64_t> step, const Energy& energy,
           std::optional<double> per_step, std::string_view source) {
    const auto priced = [&](const std::optional<double>& per_kwh) {
      return per_kwh ? Value(price_of(energy.joules, *per_kwh)) : Value();
    };
    table_.rows.push_back({text_value(consumer), step ? int_value(*step) : Value(),
                           ns_value(energy.known), Value(energy.joules), Value(energy.watts()),
                           per_step ? Value(*per_step) : Value(), priced(price_), priced(carbon_),
                           text_or_null(source)});
  }
  void note(std::string text) { table_.notes.push_back(std::move(text)); }
  [[nodiscard]] Table take() {
    if (!price_ && !carbon_ && !table_.rows.empty()) {
      note("--price MONEY and --carbon GRAMS, each per kilowatt-hour, fill price and co2_g.");
    }
    return std::move(table_);
  }

 private:
  std::optional<double> price_;
  std::optional<double> carbon_;
  Table table_;
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
                   Rows& rows) {
  Energy all;
  std::optional<double> all_per_step;
  std::size_t added = 0;
  const std::vector<RunStep> steps = chosen_steps(context, true);
  for (const EnergyConsumer& consumer : consumers) {
    const Interval window = context.everything() ? consumer.line->span() : context.window();
    const auto energy = energy_of(consumer, std::span(&window, 1));
    if (!energy) continue;
    const auto step = per_step(steps, consumer);
    rows.add(consumer.name, {}, *energy, step, source_of(consumer));
    all.joules += energy->joules;
    all.known = std::max(all.known, energy->known);
    if (step) all_per_step = all_per_step.value_or(0) + *step;
    ++added;
  }
  if (added > 1) rows.add("all", {}, all, all_per_step, "");
}

void add_steps(const Context& context, const std::vector<EnergyConsumer>& consumers, Rows& rows) {
  for (const RunStep& step : chosen_steps(context, false)) {
    for (const EnergyConsumer& consumer : consumers) {
      const auto energy = energy_of(consumer, std::span(&step.window, 1));
      if (energy) rows.add(consumer.name, step.number, *energy, {}, source_of(consumer));
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

Result<Table> compute(const Context& context) {
  Rows rows(context);
  const std::vector<EnergyConsumer> consumers = chosen(context);
  if (consumers.empty()) {
    rows.note(context.telemetry().empty()
                  ? "No telemetry was recorded: record with fathom run."
                  : "No power or energy was recorded; fathom doctor shows what would allow it.");
    return rows.take();
  }
  if (context.options.group_by == "step") {
    add_steps(context, consumers, rows);
  } else {
    add_consumers(context, consumers, rows);
  }
  return rows.take();
}

constexpr std::string_view kOptions[] = {"price"};
constexpr std::string_view kImportance[] = {"consumer",        "step",  "joules", "mean_watts",
                                            "joules_per_step", "price", "co2_g",  "time_ns"};

}  // namespace

Report energy() {
  return {
      .id = "energy",
      .title = "Energy of GPUs and processors, per step and in all, with money and CO2",
      .doc =
          "One row per consumer over the whole run, or over the steps or the window selected; "
          "--group-by step makes rows per step and consumer. Without a selection, all steps of the "
          "run count, also those that torch.profiler did not record. Joules come from the "
          "hardware's counters of energy where it has them (Volta and later, RAPL), else from "
          "samples of power by trapezoids. A board's power is an average over up to a second, so "
          "steps shorter than that share it.",
      .columns = kColumns,
      .group_by = kGroupBy,
      .sort = "",
      .example = "fathom energy fathom-runs/20260101-120000-train --price 0.30 --carbon 380",
      .compute = compute,
      .options = kOptions,
      .importance = kImportance};
}

}  // namespace fathom
