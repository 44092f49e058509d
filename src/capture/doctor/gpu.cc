// Checks the driver, the rights to its counters, and CUPTI.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <utility>

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cupti_start.h"
#include "base/descriptor.h"
#include "base/folder.h"
#include "capture/doctor/checks.h"
#include "capture/system/files.h"

namespace fathom::capture {
namespace {

/// Of the kernel module; of WSL, where Windows has the driver; without either, where a container is
/// given the library.
constexpr const char* kVersion = "/proc/driver/nvidia/version";
constexpr const char* kControl = "/dev/nvidiactl";
constexpr const char* kWsl = "/dev/dxg";

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

/// The file, and a kernel module behind it: as root cuInit() makes the file where there is none,
/// and then cannot open it.
bool has_control(const std::string& root) {
  const std::string path = root + kControl;
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY));
  const int why = errno;
  return file.get() >= 0 || (exists(path) && why != ENXIO && why != ENODEV);
}

Check driver_check(const Surroundings& around) {
  Check check{.section = "GPU", .what = "driver", .state = CheckState::fine};
  const std::string version = read_line(around.root + kVersion);
  if (!version.empty()) {
    const std::size_t colon = version.find(':');
    check.detail = std::string(trimmed(version.substr(colon == std::string::npos ? 0 : colon + 1,
                                                      version.find('\n') - colon - 1)));
    return check;
  }
  if (has_control(around.root)) {
    check.detail = std::string(kControl) +
                   " is there; /proc/driver/nvidia, which has the version, "
                   "is not shown to this container";
  } else if (exists(around.root + kWsl)) {
    check.detail = std::string(kWsl) + " is there: that of Windows, through WSL";
  } else if (around.nvml_starts()) {
    check.detail = "NVML finds one; /proc/driver/nvidia is not shown to this container";
  } else {
    check.state = CheckState::missing;
    check.detail = without_nvidia_driver();
    check.lost = "everything about GPUs; programs on the CPU are recorded in full";
    check.remedy =
        "on a machine with a GPU install its driver; into a container pass it: "
        "docker run --gpus all";
  }
  return check;
}

Check devices_check(const std::string& root) {
  Check check{.section = "GPU", .what = "device files"};
  int open = 0;
  int closed = 0;
  // With WSL one file stands for all.
  const std::string of_all = root + kWsl;
  const bool wsl = !has_control(root) && exists(of_all);
  if (wsl) ++(access(of_all.c_str(), R_OK | W_OK) == 0 ? open : closed);
  const std::string devices = root + "/dev/";
  for (const std::string& name : names_in(devices)) {
    if (!name.starts_with("nvidia") || name.size() < 7 || name[6] < '0' || name[6] > '9') continue;
    ++(access(std::string(devices).append(name).c_str(), R_OK | W_OK) == 0 ? open : closed);
  }
  check.detail = std::to_string(open) + " of " + std::to_string(open + closed) + " can be opened";
  check.state = closed == 0 && open > 0 ? CheckState::fine
                : open > 0              ? CheckState::limited
                                        : CheckState::missing;
  if (check.state == CheckState::fine) return check;
  check.lost = open > 0 ? "GPUs whose files cannot be opened" : "everything about GPUs";
  check.remedy = closed > 0 && wsl ? "let this user open /dev/dxg (ls -l /dev/dxg)"
                 : closed > 0      ? "join the group that owns /dev/nvidia* (ls -l /dev/nvidia0)"
                                   : "pass the devices into the container: docker run --gpus all";
  return check;
}

/// Timelines of kernels need no rights; hardware counters do.
Check counters_check(const std::string& root) {
  Check check{.section = "GPU", .what = "hardware counters"};
  const std::string restricted = field_of(
      read_small(root + "/proc/driver/nvidia/params").value_or(""), "RmProfilingAdminOnly");
  const bool allowed = has_capability(root, CAP_SYS_ADMIN);
  check.detail = restricted.empty()  ? "the driver does not report who may read them"
                 : restricted == "0" ? "every user may read them"
                 : allowed           ? "only administrators may read them, as this user may"
                                     : "only administrators may read them";
  check.state = restricted == "0" || (!restricted.empty() && allowed) ? CheckState::fine
                : restricted.empty()                                  ? CheckState::fact
                                                                      : CheckState::missing;
  if (check.state == CheckState::missing) {
    check.lost =
        "hardware counters (fathom run --with gpu-metrics); times of kernels are recorded anyway";
    check.remedy =
        "an administrator sets the module's option NVreg_RestrictProfilingToAdminUsers=0, "
        "or gives CAP_SYS_ADMIN (docker run --cap-add SYS_ADMIN)";
  }
  return check;
}

