// Creates the session folder.
#include "capture/launcher/session_folder.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string_view>

#include <sys/stat.h>
#include <unistd.h>

#include "base/base_name.h"

namespace fathom::capture {
namespace {

namespace fs = std::filesystem;

/// A name that is fit for a folder.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 60)) {
    const bool fit = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '.' || c == '_' || c == '-';
    out += fit ? c : '-';
  }
  while (out.starts_with('.') || out.starts_with('-')) out.erase(0, 1);
  return out.empty() ? "run" : out;
}

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &local);
  return text.data();
}

Error refused(std::string message) { return {ErrorCode::invalid_argument, std::move(message)}; }

Result<std::string> absolute_of(const std::string& path) {
  std::error_code failure;
  const fs::path absolute = fs::weakly_canonical(fs::absolute(path, failure), failure);
  if (failure) return refused(path + ": " + failure.message());
  return absolute.string();
}

Result<SessionFolder> made(const std::string& path, std::string warning) {
  Result<std::string> absolute = absolute_of(path);
  if (!absolute) return std::move(absolute).error();
  return SessionFolder{path, std::move(*absolute), std::move(warning)};
}

Result<SessionFolder> make_wanted(const std::string& wanted) {
  std::error_code failure;
  fs::create_directories(wanted, failure);
  if (failure) {
    return refused("--output: " + wanted + ": " + failure.message() +
                   "; name a folder that can be written to");
  }
  const bool empty = fs::is_empty(wanted, failure);
  if (failure || access(wanted.c_str(), W_OK | X_OK) != 0) {
    return refused("--output: " + wanted +
                   ": cannot be written to; name a folder that can be written to");
  }
  if (!empty) {
    return refused("--output: " + wanted +
                   ": there is something in it already; name a new or an empty folder");
  }
  return made(wanted, "");
}

/// A new folder under `parent`: the name, or name-2, name-3 …; the reason where none can be made.
Result<std::string> make_under(const std::string& parent, const std::string& name) {
  std::error_code failure;
  fs::create_directories(parent, failure);
  if (failure) return refused(failure.message());
  for (int attempt = 1; attempt < 1000; ++attempt) {
    std::string path = parent;
    path.append("/").append(name);
    if (attempt > 1) path.append("-").append(std::to_string(attempt));
    if (mkdir(path.c_str(), 0777) == 0) return path;
    if (errno != EEXIST) break;
  }
  return refused(std::strerror(errno));
}

/// Options of an interpreter that take the next word.
bool takes_word(std::string_view option) { return option == "-X" || option == "-W"; }

}  // namespace

std::string name_of(const std::vector<std::string>& command) {
  if (command.empty()) return "run";
  const std::string_view program = base_name(command.front());
  const bool python = program.starts_with("python") || program.starts_with("pypy");
  for (std::size_t at = 1; at < command.size(); ++at) {
    const std::string_view word = command[at];
    // torchrun, accelerate, uv run …: the script that they start names the run.
    if (word.ends_with(".py") && !word.starts_with("-"))
      return plain(base_name(word.substr(0, word.size() - 3)));
    if (!python) continue;
    if (word == "-m" && at + 1 < command.size()) return plain(command[at + 1]);
    if (word == "-c") return "python-c";
    if (takes_word(word)) ++at;
    if (!word.starts_with("-")) return plain(base_name(word));
  }
  return plain(program);
}

Result<SessionFolder> make_session_folder(const std::string& wanted, const std::string& name) {
  if (!wanted.empty()) return make_wanted(wanted);
  const std::string folder = now_text() + "-" + plain(name);
  Result<std::string> here = make_under("fathom-runs", folder);
  if (here) return made(*here, "");
  const char* temporary = std::getenv("TMPDIR");
  const std::string parent =
      std::string(temporary == nullptr || *temporary == '\0' ? "/tmp" : temporary) +
      "/fathom-runs-" + std::to_string(getuid());
  Result<std::string> there = make_under(parent, folder);
  if (there) {
    return made(*there, "fathom-runs cannot be made in this folder (" + here.error().message +
                            "): recording into " + *there + " instead; -o names another folder");
  }
  return refused("neither fathom-runs (" + here.error().message + ") nor " + parent + " (" +
                 there.error().message + ") can be written to: name a folder with -o");
}

}  // namespace fathom::capture
