// What threads and streams are called in the recording.
#pragma once

#include <string_view>

namespace fathom {

/// Names the calling thread, in the recording only.
void name_thread(std::string_view name) noexcept;

/// Names a CUDA stream, by its handle (a cudaStream_t or CUstream).
void name_stream(const void* stream, std::string_view name) noexcept;

}  // namespace fathom
