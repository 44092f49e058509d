// fathom view: serves the page of a recording on loopback and opens it in the browser.
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/shell_word.h"
#include "base/thread_pool.h"
#include "cli/browser.h"
#include "cli/command.h"
#include "cli/each_input.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/page_file_options.h"
#include "cli/print.h"
#include "cli/selection_options.h"
#include "engine/query/typed.h"
#include "server/serve.h"

namespace fathom::cli {
namespace {

using std::chrono::milliseconds;

struct ViewArguments {
  InputArguments read;
  TypedOptions scope;
  std::uint16_t port = 0;
  std::string socket;
  std::vector<std::string> hosts;
  bool no_open = false;
  std::optional<milliseconds> idle;
  milliseconds request_timeout{10'000};
  PageFileArguments page;
};

std::string this_host() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "HOST";
  return name.data();
}

/// What people copy: the address here, and how to come to it from another machine.
std::string addresses(const server::Listener& listener, const std::string& path) {
  const std::string port = std::to_string(listener.port() == 0 ? 8080 : listener.port());
  const std::string url = "http://127.0.0.1:" + port + path;
  if (listener.port() != 0) {
    return url + "\nFrom another machine: ssh -N -L " + port + ":127.0.0.1:" + port + " " +
           this_host() + ", then the same address there\n";
  }
  return "Listening on " + listener.path() + "\nFrom this or another machine: ssh -N -L " + port +
         ":" + shell_word(listener.path()) + " " + this_host() + ", then " + url + "\n";
}

/// A program at the other end of a pipe, or a session of ssh without a terminal, ends the server by
/// ending itself. A terminal sends a signal; /dev/null has no end to wait for.
int watched_input(const ViewArguments& args) {
  struct stat found {};
  for (const std::string& input : args.read.inputs) {
    if (input == "-") return -1;
  }
  const bool ends =
      fstat(STDIN_FILENO, &found) == 0 && (S_ISFIFO(found.st_mode) || S_ISSOCK(found.st_mode));
  return ends ? STDIN_FILENO : -1;
}

/// The signals that end the server, as a descriptor: they are held back from now on.
Descriptor held_signals() {
  sigset_t held;
  sigemptyset(&held);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&held, number);
  pthread_sigmask(SIG_BLOCK, &held, nullptr);
  return Descriptor(signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK));
}

/// "trace.json#v=timeline": what the page shows at first stands behind the last #, as its links
/// have it. A file whose name has that in it is meant as it is.
std::string take_fragment(std::vector<std::string>& inputs) {
  std::string fragment;
  for (std::string& input : inputs) {
    const std::size_t hash = input.rfind('#');
    if (hash == std::string::npos || access(input.c_str(), F_OK) == 0) continue;
    const std::string file = input.substr(0, hash);
    if (access(file.c_str(), F_OK) != 0) continue;
    if (fragment.empty()) fragment = input.substr(hash);
    input = file;
  }
  return fragment;
}

/// Does the page begin with the diagnosis of the scope, and is a server asked for it?
bool begins_with_diagnosis(const ViewArguments& args, const std::string& fragment) {
  return args.page.html.empty() && fragment.empty();
}

/// The page as a file instead of a server.
int write_file(const ViewArguments& args, server::ViewRequest request) {
  const ThreadPool pool(args.read.threads);
  server::Viewed viewed(std::move(request));
  const Result<void> written = write_page_file(args.page, viewed);
  return written ? kFine : fail(written.error());
}

int run_view(ViewArguments& args) {
  const Result<void> checked = check_page_file(args.page);
  if (!checked) return fail(checked.error());
  const std::string fragment = take_fragment(args.read.inputs);
  Result<Inputs> inputs = inputs_of(args.read);
  if (!inputs) return fail(inputs.error());
  server::ViewRequest request{.inputs = *std::move(inputs),
                              .threads = args.read.threads,
                              .command = server::view_command(args.scope, args.read.inputs),
                              .scope = args.scope,
                              .diagnose_ahead = begins_with_diagnosis(args, fragment)};
  if (!args.page.html.empty()) return write_file(args, std::move(request));
  const Descriptor signals = held_signals();
  Result<server::Listener> listener = args.socket.empty() ? server::Listener::on_port(args.port)
                                                          : server::Listener::on_path(args.socket);
  if (!listener) return fail(listener.error());
  const server::HttpOptions options{.request_timeout = args.request_timeout,
                                    .end_when_idle = args.idle,
                                    .watched = watched_input(args),
                                    .signals = signals.get()};
  // It may be reading when the server ends, which nobody wants to wait for: it is never destroyed.
  auto* const viewed = new server::Viewed(std::move(request));
  const Result<void> served =
      server::serve(*listener, *viewed, args.hosts, options, [&](const std::string& path) {
        const std::string text = addresses(*listener, path + fragment);
        print(text);
        std::fflush(stdout);
        const bool opens = !args.no_open && listener->port() != 0 && has_display();
        if (opens) open_browser(text.substr(0, text.find('\n')));
      });
  const int code = served ? kFine : fail(served.error());
  { const server::Listener closed = *std::move(listener); }  // a socket of the file system goes
  std::_Exit(code);
}

