// A program with NVTX that allocates nothing itself: what fails is the library that it loads.
#include <cstdlib>

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtSync.h>
#include <pthread.h>
#include <unistd.h>

#include "tests/programs/starved.h"
#include "tests/programs/starving.h"

namespace {

nvtxEventAttributes_t attributes(const char* message) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = message;
  return event;
}

void push_deep(nvtxDomainHandle_t domain, int depth) {
  const nvtxEventAttributes_t event = attributes("nested");
  nvtxDomainRangePushEx(domain, &event);
  if (depth > 1) push_deep(domain, depth - 1);
  nvtxDomainRangePop(domain);
}

void annotate_all() {
  nvtxNameCategoryA(7, "io");
  for (const char* const name : {"library", "another library", "a third library"}) {
    nvtxDomainHandle_t domain = nvtxDomainCreateA(name);
    nvtxDomainNameCategoryA(domain, 7, "kernels");
    push_deep(domain, 40);
    nvtxStringHandle_t registered = nvtxDomainRegisterStringW(domain, L"registered, and long");
    nvtxEventAttributes_t event = attributes("");
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = registered;
    event.category = 7;
    event.colorType = NVTX_COLOR_ARGB;
    event.color = 0xff00ff80;
    event.payloadType = NVTX_PAYLOAD_TYPE_INT32;
    event.payload.iValue = -5;
    nvtxDomainMarkEx(domain, &event);
    nvtxDomainRangeEnd(domain, nvtxDomainRangeStartEx(domain, &event));
    nvtxSyncUserAttributes_t lock{};
    lock.version = NVTX_VERSION;
    lock.size = sizeof lock;
    lock.messageType = NVTX_MESSAGE_TYPE_ASCII;
    lock.message.ascii = "queue lock";
    const nvtxSyncUser_t user = nvtxDomainSyncUserCreate(domain, &lock);
    nvtxDomainSyncUserAcquireStart(user);
    nvtxDomainSyncUserAcquireSuccess(user);
    nvtxDomainSyncUserReleasing(user);
    nvtxDomainSyncUserDestroy(user);
  }
  nvtxRangeId_t open[40];
  for (nvtxRangeId_t& range : open) range = nvtxRangeStartW(L"started \u20ac, of a longer name");
  for (const nvtxRangeId_t range : open) nvtxRangeEnd(range);
  nvtxRangePushA("pushed");
  nvtxMarkW(L"mark");
  nvtxRangePop();
  nvtxNameOsThreadA(static_cast<uint32_t>(gettid()), "a thread of a name that is not short");
}

void* in_thread(void* /*unused*/) {
  annotate_all();
  return nullptr;
}

}  // namespace

int main() {
  // The program's NVTX loads the library itself, by its own first call.
  {
    const fathom::test::Fed fed;
    nvtxInitialize(nullptr);
  }
  fathom::test::starve();
  annotate_all();
  pthread_t thread{};
  {
    const fathom::test::Fed fed;
    if (pthread_create(&thread, nullptr, in_thread, nullptr) != 0) std::_Exit(3);
  }
  pthread_join(thread, nullptr);
  return fathom::test::kStarvedExit;
}
