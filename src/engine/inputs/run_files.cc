// Recognises the files of a session folder by their names.
#include "engine/inputs/run_files.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>
#include <tuple>

#include "base/folder.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

/// The number at the front of `rest`, which then begins behind it.
std::optional<std::int64_t> take_number(std::string_view& rest) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc() || number < 0) return {};
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return number;
}

/// Files that other programs show.
constexpr std::string_view kForOthers[] = {"memory-", "functions-"};

/// What records inside a process, each into a file of its own; the first knows best what the
/// process is.
constexpr std::string_view kParts[] = {"process-", "cuda-", "nvtx-"};
constexpr std::int64_t kPlaces = std::int64_t{1} << 32;

/// The place of "-2.older.fathom", or of ".fathom", among the files of one part of a process: as
/// they were begun.
std::optional<std::int64_t> place_of(std::string_view rest) {
  std::int64_t number = 1;
  if (rest.starts_with('-')) {
    rest.remove_prefix(1);
    number = take_number(rest).value_or(0);
    if (number <= 0 || number >= kPlaces / 2) return {};
  }
  if (rest == ".older.fathom") return 2 * number;
  if (rest == ".fathom") return 2 * number + 1;
  return {};
}

void sort(std::vector<NamedFile>& files) {
  std::ranges::sort(files, [](const NamedFile& a, const NamedFile& b) {
    return std::tie(a.pid, a.number, a.path) < std::tie(b.pid, b.number, b.path);
  });
}

void add(RunFiles& files, const std::string& path, std::string_view name) {
  if (name == kRunManifest) {
    files.manifest = true;
    return;
  }
  std::string_view rest = name;
  if (name.starts_with("torch-") && name.find(".pt.trace.json") != name.npos) {
    rest.remove_prefix(6);
    const std::optional<std::int64_t> pid = take_number(rest);
    rest.remove_prefix(rest.starts_with('-') ? 1 : 0);
    if (pid) files.torch.push_back({path, *pid, take_number(rest).value_or(0)});
    return;
  }
  for (const std::string_view start : kForOthers) {
    if (!name.starts_with(start)) continue;
    rest.remove_prefix(start.size());
    const std::optional<std::int64_t> pid = take_number(rest);
    if (pid) files.for_others.push_back({path, *pid, 0});
    return;
  }
  for (std::size_t part = 0; part < std::size(kParts); ++part) {
    if (!name.starts_with(kParts[part])) continue;
    rest.remove_prefix(kParts[part].size());
    const std::optional<std::int64_t> pid = take_number(rest);
    if (pid && part == 0 && rest == ".json") return files.conditions.push_back({path, *pid, 0});
    if (const std::optional<std::int64_t> place = place_of(rest); pid && place)
      return files.captures.push_back(
          {path, *pid, static_cast<std::int64_t>(part) * kPlaces + *place});
    break;
  }
  if (name == "monitor.fathom" || name == "monitor.older.fathom") {
    files.launcher.push_back(path);
  } else if (name.ends_with(".fathom")) {
    files.others.push_back(path);
  }
}

}  // namespace

RunFiles run_files(const std::string& folder) {
  RunFiles files;
  for (const std::string& name : names_in(folder)) {
    std::error_code ignored;
    const fs::path path = fs::path(folder) / name;
    if (fs::is_regular_file(path, ignored)) add(files, path.string(), name);
  }
  sort(files.torch);
  sort(files.captures);
  sort(files.conditions);
  sort(files.for_others);
  // The older half of a ring comes first, whatever the alphabet says.
  std::ranges::sort(files.launcher, std::greater<>());
  std::ranges::sort(files.others);
  return files;
}

}  // namespace fathom
