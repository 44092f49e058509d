// Reads baselines. They are files that people edit and merge: everything is checked.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include <simdjson.h>

#include "base/json_result.h"
#include "compare/any_bucket_id.h"
#include "compare/baseline.h"
#include "compare/held_text.h"

namespace fathom {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

/// Of a file that somebody else made larger than ours.
constexpr std::size_t kLargestRead = 4'000'000;
/// Longer than 100 days, in ns; more steps than a file holds.
constexpr std::int64_t kLongest = 10'000'000'000'000'000;
constexpr std::size_t kMostSteps = 1'000'000;

/// The first thing that is wrong stays. Members that are missing are wrong.
class Reader {
 public:
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] bool fine() const { return error_.empty(); }
  void wrong(std::string_view what) {
    if (fine()) error_ = what;
  }

  template <typename T>
  T take(const object& from, const char* key) {
    T value{};
    if (!get_json(from[key], value)) wrong("'" + std::string(key) + "' is missing or wrong");
    return value;
  }
  /// Calls visit(element) for each of a list, as long as nothing is wrong.
  template <typename Visit>
  void each(const object& from, const char* key, const Visit& visit) {
    const array list = take<array>(from, key);
    if (!fine()) return;
    for (const element one : list) {
      visit(one);
      if (!fine()) return;
    }
  }
  std::string text(const object& from, const char* key) {
    return std::string(take<std::string_view>(from, key));
  }
  /// "" where it is missing.
  static std::string optional_text(const object& from, const char* key) {
    std::string_view value;
    return get_json(from[key], value) ? std::string(value) : std::string();
  }
  static bool optional_flag(const object& from, const char* key) {
    bool value = false;
    return get_json(from[key], value) && value;
  }
  /// From `least` on, at most kLongest.
  std::int64_t amount(const object& from, const char* key, std::int64_t least = 0) {
    const auto value = take<std::int64_t>(from, key);
    if (value < least || value > kLongest) wrong("'" + std::string(key) + "' is out of range");
    return value;
  }
  std::vector<std::int64_t> amounts(const object& from, const char* key, std::int64_t least) {
    std::vector<std::int64_t> out;
    const array list = take<array>(from, key);
    if (!fine()) return out;
    if (list.size() > kMostSteps) wrong("'" + std::string(key) + "' is too long");
    for (const element each : list) {
      std::int64_t value = 0;
      if (!fine()) break;
      if (!get_json(each.get<std::int64_t>(), value) || value < least || value > kLongest)
        wrong("a number in '" + std::string(key) + "' is wrong");
      out.push_back(value);
    }
    return out;
  }

 private:
  std::string error_;
};

std::uint64_t hash_in(Reader& reader, const object& from) {
  const std::string digits = reader.text(from, "content");
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, value, 16);
  if (parsed.ec != std::errc() || parsed.ptr != end) reader.wrong("'content' is wrong");
  return value;
}

Counter counter_in(Reader& reader, const element& each) {
  object from;
  if (!get_json(each.get<object>(), from)) {
    reader.wrong("a counter is wrong");
    return {};
  }
  return {.id = reader.text(from, "id"),
          .title = reader.text(from, "title"),
          .unit = reader.text(from, "unit"),
          // Operations of a run exceed the nanoseconds of 100 days.
          .value = std::max<std::int64_t>(reader.take<std::int64_t>(from, "value"), 0),
          .per_step = reader.take<bool>(from, "per_step")};
}

Condition condition_in(Reader& reader, const element& each) {
  object from;
  if (!get_json(each.get<object>(), from)) {
    reader.wrong("a condition is wrong");
    return {};
  }
  return {reader.text(from, "id"), reader.text(from, "title"), reader.text(from, "value")};
}

KernelTime kernel_in(Reader& reader, const element& each) {
  array parts;
  std::string_view name;
  std::int64_t time = 0;
  std::int64_t calls = 0;
  const bool fine = get_json(each.get<array>(), parts) && parts.size() == 3 &&
                    get_json(parts.at(0).get<std::string_view>(), name) &&
                    get_json(parts.at(1).get<std::int64_t>(), time) &&
                    get_json(parts.at(2).get<std::int64_t>(), calls) && time >= 0 &&
                    time <= kLongest && calls >= 0 && calls <= kLongest;
  if (!fine) reader.wrong("a kernel is wrong");
  return {.name = name, .work = {.time_ns = time, .calls = calls, .by_batch = {}}};
}

