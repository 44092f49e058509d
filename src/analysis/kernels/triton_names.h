// Names that TorchInductor gives its Triton kernels: what kind of loop, over which operators.
#pragma once

#include <string_view>

#include "analysis/kernels/kernel_class.h"

namespace fathom {

/// "triton_poi_fused_add_relu_3" and its kin: triton_{poi,red,per,tem,for,…}_….
bool is_inductor_name(std::string_view name);

/// The class of such a kernel. The names of the fused operators decide before the kind of loop
/// does; they also list operators whose result is only read (all_reduce, wait_tensor), so a fused
/// kernel is never communication.
KernelClass classify_inductor_kernel(std::string_view name);

}  // namespace fathom
