// The calls that the program's NVTX makes, as tables by module.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "capture/inside/attempt.h"
#include "capture/nvtx/api.h"

namespace fathom::nvtx {

/// One call: its number in its module's table, and ours.
struct Call {
  std::uint32_t id = 0;
  NvtxFunctionPointer function = nullptr;
};

/// The function as the program's NVTX calls it: where there is no memory for what it does, that is
/// counted, and the answer is 0.
template <auto Function>
struct Shielded;
template <typename Answer, typename... Arguments, Answer (*Function)(Arguments...)>
struct Shielded<Function> {
  static Answer run(Arguments... arguments) noexcept {
    if constexpr (std::is_void_v<Answer>) {
      inside::attempt([&] { Function(arguments...); });
    } else {
      Answer answer{};
      inside::attempt([&] { answer = Function(arguments...); });
      return answer;
    }
  }
};

template <auto Function>
Call call(std::uint32_t id) {
  return {id, reinterpret_cast<NvtxFunctionPointer>(&Shielded<Function>::run)};
}

std::span<const Call> core_calls();
std::span<const Call> core2_calls();
std::span<const Call> cuda_calls();
std::span<const Call> cudart_calls();
std::span<const Call> opencl_calls();
std::span<const Call> sync_calls();

}  // namespace fathom::nvtx
