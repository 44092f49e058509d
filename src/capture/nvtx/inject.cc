// libfathom_nvtx.so: what NVTX in the program looks for when NVTX_INJECTION64_PATH names this
// library.
#include <cstdlib>

#include "capture/inside/recorder.h"
#include "capture/nvtx/calls.h"

namespace fathom::nvtx {
namespace {

struct Module {
  NvtxCallbackModule module;
  std::span<const Call> (*calls)();
};
constexpr Module kModules[] = {
    {NVTX_CB_MODULE_CORE, core_calls},     {NVTX_CB_MODULE_CORE2, core2_calls},
    {NVTX_CB_MODULE_CUDA, cuda_calls},     {NVTX_CB_MODULE_CUDART, cudart_calls},
    {NVTX_CB_MODULE_OPENCL, opencl_calls}, {NVTX_CB_MODULE_SYNC, sync_calls},
};

/// The program's table may be older or newer than ours: shorter, or longer.
void fill(const NvtxExportTableCallbacks& callbacks, const Module& module) {
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks.GetModuleFunctionTable(module.module, &table, &size) == 0 || table == nullptr)
    return;
  for (const Call& call : module.calls())
    if (call.id < size && table[call.id] != nullptr) *table[call.id] = call.function;
}

}  // namespace
}  // namespace fathom::nvtx

/// Called once for each copy of NVTX in the program: in it, and in the libraries that it loads.
/// 0 leaves NVTX off.
extern "C" [[gnu::visibility("default")]] int
InitializeInjectionNvtx2(  // NOLINT(readability-identifier-naming)
    NvtxGetExportTableFunc_t get_export_table) {
  const char* const session = std::getenv("FATHOM_SESSION");
  if (session == nullptr || *session == '\0' || get_export_table == nullptr) return 0;
  const auto* const callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof *callbacks ||
      callbacks->GetModuleFunctionTable == nullptr)
    return 0;
  fathom::inside::Recorder::get().set_stem("nvtx", true, false);
  for (const fathom::nvtx::Module& module : fathom::nvtx::kModules)
    fathom::nvtx::fill(*callbacks, module);
  return 1;
}