ProfileRow row_in(Reader& reader, const element& each, std::size_t batches) {
  ProfileRow row;
  object from;
  if (!get_json(each.get<object>(), from)) {
    reader.wrong("a row is wrong");
    return row;
  }
  const std::optional<AnyBucket> bucket = any_bucket_of(reader.text(from, "bucket"));
  if (!bucket) reader.wrong("a row has an unknown bucket");
  row.key = {.bucket = bucket.value_or(AnyBucket::outside()),
             .phase = Reader::optional_text(from, "phase"),
             .module = Reader::optional_text(from, "module"),
             .outer = Reader::optional_text(from, "outer"),
             .op = reader.text(from, "op"),
             .shapes = Reader::optional_text(from, "shapes"),
             .types = Reader::optional_text(from, "types"),
             .compiling = Reader::optional_flag(from, "compiling"),
             .after_sync = Reader::optional_flag(from, "after_sync")};
  row.place = Reader::optional_text(from, "place");
  const std::vector<std::int64_t> by_batch = reader.amounts(from, "by_batch", 0);
  row.work = {.time_ns = reader.amount(from, "time_ns"),
              .calls = reader.amount(from, "calls"),
              .by_batch = TimeByBatch(by_batch)};
  if (by_batch.size() > batches) reader.wrong("'by_batch' is longer than 'batches'");
  const std::string kernel = Reader::optional_text(from, "kernel");
  if (!kernel.empty()) row.kernels.push_back({.name = kernel, .work = row.work});
  array kernels;
  if (get_json(from["kernels"].get<array>(), kernels)) {
    for (const element one : kernels) row.kernels.push_back(kernel_in(reader, one));
  }
  return row;
}

/// What the parts of a profile must be together.
void check_sums(Reader& reader, const Profile& profile) {
  if (!reader.fine()) return;
  if (profile.lengths_ns.empty()) reader.wrong("'lengths_ns' is empty");
  const auto sum = [](const std::vector<std::int64_t>& values) {
    // At most a million numbers of at most 10^16 fit twice over into 128 bits.
    __extension__ __int128 total = 0;
    for (const std::int64_t value : values) total += value;
    return total;
  };
  if (sum(profile.batches) != static_cast<std::int64_t>(profile.lengths_ns.size()))
    reader.wrong("'batches' do not hold all steps");
  __extension__ __int128 rows = 0;
  for (const ProfileRow& row : profile.rows) rows += row.work.time_ns;
  const auto lengths = sum(profile.lengths_ns);
  if (lengths > std::numeric_limits<std::int64_t>::max()) reader.wrong("'lengths_ns' are too long");
  if (rows != lengths) reader.wrong("the times of 'rows' do not sum to 'lengths_ns'");
}

/// Is there that counter, and did it count nothing?
bool is_zero(const Profile& profile, std::string_view counter) {
  const auto found = std::ranges::find(profile.counters, counter, &Counter::id);
  return found != profile.counters.end() && found->value == 0;
}

Profile profile_in(Reader& reader, const element& each) {
  Profile profile;
  object from;
  if (!get_json(each.get<object>(), from)) {
    reader.wrong("a recording is wrong");
    return profile;
  }
  profile.input = reader.text(from, "input");
  profile.content = hash_in(reader, from);
  std::int64_t rank = 0;
  if (get_json(from["rank"].get<std::int64_t>(), rank) && rank >= 0) profile.rank = rank;
  // Files from before it was kept lack it.
  std::int64_t started = 0;
  if (get_json(from["started_unix_ns"].get<std::int64_t>(), started) && started > 0)
    profile.started_unix_ns = started;
  profile.step_name = reader.text(from, "step_name");
  profile.steps_left_out = static_cast<std::size_t>(reader.amount(from, "steps_left_out"));
  profile.on_device = reader.take<bool>(from, "on_device");
  double clock = 0;
  if (get_json(from["clock_mhz"].get<double>(), clock) && clock > 0) profile.clock_mhz = clock;
  profile.lengths_ns = reader.amounts(from, "lengths_ns", 1);
  profile.batches = reader.amounts(from, "batches", 1);
  reader.each(from, "counters",
              [&](const element& one) { profile.counters.push_back(counter_in(reader, one)); });
  // A baseline does not keep what was recorded; of what there is none, nothing was.
  profile.operators_recorded = !is_zero(profile, "operator_calls");
  profile.launches_recorded = !is_zero(profile, "kernel_launches");
  reader.each(from, "conditions",
              [&](const element& one) { profile.conditions.push_back(condition_in(reader, one)); });
  reader.each(from, "rows", [&](const element& one) {
    profile.rows.push_back(row_in(reader, one, profile.batches.size()));
  });
  check_sums(reader, profile);
  return profile;
}

