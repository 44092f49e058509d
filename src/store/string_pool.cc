// The names of a trace: shards by hash, each an arena of bytes and a table of (hash, id).
#include "store/string_pool.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <span>
#include <vector>

#include "base/once.h"

namespace fathom {
namespace {

constexpr std::size_t kFirstChunkBytes = 192;
constexpr std::size_t kSecondChunkBytes = std::size_t{1} << 10;
constexpr std::size_t kLastChunkBytes = std::size_t{256} << 10;
constexpr std::size_t kReadableBehind = 16;
constexpr unsigned kShardShift = 58;  // of the hash
constexpr std::size_t kShards = std::size_t{1} << (64 - kShardShift);
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

/// The strings whose hashes begin alike, so that threads seldom wait for each other. Its table is
/// ordered by hash: growing walks the old and the new one from front to back. The first table and
/// the first chunk of bytes are part of it: most traces have few names.
class alignas(64) StringPool::Shard {
 public:
  Interned intern(std::string_view text, std::uint64_t hash, AppendList<std::string_view>& texts) {
    const std::scoped_lock lock(mutex_);
    const std::uint32_t tag = tag_of(hash);
    std::size_t at = find(text, tag, texts);
    if (slots_[at].id == StringId::kNone) {
      if (++used_ * 3 > slots_.size() * 2) {
        grow();
        at = find(text, tag, texts);
      }
      slots_[at] = {tag, static_cast<std::uint32_t>(texts.push_back(store(text)))};
    }
    return {StringId(slots_[at].id), texts[slots_[at].id]};
  }

  /// Adds text `id`, which it does not hold yet. Not while others intern.
  void adopt(std::uint64_t hash, std::uint32_t id) {
    if (++used_ * 3 > slots_.size() * 2) grow();
    const std::uint32_t tag = tag_of(hash);
    std::size_t at = home_of(tag);
    while (slots_[at].id != StringId::kNone) at = next(at);
    slots_[at] = {tag, id};
  }

  void prefetch(std::uint64_t hash) const {
    // Table and shift may belong to different sizes while another thread grows the table; then the
    // line is of no use, and does no harm.
    const Slot* const table = table_.load(std::memory_order_relaxed);
    __builtin_prefetch(table + home_of(tag_of(hash)), 1);
  }

  [[nodiscard]] StringId find(std::string_view text, std::uint64_t hash,
                              const AppendList<std::string_view>& texts) const {
    StringId id;
    id.value = slots_[find(text, tag_of(hash), texts)].id;
    return id;
  }

 private:
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t id = StringId::kNone;
  };

  /// Bits of the hash other than those that chose the shard.
  static std::uint32_t tag_of(std::uint64_t hash) {
    return static_cast<std::uint32_t>(hash >> 24U);
  }

  [[nodiscard]] std::size_t home_of(std::uint32_t tag) const {
    return tag >> tag_shift_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }

  /// The slot that holds `text`, or the free one where it belongs.
  [[nodiscard]] std::size_t find(std::string_view text, std::uint32_t tag,
                                 const AppendList<std::string_view>& texts) const {
    std::size_t at = home_of(tag);
    for (; slots_[at].id != StringId::kNone; at = next(at)) {
      if (slots_[at].tag == tag && texts[slots_[at].id] == text) break;
    }
    return at;
  }

  void grow() {
    std::vector<Slot> larger(slots_.size() * 2);
    const std::span<const Slot> old = slots_;
    slots_ = larger;
    table_.store(slots_.data(), std::memory_order_relaxed);
    tag_shift_.fetch_sub(1, std::memory_order_relaxed);
    for (const Slot& slot : old) {
      if (slot.id == StringId::kNone) continue;
      std::size_t at = home_of(slot.tag);
      while (slots_[at].id != StringId::kNone) at = next(at);
      slots_[at] = slot;
    }
    held_slots_ = std::move(larger);
  }

  std::string_view store(std::string_view text) {
    if (text.empty()) return "";  // not null: texts are compared with memcmp
    if (static_cast<std::size_t>(free_end_ - free_begin_) < text.size()) {
      const std::size_t bytes = std::max(next_chunk_bytes_, text.size());
      next_chunk_bytes_ = std::min(next_chunk_bytes_ * 2, kLastChunkBytes);
      chunks_.push_back(std::make_unique_for_overwrite<char[]>(bytes + kReadableBehind));
      free_begin_ = chunks_.back().get();
      free_end_ = free_begin_ + bytes;
    }
    char* const at = free_begin_;
    std::memcpy(at, text.data(), text.size());
    free_begin_ += text.size();
    return {at, text.size()};
  }

  static constexpr unsigned kFirstSlotBits = 3;

  std::mutex mutex_;
  std::array<Slot, std::size_t{1} << kFirstSlotBits> first_slots_;
  std::vector<Slot> held_slots_;
  std::span<Slot> slots_ = first_slots_;                   // open addressing, a power of two
  std::atomic<unsigned> tag_shift_ = 32 - kFirstSlotBits;  // a slot's home is the rest of its tag
  std::atomic<const Slot*> table_ = slots_.data();         // for prefetch(), which takes no lock
  std::size_t used_ = 0;
  std::array<char, kFirstChunkBytes + kReadableBehind> first_chunk_;
  std::vector<std::unique_ptr<char[]>> chunks_;
  std::size_t next_chunk_bytes_ = kSecondChunkBytes;
  char* free_begin_ = first_chunk_.data();
  char* free_end_ = free_begin_ + kFirstChunkBytes;
};

struct StringPool::Adopted {
  Column<char> bytes;
  std::size_t texts = 0;
  Once indexed;
};

StringPool::StringPool()
    : texts_(std::make_unique<AppendList<std::string_view>>()),
      shards_(std::make_unique<Shard[]>(kShards)) {
  intern("");
}
StringPool::StringPool(StringPool&&) noexcept = default;
StringPool& StringPool::operator=(StringPool&&) noexcept = default;
StringPool::~StringPool() = default;

std::optional<StringPool> StringPool::of_texts(Column<char> bytes,
                                               std::span<const std::uint32_t> lengths) {
  std::size_t left = bytes.size();
  if (lengths.empty() || lengths.front() != 0 || left < kReadableBehind) return std::nullopt;
  left -= kReadableBehind;
  StringPool pool;
  const char* at = bytes.data();
  for (const std::uint32_t length : lengths.subspan(1)) {
    if (length > left) return std::nullopt;
    pool.texts_->push_back({at, length});
    at += length;
    left -= length;
  }
  if (left != 0) return std::nullopt;
  pool.adopted_ = std::make_unique<Adopted>();
  pool.adopted_->bytes = std::move(bytes);
  pool.adopted_->texts = lengths.size();
  return pool;
}

void StringPool::index_adopted() const {
  adopted_->indexed.call([this] {
    for (std::uint32_t id = 1; id < adopted_->texts; ++id) {
      const std::uint64_t hash = hash_bytes((*texts_)[id]);
      shards_[hash >> kShardShift].adopt(hash, id);
    }
  });
}

StringPool::Interned StringPool::intern(std::string_view text, std::uint64_t hash) {
  if (adopted_) index_adopted();
  return shards_[hash >> kShardShift].intern(text, hash, *texts_);
}

void StringPool::prefetch(std::uint64_t hash) const { shards_[hash >> kShardShift].prefetch(hash); }

StringId StringPool::find(std::string_view text) const {
  if (adopted_) index_adopted();
  const std::uint64_t hash = hash_bytes(text);
  return shards_[hash >> kShardShift].find(text, hash, *texts_);
}

}  // namespace fathom
