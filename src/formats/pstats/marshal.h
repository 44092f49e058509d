// Python's marshal, as far as profiles use it: texts, numbers, tuples and dictionaries. Reads
// values one after the other and runs nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"

namespace fathom::marshal {

struct Value {
  enum class Kind : std::uint8_t { end, nothing, number, real, text, tuple, dictionary };
  Kind kind = Kind::nothing;
  /// Bytes; elements of a tuple, of which kMostElements are kept; items of a dictionary.
  std::uint32_t count = 0;
  std::size_t at = 0;  ///< Of a text, a tuple or a dictionary: where the reader has it.
  union {
    std::int64_t number = 0;  ///< At the limit where it is larger.
    double real;
  };
};

inline constexpr std::size_t kMostElements = 5;
inline constexpr std::size_t kMostValues = std::size_t{1} << 26U;

enum class Damage : std::uint8_t { none, truncated, malformed, too_deep };

/// Reads the source from its beginning. Holds what later values may refer to: at most a multiple of
/// what was read, and kMostValues.
class Reader {
 public:
  explicit Reader(ByteSource& source);

  /// The next value; Kind::end where a dictionary ends. False at damage, after which nothing can be
  /// read.
  bool read(Value& value) { return read(value, 0); }
  /// The same of a dictionary that is read item by item: true if one begins here.
  bool begin_dictionary();
  /// True where nothing follows.
  bool at_end();

  /// The values so far are no longer asked for.
  void forget();

  /// Valid until the next reading.
  [[nodiscard]] std::string_view text(const Value& value) const {
    return std::string_view(texts_).substr(value.at, value.count);
  }
  [[nodiscard]] const Value& element(const Value& tuple, std::size_t number) const {
    return elements_[tuple.at + number];
  }

  /// Key and value `number` of a dictionary.
  [[nodiscard]] const Value& key(const Value& dictionary, std::size_t number) const {
    return elements_[dictionary.at + 2 * number];
  }
  [[nodiscard]] const Value& item(const Value& dictionary, std::size_t number) const {
    return elements_[dictionary.at + 2 * number + 1];
  }

  [[nodiscard]] Damage damage() const { return damage_; }
  [[nodiscard]] std::uint64_t offset() const { return base_ + at_; }
  /// What went wrong with the source itself.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  bool read(Value& value, int depth);
  bool read_known(unsigned type, Value& value, int depth);
  bool read_sequence(std::uint64_t count, Value& value, int depth);
  bool read_dictionary(Value& value, int depth);
  bool read_text(std::uint64_t size, Value& value);
  bool read_printed(Value& value);
  bool read_long(Value& value);
  bool refer(const std::vector<Value>& known, Value& value);

  bool fail(Damage damage) {
    if (damage_ == Damage::none) damage_ = damage;
    return false;
  }
  bool fill();
  bool byte(unsigned& value);
  bool bytes(int count, std::uint64_t& value);
  bool skip(std::uint64_t count);

  ByteSource& source_;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t size_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::uint64_t base_ = 0;
  bool over_ = false;
  Damage damage_ = Damage::none;
  std::optional<Error> error_;

  std::string texts_;
  std::vector<Value> elements_;
  std::size_t open_items_ = 0;   // of dictionaries that are being read
  std::vector<Value> known_;     // what has a number, from Python 3.4 on
  std::vector<Value> interned_;  // texts that have one, before
  std::size_t numbers_ = 0;      // of both, at the last forget()
  std::size_t texts_kept_ = 0;
  std::size_t elements_kept_ = 0;
};

}  // namespace fathom::marshal
