// The text of a small file whose first bytes were looked at.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>

#include "base/descriptor.h"
#include "base/held_files.h"
#include "base/whole_io.h"

namespace fathom {

/// Its first `most` bytes; nothing where it cannot be read. It is held no longer.
inline std::string held_text(HeldFiles& held, const std::string& path, std::size_t most) {
  Descriptor file = held.take(path);
  if (!file) file = Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status = {};
  if (!file || fstat(file.get(), &status) != 0) return {};
  // One more shows whether it grew meanwhile.
  std::string text(std::min(most, static_cast<std::size_t>(status.st_size) + 1), '\0');
  text.resize(read_all(file.get(), std::span<char>(text)).value_or(0));
  return text;
}

}  // namespace fathom
