// Packs records and texts into a block, with its checksum.
#include "wire/block.h"

#include <algorithm>
#include <new>

#include "base/crc32.h"
#include "base/utf8.h"

namespace fathom::wire {
namespace {

std::uint64_t mix(std::uint64_t value) {
  value *= 0x9e3779b97f4a7c15U;
  return value ^ value >> 32;
}

/// Eight bytes at a time: each record looks two texts up.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = mix(text.size() + 1);
  std::uint64_t word = 0;
  while (text.size() >= sizeof word) {
    std::memcpy(&word, text.data(), sizeof word);
    hash = mix(hash ^ word);
    text.remove_prefix(sizeof word);
  }
  word = 0;
  std::memcpy(&word, text.data(), text.size());
  return mix(hash ^ word);
}

}  // namespace

Block::Block(std::unique_ptr<char[]> buffer, std::size_t capacity, std::size_t full)
    : buffer_(std::move(buffer)), capacity_(capacity), full_(full) {}

std::unique_ptr<Block> Block::make(std::size_t bytes) {
  const std::size_t full = std::clamp<std::size_t>(bytes, 512, kMaxPayload / 4);
  // The largest record, of five texts, still fits behind a block that is all but full.
  const std::size_t capacity =
      kHeaderBytes + full + 5 * (kRecordHeaderBytes + kMaxRecordBody) + 256;
  std::unique_ptr<char[]> buffer(new (std::nothrow) char[capacity]);
  if (buffer == nullptr) return nullptr;
  return std::unique_ptr<Block>(new (std::nothrow) Block(std::move(buffer), capacity, full));
}

bool Block::fits(std::size_t body, const Texts& texts) const {
  if (texts_ + texts.count > kMaxTexts) return false;
  const std::size_t needed = kRecordHeaderBytes + body +
                             texts.count * (kRecordHeaderBytes + kStringBytes) +
                             std::min(texts.bytes, texts.count * kMaxText);
  // What does not fit into an empty block goes into one of its own.
  return payload_bytes() + needed <= full_ || (records_ == 0 && size_ + needed <= capacity_);
}

std::uint32_t Block::text(std::string_view text) {
  if (text.empty()) return 0;
  text = cut_utf8(text, kMaxText);
  const std::uint64_t hash = hash_of(text);
  std::size_t at = hash % kSlots;
  for (; slots_[at].id != 0; at = (at + 1) % kSlots) {
    const Slot& slot = slots_[at];
    if (slot.hash == hash && text == std::string_view(buffer_.get() + slot.offset, slot.length))
      return slot.id;
  }
  Packer body = begin(Kind::string, kStringBytes);
  const std::uint32_t id = ++texts_;
  body << id;
  std::memcpy(body.at(), text.data(), text.size());
  const auto length = static_cast<std::uint32_t>(text.size());
  Packer(body.at() - sizeof id - sizeof(std::uint16_t))
      << static_cast<std::uint16_t>(sizeof id + length);
  slots_[at] = {hash, static_cast<std::uint32_t>(size_), length, id};
  size_ += length;
  return id;
}

Packer Block::begin(Kind kind, std::size_t body) {
  Packer record(buffer_.get() + size_);
  record << static_cast<std::uint16_t>(kind) << static_cast<std::uint16_t>(body);
  size_ += kRecordHeaderBytes + body;
  return record;
}

std::string_view Block::finish(std::uint64_t number) {
  Packer header(buffer_.get());
  header << kSync << static_cast<std::uint32_t>(payload_bytes());
  Packer(buffer_.get() + kCheckedFrom) << kRecordsBlock << std::uint16_t{0} << number;
  header << crc32({buffer_.get() + kCheckedFrom, size_ - kCheckedFrom});
  return {buffer_.get(), size_};
}

void Block::clear() {
  size_ = kHeaderBytes;
  records_ = 0;
  if (texts_ > 0) slots_.fill({});
  texts_ = 0;
}

}  // namespace fathom::wire
