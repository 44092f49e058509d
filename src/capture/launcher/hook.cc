// Unpacks the Python hook into the session folder.
#include "capture/launcher/hook.h"

#include <array>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>

#include "capture/launcher/compiled_hook.h"
#include "capture/system/files.h"

namespace fathom::capture {
namespace {

/// Python takes a compiled file for that of a source with the same time and size.
void set_time(const std::string& path, std::uint64_t number) {
  timespec time{};
  time.tv_sec = static_cast<std::time_t>(1'000'000'000 + number % 500'000'000);
  const std::array<timespec, 2> times = {time, time};
  utimensat(AT_FDCWD, path.c_str(), times.data(), 0);
}

}  // namespace

Result<void> unpack_hook(const std::string& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) return Error{ErrorCode::io, folder + ": " + failure.message()};
  const std::uint64_t number = hook_number();
  for (const HookFile& file : hook_files()) {
    const std::filesystem::path path = std::filesystem::path(folder) / file.path;
    std::filesystem::create_directories(path.parent_path(), failure);
    Result<void> written = replace_file(path.string(), file.text);
    if (!written) return written;
    set_time(path.string(), number);
  }
  restore_compiled_hook(folder);
  return {};
}

std::vector<std::string> hook_variables(const std::string& hook, const std::string& session,
                                        const Recording& recording) {
  const char* const before = std::getenv("PYTHONPATH");
  std::string path = hook;
  if (before != nullptr && *before != '\0') path += ":" + std::string(before);
  return {"FATHOM_SESSION=" + session, "FATHOM_OPTIONS=" + to_json(recording),
          "PYTHONPATH=" + path};
}

}  // namespace fathom::capture
