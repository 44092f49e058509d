// Turns NVTX event attributes into arguments of records.
// Combinations of domain, category, colour and payload are few; each thread remembers its own.
#include "capture/nvtx/attributes.h"

#include <array>
#include <bit>
#include <cstddef>
#include <mutex>
#include <new>
#include <vector>

#include "capture/inside/attempt.h"
#include "capture/inside/never_freed.h"
#include "capture/inside/recorder.h"
#include "capture/nvtx/messages.h"
#include "capture/nvtx/per_thread.h"

namespace fathom::nvtx {
namespace {

using inside::Details;
using inside::PayloadKind;

struct Key {
  const Domain* domain = nullptr;
  std::uint32_t category = 0;
  std::uint32_t color = 0;
  bool colored = false;
  PayloadKind payload = PayloadKind::none;
  friend bool operator==(const Key&, const Key&) = default;
};

struct Shared {
  Shared() { inside::Recorder::get().hold_in_fork(lock); }
  inside::HeldInFork lock;
  std::vector<const Details*> all;
};

/// Never freed. A program with thousands of combinations has random colours; it loses them.
const Details* shared_details(const Details& wanted) {
  constexpr std::size_t kMost = 4096;
  auto& [held, all] = inside::never_freed<Shared>();
  const std::lock_guard lock(held.mutex);
  for (const Details* one : all)
    if (one->domain == wanted.domain && one->category == wanted.category &&
        one->color == wanted.color && one->colored == wanted.colored &&
        one->payload == wanted.payload)
      return one;
  if (all.size() >= kMost) return nullptr;
  all.push_back(nullptr);
  all.back() = new (std::nothrow) const Details(wanted);
  if (all.back() != nullptr) return all.back();
  all.pop_back();
  inside::count_failure();
  return nullptr;
}

struct Remembered {
  Key key;
  std::uint32_t version = UINT32_MAX;
  const Details* details = nullptr;
};
constexpr std::size_t kRemembered = 16;
using RememberedOfThread = std::array<Remembered, kRemembered>;

const Details* details_of(const Key& key) {
  if (key.domain->index == 0 && key.category == 0 && !key.colored &&
      key.payload == PayloadKind::none)
    return nullptr;
  const std::uint32_t version = category_names_version();
  const std::size_t slot =
      (key.domain->index + 3 * std::size_t{key.category} + 7 * std::size_t{key.color} +
       5 * static_cast<std::size_t>(key.payload)) %
      kRemembered;
  RememberedOfThread* const remembered = PerThread<RememberedOfThread>::get();
  const Remembered known = remembered == nullptr ? Remembered() : (*remembered)[slot];
  if (known.version == version && known.key == key) return known.details;
  const Details* const details =
      shared_details({key.domain->name, category_name(key.domain, key.category), key.color,
                      key.colored, key.payload});
  if (remembered != nullptr) (*remembered)[slot] = {key, version, details};
  return details;
}

PayloadKind payload_of(const nvtxEventAttributes_t& given, std::uint64_t& payload) {
  switch (given.payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
      payload = given.payload.ullValue;
      return PayloadKind::whole;
    case NVTX_PAYLOAD_TYPE_INT64:
      payload = static_cast<std::uint64_t>(given.payload.llValue);
      return PayloadKind::integer;
    case NVTX_PAYLOAD_TYPE_DOUBLE:
      payload = std::bit_cast<std::uint64_t>(given.payload.dValue);
      return PayloadKind::real;
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
      payload = given.payload.uiValue;
      return PayloadKind::whole;
    case NVTX_PAYLOAD_TYPE_INT32:
      payload = static_cast<std::uint64_t>(std::int64_t{given.payload.iValue});
      return PayloadKind::integer;
    case NVTX_PAYLOAD_TYPE_FLOAT:
      payload = std::bit_cast<std::uint64_t>(static_cast<double>(given.payload.fValue));
      return PayloadKind::real;
    default:
      return PayloadKind::none;
  }
}

}  // namespace

Attributes attributes_of(const Domain* domain, const char* permanent_name) {
  return {permanent_name, domain->index == 0 ? nullptr : details_of({.domain = domain}), 0};
}

Attributes attributes_of(const Domain* domain, const nvtxEventAttributes_t* attributes) {
  // The message is the last field of the first version, which all have.
  if (attributes == nullptr || attributes->size < sizeof(nvtxEventAttributes_t))
    return attributes_of(domain, "");
  Attributes result;
  Key key{.domain = domain, .category = attributes->category};
  key.colored = attributes->colorType == NVTX_COLOR_ARGB;
  if (key.colored) key.color = attributes->color;
  key.payload = payload_of(*attributes, result.payload);
  result.name = text_of(attributes->messageType, attributes->message);
  result.details = details_of(key);
  return result;
}

}  // namespace fathom::nvtx
