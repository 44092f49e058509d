// Handles NVTX calls about the program's own locks.
#include <fathom/record.h>

#include "capture/inside/spans.h"
#include "capture/nvtx/calls.h"
#include "capture/nvtx/messages.h"
#include "capture/nvtx/ranges.h"

namespace fathom::nvtx {
namespace {

/// A lock as we know it. Freed when the program destroys it.
struct Lock {
  const Domain* domain;
  const char* name;
};

nvtx_nvtxSyncUser_t create(nvtxDomainHandle_t domain, const nvtx_nvtxSyncUserAttributes_t* given) {
  const auto* const attributes = static_cast<const nvtxSyncUserAttributes_t*>(given);
  // Null where there is no memory, which the calls below ignore.
  return new Lock{domain_of(domain), attributes == nullptr
                                         ? ""
                                         : text_of(attributes->messageType, attributes->message)};
}
void destroy(nvtx_nvtxSyncUser_t lock) { delete static_cast<Lock*>(lock); }

void acquire_start(nvtx_nvtxSyncUser_t handle) {
  const auto* const lock = static_cast<const Lock*>(handle);
  if (lock != nullptr) push(lock->domain, attributes_of(lock->domain, lock->name));
}
void acquire_done(nvtx_nvtxSyncUser_t handle) {
  const auto* const lock = static_cast<const Lock*>(handle);
  if (lock != nullptr) pop(lock->domain);
}
void releasing(nvtx_nvtxSyncUser_t handle) {
  const auto* const lock = static_cast<const Lock*>(handle);
  if (lock == nullptr || !detail::recording()) return;
  const Attributes attributes = attributes_of(lock->domain, lock->name);
  inside::note_instant(attributes.name, attributes.details, 0);
}

}  // namespace

std::span<const Call> sync_calls() {
  static const Call calls[] = {
      call<create>(NVTX_CBID_SYNC_DomainSyncUserCreate),
      call<destroy>(NVTX_CBID_SYNC_DomainSyncUserDestroy),
      call<acquire_start>(NVTX_CBID_SYNC_DomainSyncUserAcquireStart),
      call<acquire_done>(NVTX_CBID_SYNC_DomainSyncUserAcquireFailed),
      call<acquire_done>(NVTX_CBID_SYNC_DomainSyncUserAcquireSuccess),
      call<releasing>(NVTX_CBID_SYNC_DomainSyncUserReleasing),
  };
  return calls;
}

}  // namespace fathom::nvtx
