// The words that CUDA's headers use for nvcc; a plain compiler takes them as nothing. PyPI's
// nvidia-cuda-runtime leaves this header to the compiler's package. It is looked for last.
#pragma once

// NOLINTBEGIN(bugprone-reserved-identifier,cppcoreguidelines-macro-usage): CUDA's names
#define CUDARTAPI
#define CUDARTAPI_CDECL
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __align__(n) __attribute__((aligned(n)))
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __builtin_align__(n) __align__(n)
// NOLINTEND(bugprone-reserved-identifier,cppcoreguidelines-macro-usage)
