// System calls that wait: their names, and which of their arguments is a file.
#pragma once

#include <cstdint>
#include <string_view>

namespace fathom::sample {

/// What an argument of a call is.
enum class Operand : std::uint8_t {
  none,
  file,      ///< The first argument is a file descriptor.
  polled,    ///< A list of pollfd and its length.
  futex,     ///< The first argument is a futex.
  sleep,     ///< It waits for a time.
  child,     ///< The first argument is a process, or -1.
  child_by,  ///< waitid: the second argument is a process, by what the first says.
  path,      ///< It names a file: the file system is waited for.
  select,    ///< The first argument is a number of descriptors: 0 is a sleep.
};

struct SystemCall {
  std::string_view name;  ///< Empty for a call that is not known.
  Operand operand = Operand::none;
  bool to_disk = false;  ///< It returns when the disk has what was written.
};

/// By its number on this machine.
SystemCall system_call(std::int64_t number);

}  // namespace fathom::sample
