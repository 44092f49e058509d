// Finds and opens libcupti.
#include "capture/cuda/cupti.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string_view>

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

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
  load(library, "cuptiActivityEnableLatencyTimestamps", cupti.latency_timestamps);
  load(library, "cuptiActivityEnableLaunchAttributes", cupti.launch_attributes);
  load(library, "cuptiGetDeviceId", cupti.device_of);
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
    if (const std::string home = variable(name); !home.empty()) {
      std::vector<std::string> versions;
      add_subfolders(home + "/lib", "python3", versions);
      for (const std::string& version : versions)
        places.folders.push_back(version + "/site-packages");
    }
  }
  places.driver_major = driver_major();
  return places;
}

std::vector<std::string> cupti_candidates(const CuptiPlaces& places) {
  if (!places.named.empty()) return {places.named};
  std::vector<std::string> files;
  const auto add = [&files](std::string file) {
    if (std::ranges::find(files, file) == files.end()) files.push_back(std::move(file));
  };
  for (const std::string& library : places.loaded) {
    if (has_part(library, "/libcupti.so")) add(library);
  }
  const std::vector<std::string> names = sonames(places.driver_major);
  const auto add_folder = [&](const std::string& folder) {
    for (const std::string& name : names) add(std::string(folder).append("/").append(name));
  };
  // PyPI's packages lie side by side: …/nvidia/cuda_runtime/lib, …/nvidia/cuda_cupti/lib; or all of
  // one version in …/nvidia/cu13/lib.
  for (const std::string& library : places.loaded) {
    const std::string folder = folder_of(library);
    if (!has_part(library, "libcudart.so") && !has_part(folder, "/nvidia/")) continue;
    add_folder(folder);
    const std::size_t packages = folder.find("/nvidia/");
    if (packages == std::string::npos) continue;
    const std::string root = folder.substr(0, packages) + "/nvidia/";
    for (const char* const package : {"cuda_cupti/lib", "cu13/lib"}) add_folder(root + package);
  }
  for (const std::string& home : places.homes) {
    for (const char* const sub : {"/extras/CUPTI/lib64", "/targets/x86_64-linux/lib", "/lib64"})
      add_folder(home + sub);
  }
  for (const std::string& folder : places.folders) {
    for (const char* const package : {"/nvidia/cu13/lib", "/nvidia/cuda_cupti/lib"})
      add_folder(folder + package);
  }
  for (const std::string& name : names) add(name);
  return files;
}

bool open_cupti(const std::vector<std::string>& candidates, Cupti& cupti, std::string& why) {
  why = "libcupti is in none of the usual places";
  for (const std::string& file : candidates) {
    if (file.find('/') != std::string::npos && access(file.c_str(), F_OK) != 0) continue;
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      if (file.find('/') != std::string::npos) why = dlerror();
      continue;
    }
    const char* const missing = load_all(library, cupti);
    if (missing == nullptr && cupti.get_version(&cupti.version) == CUPTI_SUCCESS) {
      cupti.path = file;
      return true;
    }
    why = file + " has no " + (missing == nullptr ? "version" : missing);
    dlclose(library);
  }
  return false;
}

}  // namespace fathom::cuda
