// Parses what to record, and writes FATHOM_OPTIONS.
#include "capture/launcher/recording.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/json_writer.h"
#include "capture/launcher/amounts.h"
#include "capture/system/signals.h"

namespace fathom::capture {
namespace {

Error refused(std::string message) { return {ErrorCode::invalid_argument, std::move(message)}; }

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    if (comma != 0 && !text.empty()) parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

template <typename Names>
std::string listed(const Names& names) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

struct Field {
  std::string_view name;
  std::int64_t Schedule::*member;
  std::int64_t smallest;
};
constexpr std::array kFields = {
    Field{"wait", &Schedule::wait, 0}, Field{"warmup", &Schedule::warmup, 0},
    Field{"active", &Schedule::active, 1}, Field{"repeat", &Schedule::repeat, 0},
    Field{"skip_first", &Schedule::skip_first, 0}};

Result<void> set_field(std::string_view part, Schedule& schedule) {
  const std::size_t equals = part.find('=');
  const auto field = std::ranges::find(kFields, part.substr(0, equals), &Field::name);
  if (field == kFields.end() || equals == std::string_view::npos) {
    return refused("'" + std::string(part) +
                   "' is not one of wait=N, warmup=N, active=N, repeat=N, skip_first=N");
  }
  const std::string_view digits = part.substr(equals + 1);
  std::int64_t number = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size() ||
      number < field->smallest || number > 1'000'000'000) {
    return refused(std::string(field->name) + " must be a number of at least " +
                   std::to_string(field->smallest) + ", not '" + std::string(digits) + "'");
  }
  schedule.*(field->member) = number;
  return {};
}

JsonWriter& seconds(JsonWriter& json, Duration duration) {
  return json.rounded(static_cast<double>(to_ns(duration)) / 1e9);
}

JsonWriter& seconds_or_null(JsonWriter& json, const std::optional<Duration>& duration) {
  return duration ? seconds(json, *duration) : json.null();
}

JsonWriter& text_or_null(JsonWriter& json, const std::string& text) {
  return text.empty() ? json.null() : json.text(text);
}

constexpr int kMostSamples = 1000;  // a second

/// The number of "samples=250".
Result<double> rate_in(std::string_view part) {
  const std::string_view digits = part.substr(std::min(part.size(), kSamples.size() + 1));
  double hz = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), hz);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == digits.data() + digits.size();
  if (whole && hz >= 0 && hz <= kMostSamples) return hz;
  return refused("'" + std::string(part) + "' is not samples=RATE with a rate from 0 to " +
                 std::to_string(kMostSamples) + " a second");
}

bool is_rate(std::string_view part) {
  return part.starts_with(kSamples) && part.substr(kSamples.size()).starts_with('=');
}

bool is_of_calls(std::string_view part) {
  return part.starts_with(kCalls) && part.substr(kCalls.size()).starts_with(':');
}

/// The time of "functions=calls:50us".
Result<Duration> least_in(std::string_view part) {
  Result<Duration> least = parse_duration(part.substr(kCalls.size() + 1));
  if (least) return least;
  return refused("'" + std::string(part) +
                 "' is not functions=calls:TIME with a time such as 50us or 1ms");
}

}  // namespace

std::optional<Duration> least_call_of(const Recording& recording) {
  for (const std::string& extra : recording.with) {
    if (extra == kCalls) return kLeastCall;
    if (!is_of_calls(extra)) continue;
    if (const Result<Duration> least = least_in(extra)) return *least;
  }
  return {};
}

Sampling sampling_of(const Recording& recording) {
  Sampling sampling;
  for (const std::string& extra : recording.with) {
    if (extra == kSamples) sampling.asked = true;
    if (!is_rate(extra)) continue;
    sampling.asked = true;
    if (const Result<double> hz = rate_in(extra)) sampling.hz = *hz;
  }
  return sampling;
}

