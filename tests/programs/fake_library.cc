// Stands in for cuBLAS, cuBLASLt and cuDNN: remembers who wants to hear of their calls, and tells
// them of one as the real ones do.
#include <atomic>

namespace {

using CublasCallback = void (*)(const char* message);
using CublasLtCallback = void (*)(int level, const char* function, const char* message);
using CudnnCallback = void (*)(int severity, void* user, const void* debug, const char* message);

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): what was asked of it
std::atomic<CublasCallback> cublas_callback{nullptr};
std::atomic<bool> cublas_on{false};
std::atomic<CublasLtCallback> cublas_lt_callback{nullptr};
std::atomic<int> cublas_lt_mask{0};
std::atomic<CudnnCallback> cudnn_callback{nullptr};
std::atomic<unsigned> cudnn_mask{0};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace

extern "C" {

// NOLINTBEGIN(readability-identifier-naming): the libraries' own names
int cublasGetLoggerCallback(CublasCallback* callback) {
  *callback = cublas_callback;
  return 0;
}
int cublasSetLoggerCallback(CublasCallback callback) {
  cublas_callback = callback;
  return 0;
}
int cublasLoggerConfigure(int on, int to_out, int to_error, const char* file) {
  cublas_on = on != 0 && to_out == 0 && to_error == 0 && file == nullptr;
  return 0;
}
int cublasLtLoggerSetCallback(CublasLtCallback callback) {
  cublas_lt_callback = callback;
  return 0;
}
int cublasLtLoggerSetMask(int mask) {
  cublas_lt_mask = mask;
  return 0;
}
int cudnnGetCallback(unsigned* mask, void** user, CudnnCallback* callback) {
  *mask = cudnn_mask;
  *user = nullptr;
  *callback = cudnn_callback;
  return 0;
}
int cudnnSetCallback(unsigned mask, void* /*user*/, CudnnCallback callback) {
  cudnn_mask = mask;
  cudnn_callback = callback;
  return 0;
}
// NOLINTEND(readability-identifier-naming)

/// Whether somebody wants to hear of calls.
int fake_is_heard() {
  return cublas_on || (cublas_lt_mask & 2) != 0 || (cudnn_mask & 8U) != 0 ? 1 : 0;
}

/// One call.
void fake_call() {
  if (cublas_on && cublas_callback != nullptr)
    cublas_callback.load()(
        "I! cuBLAS (v13.0) function cublasStatus_t cublasSgemm_v2(cublasContext*, "
        "cublasOperation_t, int, const float*) called:\n"
        "i!  transa: type=cublasOperation_t; val=CUBLAS_OP_N(0)\n"
        "i!  m: type=int; val=512\n"
        "i! Time: 2026-01-01T00:00:00 elapsed from start 0.016667 minutes or 1.000000 seconds\n"
        "i!Process=1; Thread=2; GPU=0; Handle=POINTER (IN HEX:0x0x1)\n");
  if (cublas_lt_mask == 2 && cublas_lt_callback != nullptr)
    cublas_lt_callback.load()(2, "cublasLtMatmul",
                              "A=0x1 Adesc=[type=R_16F rows=64 cols=64 ld=64]");
  if (cudnn_mask == 8 && cudnn_callback != nullptr) {
    cudnn_callback.load()(3, nullptr, nullptr, "function cudnnConvolutionForward() called:");
    cudnn_callback.load()(3, nullptr, nullptr, "    algo: type=cudnnConvolutionFwdAlgo_t; val=1;");
  }
}

}  // extern "C"
