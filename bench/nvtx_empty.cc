// An injection for NVTX that takes all calls and does nothing: what the program and NVTX itself
// cost.
#include <nvtx3/nvToolsExt.h>

namespace {

int push_text(const char* /*message*/) { return 0; }
int push(const nvtxEventAttributes_t* /*event*/) { return 0; }
int pop() { return 0; }
int domain_push(nvtxDomainHandle_t /*domain*/, const nvtxEventAttributes_t* /*event*/) { return 0; }
int domain_pop(nvtxDomainHandle_t /*domain*/) { return 0; }
nvtxRangeId_t start(const char* /*message*/) { return 1; }
void end(nvtxRangeId_t /*id*/) {}
nvtxDomainHandle_t create(const char* /*name*/) { return reinterpret_cast<nvtxDomainHandle_t>(1); }
nvtxStringHandle_t register_string(nvtxDomainHandle_t /*domain*/, const char* /*text*/) {
  return reinterpret_cast<nvtxStringHandle_t>(1);
}

template <typename F>
void set(NvtxFunctionTable table, unsigned int size, unsigned int id, F* function) {
  if (id < size) *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" int InitializeInjectionNvtx2(  // NOLINT(readability-identifier-naming)
    NvtxGetExportTableFunc_t get_export_table) {
  const auto* const callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0) return 0;
  set(table, size, NVTX_CBID_CORE_RangePushA, push_text);
  set(table, size, NVTX_CBID_CORE_RangePushEx, push);
  set(table, size, NVTX_CBID_CORE_RangePop, pop);
  set(table, size, NVTX_CBID_CORE_RangeStartA, start);
  set(table, size, NVTX_CBID_CORE_RangeEnd, end);
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) return 0;
  set(table, size, NVTX_CBID_CORE2_DomainRangePushEx, domain_push);
  set(table, size, NVTX_CBID_CORE2_DomainRangePop, domain_pop);
  set(table, size, NVTX_CBID_CORE2_DomainCreateA, create);
  set(table, size, NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
  return 1;
}
