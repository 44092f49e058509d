// Finds and opens libcupti.
#include "capture/cuda/cupti.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include "base/cupti_start.h"
#include "capture/cuda/driver.h"
#include "capture/cuda/folder.h"
#include "capture/inside/attempt.h"

namespace fathom::cuda {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(path.substr(0, slash == std::string_view::npos ? 0 : slash));
}

bool has_part(std::string_view path, std::string_view part) {
  return path.find(part) != std::string_view::npos;
}

/// libcupti.so.12 or .13, the one that fits the driver first: a newer one than it may not start.
std::vector<std::string> sonames(int driver_major) {
  if (driver_major == 12) return {"libcupti.so.12", "libcupti.so.13", "libcupti.so"};
  return {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
}

void add_subfolders(const std::string& folder, std::string_view start,
                    std::vector<std::string>& found) {
  std::vector<std::string> here;
  for (const std::string& name : names_in(folder))
    if (name.starts_with(start)) here.push_back(std::string(folder).append("/").append(name));
  std::ranges::sort(here, std::greater<>());
  found.insert(found.end(), here.begin(), here.end());
}

/// Folders of packages of a Python that is installed, or has its environment, there.
void add_packages(const std::string& home, std::vector<std::string>& folders) {
  std::vector<std::string> versions;
  add_subfolders(home + "/lib", "python3", versions);
  for (const std::string& version : versions) {
    const std::string packages = version + "/site-packages";
    if (std::ranges::find(folders, packages) == folders.end()) folders.push_back(packages);
  }
}

/// The name that the program was called by: in an environment that was not activated too, its
/// interpreter is in bin.
std::string called_as() {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/cmdline", "re"),
                                                             std::fclose);
  std::array<char, PATH_MAX> text{};
  if (file == nullptr || std::fread(text.data(), 1, text.size() - 1, file.get()) == 0) return {};
  return text.data();
}

std::string running_file() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  return {path.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

int driver_major() {
  decltype(&::cuDriverGetVersion) get = nullptr;
  find_in_driver("cuDriverGetVersion", get);
  int version = 0;
  constexpr int kMajor = 1000;
  return get != nullptr && get(&version) == CUDA_SUCCESS ? version / kMajor : 0;
}

template <typename Function>
bool load(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

/// The name of the first function that is missing, or null.
const char* load_all(void* library, Cupti& cupti) {
  const char* missing = nullptr;
  const auto need = [&](const char* name, auto& function) {
    if (!load(library, name, function) && missing == nullptr) missing = name;
  };
  need("cuptiGetVersion", cupti.get_version);
  need("cuptiSubscribe", cupti.subscribe);
  need("cuptiUnsubscribe", cupti.unsubscribe);
  need("cuptiEnableCallback", cupti.enable_callback);
  need("cuptiActivityRegisterCallbacks", cupti.register_callbacks);
  need("cuptiActivityEnable", cupti.enable);
  need("cuptiActivityDisable", cupti.disable);
  need("cuptiActivityFlushAll", cupti.flush_all);
  need("cuptiActivityGetNextRecord", cupti.next_record);
  need("cuptiActivityGetNumDroppedRecords", cupti.dropped_records);
  need("cuptiGetTimestamp", cupti.timestamp);
  need("cuptiGetCallbackName", cupti.callback_name);
  need("cuptiGetResultString", cupti.result_string);
  load(library, "cuptiSetThreadIdType", cupti.set_thread_id_type);
  load(library, "cuptiActivitySetAttribute", cupti.set_attribute);
  load(library, "cuptiGetDeviceId", cupti.device_of);
  load(library, "cuptiActivityGetStructSize", cupti.struct_size);
  load(library, "cuptiActivityEnableAndDump", cupti.enable_and_dump);
  load(library, "cuptiActivityEnableRuntimeApi", cupti.enable_runtime_call);
  load(library, "cuptiActivityEnableDriverApi", cupti.enable_driver_call);
  return missing;
}

}  // namespace

std::string Cupti::text(CUptiResult result) const {
  const char* said = nullptr;
  if (result_string != nullptr && result_string(result, &said) == CUPTI_SUCCESS && said != nullptr)
    return said;
  return "CUPTI error " + std::to_string(static_cast<int>(result));
}

CuptiPlaces cupti_places() {
  CuptiPlaces places;
  places.named = variable("FATHOM_CUPTI");
  for (const char* const name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string home = variable(name); !home.empty()) places.homes.push_back(home);
  }
  add_subfolders("/usr/local", "cuda", places.homes);
  add_subfolders("/opt", "cuda", places.homes);
  // Nothing is thrown through the loader, which holds its lock.
  const auto note = [](dl_phdr_info* info, std::size_t /*size*/, void* into) {
    return inside::attempt([&] {
      if (info->dlpi_name != nullptr && *info->dlpi_name != '\0')
        static_cast<std::vector<std::string>*>(into)->emplace_back(info->dlpi_name);
    })
               ? 0
               : 1;
  };
  if (dl_iterate_phdr(note, &places.loaded) != 0) throw std::bad_alloc();
  for (const char* const name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const std::string home = variable(name); !home.empty()) add_packages(home, places.folders);
  }
  for (const std::string& program : {called_as(), running_file()}) {
    const std::size_t bin = program.rfind("/bin/");
    if (bin != std::string::npos) add_packages(program.substr(0, bin), places.folders);
  }
  places.driver_major = driver_major();
  return places;
}

