// Reads from the facts what recording cost each process.
#include "engine/diagnosis/measured_overhead.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <tuple>

#include <simdjson.h>

#include "base/folder.h"
#include "base/json_result.h"
#include "engine/inputs/run_conditions.h"

namespace fathom {
namespace {

struct Measured {
  std::int64_t rank = 0;
  std::int64_t pid = 0;
  std::string json;
};

std::optional<Measured> measured_by(const std::string& path) {
  simdjson::dom::parser parser;
  simdjson::dom::element process;
  simdjson::dom::element overhead;
  double ratio = 0;
  Measured measured;
  if (!get_json(parser.load(path), process)) return {};
  std::string_view schema;
  if (process["schema"].get(schema) == simdjson::SUCCESS &&
      unknown_version(schema, kProcessSchema, kNewestProcess)) {
    return {};
  }
  if (process["overhead"].get(overhead) != simdjson::SUCCESS) return {};
  if (overhead["ratio"].get(ratio) != simdjson::SUCCESS) return {};
  if (process["pid"].get(measured.pid) != simdjson::SUCCESS) return {};
  if (process["rank"].get(measured.rank) != simdjson::SUCCESS) return {};
  measured.json = simdjson::minify(overhead);
  return measured;
}

}  // namespace

std::string measured_overhead(const std::string& folder) {
  std::optional<Measured> first;
  for (const std::string& name : names_in(folder)) {
    if (!name.starts_with("process-") || !name.ends_with(".json")) continue;
    std::optional<Measured> found = measured_by((std::filesystem::path(folder) / name).string());
    if (!found) continue;
    if (!first || std::tie(found->rank, found->pid) < std::tie(first->rank, first->pid))
      first = std::move(found);
  }
  return first ? first->json : std::string();
}

}  // namespace fathom
