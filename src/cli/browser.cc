// Starts xdg-open.
#include "cli/browser.h"

#include <cstdlib>

#include <fcntl.h>
#include <spawn.h>
#include <sys/types.h>
#include <unistd.h>

namespace fathom::cli {

bool has_display() {
  const auto set = [](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  return set("DISPLAY") || set("WAYLAND_DISPLAY");
}

void open_browser(const std::string& url) {
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return;
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null",
                                     descriptor == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
  }
  std::string program = "xdg-open";
  std::string address = url;
  char* const arguments[] = {program.data(), address.data(), nullptr};
  pid_t pid = 0;
  posix_spawnp(&pid, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
}

}  // namespace fathom::cli