namespace {

/// Folders in the order in which they are worth looking into.
std::vector<std::string> cupti_folders(const CuptiPlaces& places) {
  std::vector<std::string> folders;
  // PyPI's packages lie side by side: …/nvidia/cuda_runtime/lib, …/nvidia/cuda_cupti/lib; or all of
  // one version in …/nvidia/cu13/lib.
  for (const std::string& library : places.loaded) {
    const std::string folder = folder_of(library);
    if (!has_part(library, "libcudart.so") && !has_part(folder, "/nvidia/")) continue;
    folders.push_back(folder);
    const std::size_t packages = folder.find("/nvidia/");
    if (packages == std::string::npos) continue;
    const std::string root = folder.substr(0, packages) + "/nvidia/";
    for (const char* const package : {"cuda_cupti/lib", "cu13/lib"})
      folders.push_back(root + package);
  }
  for (const std::string& home : places.homes) {
    for (const char* const sub : {"/extras/CUPTI/lib64", "/targets/x86_64-linux/lib", "/lib64"})
      folders.push_back(home + sub);
  }
  for (const std::string& folder : places.folders) {
    for (const char* const package : {"/nvidia/cu13/lib", "/nvidia/cuda_cupti/lib"})
      folders.push_back(folder + package);
  }
  return folders;
}

/// CUDA 11.8 says the version of 12.0, and its records are shorter: they would be misread.
constexpr std::uint32_t kOldest = 18;
bool is_too_old(void* library, std::uint32_t version) {
  return version < kOldest || dlvsym(library, "cuptiGetVersion", "libcupti.so.11.8") != nullptr;
}

/// The driver has called us, and so is loaded; else CUPTI would load it.
bool fits_driver() {
  ExportTable get = nullptr;
  find_in_driver("cuGetExportTable", get);
  return starts_cupti(get != nullptr ? get : load_export_table());
}

/// `why` says what is wrong with it.
Trial try_cupti(void* library, Cupti& cupti, std::string& why) {
  if (const char* const missing = load_all(library, cupti)) {
    why = cupti.path + " has no " + missing;
    return Trial::next;
  }
  if (is_cupti_of_13_2(library)) {
    cupti.result_string = nullptr;
    if (!fits_driver()) {
      why =
          cupti.path + " does not fit this driver: it is of CUDA 13.2, which would end the program";
      return Trial::next;
    }
  }
  if (const CUptiResult result = cupti.get_version(&cupti.version); result != CUPTI_SUCCESS) {
    why = cupti.path + " does not fit this driver (cuptiGetVersion: " + cupti.text(result) + ")";
    return Trial::next;
  }
  if (is_too_old(library, cupti.version)) {
    why = cupti.path + " is of CUDA 11, whose records are not read: CUDA 12.0 is the oldest";
    return Trial::next;
  }
  return Trial::taken;
}

}  // namespace

std::vector<std::string> cupti_candidates(const CuptiPlaces& places) {
  if (!places.named.empty()) return {places.named};
  std::vector<std::string> files;
  const auto add = [&files](std::string file) {
    if (std::ranges::find(files, file) == files.end()) files.push_back(std::move(file));
  };
  for (const std::string& library : places.loaded) {
    if (has_part(library, "/libcupti.so")) add(library);
  }
  const std::vector<std::string> folders = cupti_folders(places);
  // The version that fits the driver in all folders, then the others: a newer one may not start.
  for (const std::string& name : sonames(places.driver_major)) {
    for (const std::string& folder : folders) add(std::string(folder).append("/").append(name));
    add(name);
  }
  return files;
}

bool open_cupti(const std::vector<std::string>& candidates, Cupti& cupti, std::string& why,
                const std::function<Trial(const Cupti&, std::string& why)>& attempt) {
  why = "libcupti is in none of the usual places";
  for (const std::string& file : candidates) {
    if (file.find('/') != std::string::npos && access(file.c_str(), F_OK) != 0) continue;
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      if (file.find('/') != std::string::npos) why = dlerror();
      continue;
    }
    cupti = {};
    cupti.path = file;
    // What was called stays loaded: it may have threads.
    Trial trial = try_cupti(library, cupti, why);
    if (trial == Trial::taken && attempt) trial = attempt(cupti, why);
    if (trial == Trial::taken) return true;
    if (trial == Trial::refused) return false;
  }
  return false;
}

}  // namespace fathom::cuda
