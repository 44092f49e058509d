// Buffers of the fake CUPTI, and the thread that returns them.
#include "tests/programs/fake_cupti_delivery.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "capture/inside/never_freed.h"
#include "tests/programs/fake_cupti_rules.h"
#include "tests/programs/fed.h"

namespace fathom::test {
namespace {

struct Buffer {
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  std::size_t used = 0;
  int incomplete = 0;
};

struct Delivery {
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  bool zeros = false;
  bool settled = false;  // the device has done all that ends by itself
  bool read = false;     // and that was taken from it
  std::set<const std::uint8_t*> seen;
  std::atomic<int> on_their_way{0};
  std::map<int, Buffer> buffers;  // of threads
};
Delivery& delivery() { return inside::never_freed<Delivery>(); }

constexpr std::size_t kFewBytes = 4096;
constexpr std::uint32_t kPerThread = 130000;

int delay_ms() {
  const char* const said = std::getenv("CUPTI_FAKE_DELIVERY_MS");
  return said == nullptr ? 0 : std::atoi(said);
}

void hand_over(CUpti_BuffersCallbackCompleteFunc complete, const Buffer& buffer) {
  const InBufferCallback inside;
  complete(nullptr, 0, buffer.bytes, buffer.size, buffer.used);
}

/// The program's signals are for its own threads.
void deliver_later(const Buffer& buffer, int ms) {
  const Fed fed;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  ++delivery().on_their_way;
  const auto body = [buffer, ms, complete = delivery().complete] {
    constexpr useconds_t kUsPerMs = 1000;
    usleep(static_cast<useconds_t>(ms) * kUsPerMs);
    hand_over(complete, buffer);
    --delivery().on_their_way;
  };
  std::thread(body).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void deliver(const Buffer& buffer) {
  if (const int ms = delay_ms(); ms > 0) {
    deliver_later(buffer, ms);
  } else {
    hand_over(delivery().complete, buffer);
  }
}

void ask_for(Buffer& buffer) {
  constexpr std::size_t kAlignment = 8;
  std::size_t most = 0;
  buffer = {};
  {
    const InBufferCallback inside;
    delivery().request(&buffer.bytes, &buffer.size, &most);
  }
  if (buffer.bytes == nullptr) broken("a request for a buffer was answered by null");
  if (reinterpret_cast<std::uintptr_t>(buffer.bytes) % kAlignment != 0)
    broken("a buffer is not aligned to 8 bytes");
  if (delivery().zeros && std::any_of(buffer.bytes, buffer.bytes + buffer.size,
                                      [](std::uint8_t byte) { return byte != 0; }))
    broken("a buffer does not hold zeros, as was promised");
  {
    const Fed fed;
    delivery().seen.insert(buffer.bytes);
  }
  if (std::getenv("CUPTI_FAKE_WHOLE") == nullptr) buffer.size = std::min(buffer.size, kFewBytes);
}

}  // namespace

void set_buffer_callbacks(CUpti_BuffersCallbackRequestFunc request,
                          CUpti_BuffersCallbackCompleteFunc complete) {
  delivery().request = request;
  delivery().complete = complete;
}

bool has_buffer_callbacks() { return delivery().request != nullptr; }

void expect_zeros(bool promised) { delivery().zeros = promised; }

bool expects_zeros() { return delivery().zeros; }

std::size_t different_buffers() { return delivery().seen.size(); }

void wait_for_deliveries() {
  constexpr useconds_t kPause = 1000;
  while (delivery().on_their_way > 0) usleep(kPause);
}

void* put_record(const void* record, std::size_t bytes, bool complete) {
  Buffer* at_hand = nullptr;
  {
    const Fed fed;
    at_hand = &delivery().buffers[fake_version() >= kPerThread ? gettid() : 0];
  }
  Buffer& buffer = *at_hand;
  if (buffer.bytes != nullptr && buffer.used + bytes > buffer.size) {
    deliver(buffer);
    buffer.bytes = nullptr;
  }
  if (buffer.bytes == nullptr) ask_for(buffer);
  void* const place = buffer.bytes + buffer.used;
  std::memcpy(place, record, bytes);
  delivery().settled = delivery().read = false;
  buffer.used += bytes;
  if (!complete) ++buffer.incomplete;
  return place;
}

void complete_record(const void* record) {
  const auto* const at = static_cast<const std::uint8_t*>(record);
  for (auto& [thread, buffer] : delivery().buffers)
    if (buffer.bytes != nullptr && at >= buffer.bytes && at < buffer.bytes + buffer.size)
      --buffer.incomplete;
}

void settle_records() { delivery().settled = true; }

void forget_records() {
  if (delivery().read) return;
  for (auto& [thread, buffer] : delivery().buffers) {
    buffer.used = 0;
    buffer.incomplete = 0;
  }
}

void flush_buffers(bool forced) {
  if (!forced && !delivery().settled && std::getenv("CUPTI_FAKE_LATE") != nullptr) return;
  delivery().read = delivery().settled;
  for (auto& [thread, buffer] : delivery().buffers) {
    if (!forced && buffer.incomplete > 0) continue;
    if (buffer.bytes != nullptr) deliver(buffer);
    buffer.bytes = nullptr;
  }
}

}  // namespace fathom::test
