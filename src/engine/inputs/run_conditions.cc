// Reads the JSON files of a session folder as facts.
#include "engine/inputs/run_conditions.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <system_error>
#include <unordered_map>

#include <simdjson.h>

#include "base/json_result.h"
#include "base/json_writer.h"

namespace fathom {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

constexpr std::size_t kLargest = std::size_t{64} << 20;
constexpr std::size_t kMostFacts = 5000;
constexpr int kDeepest = 4;
constexpr std::string_view kIdentity[] = {"schema", "pid", "parent", "role", "rank", "name"};

/// Objects member by member, all else as JSON; null says nothing.
void add_member(Trace& trace, const std::string& key, const element& value, int depth = 1) {
  if (trace.facts.size() >= kMostFacts) return;
  object inner;
  if (depth >= kDeepest || value.get(inner) != simdjson::SUCCESS) {
    if (!value.is_null()) trace.facts.push_back({key, simdjson::minify(value)});
    return;
  }
  for (const auto [name, member] : inner)
    add_member(trace, key + "." + std::string(name), member, depth + 1);
}

bool parse(simdjson::dom::parser& parser, std::string_view json, object& members) {
  element value;
  return get_json(parser.parse(json.data(), json.size()), value) &&
         value.get(members) == simdjson::SUCCESS;
}

std::int64_t integer(const object& members, const char* key) {
  std::int64_t value = 0;
  return members[key].get(value) == simdjson::SUCCESS ? value : kAbsent;
}

/// What waitpid() would say of {"code", "signal"} or of a number.
std::int32_t status_of(const object& process) {
  object exit;
  std::int64_t code = integer(process, "exit");
  std::int64_t signal = kAbsent;
  if (process["exit"].get(exit) == simdjson::SUCCESS) {
    code = integer(exit, "code");
    signal = integer(exit, "signal");
  }
  if (signal > 0 && signal < 0x7f) return static_cast<std::int32_t>(signal);
  if (code >= 0 && code <= 255) return static_cast<std::int32_t>(code << 8);
  return -1;
}

/// The command of a process: a text, or a list of words.
std::string command_of(const object& process) {
  std::string_view text;
  if (process["command"].get(text) == simdjson::SUCCESS) return std::string(text);
  simdjson::dom::array words;
  std::string joined;
  if (process["command"].get(words) != simdjson::SUCCESS) return joined;
  for (const element word : words) {
    if (word.get(text) != simdjson::SUCCESS) continue;
    joined += (joined.empty() ? "" : " ") + std::string(text);
  }
  return joined;
}

/// What wait4() said is true; what a process says of itself ends before it does.
void fill(std::int64_t& mine, std::int64_t said, bool exact) {
  if ((exact || mine == kAbsent) && said != kAbsent && said >= 0) mine = said;
}

/// The runs of a trace while a manifest adds to them, in any order.
class ProcessRuns {
 public:
  explicit ProcessRuns(std::vector<ProcessRun>& runs) : runs_(runs) {
    for (std::size_t i = 0; i < runs_.size(); ++i) places_.emplace(runs_[i].pid, i);
  }

  /// That of a process, added where there is none; good until the next one is asked for.
  ProcessRun* of(std::int64_t pid) {
    const auto [place, added] = places_.emplace(pid, runs_.size());
    if (added) runs_.emplace_back().pid = pid;
    return &runs_[place->second];
  }
  /// By pid, as a trace has them: once, at the end.
  void sort() { std::ranges::sort(runs_, {}, &ProcessRun::pid); }

 private:
  std::vector<ProcessRun>& runs_;
  std::unordered_map<std::int64_t, std::size_t> places_;
};

void add_process(Trace& trace, ProcessRuns& runs, const object& process) {
  const std::int64_t pid = integer(process, "pid");
  if (pid == kAbsent || pid <= 0) return;
  ProcessRun* const run = runs.of(pid);
  std::string_view role;
  if (!run->role.valid() && process["role"].get(role) == simdjson::SUCCESS)
    run->role = trace.strings.intern(role);
  const std::string command = command_of(process);
  if (!run->name.valid() && !command.empty()) run->name = trace.strings.intern(command);
  const std::int64_t rank = integer(process, "rank");
  if (run->rank < 0 && rank >= 0 && rank <= INT32_MAX) run->rank = static_cast<std::int32_t>(rank);
  bool exact = false;
  if (process["exact"].get(exact) != simdjson::SUCCESS) exact = false;
  const std::int32_t status = status_of(process);
  if (run->status == -1 || (exact && status != -1)) run->status = status;
  fill(run->parent, integer(process, "parent"), false);
  fill(run->wall_ns, integer(process, "wall_ns"), exact);
  fill(run->user_ns, integer(process, "user_ns"), exact);
  fill(run->system_ns, integer(process, "system_ns"), exact);
  fill(run->peak_bytes, integer(process, "peak_bytes"), exact);
  fill(run->read_bytes, integer(process, "read_bytes"), exact);
  fill(run->written_bytes, integer(process, "written_bytes"), exact);
}

/// What a process could not write any more.
void warn_of_end(Trace& trace, const object& members) {
  bool unfinished = false;
  if (members["unfinished_trace"].get(unfinished) == simdjson::SUCCESS && unfinished) {
    add_warning(trace, "process " + std::to_string(integer(members, "pid")) +
                           " was ended while torch.profiler recorded: that trace is lost");
  }
  std::string_view signal;
  if (members["exit"]["signal"].get(signal) == simdjson::SUCCESS && signal == "SIGKILL") {
    add_warning(trace,
                "SIGKILL ended the program: records that it had not written by then, at most of "
                "its last half second, are missing");
  }
}

}  // namespace

