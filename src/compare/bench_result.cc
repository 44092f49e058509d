// Reads results of fathom bench.
#include "compare/bench_result.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <utility>
#include <vector>

#include <simdjson.h>

#include "base/hash.h"
#include "base/json_result.h"
#include "compare/held_text.h"
#include "compare/machine_conditions.h"

namespace fathom {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

constexpr std::string_view kSchema = "fathom.bench/1";
/// Thousands of runs.
constexpr std::size_t kLargestRead = 64'000'000;
constexpr std::size_t kHead = 200;

Error corrupt(const std::string& what) {
  return {ErrorCode::corrupt, "this result of fathom bench cannot be read: " + what};
}

std::string text_of(const object& from, const char* key) {
  std::string_view value;
  return get_json(from[key], value) ? std::string(value) : std::string();
}

std::string command_of(const object& from) {
  std::string command;
  array words;
  if (!get_json(from["new"].get<array>(), words)) return command;
  for (const element word : words) {
    std::string_view text;
    if (get_json(word.get<std::string_view>(), text))
      command += (command.empty() ? "" : " ") + std::string(text);
  }
  return command;
}

/// What a length is of.
struct Timed {
  std::string member;  ///< Of a run.
  double calls = 1;    ///< In it.
};

/// "first-step" is "first_step_ns" of a run.
std::string member_of(std::string metric) {
  for (char& c : metric) c = c == '-' ? '_' : c;
  return metric + "_ns";
}

/// Numbers of either kind are read as a double.
std::optional<double> number_of(const object& run, std::string_view member) {
  double number = 0;
  return get_json(run[member].get<double>(), number) ? std::optional(number) : std::nullopt;
}

/// Of a metric. Processor time is written by its modes.
std::optional<double> ns_of(const object& run, const std::string& member) {
  if (member != "cpu_ns") return number_of(run, member);
  const std::optional<double> user = number_of(run, "user_ns");
  const std::optional<double> system = number_of(run, "system_ns");
  return user && system ? std::optional(*user + *system) : std::nullopt;
}

/// A run of a function is a block of calls, whatever clock timed it.
Result<Timed> timed_in(const object& from, const std::string& metric) {
  object function;
  if (!get_json(from["function"].get<object>(), function)) return Timed{member_of(metric), 1};
  Timed timed{.member = "wall_ns"};
  if (!get_json(function["calls"]["new"].get<double>(), timed.calls) || !(timed.calls >= 1))
    return corrupt("'function.calls.new' is missing");
  return timed;
}

/// In ns; unset for the other side, the warm-up, and runs without it.
std::optional<double> length_of(const element& each, const Timed& timed) {
  object run;
  bool warm_up = false;
  const bool counts = get_json(each.get<object>(), run) && text_of(run, "side") == "new" &&
                      !(get_json(run["warmup"].get<bool>(), warm_up) && warm_up);
  if (!counts) return std::nullopt;
  const std::optional<double> ns = ns_of(run, timed.member);
  if (!ns || !(*ns >= 0) || *ns > 1e16) return std::nullopt;
  return *ns / timed.calls;
}

/// A text as it is, all else as JSON; "" for null and what is missing.
std::string value_of(const element& value) {
  std::string_view text;
  if (get_json(value.get<std::string_view>(), text)) return std::string(text);
  return value.is_null() ? std::string() : simdjson::minify(value);
}
std::string value_of(const object& from, const char* key) {
  element value;
  return get_json(from[key], value) ? value_of(value) : std::string();
}

/// Of the machine.
void add_conditions(const object& from, Profile& into) {
  constexpr std::array<std::array<const char*, 3>, 5> kPlain = {{
      {"cpu", "host.cpu", "processor"},
      {"cores_allowed", "host.cores_allowed", "processor cores"},
      {"governor", "host.governor", "CPU governor"},
      {"cgroup_cpus", "host.cgroup.cpus", "processor quota"},
      {"driver", "driver", "driver of GPUs"},
  }};
  for (const auto& [key, id, title] : kPlain)
    into.conditions.push_back({id, title, value_of(from, key)});
  into.conditions.push_back(
      {"power_limit", "power limit of GPUs", power_limits(value_of(from, "gpus"))});
  into.conditions.push_back(
      {"load", "load at the start",
       load_condition(value_of(from, "load_at_start"), value_of(from, "cores"))});
  object environment;
  if (!get_json(from["environment"].get<object>(), environment)) return;
  for (const auto [name, value] : environment)
    into.conditions.push_back(
        {"environment." + std::string(name), std::string(name), value_of(value)});
}

/// What the programs of the new command said of themselves.
void add_program(const object& from, Profile& into) {
  object said;
  if (!get_json(from["programs"]["new"].get<object>(), said)) return;
  for (const auto [name, value] : said)
    into.conditions.push_back({"program." + std::string(name), std::string(name), value_of(value)});
}

/// Why nothing can be divided by them, or "".
std::string unusable(const std::vector<double>& lengths, const std::string& metric) {
  if (lengths.empty())
    return "its runs have no time of the metric '" + metric + "', so there is nothing to compare";
  const auto zeros = std::ranges::count(lengths, 0.0);
  if (2 * zeros < std::ssize(lengths)) return {};
  return std::to_string(zeros) + " of its " + std::to_string(lengths.size()) +
         " runs took 0 ns of '" + metric +
         "', less than its clock can tell, so that no ratio can be formed; measure "
         "longer runs, or decide by another metric";
}

/// All of the time, as one row whose work is not known.
void add_times(Profile& profile) {
  ProfileRow row;
  row.work.calls = 0;
  for (const double length : profile.unrounded_ns) {
    profile.content = hash_mix(profile.content, std::bit_cast<std::uint64_t>(length));
    profile.lengths_ns.push_back(std::llround(length));
    row.work.time_ns += profile.lengths_ns.back();
  }
  profile.batches = {profile.steps()};
  row.work.by_batch = {row.work.time_ns};
  profile.rows.push_back(std::move(row));
}

std::optional<std::string> file_in(const std::string& path) {
  std::error_code error;
  std::filesystem::path file(path);
  if (std::filesystem::is_directory(file, error)) file /= "bench.json";
  if (!std::filesystem::is_regular_file(file, error) || error) return std::nullopt;
  return file.string();
}

}  // namespace

