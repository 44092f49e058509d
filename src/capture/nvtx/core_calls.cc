// Marks and ranges, with and without a domain.
#include <fathom/record.h>
#include <unistd.h>

#include "capture/inside/recorder.h"
#include "capture/inside/spans.h"
#include "capture/inside/texts.h"
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
      call(NVTX_CBID_CORE_MarkEx, mark_ex),
      call(NVTX_CBID_CORE_MarkA, mark_text<char>),
      call(NVTX_CBID_CORE_MarkW, mark_text<wchar_t>),
      call(NVTX_CBID_CORE_RangeStartEx, start_ex),
      call(NVTX_CBID_CORE_RangeStartA, start_text<char>),
      call(NVTX_CBID_CORE_RangeStartW, start_text<wchar_t>),
      call(NVTX_CBID_CORE_RangeEnd, range_end),
      call(NVTX_CBID_CORE_RangePushEx, push_ex),
      call(NVTX_CBID_CORE_RangePushA, push_text<char>),
      call(NVTX_CBID_CORE_RangePushW, push_text<wchar_t>),
      call(NVTX_CBID_CORE_RangePop, range_pop),
      call(NVTX_CBID_CORE_NameCategoryA, category<char>),
      call(NVTX_CBID_CORE_NameCategoryW, category<wchar_t>),
      call(NVTX_CBID_CORE_NameOsThreadA, thread<char>),
      call(NVTX_CBID_CORE_NameOsThreadW, thread<wchar_t>),
  };
  return calls;
}

std::span<const Call> core2_calls() {
  static const Call calls[] = {
      call(NVTX_CBID_CORE2_DomainMarkEx, domain_mark),
      call(NVTX_CBID_CORE2_DomainRangeStartEx, domain_start),
      call(NVTX_CBID_CORE2_DomainRangeEnd, domain_end),
      call(NVTX_CBID_CORE2_DomainRangePushEx, domain_push),
      call(NVTX_CBID_CORE2_DomainRangePop, domain_pop),
      call(NVTX_CBID_CORE2_DomainResourceCreate, resource_create),
      call(NVTX_CBID_CORE2_DomainResourceDestroy, resource_destroy),
      call(NVTX_CBID_CORE2_DomainNameCategoryA, domain_category<char>),
      call(NVTX_CBID_CORE2_DomainNameCategoryW, domain_category<wchar_t>),
      call(NVTX_CBID_CORE2_DomainRegisterStringA, register_string<char>),
      call(NVTX_CBID_CORE2_DomainRegisterStringW, register_string<wchar_t>),
      call(NVTX_CBID_CORE2_DomainCreateA, create<char>),
      call(NVTX_CBID_CORE2_DomainCreateW, create<wchar_t>),
      call(NVTX_CBID_CORE2_DomainDestroy, destroy),
      call(NVTX_CBID_CORE2_Initialize, initialize),
  };
  return calls;
}

}  // namespace fathom::nvtx
