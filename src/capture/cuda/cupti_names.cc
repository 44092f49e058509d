// Tables by CUPTI's numbers; what a newer one adds is named unknown.
#include "capture/cuda/cupti_names.h"

#include <cstdlib>
#include <memory>
#include <new>
#include <span>

#include <cxxabi.h>

namespace fathom::cuda {
namespace {

std::string_view at(std::span<const std::string_view> words, unsigned number) {
  return number < words.size() ? words[number] : words.front();
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::string_view copy_kind_word(unsigned kind) {
  static constexpr std::string_view kWords[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                                "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
  return at(kWords, kind);
}

std::string_view memory_kind_word(unsigned kind) {
  static constexpr std::string_view kWords[] = {"Unknown",       "Pageable",      "Pinned",
                                                "Device",        "Array",         "Managed",
                                                "Device Static", "Managed Static"};
  return at(kWords, kind);
}

std::string_view wait_word(unsigned type) {
  static constexpr std::string_view kWords[] = {"Unknown", "Event Sync", "Stream Wait Event",
                                                "Stream Sync", "Context Sync"};
  return at(kWords, type);
}

std::string_view overhead_word(unsigned kind) {
  static constexpr std::string_view kWords[] = {"Unknown",
                                                "Buffer Flush",
                                                "Instrumentation",
                                                "Resource",
                                                "Runtime Triggered Module Loading",
                                                "Lazy Function Loading",
                                                "Command Buffer Full",
                                                "Activity Buffer Request",
                                                "UVM Activity Init"};
  constexpr unsigned kOfCupti = 16;  // CUPTI's own are counted in the upper half
  if (kind == CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER) return "Driver Compiler";
  return at(kWords, kind >> kOfCupti);
}

std::string_view jit_word(unsigned entry, unsigned operation) {
  static constexpr std::string_view kOfPtx[] = {"JIT", "JIT: load cubin from cache",
                                                "JIT: store cubin in cache", "JIT: PTX to cubin"};
  static constexpr std::string_view kOfNvvm[] = {"JIT", "JIT: load PTX from cache",
                                                 "JIT: store PTX in cache", "JIT: NVVM IR to PTX"};
  return entry == CUPTI_ACTIVITY_JIT_ENTRY_NVVM_IR_TO_PTX ? at(kOfNvvm, operation)
                                                          : at(kOfPtx, operation);
}

std::string_view launch_word(unsigned type) {
  static constexpr std::string_view kWords[] = {"", "cooperative", "cooperative, several devices",
                                                "command list"};
  return at(kWords, type);
}

std::string_view without_version(std::string_view function) {
  // nvcc 13 has programs call the runtime's __cudaLaunchKernel.
  if (function.starts_with("__cuda")) function.remove_prefix(2);
  // Either may come first: cudaLaunchKernel_ptsz_v7000, cuMemcpyHtoD_v2_ptds.
  for (int i = 0; i < 2; ++i) {
    for (const std::string_view end : {"_ptsz", "_ptds"})
      if (function.ends_with(end)) function.remove_suffix(end.size());
    const std::size_t mark = function.rfind("_v");
    if (mark != std::string_view::npos && all_digits(function.substr(mark + 2)))
      function = function.substr(0, mark);
  }
  return function;
}

std::string_view Demangler::operator()(const char* mangled) {
  if (mangled == nullptr) return "(no name)";
  const auto found = known_.find(mangled);
  if (found != known_.end()) return found->second;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), std::free);
  // Where there was no memory for it, it is not to keep its mangled name for ever.
  constexpr int kNoMemory = -1;
  if (status == kNoMemory) throw std::bad_alloc();
  const std::string_view name = status == 0 && plain != nullptr ? plain.get() : mangled;
  return known_.try_emplace(mangled, name.substr(0, kLongest)).first->second;
}

}  // namespace fathom::cuda
