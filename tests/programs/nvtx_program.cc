// A program with NVTX, for the tests of the injection: what it does is named by its argument.
#include <cstdio>
#include <cstring>
#include <string_view>
#include <thread>

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtSync.h>
#include <unistd.h>

namespace {

nvtxEventAttributes_t attributes(const char* message) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = message;
  return event;
}

/// 0 if the depths are as NVTX promises.
int ranges() {
  int wrong = 0;
  wrong += nvtxRangePushA("outer") != 0;
  char reused[16] = "first";
  wrong += nvtxRangePushA(reused) != 1;
  wrong += nvtxRangePop() != 1;
  std::strcpy(reused, "second");
  wrong += nvtxRangePushA(reused) != 1;
  wrong += nvtxRangePop() != 1;
  wrong += nvtxRangePushW(L"wide \u00e9\u20ac") != 1;
  nvtxMarkA("mark");
  wrong += nvtxRangePop() != 1;
  wrong += nvtxRangePop() != 0;
  wrong += nvtxRangePop() >= 0;  // nothing is left

  const nvtxRangeId_t one = nvtxRangeStartA("started");
  const nvtxRangeId_t other = nvtxRangeStartW(L"elsewhere");
  wrong += one == other;
  std::thread([other] { nvtxRangeEnd(other); }).join();
  nvtxRangeEnd(one);
  nvtxRangeEnd(one);  // a second time: ignored
  return wrong;
}

int attributed() {
  nvtxNameCategoryA(7, "io");
  nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
  nvtxDomainNameCategoryA(domain, 7, "kernels");
  nvtxStringHandle_t registered = nvtxDomainRegisterStringA(domain, "registered");

  nvtxEventAttributes_t event = attributes("read");
  event.category = 7;
  event.colorType = NVTX_COLOR_ARGB;
  event.color = 0xff00ff80;
  event.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  event.payload.dValue = 0.25;
  nvtxRangePushEx(&event);

  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = registered;
  event.payloadType = NVTX_PAYLOAD_TYPE_INT32;
  event.payload.iValue = -5;
  const int depth = nvtxDomainRangePushEx(domain, &event);
  nvtxDomainMarkEx(domain, &event);
  nvtxRangePop();  // of the other domain, which lies within
  const int after = nvtxDomainRangePop(domain);

  event = attributes("started there");
  event.category = 9;
  const nvtxRangeId_t id = nvtxDomainRangeStartEx(domain, &event);
  nvtxDomainRangeEnd(domain, id);
  nvtxDomainDestroy(domain);
  return depth != 0 || after != 0;
}

int names() {
  nvtxNameOsThreadA(static_cast<uint32_t>(gettid()), "main loop");
  nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
  nvtxResourceAttributes_t resource{};
  resource.version = NVTX_VERSION;
  resource.size = NVTX_RESOURCE_ATTRIB_STRUCT_SIZE;
  resource.identifierType = NVTX_RESOURCE_TYPE_GENERIC_POINTER;
  resource.identifier.ullValue = 0x1234;
  resource.messageType = NVTX_MESSAGE_TYPE_ASCII;
  resource.message.ascii = "arena";
  nvtxDomainResourceDestroy(nvtxDomainResourceCreate(domain, &resource));

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
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "ranges") return ranges();
  if (what == "attributed") return attributed();
  if (what == "names") return names();
  if (what == "leaves") _exit(ranges());
  std::fprintf(stderr, "%s: what?\n", argv[0]);
  return 2;
}
