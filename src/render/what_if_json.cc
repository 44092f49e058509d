// Writes a what-if as JSON.
#include "render/what_if_json.h"

#include "base/json_writer.h"

namespace fathom {
namespace {

void write_forecast(JsonWriter& json, const StepForecast& forecast) {
  json.object(kJsonInline)
      .member("step_median_ns", to_ns(forecast.median))
      .member("step_mean_ns", to_ns(forecast.mean))
      .member("bound_by", to_string(bound_by(forecast)))
      .key("critical_path")
      .object();
  for (std::size_t i = 0; i < kPathParts; ++i) {
    json.member(std::string(to_string(static_cast<PathPart>(i))) + "_ns", to_ns(forecast.path[i]));
  }
  json.end().end();
}

void write_changes(JsonWriter& json, const WhatIf& result) {
  json.key("changes").array(kJsonInline);
  for (const WhatIfChange& change : result.changes) {
    json.object()
        .member("what", change.what)
        .member("slices", change.slices)
        .member("assumption", change.assumption)
        .end();
  }
  json.end();
}

void write_residuals(JsonWriter& json, const Residuals& residuals) {
  json.key("residuals")
      .object(kJsonInline)
      .member("sum_ns", to_ns(residuals.sum))
      .member("window_ns", to_ns(residuals.window))
      .member("percent", residuals.percent())
      .member("unrecorded_ns", to_ns(residuals.unrecorded))
      .end();
}

}  // namespace

std::string render_what_if_json(const WhatIf& result, std::string_view indent,
                                std::string_view command) {
  std::string out(indent);
  JsonWriter json(out, kJsonLines, indent);
  json.object().member("schema", "fathom.whatif/1").member("input", result.input);
  json.member("step_name", result.step_name).member("steps", result.steps);
  write_forecast(json.key("before"), result.before);
  write_forecast(json.key("best"), result.best);
  write_forecast(json.key("worst"), result.worst);
  write_changes(json, result);
  write_residuals(json, result.residuals);
  json.key("notes").array(kJsonInline);
  for (const std::string& note : result.notes) json.text(note);
  json.end();
  if (!command.empty()) json.member("command", command);
  json.end();
  return out;
}

}  // namespace fathom
