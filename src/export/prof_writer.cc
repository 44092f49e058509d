// prof: functions with their callers as cProfile's dump_stats writes them, which pstats and
// snakeviz read: a dictionary in Python's marshal.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "export/write_buffer.h"
#include "export/writer.h"

namespace fathom {
namespace prof_format {
namespace {

/// File, line and name, by which pstats knows a function.
using Key = std::tuple<std::string_view, std::uint32_t, std::string_view>;

/// Calls of a function, or of a function by one that called it.
struct Calls {
  std::uint64_t calls = 0;
  std::uint64_t primitive = 0;
  Duration self{};
  Duration total{};
  bool timed = true;

  template <typename Row>
  void add(const Row& row) {
    calls += row.calls;
    // Where it is not known, as of parts of a run, all calls count as primitive.
    primitive += row.primitive == 0 ? row.calls : std::min(row.primitive, row.calls);
    self += row.self;
    total += row.total;
  }
};

struct Function {
  Calls sum;
  std::map<Key, Calls> callers;
};
using Functions = std::map<Key, Function>;

/// What the interpreter itself has is nowhere: "~" for pstats. What such a file held stays: the
/// module profile has "" there.
Key key_of(const Trace& trace, StringId file, std::uint32_t line, StringId name) {
  const std::string_view path = trace.text(file);
  const bool nowhere = path.empty() && trace.format != "pstats";
  return {nowhere ? std::string_view("~") : path, line, trace.text(name)};
}

Functions functions_of(const Trace& trace, const WriteSelection& selection) {
  Functions functions;
  for (const FunctionTime& row : selection.functions ? *selection.functions : trace.functions)
    functions[key_of(trace, row.file, row.line, row.name)].sum.add(row);
  if (selection.window) return functions;  // callers are known of the whole run alone
  for (const FunctionCalls& row : trace.function_calls) {
    const auto function = functions.find(key_of(trace, row.file, row.line, row.name));
    if (function == functions.end()) continue;
    Calls& calls =
        function->second.callers[key_of(trace, row.caller_file, row.caller_line, row.caller_name)];
    calls.add(row);
    calls.timed = calls.timed && row.timed;
  }
  return functions;
}

/// The types of marshal that Python 2 and 3 read.
class Marshal {
 public:
  explicit Marshal(ByteSink& sink) : out_(sink) {}

  void begin_dictionary() { out_.character('{'); }
  void end_dictionary() { out_.character('0'); }
  /// Its elements follow.
  void tuple(std::uint32_t count) {
    out_.character('(');
    bytes(count, 4);
  }
  void text(std::string_view value) {
    out_.character('u');
    bytes(value.size(), 4);
    out_.text(value);
  }
  void number(std::uint64_t value) {
    if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max())) {
      out_.character('i');
      bytes(value, 4);
      return;
    }
    // A long one has digits of 15 bits, the lowest first.
    constexpr unsigned kBits = 15;
    std::uint64_t digits = 0;
    for (std::uint64_t rest = value; rest > 0; rest >>= kBits) ++digits;
    out_.character('l');
    bytes(digits, 4);
    for (std::uint64_t rest = value; rest > 0; rest >>= kBits)
      bytes(rest & ((std::uint64_t{1} << kBits) - 1), 2);
  }
  void seconds(Duration time) {
    out_.character('g');
    bytes(std::bit_cast<std::uint64_t>(static_cast<double>(to_ns(time)) / 1e9), 8);
  }
  void key(const Key& key) {
    tuple(3);
    text(std::get<0>(key));
    number(std::get<1>(key));
    text(std::get<2>(key));
  }

  [[nodiscard]] bool stopped() const { return out_.stopped(); }
  [[nodiscard]] std::uint64_t written() const { return out_.written(); }
  Result<void> finish() { return out_.finish(); }

 private:
  void bytes(std::uint64_t value, int count) {
    for (int at = 0; at < count; ++at, value >>= 8U) out_.character(static_cast<char>(value));
  }

  WriteBuffer out_;
};

/// Of a caller all calls come first, of a function the primitive ones.
void write_caller(const Calls& calls, Marshal& out) {
  if (!calls.timed) return out.number(calls.calls);
  out.tuple(4);
  out.number(calls.calls);
  out.number(calls.primitive);
  out.seconds(calls.self);
  out.seconds(calls.total);
}

void write_function(const Function& function, Marshal& out) {
  const Calls& sum = function.sum;
  out.tuple(5);
  out.number(sum.primitive);
  out.number(sum.calls);
  out.seconds(sum.self);
  out.seconds(sum.total);
  out.begin_dictionary();
  for (const auto& [caller, calls] : function.callers) {
    out.key(caller);
    write_caller(calls, out);
  }
  out.end_dictionary();
}

Result<WriteCounts> write(const Trace& trace, const WriteSelection& selection, ByteSink& sink) {
  WriteCounts counts;
  Marshal out(sink);
  out.begin_dictionary();
  for (const auto& [key, function] : functions_of(trace, selection)) {
    if (out.stopped()) break;
    out.key(key);
    write_function(function, out);
    ++counts.events;
  }
  out.end_dictionary();
  return finish(out, counts);
}

constexpr std::string_view kExtensions[] = {".prof", ".pstats"};

}  // namespace
}  // namespace prof_format

TraceWriter prof_writer() {
  return {.id = "prof",
          .title = "Functions with calls, times and callers, for pstats and snakeviz",
          .writes = WritesStacks::functions,
          .extensions = prof_format::kExtensions,
          .write = prof_format::write};
}

}  // namespace fathom