/// What `ask` answers in a process of its own, which alone a library that crashes takes along; how
/// that process ended, if it did not answer.
template <typename Answer>
struct Apart {
  std::optional<Answer> answer;
  int status = 0;
};
template <typename Ask>
auto ask_apart(Ask ask) {
  using Answer = decltype(ask());
  Apart<Answer> apart;
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), 0) != 0) return apart;
  const pid_t child = fork();
  if (child == 0) {
    const Answer answer = ask();
    [[maybe_unused]] const ssize_t written = ::write(ends[1], &answer, sizeof answer);
    _exit(0);
  }
  ::close(ends[1]);
  Answer answer{};
  if (::read(ends[0], &answer, sizeof answer) == sizeof answer) apart.answer = answer;
  ::close(ends[0]);
  if (child > 0) waitpid(child, &apart.status, 0);
  return apart;
}

/// Of the CUDA that the driver runs; 0 without one.
int driver_major() {
  const auto ask = [] {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    using Get = int (*)(int*);
    const auto get =
        driver == nullptr ? nullptr : reinterpret_cast<Get>(dlsym(driver, "cuDriverGetVersion"));
    int version = 0;
    constexpr int kMajor = 1000;
    return get != nullptr && get(&version) == 0 ? version / kMajor : 0;
  };
  return ask_apart(ask).answer.value_or(0);
}

/// Where CUPTI usually lies, the loader's own choice first; as the recorder does, the one that is
/// named alone, and the version that fits the driver first.
std::vector<std::string> cupti_candidates() {
  if (const char* const named = std::getenv("FATHOM_CUPTI"); named != nullptr && *named != '\0')
    return {named};
  std::vector<std::string> folders = {""};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH", "CUPTI_PATH"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr) continue;
    folders.push_back(std::string(value) + "/extras/CUPTI/lib64/");
    folders.push_back(std::string(value) + "/lib64/");
  }
  std::vector<std::string> found;
  for (const std::string& name : names_in("/usr/local")) {
    if (name.starts_with("cuda")) found.push_back("/usr/local/" + name + "/extras/CUPTI/lib64/");
  }
  std::ranges::sort(found, std::greater<>());
  folders.insert(folders.end(), found.begin(), found.end());
  folders.emplace_back("/usr/lib/x86_64-linux-gnu/");
  constexpr int kOldDriver = 12;
  const bool old = driver_major() == kOldDriver;
  std::vector<std::string> files;
  for (const char* const name :
       {old ? "libcupti.so.12" : "libcupti.so.13", old ? "libcupti.so.13" : "libcupti.so.12",
        "libcupti.so", "libcupti.so.11.8"}) {
    for (const std::string& folder : folders) files.push_back(folder + name);
  }
  return files;
}

/// What a library says when it is asked for its version.
struct CuptiAnswer {
  enum class Kind : std::uint8_t {
    absent,
    version,
    nameless,
    refused,
    of_cuda_11,
    of_13_2,
    crash,
    end
  };
  Kind kind = Kind::absent;
  std::uint32_t number = 0;  ///< Its version, its answer instead, a signal or an exit code.
};

CuptiAnswer ask_cupti(const char* file) {
  using Kind = CuptiAnswer::Kind;
  void* const library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return {};
  if (dlvsym(library, "cuptiGetVersion", "libcupti.so.11.8") != nullptr) return {Kind::of_cuda_11};
  if (is_cupti_of_13_2(library) && !starts_cupti(load_export_table())) return {Kind::of_13_2};
  using GetVersion = int (*)(std::uint32_t*);
  const auto get = reinterpret_cast<GetVersion>(dlsym(library, "cuptiGetVersion"));
  if (get == nullptr) return {Kind::nameless};
  std::uint32_t version = 0;
  const int result = get(&version);
  return result == 0 ? CuptiAnswer{Kind::version, version}
                     : CuptiAnswer{Kind::refused, static_cast<std::uint32_t>(result)};
}

CuptiAnswer ask_cupti_apart(const std::string& file) {
  const auto apart = ask_apart([&file] { return ask_cupti(file.c_str()); });
  if (apart.answer) return *apart.answer;
  if (WIFSIGNALED(apart.status))
    return {CuptiAnswer::Kind::crash, static_cast<std::uint32_t>(WTERMSIG(apart.status))};
  const int code = WEXITSTATUS(apart.status);
  if (code == 0) return {};
  return {CuptiAnswer::Kind::end, static_cast<std::uint32_t>(code)};
}

