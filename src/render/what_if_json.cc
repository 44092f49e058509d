// Writes a what-if as JSON.
#include "render/what_if_json.h"

#include "render/json.h"

namespace fathom {
namespace {

std::string ns(Duration time) { return std::to_string(to_ns(time)); }

std::string forecast_json(const StepForecast& forecast) {
  std::string path;
  for (std::size_t i = 0; i < kPathParts; ++i) {
    path += (i == 0 ? "" : ", ") +
            json_string(std::string(to_string(static_cast<PathPart>(i))) + "_ns") + ": " +
            ns(forecast.path[i]);
  }
  return R"({"step_median_ns": )" + ns(forecast.median) + R"(, "step_mean_ns": )" +
         ns(forecast.mean) + R"(, "bound_by": )" + json_string(to_string(bound_by(forecast))) +
         R"(, "critical_path": {)" + path + "}}";
}

std::string change_json(const WhatIfChange& change) {
  return R"({"what": )" + json_string(change.what) + R"(, "slices": )" +
         std::to_string(change.slices) + R"(, "assumption": )" + json_string(change.assumption) +
         "}";
}

std::string residuals_json(const Residuals& residuals) {
  return R"({"sum_ns": )" + ns(residuals.sum) + R"(, "window_ns": )" + ns(residuals.window) +
         R"(, "percent": )" + json_value(residuals.percent()) + R"(, "unrecorded_ns": )" +
         ns(residuals.unrecorded) + "}";
}

}  // namespace

std::string render_what_if_json(const WhatIf& result, std::string_view indent) {
  const std::string line = ",\n" + std::string(indent) + "  ";
  std::string text =
      std::string(indent) + "{\n" + std::string(indent) + R"(  "schema": "fathom.whatif/1")";
  text += line + R"("input": )" + json_string(result.input);
  text += line + R"("step_name": )" + json_string(result.step_name);
  text += line + R"("steps": )" + std::to_string(result.steps);
  text += line + R"("before": )" + forecast_json(result.before);
  text += line + R"("best": )" + forecast_json(result.best);
  text += line + R"("worst": )" + forecast_json(result.worst);
  text += line + R"("changes": [)";
  for (std::size_t i = 0; i < result.changes.size(); ++i)
    text += (i == 0 ? "" : ", ") + change_json(result.changes[i]);
  text += "]" + line + R"("residuals": )" + residuals_json(result.residuals);
  text += line + R"("notes": [)";
  for (std::size_t i = 0; i < result.notes.size(); ++i)
    text += (i == 0 ? "" : ", ") + json_string(result.notes[i]);
  return text + "]\n" + std::string(indent) + "}";
}

}  // namespace fathom
