// libfathom_nvtx.so: what NVTX in the program looks for when NVTX_INJECTION64_PATH names this
// library.
#include <cstddef>
#include <cstdint>
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

/// nvtxExtModuleInfo_t and nvtxExtModuleSegment_t, which not all versions of NVTX's headers have.
struct ExtensionSegment {
  std::size_t id;
  std::size_t slots;
  std::intptr_t* functions;
};
struct Extension {
  std::uint16_t version;
  std::uint16_t size;
  std::uint16_t module;
  std::uint16_t compatible;
  std::size_t count;
  ExtensionSegment* segments;
};

namespace {

/// nvtxDomainIsEnabled of the extension for payloads.
std::uint8_t is_enabled(nvtxDomainHandle_t /*domain*/) { return 1; }

void enable_domains(const Extension& extension) {
  constexpr std::uint16_t kPayloads = 2;
  constexpr std::uint16_t kCompatible = 0x0104;
  constexpr std::size_t kIsEnabled = 7;  // NVTX3EXT_CBID_nvtxDomainIsEnabled
  if (extension.size < sizeof extension || extension.module != kPayloads ||
      extension.compatible != kCompatible || extension.count == 0)
    return;
  const ExtensionSegment& functions = extension.segments[0];
  if (functions.slots > kIsEnabled)
    functions.functions[kIsEnabled] = reinterpret_cast<std::intptr_t>(is_enabled);
}

}  // namespace
}  // namespace fathom::nvtx

/// The same for each extension of NVTX that a copy has. None is recorded; but copies of some
/// versions ask the extension for payloads whether anybody listens at all.
extern "C" [[gnu::visibility("default")]] int
InitializeInjectionNvtxExtension(  // NOLINT(readability-identifier-naming)
    const fathom::nvtx::Extension* extension) {
  const char* const session = std::getenv("FATHOM_SESSION");
  if (session == nullptr || *session == '\0' || extension == nullptr) return 0;
  fathom::nvtx::enable_domains(*extension);
  return 1;
}

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
