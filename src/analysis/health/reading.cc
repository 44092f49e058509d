// Health of the file: what reading it had to repair or leave out, and what the recorder itself
// complained about.
#include <algorithm>
#include <charconv>

#include "analysis/health/checks.h"

namespace fathom {
namespace {

constexpr std::string_view kSection = "reading";

/// Repairs that the time checks report; here they would be said twice.
bool told_elsewhere(Repair repair) {
  return repair == Repair::negative_duration || repair == Repair::absurd_duration ||
         repair == Repair::zero_time;
}

CheckStatus status_of(Severity severity, double share) {
  if (severity != Severity::data_loss) return CheckStatus::note;
  return share > 0.01 ? CheckStatus::bad : CheckStatus::warning;
}

HealthWords words_of(Repair repair) {
  switch (repair) {
    case Repair::truncated:
    case Repair::decompression:
      return {"the end of the recording is missing", "totals, counts, the last steps",
              "record again; was the program killed while it wrote the trace?"};
    case Repair::missing_close:
      return {"events behind the last one may be missing", "totals, counts, the last steps",
              "record again if the program was killed while it wrote the trace"};
    case Repair::invalid_utf8:
    case Repair::invalid_escape:
    case Repair::control_character:
    case Repair::unescaped_quote:
      return {"some names may differ from what was meant", "names, grouping by name", ""};
    case Repair::unmatched_begin:
      return {"some slices have no end", "durations of the slices that were closed", ""};
    default:
      if (info(repair).severity == Severity::data_loss) {
        return {"some events are not in the tables", "totals and counts",
                "look at the byte offset in the file"};
      }
      return {"nothing is missing", "", ""};
  }
}

void check_repairs(const HealthInput& input, Health& health) {
  const ImportLog& log = input.trace().import;
  bool any = false;
  for (std::size_t i = 0; i < kRepairs; ++i) {
    const auto repair = static_cast<Repair>(i);
    const RepairCount& found = log[repair];
    if (found.count == 0 || told_elsewhere(repair)) continue;
    any = true;
    const double events =
        static_cast<double>(std::max<std::size_t>(input.trace().slices.size(), 1));
    const CheckStatus status =
        status_of(info(repair).severity, static_cast<double>(found.count) / events);
    HealthCheck& check =
        add_check(health, kSection, info(repair).id, std::string(info(repair).title), status,
                  found.count, words_of(repair));
    check.loss = info(repair).severity == Severity::data_loss || repair == Repair::missing_close;
    check.stands_alone = found.count == 1;
    if (!check.stands_alone) check.what.insert(0, "× ");
    check.example = "byte " + std::to_string(found.first_offset);
    if (!found.example.empty()) check.example += ": " + found.example;
  }
  if (!any)
    add_check(health, kSection, "repairs", "places in the file were repaired", CheckStatus::ok, 0,
              {});
}

void check_unknown(const HealthInput& input, Health& health) {
  const auto& unknown = input.trace().import.unknown();
  std::uint64_t count = 0;
  const std::pair<const std::string, std::uint64_t>* most = nullptr;
  for (const auto& entry : unknown) {
    count += entry.second;
    if (most == nullptr || entry.second > most->second) most = &entry;
  }
  HealthCheck& check = add_check(health, kSection, "unknown",
                                 "events or attributes are of a kind that Fathom does not read",
                                 count == 0 ? CheckStatus::ok : CheckStatus::note, count,
                                 {"what they say is not in any table", "", ""});
  if (most != nullptr)
    check.example = most->first + " (" + std::to_string(most->second) + " of them)";
}

/// The number behind `key` in the recorder's log, e.g. "Out-of-range = 3829"; summed over its
/// lines.
std::uint64_t logged_number(std::string_view log, std::string_view key) {
  std::uint64_t sum = 0;
  for (std::size_t at = log.find(key); at != std::string_view::npos;
       at = log.find(key, at + key.size())) {
    const std::string_view rest = log.substr(at + key.size());
    std::uint64_t number = 0;
    std::from_chars(rest.data(), rest.data() + rest.size(), number);
    sum += number;
  }
  return sum;
}

/// Kineto writes how many device records it threw away only into its log.
void check_dropped(const HealthInput& input, Health& health) {
  const Fact* log = input.trace().fact("INFO");
  const std::string_view text = log == nullptr ? std::string_view() : std::string_view(log->value);
  const bool logged = text.find("Record counts:") != std::string_view::npos;
  const std::uint64_t processed = logged_number(text, "Processed ");
  struct Kind {
    std::string_view id, key, what;
    HealthWords words;
    bool loss = true;
  };
  const HealthWords lost = {
      "device work is missing from the trace", "device times, counts, utilisation, idle time",
      "widen the recorded window: more warm-up steps before, a synchronisation before it ends"};
  const Kind kinds[] = {
      {"records_out_of_range", "Out-of-range = ", "device records were dropped as out of range",
       lost},
      {"records_out_of_order", "CPU GPU out-of-order = ",
       "device records started before their host call and were dropped", lost},
      {"invalid_correlations",
       "Invalid ext correlations = ",
       "device records had no valid external correlation",
       {"host attribution is incomplete", "device columns of ops, modules, stacks", ""},
       false},
      {"unexpected_records",
       "Unexpected CUDA events = ", "device records were unexpected and dropped", lost},
      {"stopped_early", "CUPTI stopped early? = ",
       "times the device tracer stopped before the recording ended", lost},
  };
  for (const Kind& kind : kinds) {
    const std::uint64_t count = logged_number(text, kind.key);
    CheckStatus status = CheckStatus::not_applicable;
    if (logged) status = count == 0 ? CheckStatus::ok : CheckStatus::warning;
    HealthCheck& check = add_check(health, kSection, kind.id, kind.what, status, count, kind.words);
    check.loss = kind.loss;
    if (processed >= count && status > CheckStatus::ok && kind.id != "stopped_early")
      check.of = processed;
  }
}

/// The first string of a JSON list of strings, and how many there are; escapes are left as they
/// stand.
struct Strings {
  std::uint64_t count = 0;
  std::string_view first;
};
Strings strings_of(std::string_view json) {
  Strings found;
  std::size_t begin = std::string_view::npos;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (json[i] == '\\') {
      ++i;
    } else if (json[i] == '"') {
      if (begin == std::string_view::npos) {
        begin = i + 1;
      } else {
        if (found.count++ == 0) found.first = json.substr(begin, i - begin);
        begin = std::string_view::npos;
      }
    }
  }
  return found;
}

void check_recorder_log(const HealthInput& input, Health& health) {
  std::uint64_t count = 0;
  std::string first;
  for (const std::string_view key : {"ERROR", "WARNING"}) {
    const Fact* log = input.trace().fact(key);
    if (log == nullptr) continue;
    const Strings lines = strings_of(log->value);
    count += lines.count;
    if (first.empty()) first = lines.first;
  }
  HealthCheck& check =
      add_check(health, kSection, "recorder_warnings",
                count == 1 ? "warning about the recording" : "warnings about the recording, first",
                count == 0 ? CheckStatus::ok : CheckStatus::warning, count,
                {first, "what the warning names", "read all: fathom info shows the log"});
  check.example = first;
}

}  // namespace

void check_reading(const HealthInput& input, Health& health) {
  check_repairs(input, health);
  check_unknown(input, health);
  check_dropped(input, health);
  check_recorder_log(input, health);
}

}  // namespace fathom
