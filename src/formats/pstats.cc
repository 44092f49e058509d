// What cProfile and profile write: a marshalled dictionary of functions, as pstats reads it.
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/utf8.h"
#include "formats/format.h"
#include "formats/pstats/marshal.h"

namespace fathom {
namespace {

using marshal::Damage;
using marshal::Value;

unsigned plain(std::byte type) { return std::to_integer<unsigned>(type) & 0x7fU; }

/// A dictionary whose first key is a tuple, or that is empty and ends there: no text begins so.
bool sniff(std::span<const std::byte> head) {
  if (head.size() < 2 || plain(head[0]) != '{') return false;
  const unsigned key = plain(head[1]);
  return key == ')' || key == '(' || (key == '0' && head.size() == 2);
}

/// Fills a trace with the functions of a profile.
class Maker {
 public:
  explicit Maker(marshal::Reader& reader) : reader_(reader) {}

  void add(const Value& key, const Value& row, std::uint64_t offset) {
    std::optional<FunctionTime> function = function_of(key, row, offset);
    if (function) trace_.functions.push_back(*function);
  }
  Trace take() { return std::move(trace_); }
  ImportLog& import() { return trace_.import; }

 private:
  std::optional<FunctionTime> wrong(std::uint64_t offset, Repair repair, std::string_view what) {
    trace_.import.add(repair, offset, what);
    return {};
  }

  std::optional<FunctionTime> function_of(const Value& key, const Value& row,
                                          std::uint64_t offset) {
    if (key.kind != Value::Kind::tuple || key.count != 3 || row.kind != Value::Kind::tuple ||
        row.count != 5)
      return wrong(offset, Repair::wrong_type, "function");
    const Value& file = reader_.element(key, 0);
    const Value& line = reader_.element(key, 1);
    const Value& name = reader_.element(key, 2);
    const Value& calls = reader_.element(row, 1);
    if (file.kind != Value::Kind::text || name.kind != Value::Kind::text ||
        line.kind != Value::Kind::number || calls.kind != Value::Kind::number)
      return wrong(offset, Repair::wrong_type, "function");
    const std::optional<Duration> self = time_of(reader_.element(row, 2));
    const std::optional<Duration> total = time_of(reader_.element(row, 3));
    constexpr std::int64_t kLastLine = 0xffffffff;
    if (!self || !total || calls.number < 0 || line.number < 0 || line.number > kLastLine)
      return wrong(offset, Repair::number_out_of_range, "function");
    FunctionTime function;
    function.file = text(reader_.text(file), offset);
    function.name = text(reader_.text(name), offset);
    function.line = static_cast<std::uint32_t>(line.number);
    function.calls = static_cast<std::uint64_t>(calls.number);
    function.self = *self;
    function.total = *total;
    const Value& primitive = reader_.element(row, 0);
    if (primitive.kind == Value::Kind::number && primitive.number <= calls.number)
      function.primitive = static_cast<std::uint64_t>(std::max<std::int64_t>(0, primitive.number));
    return function;
  }

  /// Seconds. Own times of a recursion may be a little below 0 by rounding.
  static std::optional<Duration> time_of(const Value& value) {
    const bool whole = value.kind == Value::Kind::number;
    if (!whole && value.kind != Value::Kind::real) return {};
    const double seconds = whole ? static_cast<double>(value.number) : value.real;
    constexpr double kLongest = 1e9;  // 30 years
    constexpr double kRounding = -1e-3;
    if (!(seconds >= kRounding && seconds <= kLongest)) return {};
    return duration_ns(std::max<std::int64_t>(0, std::llround(seconds * 1e9)));
  }

  StringId text(std::string_view text, std::uint64_t offset) {
    if (is_utf8(text)) return trace_.strings.intern(text);
    trace_.import.add(Repair::invalid_utf8, offset, text);
    return trace_.strings.intern(valid_utf8(text));
  }

  marshal::Reader& reader_;
  Trace trace_;
};

std::optional<Repair> repair_of(Damage damage) {
  switch (damage) {
    case Damage::none:
      return {};
    case Damage::truncated:
      return Repair::truncated;
    case Damage::too_deep:
      return Repair::too_deep;
    case Damage::malformed:
      break;
  }
  return Repair::malformed_event;
}

Result<Trace> read(ByteSource& source, const ReadOptions& /*options*/) {
  marshal::Reader reader(source);
  Maker maker(reader);
  if (reader.begin_dictionary()) {
    while (true) {
      const std::uint64_t offset = reader.offset();
      Value key;
      Value row;
      if (!reader.read(key) || key.kind == Value::Kind::end || !reader.read(row)) break;
      maker.add(key, row, offset);
      reader.forget();
    }
  }
  if (reader.error()) return *reader.error();
  if (const std::optional<Repair> repair = repair_of(reader.damage())) {
    maker.import().add(*repair, reader.offset(), "profile");
  } else if (!reader.at_end()) {
    maker.import().add(Repair::trailing_garbage, reader.offset(), "profile");
  }
  const std::string_view damage = source.damage();
  if (!damage.empty()) maker.import().add(Repair::decompression, reader.offset(), damage);
  Trace trace = maker.take();
  if (trace.functions.empty())
    return Error{ErrorCode::corrupt, "a profile of Python (pstats) without a function in it"};
  trace.format = "pstats";
  trace.bytes_read = reader.offset();
  return trace;
}

}  // namespace

Format pstats() {
  return {.id = "pstats",
          .title = "Profiles of Python functions, of cProfile and fathom run (*.prof, *.pstats)",
          .sniff = sniff,
          .read = read};
}

}  // namespace fathom
