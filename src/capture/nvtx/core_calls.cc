// Handles NVTX calls for marks and ranges, with and without a domain.
#include <fathom/record.h>
#include <unistd.h>

#include "capture/inside/recorder.h"
#include "capture/inside/spans.h"
#include "capture/inside/text_table.h"
#include "capture/nvtx/calls.h"
#include "capture/nvtx/messages.h"
#include "capture/nvtx/ranges.h"
#include "capture/nvtx/resources.h"

namespace fathom::nvtx {
namespace {

void mark(const Attributes& attributes) {
  if (!detail::recording()) return;
  inside::note_instant(attributes.name, attributes.details, attributes.payload);
}

template <typename Message>
Attributes plain(const Message* message) {
  return {text_of(message), nullptr, 0};
}

// --- the default domain

void mark_ex(const nvtxEventAttributes_t* event) { mark(attributes_of(domain_of(nullptr), event)); }
template <typename Message>
void mark_text(const Message* message) {
  mark(plain(message));
}
nvtxRangeId_t start_ex(const nvtxEventAttributes_t* event) {
  return start(attributes_of(domain_of(nullptr), event));
}
template <typename Message>
nvtxRangeId_t start_text(const Message* message) {
  return start(plain(message));
}
void range_end(nvtxRangeId_t id) { end(id); }
int push_ex(const nvtxEventAttributes_t* event) {
  const Domain* const domain = domain_of(nullptr);
  return push(domain, attributes_of(domain, event));
}
template <typename Message>
int push_text(const Message* message) {
  return push(domain_of(nullptr), plain(message));
}
int range_pop() { return pop(domain_of(nullptr)); }
template <typename Message>
void category(std::uint32_t number, const Message* name) {
  name_category(domain_of(nullptr), number, text_of(name));
}
template <typename Message>
void thread(std::uint32_t tid, const Message* name) {
  inside::Recorder::get().name_thread(tid, text_of(name));
}

// --- with a domain

void domain_mark(nvtxDomainHandle_t handle, const nvtxEventAttributes_t* event) {
  mark(attributes_of(domain_of(handle), event));
}
nvtxRangeId_t domain_start(nvtxDomainHandle_t handle, const nvtxEventAttributes_t* event) {
  return start(attributes_of(domain_of(handle), event));
}
void domain_end(nvtxDomainHandle_t /*handle*/, nvtxRangeId_t id) { end(id); }
int domain_push(nvtxDomainHandle_t handle, const nvtxEventAttributes_t* event) {
  const Domain* const domain = domain_of(handle);
  return push(domain, attributes_of(domain, event));
}
int domain_pop(nvtxDomainHandle_t handle) { return pop(domain_of(handle)); }
template <typename Message>
void domain_category(nvtxDomainHandle_t handle, std::uint32_t number, const Message* name) {
  name_category(domain_of(handle), number, text_of(name));
}
template <typename Message>
nvtxStringHandle_t register_string(nvtxDomainHandle_t /*handle*/, const Message* text) {
  return reinterpret_cast<nvtxStringHandle_t>(const_cast<char*>(text_of(text)));
}
template <typename Message>
nvtxDomainHandle_t create(const Message* name) {
  return reinterpret_cast<nvtxDomainHandle_t>(domain_named(text_of(name)));
}
/// Ranges of the domain may still be on their way to the file.
void destroy(nvtxDomainHandle_t /*handle*/) {}
void initialize(const void* /*reserved*/) {}

nvtxResourceHandle_t resource_create(nvtxDomainHandle_t /*handle*/,
                                     nvtxResourceAttributes_t* attributes) {
  return name_resource(attributes);
}
void resource_destroy(nvtxResourceHandle_t /*resource*/) {}

}  // namespace

std::span<const Call> core_calls() {
  static const Call calls[] = {
      call<mark_ex>(NVTX_CBID_CORE_MarkEx),
      call<mark_text<char>>(NVTX_CBID_CORE_MarkA),
      call<mark_text<wchar_t>>(NVTX_CBID_CORE_MarkW),
      call<start_ex>(NVTX_CBID_CORE_RangeStartEx),
      call<start_text<char>>(NVTX_CBID_CORE_RangeStartA),
      call<start_text<wchar_t>>(NVTX_CBID_CORE_RangeStartW),
      call<range_end>(NVTX_CBID_CORE_RangeEnd),
      call<push_ex>(NVTX_CBID_CORE_RangePushEx),
      call<push_text<char>>(NVTX_CBID_CORE_RangePushA),
      call<push_text<wchar_t>>(NVTX_CBID_CORE_RangePushW),
      call<range_pop>(NVTX_CBID_CORE_RangePop),
      call<category<char>>(NVTX_CBID_CORE_NameCategoryA),
      call<category<wchar_t>>(NVTX_CBID_CORE_NameCategoryW),
      call<thread<char>>(NVTX_CBID_CORE_NameOsThreadA),
      call<thread<wchar_t>>(NVTX_CBID_CORE_NameOsThreadW),
  };
  return calls;
}

std::span<const Call> core2_calls() {
  static const Call calls[] = {
      call<domain_mark>(NVTX_CBID_CORE2_DomainMarkEx),
      call<domain_start>(NVTX_CBID_CORE2_DomainRangeStartEx),
      call<domain_end>(NVTX_CBID_CORE2_DomainRangeEnd),
      call<domain_push>(NVTX_CBID_CORE2_DomainRangePushEx),
      call<domain_pop>(NVTX_CBID_CORE2_DomainRangePop),
      call<resource_create>(NVTX_CBID_CORE2_DomainResourceCreate),
      call<resource_destroy>(NVTX_CBID_CORE2_DomainResourceDestroy),
      call<domain_category<char>>(NVTX_CBID_CORE2_DomainNameCategoryA),
      call<domain_category<wchar_t>>(NVTX_CBID_CORE2_DomainNameCategoryW),
      call<register_string<char>>(NVTX_CBID_CORE2_DomainRegisterStringA),
      call<register_string<wchar_t>>(NVTX_CBID_CORE2_DomainRegisterStringW),
      call<create<char>>(NVTX_CBID_CORE2_DomainCreateA),
      call<create<wchar_t>>(NVTX_CBID_CORE2_DomainCreateW),
      call<destroy>(NVTX_CBID_CORE2_DomainDestroy),
      call<initialize>(NVTX_CBID_CORE2_Initialize),
  };
  return calls;
}

}  // namespace fathom::nvtx
