// Makes rows of frames and samples, and keeps sums within 64 bits.
#include "formats/stacks/stack_maker.h"

#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "base/byte_source.h"
#include "base/utf8.h"

namespace fathom {
namespace {

/// Of a sum of weights, and of a time: 73 years in ns.
constexpr std::int64_t kLargest = std::int64_t{1} << 61U;
/// Sums of decimal fractions miss whole numbers by less.
constexpr double kAlmost = 1e-6;
constexpr std::size_t kPiece = std::size_t{1} << 20U;

}  // namespace

Result<std::string> read_whole(ByteSource& source) {
  std::string text;
  const std::size_t piece = read_size(source, kPiece);
  while (true) {
    const std::size_t before = text.size();
    text.resize(before + piece);
    const Result<std::size_t> got =
        source.read(std::as_writable_bytes(std::span(text).subspan(before)));
    if (!got) return got.error();
    text.resize(before + *got);
    if (*got < piece) return text;
  }
}

std::optional<double> ns_per(std::string_view unit) {
  if (unit == "nanoseconds" || unit == "ns") return 1;
  if (unit == "microseconds" || unit == "us") return 1e3;
  if (unit == "milliseconds" || unit == "ms") return 1e6;
  if (unit == "seconds" || unit == "s") return 1e9;
  return {};
}

StringId StackMaker::text(std::string_view text, std::uint64_t offset) {
  if (is_utf8(text)) return trace_.strings.intern(text);
  trace_.import.add(Repair::invalid_utf8, offset, text);
  return trace_.strings.intern(valid_utf8(text));
}

std::uint32_t StackMaker::frame(std::uint32_t parent, std::string_view function,
                                std::string_view file, std::int64_t line, std::uint64_t offset) {
  const bool known = line > 0 && line <= std::numeric_limits<std::int32_t>::max();
  return frames_.add({.parent = parent,
                      .function = text(function.empty() ? "(unnamed)" : function, offset),
                      .file = text(file, offset),
                      .line = known ? static_cast<std::int32_t>(line) : -1});
}

void StackMaker::sample(const StackOwner& thread, std::int64_t time, std::uint32_t frame,
                        double weight, std::uint64_t offset) {
  // Also where it is no number.
  if (!(weight >= 0 && weight <= static_cast<double>(kLargest - sum_)) || time > kLargest ||
      time < -kLargest) {
    trace_.import.add(Repair::number_out_of_range, offset, "weight of a stack");
    return;
  }
  // Of fractions nothing is lost: what is left over counts with the next.
  rest_ += weight;
  const auto whole = static_cast<std::int64_t>(std::floor(rest_ + kAlmost));
  rest_ -= static_cast<double>(whole);
  if (whole == 0) return;
  sum_ += whole;
  trace_.stack_samples.push_back({.pid = thread.pid,
                                  .tid = thread.tid,
                                  .time = time_ns(time),
                                  .thread = text(thread.name, offset),
                                  .frame = frame,
                                  .on_cpu = duration_ns(whole),
                                  .cause = text({}, offset),
                                  .object = text({}, offset)});
}

Result<Trace> StackMaker::finish(std::string_view format, std::string_view unit, ByteSource& source,
                                 std::uint64_t bytes) {
  const std::string_view damage = source.damage();
  if (!damage.empty()) trace_.import.add(Repair::decompression, bytes, damage);
  if (trace_.stack_samples.empty())
    return Error{ErrorCode::corrupt, "stacks of another profiler without a stack in it"};
  trace_.facts.push_back({"samples.waits", "\"not recorded\""});
  if (!unit.empty()) {
    std::string quoted = "\"";
    for (const char c : unit) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ' ';
      if (plain) quoted += c;
    }
    // Of a unit such as "%" nothing is left.
    if (quoted.size() == 1) quoted += "weights";
    trace_.facts.push_back({"samples.unit", quoted + "\""});
  }
  trace_.format = format;
  trace_.bytes_read = bytes;
  return std::move(trace_);
}

}  // namespace fathom
