// What a session folder says about the conditions of its run: JSON files as facts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/trace.h"

namespace fathom {

/// The whole of a small file. Error: io; also for one larger than any that we write (64 MiB).
Result<std::string> read_small_file(const std::string& path);

/// Adds the members of a JSON object as facts: "host": {"cpu": …} becomes "host.cpu". Lists stay
/// JSON, and what is nested deeper than four times. Left out is who the process is. False where the
/// text is no JSON object.
bool add_conditions(Trace& trace, std::string_view json);

/// Adds the manifest's: its facts, its processes where no capture file reports them, and a warning
/// where it has no end. False where the text is no JSON object.
bool add_manifest(Trace& trace, std::string_view json);

/// Adds a sentence to what the recorder warns of: `fathom health` and `fathom info` show it.
void add_warning(Trace& trace, std::string_view sentence);

/// A fact whose value is a plain text.
void add_text_fact(Trace& trace, std::string_view key, std::string_view text);

/// A process, by the manifest.
struct ManifestProcess {
  std::int64_t pid = 0;
  std::int64_t parent = 0;
  std::int64_t rank = -1;
};
std::vector<ManifestProcess> manifest_processes(std::string_view json);

/// The schema that such a file states, or "".
std::string stated_schema(std::string_view json);

/// Of a process's own file, process-<pid>.json: "fathom-process/1".
constexpr std::string_view kProcessSchema = "fathom-process/";
constexpr int kNewestProcess = 1;

/// The version in a schema, "2" of "fathom-run/2", where this program reads no such one. Nothing
/// where it does, and where the schema begins otherwise than `kind`.
std::optional<std::string> unknown_version(std::string_view schema, std::string_view kind,
                                           int newest);

}  // namespace fathom
