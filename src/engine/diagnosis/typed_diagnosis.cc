// Parses the options of the diagnosis with what parses them on the command line.
#include "engine/diagnosis/typed_diagnosis.h"

namespace fathom {
namespace {

Result<void> take_rate(const std::string& text, double& place) {
  const Result<double> rate = parse_rate(text);
  if (!rate) return rate.error();
  place = *rate;
  return {};
}

Result<void> take(const std::string& name, const std::string& text, TypedDiagnosis& typed) {
  DiagnosisRequest& request = typed.request;
  if (name == "focus") {
    request.focus = text;
  } else if (name == "price") {
    return take_rate(text, request.price_per_kwh);
  } else if (name == "carbon") {
    return take_rate(text, request.carbon_g_per_kwh);
  } else if (name == "rank") {
    const Result<std::int64_t> rank = parse_whole(text, 0);
    if (!rank) return rank.error();
    request.rank = *rank;
  } else if (name == "exclude-warmup") {
    const Result<bool> given = parse_switch(text);
    if (!given) return given.error();
    request.exclude_warmup = *given;
  } else if (name == "peaks") {
    Result<DevicePeaks> peaks = DevicePeaks::known(text);
    if (!peaks) return std::move(peaks).error();
    typed.peaks = *std::move(peaks);
    request.peaks = typed.peaks.chosen();
  } else {
    return unknown_option(name);
  }
  return {};
}

}  // namespace

Result<TypedDiagnosis> typed_diagnosis(const TypedOptions& options) {
  TypedDiagnosis typed;
  DiagnosisRequest& request = typed.request;
  const SelectionPlaces places{&request.steps, &request.device, &request.window};
  for (const auto& [name, text] : options) {
    Result<bool> taken = take_selection(name, text, places);
    if (!taken) return std::move(taken).error();
    if (*taken) continue;
    Result<void> kept = take(name, text, typed);
    if (!kept) return std::move(kept).error().in("--" + name);
  }
  return typed;
}

}  // namespace fathom