/// Keeps an option of the scope as it was typed, once it is known to be one.
Options::Parse scope_into(ViewArguments& args, std::string name) {
  return [&args, name = std::move(name)](const std::string& text) -> Result<void> {
    Request parsed;
    const Result<bool> taken =
        take_selection(name, text, {&parsed.steps, &parsed.device, &parsed.window});
    if (!taken) return Error{taken.error().code, taken.error().message.substr(name.size() + 4)};
    args.scope.emplace_back(name, text);
    return {};
  };
}

template <typename Target>
Options::Parse time_into(Target& target) {
  return [&target](const std::string& text) -> Result<void> {
    const Result<double> ns = parse_quantity(text, QuantityKind::duration);
    if (!ns) return ns.error();
    if (*ns < 1e6 || *ns > 1e18)
      return Error{ErrorCode::invalid_argument, "'" + text + "': at least 1ms"};
    target = milliseconds(static_cast<std::int64_t>(*ns / 1e6));
    return {};
  };
}

void declare_server(Options& options, ViewArguments& args) {
  options.group("Server");
  options.parsed("--port", "N", number_into<std::uint16_t>(args.port, 0),
                 "Port of 127.0.0.1 and ::1 (default: one that is free)");
  options.text("--socket", "PATH", args.socket,
               "Listen on this socket instead of a port; only this user may connect to it");
  options.list("--allow-host", "NAME", args.hosts,
               "Also answer requests that name this host, as a proxy of yours may send them");
  options.flag("--no-open", args.no_open, "Open no browser");
  options.parsed("--idle", "TIME", time_into(args.idle),
                 "End when nothing was asked for so long: 30min (default: never)");
  options.parsed("--request-timeout", "TIME", time_into(args.request_timeout),
                 "Time for a request to arrive (default: 10s)");
}

}  // namespace

Command view() {
  Command command;
  command.name = "view";
  command.group = "Diagnosis";
  command.title = "Look at a recording in the browser";
  command.operand = "INPUT…";
  command.doc =
      "Serves one page on this machine's loopback and opens it in the browser. The recording stays "
      "in this process; nothing is sent anywhere else, and without the address that is printed, "
      "which holds a secret, nothing is answered. Ctrl-C ends it, and so does the end of the "
      "program or ssh session at the other end of standard input. docs/view.md has more.";
  command.examples = {"fathom view trace.json.gz", "fathom view --steps 3-7 trace.json.gz",
                      "fathom view --html page.html --redact trace.json.gz",
                      "fathom view --no-open --port 8080 trace.json.gz",
                      "fathom view --socket ~/fathom.sock --idle 30min fathom-run"};
  command.declare = [](Options& options) -> std::function<int()> {
    const auto args = std::make_shared<ViewArguments>();
    options.operands("INPUT", args->read.inputs, 1);
    options.group("What to look at first");
    options.parsed("--steps", "A-B", scope_into(*args, "steps"),
                   "These steps, by their recorded numbers: 5, 3-7, 3-");
    options.parsed("--device", "N", scope_into(*args, "device"), "This device");
    options.parsed("--window", "A:B", scope_into(*args, "window"),
                   "This stretch of time, counted as in tables from the start of the trace");
    declare_page_file(options, args->page,
                      "Write the page and what it shows into one file instead of serving it; it "
                      "needs no network, and says what is not in it");
    declare_server(options, *args);
    options.group("Output");
    declare_reading(options, args->read);
    return [args] { return run_view(*args); };
  };
  return command;
}

}  // namespace fathom::cli
