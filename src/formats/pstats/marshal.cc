// The types of marshal, as Python/marshal.c writes them in all versions.
#include "formats/pstats/marshal.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <span>

namespace fathom::marshal {
namespace {

constexpr std::size_t kBuffer = std::size_t{256} << 10U;
constexpr unsigned kNumbered = 0x80;  ///< Beside the type: it can be referred to.
/// A profile needs 4.
constexpr int kDeepest = 16;
/// Of a text; names are shorter.
constexpr std::size_t kLongest = std::size_t{64} << 10U;
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

std::int64_t signed_of(std::uint64_t value, int bytes) {
  const int unused = 64 - 8 * bytes;
  return static_cast<std::int64_t>(value << static_cast<unsigned>(unused)) >> unused;
}

}  // namespace

Reader::Reader(ByteSource& source)
    : source_(source),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(read_size(source, kBuffer))),
      size_(read_size(source, kBuffer)) {}

bool Reader::fill() {
  if (over_) return false;
  base_ += end_;
  at_ = end_ = 0;
  const Result<std::size_t> got = source_.read(std::span(buffer_.get(), size_));
  if (!got) {
    error_ = got.error();
    over_ = true;
    return false;
  }
  end_ = *got;
  over_ = end_ < size_;
  return end_ > 0;
}

bool Reader::byte(unsigned& value) {
  if (at_ == end_ && !fill()) return fail(Damage::truncated);
  value = std::to_integer<unsigned>(buffer_[at_++]);
  return true;
}

bool Reader::bytes(int count, std::uint64_t& value) {
  value = 0;
  for (int at = 0; at < count; ++at) {
    unsigned next = 0;
    if (!byte(next)) return false;
    value |= static_cast<std::uint64_t>(next) << static_cast<unsigned>(8 * at);
  }
  return true;
}

bool Reader::skip(std::uint64_t count) {
  while (count > 0) {
    if (at_ == end_ && !fill()) return fail(Damage::truncated);
    const std::uint64_t step = std::min<std::uint64_t>(count, end_ - at_);
    at_ += static_cast<std::size_t>(step);
    count -= step;
  }
  return true;
}

void Reader::forget() {
  const std::size_t numbers = known_.size() + interned_.size();
  if (numbers == numbers_) {
    texts_.resize(texts_kept_);
    elements_.resize(elements_kept_);
  }
  numbers_ = numbers;
  texts_kept_ = texts_.size();
  elements_kept_ = elements_.size();
}

bool Reader::at_end() { return at_ == end_ && !fill(); }

bool Reader::begin_dictionary() {
  unsigned type = 0;
  if (!byte(type)) return false;
  if ((type & ~kNumbered) != '{') return fail(Damage::malformed);
  if ((type & kNumbered) != 0) known_.emplace_back();  // nothing inside refers to it
  return true;
}

bool Reader::read(Value& value, int depth) {
  unsigned type = 0;
  if (!byte(type)) return false;
  if (depth > kDeepest) return fail(Damage::too_deep);
  if (known_.size() + interned_.size() + elements_.size() + open_items_ > kMostValues)
    return fail(Damage::malformed);
  // Its number comes before those of what it holds.
  const std::size_t number = known_.size();
  const bool numbered = (type & kNumbered) != 0;
  if (numbered) known_.emplace_back();
  value = Value();
  if (!read_known(type & ~kNumbered, value, depth)) return false;
  if (numbered) known_[number] = value;
  return true;
}

bool Reader::read_known(unsigned type, Value& value, int depth) {
  std::uint64_t number = 0;
  switch (type) {
    case '0':
      value.kind = Value::Kind::end;
      return true;
    case 'N':
    case '.':
    case 'S':
      return true;
    case 'F':
    case 'T':
      value.kind = Value::Kind::number;
      value.number = type == 'T' ? 1 : 0;
      return true;
    case 'i':
    case 'I': {
      const int size = type == 'i' ? 4 : 8;
      if (!bytes(size, number)) return false;
      value.kind = Value::Kind::number;
      value.number = signed_of(number, size);
      return true;
    }
    case 'l':
      return read_long(value);
    case 'g':
      if (!bytes(8, number)) return false;
      value.kind = Value::Kind::real;
      value.real = std::bit_cast<double>(number);
      return true;
    case 'f':
      return read_printed(value);
    case 'y':
      return skip(16);
    case 's':
    case 't':
    case 'u':
    case 'a':
    case 'A':
      if (!bytes(4, number) || !read_text(number, value)) return false;
      if (type == 't') interned_.push_back(value);
      return true;
    case 'z':
    case 'Z':
      return bytes(1, number) && read_text(number, value);
    case '(':
    case '[':
    case '<':
    case '>':
      return bytes(4, number) && read_sequence(number, value, depth);
    case ')':
      return bytes(1, number) && read_sequence(number, value, depth);
    case '{':
      return read_dictionary(value, depth);
    case 'r':
      return refer(known_, value);
    case 'R':
      return refer(interned_, value);
    default:
      --at_;
      return fail(Damage::malformed);
  }
}

