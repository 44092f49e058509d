// The calls that the program's NVTX makes, as tables by module.
#pragma once

#include <cstdint>
#include <span>

#include "capture/nvtx/api.h"

namespace fathom::nvtx {

/// One call: its number in its module's table, and ours.
struct Call {
  std::uint32_t id = 0;
  NvtxFunctionPointer function = nullptr;
};

template <typename F>
Call call(std::uint32_t id, F* function) {
  return {id, reinterpret_cast<NvtxFunctionPointer>(function)};
}

std::span<const Call> core_calls();
std::span<const Call> core2_calls();
std::span<const Call> cuda_calls();
std::span<const Call> cudart_calls();
std::span<const Call> opencl_calls();
std::span<const Call> sync_calls();

}  // namespace fathom::nvtx
