// Reads kept source files. What a recording names decides nothing beyond its own folder.
#include "engine/inputs/run_sources.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>

#include "base/utf8.h"
#include "engine/inputs/run_conditions.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostOfOne = std::uintmax_t{4} << 20U;
constexpr std::uintmax_t kMostOfAll = std::uintmax_t{64} << 20U;

/// Where the folder has that file; nothing where a name or a link leads out of it.
std::optional<fs::path> kept_path(const std::string& folder, std::string_view file) {
  const fs::path named(file);
  if (!named.is_absolute() || named.lexically_normal() != named) return {};
  fs::path path = fs::path(folder) / "sources";
  std::error_code ignored;
  for (const fs::path& part : named.relative_path()) {
    if (part == "..") return {};
    path /= part;
    if (fs::is_symlink(fs::symlink_status(path, ignored))) return {};
  }
  return fs::is_regular_file(path, ignored) ? std::optional(path) : std::nullopt;
}

}  // namespace

void add_sources(Trace& trace, const std::string& folder) {
  std::set<StringId> files;
  for (const LineTime& line : trace.lines) files.insert(line.file);
  std::uintmax_t left = kMostOfAll;
  for (const StringId file : files) {
    const std::optional<fs::path> path = kept_path(folder, trace.text(file));
    if (!path) continue;
    std::error_code error;
    const std::uintmax_t size = fs::file_size(*path, error);
    if (error || size > std::min(left, kMostOfOne)) continue;
    const Result<std::string> text = read_small_file(path->string());
    if (!text) continue;
    left -= size;
    trace.sources.push_back({file, trace.strings.intern(valid_utf8(*text))});
  }
}

}  // namespace fathom
