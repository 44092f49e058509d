// What a kernel does, from its name: class, tensor cores, communication. One table.
#pragma once

#include <cstdint>
#include <string_view>

namespace fathom {

enum class KernelClass : std::uint8_t {
  gemm,
  conv,
  attention,
  normalisation,
  softmax,
  elementwise,
  reduction,
  embedding,  ///< embedding / index / gather / scatter
  optimizer,
  copy_like,      ///< copies, casts, concatenations, transposes done by kernels
  communication,  ///< NCCL, RCCL, custom all-reduce, NVSHMEM, MSCCL, …
  other,
};
inline constexpr std::size_t kKernelClasses = static_cast<std::size_t>(KernelClass::other) + 1;
std::string_view to_string(KernelClass kernel_class);

struct KernelTraits {
  KernelClass kernel_class = KernelClass::other;
  bool tensor_cores =
      false;  ///< The name shows that matrix units are used (tensor cores, MFMA/WMMA).
};

/// Traits of a device kernel by its (demangled or mangled) name. Pure; costs about 1 µs: cache per
/// name.
KernelTraits classify_kernel(std::string_view name);

}  // namespace fathom