Result<std::string> read_small_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorCode::io, path + ": cannot be read"};
  std::string text;
  std::array<char, 4096> piece{};
  while (file.read(piece.data(), piece.size()) || file.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > kLargest) return Error{ErrorCode::io, path + ": larger than 64 MiB"};
  }
  return text;
}

bool add_conditions(Trace& trace, std::string_view json) {
  simdjson::dom::parser parser;
  object members;
  if (!parse(parser, json, members)) return false;
  for (const auto [key, value] : members) {
    // The report `processes` shows who it is.
    if (std::ranges::find(kIdentity, key) != std::end(kIdentity)) continue;
    add_member(trace, std::string(key), value);
  }
  warn_of_end(trace, members);
  return true;
}

bool add_manifest(Trace& trace, std::string_view json) {
  simdjson::dom::parser parser;
  object members;
  if (!parse(parser, json, members)) return false;
  for (const auto [key, value] : members) {
    // In the report `processes`, and in each process's own facts.
    if (key == "processes" || key == "overhead") continue;
    add_member(trace, std::string(key), value);
  }
  simdjson::dom::array processes;
  if (members["processes"].get(processes) == simdjson::SUCCESS) {
    ProcessRuns runs(trace.process_runs);
    for (const element process : processes) {
      object described;
      if (process.get(described) == simdjson::SUCCESS) add_process(trace, runs, described);
    }
    runs.sort();
  }
  warn_of_end(trace, members);
  if (integer(members, "ended_unix_ns") == kAbsent) {
    add_warning(trace,
                "manifest.json has no end: fathom run was killed, or the program still runs");
  }
  return true;
}

void add_warning(Trace& trace, std::string_view sentence) {
  for (Fact& fact : trace.facts) {
    if (fact.key != "WARNING" || !fact.value.ends_with(']')) continue;
    fact.value.pop_back();
    fact.value += (fact.value.ends_with('[') ? "" : ",") +
                  json_string(sentence, JsonEscapes::canonical) + "]";
    return;
  }
  trace.facts.push_back({"WARNING", "[" + json_string(sentence, JsonEscapes::canonical) + "]"});
}

void add_text_fact(Trace& trace, std::string_view key, std::string_view text) {
  trace.facts.push_back({std::string(key), json_string(text, JsonEscapes::canonical)});
}

std::vector<ManifestProcess> manifest_processes(std::string_view json) {
  std::vector<ManifestProcess> found;
  simdjson::dom::parser parser;
  object members;
  simdjson::dom::array processes;
  if (!parse(parser, json, members) || members["processes"].get(processes) != simdjson::SUCCESS)
    return found;
  for (const element process : processes) {
    object described;
    if (process.get(described) != simdjson::SUCCESS) continue;
    found.push_back({.pid = integer(described, "pid"),
                     .parent = integer(described, "parent"),
                     .rank = integer(described, "rank")});
  }
  return found;
}

std::string stated_schema(std::string_view json) {
  simdjson::dom::parser parser;
  object members;
  std::string_view schema;
  if (!parse(parser, json, members) || members["schema"].get(schema) != simdjson::SUCCESS)
    return {};
  return std::string(schema);
}

std::optional<std::string> unknown_version(std::string_view schema, std::string_view kind,
                                           int newest) {
  if (!schema.starts_with(kind)) return std::nullopt;
  const std::string_view digits = schema.substr(kind.size());
  int version = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), version);
  if (error == std::errc() && version <= newest) return std::nullopt;
  return std::string(digits);
}

}  // namespace fathom
