// Unpacks the Python hook into the session folder.
#include "capture/launcher/hook.h"

#include <filesystem>

#include "capture/system/files.h"

namespace fathom::capture {

Result<void> unpack_hook(const std::string& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) return Error{ErrorCode::io, folder + ": " + failure.message()};
  for (const HookFile& file : hook_files()) {
    const std::filesystem::path path = std::filesystem::path(folder) / file.path;
    std::filesystem::create_directories(path.parent_path(), failure);
    Result<void> written = replace_file(path.string(), file.text);
    if (!written) return written;
  }
  return {};
}

}  // namespace fathom::capture
