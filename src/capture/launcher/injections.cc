// Unpacks the injected libraries and sets the variables that load them.
#include "capture/launcher/injections.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>

#include <sys/stat.h>
#include <sys/statvfs.h>

#include "capture/system/carried.h"
#include "capture/system/files.h"

namespace fathom::capture {
namespace {

struct Injection {
  std::string_view file;
  const char* variable;    ///< None where the Python hook knows the place.
  std::string_view what;   ///< That it records.
  std::string_view needs;  ///< Of the build.
  bool gpu = false;        ///< Without NVIDIA's driver nothing of it can be missed.
  /// Only where one of these is asked for; none: always.
  std::array<std::string_view, 2> extras = {};
};
constexpr Injection kInjections[] = {
    {"libfathom_nvtx.so", "NVTX_INJECTION64_PATH", "ranges and marks of NVTX",
     "the headers of NVTX 3 (tools/setup nvtx)"},
    {"libfathom_cuda.so", "CUDA_INJECTION64_PATH",
     "kernels, copies and calls of CUDA outside of torch.profiler",
     "the headers of CUPTI (tools/setup cuda)", true},
    {"libfathom_python.so",
     nullptr,
     "lines of Python, and its functions by native code, functions of C among them (callbacks in "
     "Python or cProfile record the others, and slow the program down more)",
     "its own sources",
     false,
     {"functions", "lines"}},
};

const CarriedLibrary* find_carried(std::string_view file) {
  const std::span<const CarriedLibrary> all = carried_libraries();
  const auto at = std::ranges::find(all, file, &CarriedLibrary::file);
  return at == all.end() ? nullptr : &*at;
}

/// The tool that has the variable, or "". Ours is that of a `fathom run` around this one.
std::string other_tool(const Injection& injection, const Surroundings& around) {
  if (injection.variable == nullptr) return {};
  std::string path = around.value(injection.variable);
  if (path.empty()) return {};
  return std::filesystem::path(path).filename() == injection.file ? std::string() : path;
}

/// Why the program could not load a library from there, or "".
std::string make_private(const std::string& folder) {
  if (mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    return folder + ": " + std::strerror(errno);
  struct statvfs system {};
  if (statvfs(folder.c_str(), &system) == 0 && (system.f_flag & ST_NOEXEC) != 0)
    return "the session folder is on a file system that allows no execution (noexec)";
  return {};
}

void prepare(const Injection& injection, const std::string& folder, const Surroundings& around,
             Injections& result) {
  const auto refuse = [&](std::string why, std::string remedy) {
    if (injection.gpu && !has_nvidia_driver(around)) return;
    result.not_recorded.push_back({std::string(injection.what), std::move(why), std::move(remedy)});
  };
  const std::string other = other_tool(injection, around);
  if (!other.empty()) {
    refuse("another tool takes them: " + std::string(injection.variable) + " is " + other,
           "unset " + std::string(injection.variable));
    return;
  }
  const CarriedLibrary* const library = find_carried(injection.file);
  if (library == nullptr) {
    refuse("this fathom was built without " + std::string(injection.file),
           "build it with " + std::string(injection.needs) + ", and without sanitizers");
    return;
  }
  const std::string why = make_private(folder);
  if (!why.empty()) {
    refuse(why, "-o with a folder on another file system");
    return;
  }
  const std::string path = folder + "/" + std::string(library->file);
  const Result<void> written = replace_file(path, library->bytes);
  if (!written) {
    refuse(written.error().message, "-o with a folder that has room, and no limit of file sizes");
    return;
  }
  if (injection.variable != nullptr)
    result.variables.push_back(std::string(injection.variable) + "=" + path);
}

}  // namespace

Injections prepare_injections(const std::string& session, const std::vector<std::string>& extras,
                              const Surroundings& around) {
  Injections result;
  for (const Injection& injection : kInjections) {
    const bool asked = std::ranges::any_of(injection.extras, [&extras](std::string_view extra) {
      return !extra.empty() && std::ranges::find(extras, extra) != extras.end();
    });
    if (injection.extras[0].empty() || asked) prepare(injection, session + "/lib", around, result);
  }
  return result;
}

}  // namespace fathom::capture