Result<Profile> parse_bench_result(std::string_view text) {
  simdjson::dom::parser parser;
  element document;
  object from;
  if (!get_json(parser.parse(text.data(), text.size()), document) ||
      !get_json(document.get<object>(), from))
    return corrupt("it is no JSON object, or cut off");
  if (const std::string schema = text_of(from, "schema"); schema != kSchema)
    return Error{ErrorCode::unsupported, "this is '" + schema + "', and this program reads " +
                                             std::string(kSchema) + "; measure it anew"};
  const std::string metric = text_of(from, "headline");
  if (metric.empty()) return corrupt("no metric of it decided");
  Profile profile;
  profile.times_only = true;
  const Result<Timed> timed = timed_in(from, metric);
  if (!timed) return Error(timed.error());
  profile.step_name = metric;
  array runs;
  if (!get_json(from["runs"].get<array>(), runs)) return corrupt("'runs' is missing");
  for (const element each : runs) {
    if (const auto length = length_of(each, *timed)) profile.unrounded_ns.push_back(*length);
  }
  if (std::string why = unusable(profile.unrounded_ns, metric); !why.empty())
    return Error{ErrorCode::unsupported, std::move(why)};
  profile.conditions.push_back({"command", "command", command_of(from)});
  object conditions;
  if (get_json(from["conditions"].get<object>(), conditions)) add_conditions(conditions, profile);
  add_program(from, profile);
  add_times(profile);
  return profile;
}

Result<std::optional<Profile>> bench_result_in(const std::string& path, HeldFiles& held) {
  const std::optional<std::string> name = file_in(path);
  if (!name) return std::optional<Profile>();
  const std::vector<std::byte> bytes = held.head(*name, kHead);
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!head.starts_with('{') || head.find(kBenchSchema) == std::string_view::npos)
    return std::optional<Profile>();
  const std::string text = held_text(held, *name, kLargestRead + 1);
  if (text.size() > kLargestRead) return corrupt("it is larger than 64 MB").in(path);
  Result<Profile> profile = parse_bench_result(text);
  if (!profile) return std::move(profile).error().in(path);
  profile->input = path;
  return std::optional<Profile>(std::move(*profile));
}

}  // namespace fathom
