// Words for what CUPTI numbers, as torch.profiler spells them where it does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "capture/cuda/cupti.h"

namespace fathom::cuda {

std::string_view copy_kind_word(unsigned kind);    ///< "HtoD", "DtoH", …
std::string_view memory_kind_word(unsigned kind);  ///< "Pageable", "Pinned", "Device", …
std::string_view wait_word(unsigned type);         ///< "Stream Sync", "Event Sync", …
std::string_view overhead_word(unsigned kind);     ///< "Buffer Flush", "Lazy Function Loading", …
std::string_view jit_word(unsigned entry, unsigned operation);
std::string_view launch_word(unsigned type);  ///< "cooperative", …; "" for a plain launch.

/// "cudaLaunchKernel" for "cudaLaunchKernel_v7000", "cudaLaunchKernel_ptsz" and
/// "__cudaLaunchKernel_v13000".
std::string_view without_version(std::string_view function);

/// Kernel names as they were written, each demangled once. Longer ones than kLongest are cut.
class Demangler {
 public:
  static constexpr std::size_t kLongest = 4096;
  /// Valid as long as this lives.
  std::string_view operator()(const char* mangled);

 private:
  std::unordered_map<std::string, std::string> known_;
};

}  // namespace fathom::cuda
