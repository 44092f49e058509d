// The names of a trace: an arena of bytes and an open-addressing table of (hash, id).
#include "store/string_pool.h"

#include <algorithm>
#include <cstring>

namespace fathom {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{256} << 10;
constexpr std::size_t kReadableBehind = 16;
constexpr std::uint64_t kPrime0 = 0xa0761d6478bd642fULL;
constexpr std::uint64_t kPrime1 = 0xe7037ed1a0b428dbULL;

std::uint64_t load64(const char* p) {
  std::uint64_t value = 0;
  std::memcpy(&value, p, sizeof value);
  return value;
}

std::uint64_t load32(const char* p) {
  std::uint32_t value = 0;
  std::memcpy(&value, p, sizeof value);
  return value;
}

/// 64×64→128-bit multiply, folded: the mixing step of wyhash (Wang Yi, public domain).
std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace

std::uint64_t hash_bytes(std::string_view bytes) {
  const char* p = bytes.data();
  std::size_t n = bytes.size();
  std::uint64_t seed = kPrime0 ^ n;
  if (n <= 16) {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    if (n >= 8) {
      a = load64(p);
      b = load64(p + n - 8);
    } else if (n >= 4) {
      a = load32(p);
      b = load32(p + n - 4);
    } else if (n > 0) {
      const auto byte = [p](std::size_t i) {
        return static_cast<std::uint64_t>(static_cast<unsigned char>(p[i]));
      };
      a = byte(0) << 16U | byte(n / 2) << 8U | byte(n - 1);
    }
    return mix(mix(a ^ kPrime1, b ^ seed), kPrime0);
  }
  const char* const last = p + n - 16;
  for (; n > 16; n -= 16, p += 16) seed = mix(load64(p) ^ kPrime1, load64(p + 8) ^ seed);
  return mix(mix(load64(last) ^ kPrime1, load64(last + 8) ^ seed), kPrime0);
}

StringPool::StringPool() : slots_(1024), mutex_(std::make_unique<std::mutex>()) { intern(""); }
StringPool::StringPool(StringPool&&) noexcept = default;
StringPool& StringPool::operator=(StringPool&&) noexcept = default;
StringPool::~StringPool() = default;

StringPool::Interned StringPool::intern(std::string_view text, std::uint64_t hash) {
  const auto tag = static_cast<std::uint32_t>(hash);
  const std::scoped_lock lock(*mutex_);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = tag & mask;
  for (; slots_[at].id != StringId::kNone; at = (at + 1) & mask) {
    if (slots_[at].hash == tag && entries_[slots_[at].id] == text) {
      return {StringId(slots_[at].id), entries_[slots_[at].id]};
    }
  }
  const StringId id(entries_.size());
  entries_.push_back(store(text));
  slots_[at] = {tag, id.value};
  if (entries_.size() * 2 > slots_.size()) rehash(slots_.size() * 4);
  return {id, entries_[id.row()]};
}

StringId StringPool::find(std::string_view text) const {
  const auto tag = static_cast<std::uint32_t>(hash_bytes(text));
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = tag & mask; slots_[at].id != StringId::kNone; at = (at + 1) & mask) {
    if (slots_[at].hash == tag && entries_[slots_[at].id] == text) return StringId(slots_[at].id);
  }
  return {};
}

std::string_view StringPool::store(std::string_view text) {
  if (text.empty()) return "";  // not null: texts are compared with memcmp
  if (static_cast<std::size_t>(free_end_ - free_begin_) < text.size()) {
    const std::size_t bytes = std::max(kChunkBytes, text.size());
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(bytes + kReadableBehind));
    free_begin_ = chunks_.back().get();
    free_end_ = free_begin_ + bytes;
  }
  char* const at = free_begin_;
  std::memcpy(at, text.data(), text.size());
  free_begin_ += text.size();
  return {at, text.size()};
}

void StringPool::rehash(std::size_t slots) {
  std::vector<Slot> old(slots);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.id == StringId::kNone) continue;
    std::size_t at = slot.hash & (slots - 1);
    while (slots_[at].id != StringId::kNone) at = (at + 1) & (slots - 1);
    slots_[at] = slot;
  }
}

}  // namespace fathom