Snapshot snapshot_in(Reader& reader, const object& from) {
  Snapshot snapshot{.saved = reader.text(from, "saved"), .runs = {}};
  if (!reader.fine()) return snapshot;
  reader.each(from, "runs", [&](const element& each) {
    array recordings;
    if (!get_json(each.get<array>(), recordings) || recordings.size() == 0) {
      reader.wrong("a run has no recordings");
      return;
    }
    Run& run = snapshot.runs.emplace_back();
    for (const element one : recordings) {
      if (reader.fine()) run.push_back(profile_in(reader, one));
    }
  });
  if (snapshot.runs.empty()) reader.wrong("'runs' is empty");
  return snapshot;
}

/// Of "fathom.baseline/1"; 0 where it is something else.
int version_of(const std::string& schema) {
  if (!schema.starts_with(kBaselineSchema)) return 0;
  int version = 0;
  const char* const end = schema.data() + schema.size();
  const auto parsed = std::from_chars(schema.data() + kBaselineSchema.size(), end, version);
  return parsed.ec == std::errc() && parsed.ptr == end && version > 0 ? version : 0;
}

Error corrupt(const std::string& what) {
  return {ErrorCode::corrupt, "this baseline cannot be read: " + what +
                                  "; restore it, or save it anew with fathom baseline save"};
}

}  // namespace

Result<SavedBaseline> parse_baseline(std::string_view text) {
  simdjson::dom::parser parser;
  element document;
  object from;
  if (!get_json(parser.parse(text.data(), text.size()), document) ||
      !get_json(document.get<object>(), from))
    return corrupt("it is no JSON object, or cut off");
  Reader reader;
  const std::string schema = reader.text(from, "schema");
  const int version = version_of(schema);
  if (version == 0) return corrupt("its schema is no version of fathom.baseline");
  if (version > kBaselineVersion)
    return Error{ErrorCode::unsupported,
                 "this baseline is of a newer version (" + schema + ", this program reads up to " +
                     std::string(kBaselineSchema) + std::to_string(kBaselineVersion) +
                     "); update fathom, or save it anew with this one"};
  SavedBaseline baseline;
  baseline.version = version;
  object last;
  if (!get_json(from["last"].get<object>(), last)) return corrupt("'last' is missing");
  baseline.last = snapshot_in(reader, last);
  object accepted;
  if (reader.fine() && get_json(from["accepted"].get<object>(), accepted))
    baseline.accepted = snapshot_in(reader, accepted);
  if (!reader.fine()) return corrupt(reader.error());
  return baseline;
}

Result<std::optional<SavedBaseline>> baseline_in(const std::string& path, HeldFiles& held) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) || error)
    return std::optional<SavedBaseline>();
  const std::vector<std::byte> head = held.head(path, kBaselineHead);
  if (!looks_like_baseline({reinterpret_cast<const char*>(head.data()), head.size()}))
    return std::optional<SavedBaseline>();
  const std::string text = held_text(held, path, kLargestRead + 1);
  if (text.size() > kLargestRead) return corrupt("it is larger than 4 MB").in(path);
  Result<SavedBaseline> baseline = parse_baseline(text);
  if (!baseline) return std::move(baseline).error().in(path);
  return std::optional<SavedBaseline>(std::move(*baseline));
}

Result<std::optional<SavedBaseline>> baseline_in(const std::string& path) {
  HeldFiles held;
  return baseline_in(path, held);
}

}  // namespace fathom
