// Shows a progress line on the terminal and removes it at the end.
#include "cli/progress.h"

#include <chrono>
#include <cstdio>
#include <system_error>

#include <unistd.h>

#include "render/style.h"
#include "render/text_width.h"

namespace fathom::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPatience{700};
constexpr std::chrono::milliseconds kTick{500};

}  // namespace

Progress::Progress(const std::string& what, bool quiet) : what_(printable(what)) {
  if (quiet || isatty(STDERR_FILENO) != 1) return;
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { show(stop); });
  } catch (const std::system_error&) {
    // No thread can be had: nothing is shown.
  }
}

Progress::~Progress() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Progress::show(const std::stop_token& stop) {
  const Clock::time_point start = Clock::now();
  std::unique_lock lock(mutex_);
  std::chrono::milliseconds pause = kPatience;
  bool shown = false;
  const Style style = style_for(STDERR_FILENO, ColourChoice::never, false);
  while (!wake_.wait_for(lock, stop, pause, [&stop] { return stop.stop_requested(); })) {
    const auto seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const std::string line = shorten_middle(what_, style.width > 20 ? style.width - 12 : 8);
    std::fprintf(stderr, "\r%s … %.1f s", line.c_str(), seconds);
    std::fflush(stderr);
    shown = true;
    pause = kTick;
  }
  if (shown) std::fputs("\r\x1b[K", stderr);
}

}  // namespace fathom::cli