bool Reader::refer(const std::vector<Value>& known, Value& value) {
  std::uint64_t number = 0;
  if (!bytes(4, number)) return false;
  if (number >= known.size()) return fail(Damage::malformed);
  value = known[static_cast<std::size_t>(number)];
  return true;
}

bool Reader::read_text(std::uint64_t size, Value& value) {
  value.kind = Value::Kind::text;
  value.at = texts_.size();
  std::uint64_t left = std::min<std::uint64_t>(size, kLongest);
  const std::uint64_t cut = size - left;
  while (left > 0) {
    if (at_ == end_ && !fill()) return fail(Damage::truncated);
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(left, end_ - at_));
    texts_.append(reinterpret_cast<const char*>(buffer_.get() + at_), step);
    at_ += step;
    left -= step;
  }
  value.count = static_cast<std::uint32_t>(texts_.size() - value.at);
  return skip(cut);
}

bool Reader::read_printed(Value& value) {
  unsigned size = 0;
  if (!byte(size)) return false;
  std::array<char, 256> text{};
  double real = 0;
  for (unsigned at = 0; at < size; ++at) {
    unsigned next = 0;
    if (!byte(next)) return false;
    text[at] = static_cast<char>(next);
  }
  const char* const end = text.data() + size;
  const auto [stop, error] = std::from_chars(text.data(), end, real);
  if (error != std::errc() || stop != end) return fail(Damage::malformed);
  value.kind = Value::Kind::real;
  value.real = real;
  return true;
}

bool Reader::read_long(Value& value) {
  std::uint64_t size = 0;
  if (!bytes(4, size)) return false;
  const std::int64_t digits = signed_of(size, 4);
  constexpr unsigned kBits = 15;
  bool large = false;
  for (std::int64_t at = 0; at < (digits < 0 ? -digits : digits); ++at) {
    std::uint64_t digit = 0;
    if (!bytes(2, digit)) return false;
    if (digit >> kBits != 0) return fail(Damage::malformed);
    if (at < 4) {
      value.number |= static_cast<std::int64_t>(digit << (kBits * static_cast<unsigned>(at)));
    } else if (digit != 0) {
      large = true;
    }
  }
  value.kind = Value::Kind::number;
  if (large) value.number = kLargest;
  if (digits < 0) value.number = -value.number;
  return true;
}

bool Reader::read_sequence(std::uint64_t count, Value& value, int depth) {
  value.kind = Value::Kind::tuple;
  value.count = static_cast<std::uint32_t>(count);
  std::array<Value, kMostElements> kept{};
  for (std::uint64_t at = 0; at < count; ++at) {
    Value element;
    if (!read(element, depth + 1)) return false;
    if (at < kMostElements) kept[static_cast<std::size_t>(at)] = element;
  }
  value.at = elements_.size();
  const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(count, kMostElements));
  elements_.insert(elements_.end(), kept.data(), kept.data() + some);
  return true;
}

bool Reader::read_dictionary(Value& value, int depth) {
  value.kind = Value::Kind::dictionary;
  std::vector<Value> items;
  while (true) {
    Value key;
    if (!read(key, depth + 1)) return false;
    if (key.kind == Value::Kind::end) break;
    Value item;
    if (!read(item, depth + 1)) return false;
    items.push_back(key);
    items.push_back(item);
    open_items_ += 2;
  }
  open_items_ -= items.size();
  value.count = static_cast<std::uint32_t>(items.size() / 2);
  value.at = elements_.size();
  elements_.insert(elements_.end(), items.begin(), items.end());
  return true;
}

}  // namespace fathom::marshal
