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
    if (!function) return;
    trace_.functions.push_back(*function);
    const Value& callers = reader_.element(row, 4);
    if (callers.kind != Value::Kind::dictionary) return;
    // Rows may share a dictionary by reference: no true one has more items than its bytes hold.
    constexpr std::uint64_t kLeastBytes = 10;
    callers_ += callers.count;
    if (callers_ > reader_.offset() / kLeastBytes) {
      wrong(offset, Repair::malformed_event, "callers");
      return;
    }
    for (std::uint32_t at = 0; at < callers.count; ++at)
      add_caller(*function, reader_.key(callers, at), reader_.item(callers, at), offset);
  }
  Trace take() { return std::move(trace_); }
  ImportLog& import() { return trace_.import; }

 private:
  std::optional<FunctionTime> wrong(std::uint64_t offset, Repair repair, std::string_view what) {
    trace_.import.add(repair, offset, what);
    return {};
  }

  /// File, line and name of a function.
  [[nodiscard]] bool is_key(const Value& key) const {
    return key.kind == Value::Kind::tuple && key.count == 3 &&
           reader_.element(key, 0).kind == Value::Kind::text &&
           reader_.element(key, 1).kind == Value::Kind::number &&
           reader_.element(key, 2).kind == Value::Kind::text;
  }
  static bool is_line(const Value& line) {
    constexpr std::int64_t kLastLine = 0xffffffff;
    return line.number >= 0 && line.number <= kLastLine;
  }
  /// Sums over a whole profile stay numbers, too.
  static bool fits(std::int64_t& sum, Duration self, Duration total) {
    constexpr std::int64_t kMost = std::int64_t{1} << 61U;
    const std::int64_t most = std::max(to_ns(self), to_ns(total));
    if (most > kMost - sum) return false;
    sum += most;
    return true;
  }

  std::optional<FunctionTime> function_of(const Value& key, const Value& row,
                                          std::uint64_t offset) {
    if (!is_key(key) || row.kind != Value::Kind::tuple || row.count != 5 ||
        reader_.element(row, 1).kind != Value::Kind::number)
      return wrong(offset, Repair::wrong_type, "function");
    const Value& file = reader_.element(key, 0);
    const Value& line = reader_.element(key, 1);
    const Value& name = reader_.element(key, 2);
    const Value& calls = reader_.element(row, 1);
    const std::optional<Duration> self = time_of(reader_.element(row, 2));
    const std::optional<Duration> total = time_of(reader_.element(row, 3));
    if (!self || !total || calls.number < 0 || !is_line(line) || !fits(time_, *self, *total))
      return wrong(offset, Repair::number_out_of_range, "function");
    FunctionTime function;
    function.file = text(reader_.text(file), offset);
    function.name = text(reader_.text(name), offset);
    function.line = static_cast<std::uint32_t>(line.number);
    function.calls = static_cast<std::uint64_t>(calls.number);
    function.self = *self;
    function.total = *total;
    function.primitive = primitive_of(reader_.element(row, 0), calls);
    return function;
  }

  /// Of cProfile a tuple: all calls come first; of profile their number.
  void add_caller(const FunctionTime& function, const Value& key, const Value& row,
                  std::uint64_t offset) {
    const bool counted = row.kind == Value::Kind::number;
    const bool timed = row.kind == Value::Kind::tuple && row.count == 4;
    if (!is_key(key) || !(counted || timed)) {
      wrong(offset, Repair::wrong_type, "caller");
      return;
    }
    const Value& calls = counted ? row : reader_.element(row, 0);
    const Value& line = reader_.element(key, 1);
    FunctionCalls made{.file = function.file, .name = function.name, .line = function.line};
    made.timed = timed;
    bool right = calls.kind == Value::Kind::number && calls.number >= 0 && is_line(line);
    if (right && timed) {
      const std::optional<Duration> self = time_of(reader_.element(row, 2));
      const std::optional<Duration> total = time_of(reader_.element(row, 3));
      right = self && total && fits(caller_time_, *self, *total);
      if (right) {
        made.self = *self;
        made.total = *total;
        made.primitive = primitive_of(reader_.element(row, 1), calls);
      }
    }
    if (!right) {
      wrong(offset, Repair::number_out_of_range, "caller");
      return;
    }
    made.calls = static_cast<std::uint64_t>(calls.number);
    made.caller_file = text(reader_.text(reader_.element(key, 0)), offset);
    made.caller_line = static_cast<std::uint32_t>(line.number);
    made.caller_name = text(reader_.text(reader_.element(key, 2)), offset);
    trace_.function_calls.push_back(made);
  }

  /// 0, which is not known, where there would be more of them than calls.
  static std::uint64_t primitive_of(const Value& primitive, const Value& calls) {
    if (primitive.kind != Value::Kind::number || primitive.number > calls.number) return 0;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, primitive.number));
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
  std::int64_t time_ = 0;         // ns of all functions so far
  std::int64_t caller_time_ = 0;  // ns of all callers so far
  std::uint64_t callers_ = 0;     // items of their dictionaries so far
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