Result<std::vector<std::string>> parse_extras(std::string_view text) {
  const std::vector<std::string_view> parts = split(text);
  std::string_view rate;
  std::string_view calls;
  for (const std::string_view part : parts) {
    if (is_of_calls(part)) {
      const Result<Duration> least = least_in(part);
      if (!least) return least.error();
      calls = part;
      continue;
    }
    if (is_rate(part)) {
      const Result<double> hz = rate_in(part);
      if (!hz) return hz.error();
      rate = part;
      continue;
    }
    if (std::ranges::find(kExtras, part) == kExtras.end())
      return refused("there is no '" + std::string(part) + "'; there are " + listed(kExtras));
  }
  const auto named = [&parts](std::string_view extra) {
    return std::ranges::find(parts, extra) != parts.end();
  };
  std::vector<std::string> chosen;
  for (const std::string_view extra : kExtras) {
    const bool implied =
        extra == "functions" && (named(kFunctionsOfC) || named(kCalls) || !calls.empty());
    if (extra == kSamples && !rate.empty()) {
      chosen.emplace_back(rate);
    } else if (extra == kCalls && !calls.empty()) {
      chosen.emplace_back(calls);
    } else if (named(extra) || implied) {
      chosen.emplace_back(extra);
    }
  }
  return chosen;
}

Result<std::vector<std::string>> parse_torch_extras(std::string_view text) {
  Result<std::vector<std::string>> chosen = parse_extras(text);
  if (!chosen) return chosen;
  for (const std::string& extra : *chosen) {
    if (std::ranges::find(kTorchExtras, extra) == kTorchExtras.end()) {
      std::string message = "'" + extra + "' cannot be recorded of a program that runs already: ";
      message.append("start it with fathom run --with ").append(extra);
      message.append("; of a running one there are ").append(listed(kTorchExtras));
      return refused(std::move(message));
    }
  }
  return chosen;
}

Result<Schedule> parse_schedule(std::string_view text) {
  Schedule schedule;
  for (const std::string_view part : split(text)) {
    Result<void> set = set_field(part, schedule);
    if (!set) return std::move(set).error();
  }
  return schedule;
}

Result<std::string> parse_signal(std::string_view text) {
  const int number = signal_number(text);
  if (number > 0) return signal_name(number);
  return refused("'" + std::string(text) + "' is not a signal such as SIGUSR2");
}

std::string to_json(const Recording& recording, bool indented) {
  std::string out;
  JsonWriter json(out, indented ? kJsonLines : kJsonInline);
  json.object().key("with").texts(recording.with);
  json.key("steps").object();
  for (const Field& field : kFields) json.key(field.name).integer(recording.steps.*(field.member));
  json.end().key("step_by").text(recording.step_by);
  seconds(json.key("delay_s"), recording.delay);
  seconds_or_null(json.key("duration_s"), recording.duration);
  text_or_null(json.key("range"), recording.range);
  text_or_null(json.key("on_signal"), recording.on_signal);
  json.key("from_start").boolean(recording.from_start);
  json.key("max_memory_bytes").integer(recording.max_memory);
  json.key("max_size_bytes").integer(recording.max_size);
  seconds_or_null(json.key("last_s"), recording.last);
  json.key("overhead").boolean(recording.overhead);
  if (recording.cuda == "off") json.key("cuda").boolean(false);
  if (recording.cuda == "always") json.key("cuda_beside_torch").boolean(true);
  if (std::ranges::find(recording.with, "gpu-metrics") != recording.with.end())
    json.key("gpu_metrics_hz").rounded(recording.gpu_metrics_hz);
  if (const std::optional<Duration> least = least_call_of(recording))
    json.key("least_call_ns").integer(to_ns(*least));
  if (!recording.lines_of.empty()) json.key("lines_of").texts(recording.lines_of);
  if (recording.sources != "on") json.key("sources").text(recording.sources);
  if (recording.graph_nodes) json.key("cuda_graph_nodes").boolean(true);
  json.end();
  return out;
}

}  // namespace fathom::capture
