// The table of signal names.
#include "capture/system/signals.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <csignal>

namespace fathom::capture {
namespace {

struct Named {
  int number;
  std::string_view name;
};
constexpr std::array kSignals = {
    Named{SIGHUP, "SIGHUP"},   Named{SIGINT, "SIGINT"},       Named{SIGQUIT, "SIGQUIT"},
    Named{SIGILL, "SIGILL"},   Named{SIGTRAP, "SIGTRAP"},     Named{SIGABRT, "SIGABRT"},
    Named{SIGBUS, "SIGBUS"},   Named{SIGFPE, "SIGFPE"},       Named{SIGKILL, "SIGKILL"},
    Named{SIGUSR1, "SIGUSR1"}, Named{SIGSEGV, "SIGSEGV"},     Named{SIGUSR2, "SIGUSR2"},
    Named{SIGPIPE, "SIGPIPE"}, Named{SIGALRM, "SIGALRM"},     Named{SIGTERM, "SIGTERM"},
    Named{SIGCHLD, "SIGCHLD"}, Named{SIGCONT, "SIGCONT"},     Named{SIGSTOP, "SIGSTOP"},
    Named{SIGTSTP, "SIGTSTP"}, Named{SIGTTIN, "SIGTTIN"},     Named{SIGTTOU, "SIGTTOU"},
    Named{SIGURG, "SIGURG"},   Named{SIGXCPU, "SIGXCPU"},     Named{SIGXFSZ, "SIGXFSZ"},
    Named{SIGPROF, "SIGPROF"}, Named{SIGVTALRM, "SIGVTALRM"}, Named{SIGWINCH, "SIGWINCH"},
    Named{SIGIO, "SIGIO"},     Named{SIGPWR, "SIGPWR"},       Named{SIGSYS, "SIGSYS"}};

}  // namespace

std::string signal_name(int number) {
  const auto at = std::ranges::find(kSignals, number, &Named::number);
  return at == kSignals.end() ? "signal " + std::to_string(number) : std::string(at->name);
}

int signal_number(std::string_view text) {
  int number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec == std::errc() && parsed.ptr == text.data() + text.size())
    return number > 0 && number <= SIGRTMAX ? number : 0;
  std::string name(text);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
  if (!name.starts_with("SIG")) name.insert(0, "SIG");
  const auto at = std::ranges::find(kSignals, std::string_view(name), &Named::name);
  return at == kSignals.end() ? 0 : at->number;
}

}  // namespace fathom::capture
