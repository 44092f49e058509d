// CUPTI as its headers have it, at its door the library that is opened at run time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <cupti.h>

namespace fathom::cuda {

/// The functions of a libcupti. Those below `optional` are null where it does not have them.
struct Cupti {
  std::string path;           ///< As it was opened.
  std::uint32_t version = 0;  ///< CUPTI_API_VERSION of the library: which records it writes.

  decltype(&::cuptiGetVersion) get_version = nullptr;
  decltype(&::cuptiSubscribe) subscribe = nullptr;
  decltype(&::cuptiUnsubscribe) unsubscribe = nullptr;
  decltype(&::cuptiEnableCallback) enable_callback = nullptr;
  decltype(&::cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&::cuptiActivityEnable) enable = nullptr;
  decltype(&::cuptiActivityDisable) disable = nullptr;
  decltype(&::cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&::cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&::cuptiActivityGetNumDroppedRecords) dropped_records = nullptr;
  decltype(&::cuptiGetTimestamp) timestamp = nullptr;
  decltype(&::cuptiGetCallbackName) callback_name = nullptr;
  decltype(&::cuptiGetResultString) result_string = nullptr;
  // optional
  decltype(&::cuptiSetThreadIdType) set_thread_id_type = nullptr;
  decltype(&::cuptiActivitySetAttribute) set_attribute = nullptr;
  decltype(&::cuptiGetDeviceId) device_of = nullptr;
  // Older headers do not declare it.
  CUptiResult (*struct_size)(CUpti_ActivityKind, std::uint32_t, std::size_t*) = nullptr;
  decltype(&::cuptiActivityEnableAndDump) enable_and_dump = nullptr;
  CUptiResult(CUPTIAPI* enable_runtime_call)(CUpti_CallbackId, std::uint8_t) = nullptr;
  CUptiResult(CUPTIAPI* enable_driver_call)(CUpti_CallbackId, std::uint8_t) = nullptr;

  /// What CUPTI calls this result, or its number.
  [[nodiscard]] std::string text(CUptiResult result) const;
};

/// What this process may know of where libcupti is.
struct CuptiPlaces {
  std::string named;                 ///< FATHOM_CUPTI: this file and no other.
  std::vector<std::string> homes;    ///< Toolkits: CUDA_HOME, CUDA_PATH, /usr/local/cuda*.
  std::vector<std::string> loaded;   ///< Paths of the libraries that the process has loaded.
  std::vector<std::string> folders;  ///< Where Python looks for packages.
  int driver_major = 0;              ///< Of the newest CUDA that the driver runs; 0: unknown.
};

/// Of the environment and of this process.
CuptiPlaces cupti_places();

/// Files in the order in which they are worth trying: what the process has loaded, what lies beside
/// CUDA's other libraries, toolkits, packages of Python, and what the loader finds by itself. Only
/// names are made here.
std::vector<std::string> cupti_candidates(const CuptiPlaces& places);

/// What becomes of a libcupti that was opened.
enum class Trial {
  taken,
  next,     ///< It does not work here; another one may.
  refused,  ///< No other one would work either.
};

/// The first that can be opened, has what we need and is taken by `attempt`, which says in `why`
/// what it does not like. False, with why, where there is none.
bool open_cupti(const std::vector<std::string>& candidates, Cupti& cupti, std::string& why,
                const std::function<Trial(const Cupti&, std::string& why)>& attempt = {});

}  // namespace fathom::cuda