/// Why it is passed over; empty where it is not there.
std::string why_not(const CuptiAnswer& answer, bool driver) {
  using Kind = CuptiAnswer::Kind;
  const std::string number = std::to_string(answer.number);
  switch (answer.kind) {
    case Kind::absent:
    case Kind::version:
      break;
    case Kind::nameless:
      return "has no cuptiGetVersion";
    case Kind::refused:
      return (driver ? "does not fit this driver (cuptiGetVersion: CUPTI error "
                     : "does not start without a driver (cuptiGetVersion: CUPTI error ") +
             number + ")";
    case Kind::of_cuda_11:
      return "is of CUDA 11, whose records are not read: CUDA 12.0 is the oldest";
    case Kind::of_13_2:
      return driver ? "does not fit this driver: it is of CUDA 13.2, which would end the program"
                    : "is of CUDA 13.2, which does not start without a driver";
    case Kind::crash:
      return "crashes when it is asked for its version (signal " + number + ")";
    case Kind::end:
      return "ends the process that asks for its version (exit code " + number + ")";
  }
  return {};
}

Check cupti_check(bool driver) {
  Check check{.section = "GPU", .what = "CUPTI"};
  std::string passed_over;
  for (const std::string& file : cupti_candidates()) {
    if (file.find('/') != std::string::npos && access(file.c_str(), R_OK) != 0) continue;
    const CuptiAnswer answer = ask_cupti_apart(file);
    if (answer.kind == CuptiAnswer::Kind::version) {
      check.state = CheckState::fine;
      check.detail = file + ", API version " + std::to_string(answer.number);
      if (!passed_over.empty()) check.detail += "; " + passed_over;
      return check;
    }
    const std::string why = why_not(answer, driver);
    if (!why.empty() && passed_over.empty()) passed_over.append(file).append(" ").append(why);
  }
  check.state = CheckState::fact;
  const char* const named = std::getenv("FATHOM_CUPTI");
  if (passed_over.empty() && named != nullptr && *named != '\0')
    passed_over = std::string("FATHOM_CUPTI names ") + named + ", which does not load";
  check.detail = passed_over.empty() ? "not where the loader and CUDA toolkits have it; PyTorch "
                                       "brings its own (below)"
                                     : passed_over;
  if (driver) {
    check.state = CheckState::limited;
    check.lost = "kernels and copies of CUDA programs that bring no CUPTI of their own";
    check.remedy =
        named != nullptr && *named != '\0'
            ? "leave FATHOM_CUPTI unset, so that Fathom looks for one that fits"
            : "install CUPTI of the CUDA toolkit, or name the toolkit's folder in CUDA_HOME";
  }
  return check;
}

}  // namespace

bool Surroundings::starts_nvml() {
  static const bool starts = [] {
    void* const library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) return false;
    using Call = int (*)();
    const auto begin = reinterpret_cast<Call>(dlsym(library, "nvmlInit_v2"));
    const auto end = reinterpret_cast<Call>(dlsym(library, "nvmlShutdown"));
    if (begin == nullptr || end == nullptr || begin() != 0) return false;
    end();
    return true;
  }();
  return starts;
}

bool has_nvidia_driver(const Surroundings& around) {
  return exists(around.root + kVersion) || has_control(around.root) || exists(around.root + kWsl) ||
         around.nvml_starts();
}

std::string_view without_nvidia_driver() {
  return "no NVIDIA driver: neither /proc/driver/nvidia nor /dev/nvidiactl nor /dev/dxg is there, "
         "and NVML does not start";
}

std::vector<Check> gpu_permission_checks(const Surroundings& around) {
  const std::string& root = around.root;
  std::vector<Check> checks = {driver_check(around)};
  if (has_nvidia_driver(around)) {
    // Whom NVML answers can open them, whatever their names.
    const bool files = exists(root + kVersion) || has_control(root) || exists(root + kWsl);
    if (files) checks.push_back(devices_check(root));
    checks.push_back(counters_check(root));
  }
  for (Check& check : gpu_access_checks(around)) checks.push_back(std::move(check));
  for (Check& check : subscriber_checks(around)) checks.push_back(std::move(check));
  return checks;
}

std::vector<Check> gpu_checks(const Surroundings& around) {
  const std::string& root = around.root;
  std::vector<Check> checks = gpu_permission_checks(around);
  const bool driver = has_nvidia_driver(around);
  checks.push_back(cupti_check(driver));
  if (driver) {
    for (Check& check : cuda_checks(root)) checks.push_back(std::move(check));
  }
  if (std::ranges::find(checks, "other profiler", &Check::what) == checks.end()) {
    checks.push_back({.section = "GPU",
                      .what = "other profilers",
                      .state = CheckState::fine,
                      .detail = "none: no variable injects one, none is running, nor is DCGM (of "
                                "processes that are seen from here)"});
  }
  return checks;
}

}  // namespace fathom::capture
