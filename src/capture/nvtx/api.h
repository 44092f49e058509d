// NVTX 3 as its headers declare it: types of the calls, and the tables that an injection fills.
#pragma once

// Of the part for CUDA and OpenCL only types without their headers are needed; nvToolsExt.h has
// them.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtSync.h>
