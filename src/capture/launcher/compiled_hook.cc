// Copies compiled Python files between a session's hook and the user's cache.
#include "capture/launcher/compiled_hook.h"

#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

#include "base/user_cache.h"
#include "capture/launcher/hook.h"

namespace fathom::capture {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 2> kFolders = {"__pycache__", "fathom_recorder/__pycache__"};

std::uint64_t fnv(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

/// "" where the user has no place for such files. Python runs what lies there.
fs::path cache() {
  const std::string folder = user_cache_folder();
  if (folder.empty()) return {};
  return fs::path(folder) / ("hook-" + std::to_string(hook_number()));
}

/// Those of `from` that `to` has not, each as a whole.
void copy_compiled(const fs::path& from, const fs::path& to) {
  std::error_code failure;
  fs::directory_iterator files(from, failure);
  if (failure) return;
  fs::create_directories(to, failure);
  const std::string unfinished = ".new-" + std::to_string(getpid());
  for (const fs::directory_entry& file : files) {
    const fs::path target = to / file.path().filename();
    if (file.path().extension() != ".pyc" || fs::exists(target, failure)) continue;
    fs::copy_file(file.path(), target.string() + unfinished, failure);
    if (failure) return;
    fs::rename(target.string() + unfinished, target, failure);
  }
}

}  // namespace

std::uint64_t hook_number() {
  std::uint64_t hash = 14695981039346656037U;
  for (const HookFile& file : hook_files()) hash = fnv(fnv(hash, file.path), file.text);
  return hash;
}

void restore_compiled_hook(const std::string& folder) {
  const fs::path kept = cache();
  if (kept.empty() || !is_ours_alone(kept.string())) return;
  for (const std::string_view each : kFolders) copy_compiled(kept / each, fs::path(folder) / each);
}

void keep_compiled_hook(const std::string& folder) {
  const fs::path kept = cache();
  if (kept.empty()) return;
  std::error_code failure;
  fs::create_directories(kept.parent_path(), failure);
  if (!failure && mkdir(kept.c_str(), 0700) != 0 && !is_ours_alone(kept.string())) return;
  for (const std::string_view each : kFolders) copy_compiled(fs::path(folder) / each, kept / each);
}

}  // namespace fathom::capture
