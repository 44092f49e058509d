// Tries the ends of a recorded path below a folder, the longest first.
#include "engine/inputs/source_root.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "engine/inputs/run_conditions.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostOfOne = std::uintmax_t{4} << 20U;
/// A path with more parts is looked for by its last ones.
constexpr std::size_t kMostParts = 64;

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

/// Without what changes nothing: a dot, two slashes, one at the end.
std::string tidy(const std::string& path) {
  std::string text = fs::path(path).lexically_normal().string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

/// The parts of a path without its root; none where it leads upwards.
std::vector<std::string> parts_of(std::string_view file) {
  std::vector<std::string> parts;
  for (const fs::path& part : fs::path(file).relative_path()) {
    if (part == "..") return {};
    if (!part.empty() && part != ".") parts.push_back(part.string());
  }
  return parts;
}

std::optional<std::string> read(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return {};
  const std::uintmax_t size = fs::file_size(path, error);
  if (error || size > kMostOfOne) return {};
  const Result<std::string> text = read_small_file(path.string());
  if (!text) return {};
  return std::string(valid_utf8(*text));
}

}  // namespace

SourceRoot::SourceRoot(std::string before, std::string folder)
    : before_(std::move(before)), folder_(std::move(folder)) {}

Result<SourceRoot> SourceRoot::asked(const std::string& text) {
  if (is_folder(text)) return SourceRoot({}, text);
  const std::size_t equals = text.find('=');
  const std::string folder = equals == text.npos ? text : text.substr(equals + 1);
  if (!is_folder(folder))
    return Error{ErrorCode::invalid_argument, "there is no folder '" + folder +
                                                  "'; give one, or OLD=NEW where paths began with "
                                                  "OLD and are below the folder NEW"};
  const std::string before = text.substr(0, equals);
  if (before.empty())
    return Error{ErrorCode::invalid_argument, "'" + text + "' has nothing before its ="};
  return SourceRoot(tidy(before), folder);
}

std::optional<std::string> SourceRoot::text(std::string_view file) const {
  const std::string named = tidy(std::string(file));
  if (!before_.empty()) {
    const std::string_view all(named);
    const bool below = all.starts_with(before_) && all.size() > before_.size() &&
                       (before_ == "/" || all[before_.size()] == '/');
    if (!below) return {};
    fs::path path(folder_);
    const std::vector<std::string> parts = parts_of(all.substr(before_.size()));
    if (parts.empty()) return {};
    for (const std::string& part : parts) path /= part;
    return read(path);
  }
  const std::vector<std::string> parts = parts_of(named);
  const std::size_t tried = std::min(parts.size(), kMostParts);
  for (std::size_t skip = parts.size() - tried; skip < parts.size(); ++skip) {
    fs::path path(folder_);
    for (std::size_t at = skip; at < parts.size(); ++at) path /= parts[at];
    if (std::optional<std::string> found = read(path)) return found;
  }
  return {};
}

}  // namespace fathom
