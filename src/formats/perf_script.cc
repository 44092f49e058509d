// Text of `perf script`: samples of Linux's perf, each with its stack, the innermost frame first.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_fields.h"
#include "formats/format.h"
#include "formats/stacks/last_bracket.h"
#include "formats/stacks/stack_maker.h"
#include "formats/stacks/text_lines.h"

namespace fathom {
namespace perf_script_format {
namespace {

/// "python 4711/4712 [001] 1000.000250: 1000000 cpu-clock:u:", what stands above a stack.
struct Header {
  StackOwner thread;
  std::int64_t time = 0;  ///< ns
  std::optional<std::int64_t> period;
  std::string_view event;
  std::string_view frame;  ///< The only one, where it stands on the same line.
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "1000.000250:", in ns.
std::optional<std::int64_t> time_of(std::string_view word) {
  if (!word.ends_with(':')) return {};
  word.remove_suffix(1);
  const std::size_t point = word.find('.');
  constexpr std::size_t kDigits = 9;
  if (point == word.npos || point == 0 || point > 9 || point + 1 == word.size() ||
      word.size() - point - 1 > kDigits)
    return {};
  std::int64_t time = 0;
  for (const char c : word) {
    if (c == '.') continue;
    if (!is_digit(c)) return {};
    time = time * 10 + (c - '0');
  }
  for (std::size_t digits = word.size() - point - 1; digits < kDigits; ++digits) time *= 10;
  return time;
}

/// "4712" or "4711/4712".
bool take_thread(std::string_view word, StackOwner& thread) {
  const std::size_t slash = word.find('/');
  const std::optional<std::int64_t> first = whole_integer(word.substr(0, slash));
  if (!first || !is_digit(word.front())) return false;
  thread.tid = *first;
  if (slash == word.npos) return true;
  const std::optional<std::int64_t> second = whole_integer(word.substr(slash + 1));
  if (!second) return false;
  thread.pid = *first;
  thread.tid = *second;
  return true;
}

/// Takes the last word off.
std::string_view take_last(std::string_view& text) {
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  const std::size_t blank = text.find_last_of(" \t");
  const std::string_view word = text.substr(blank == text.npos ? 0 : blank + 1);
  text.remove_suffix(word.size());
  return word;
}

/// "cycles:u" is the event "cycles"; "sched:sched_switch" is one of its own.
std::string_view without_modifiers(std::string_view event) {
  const std::size_t colon = event.rfind(':');
  const bool modifiers = colon != event.npos && colon + 1 < event.size() &&
                         event.find_first_not_of("ukhGHIpPSDWeb", colon + 1) == event.npos;
  return modifiers ? event.substr(0, colon) : event;
}

std::optional<Header> header_of(std::string_view line) {
  // Where no stacks are printed, names are padded with blanks.
  while (line.starts_with(' ')) line.remove_prefix(1);
  if (line.empty() || line.starts_with('\t')) return {};
  // Names of commands may have blanks: the time is the first word that looks like one.
  std::string_view rest = line;
  Header header;
  std::size_t before = 0;
  while (true) {
    const std::string_view word = take_word(rest);
    if (word.empty()) return {};
    const std::optional<std::int64_t> time = time_of(word);
    if (!time) continue;
    header.time = *time;
    before = static_cast<std::size_t>(word.data() - line.data());
    break;
  }
  std::string_view left = line.substr(0, before);
  std::string_view word = take_last(left);
  if (word.starts_with('[') && word.ends_with(']')) word = take_last(left);
  if (word.empty() || !take_thread(word, header.thread)) return {};
  while (left.ends_with(' ')) left.remove_suffix(1);
  header.thread.name = left;
  word = take_word(rest);
  header.period = whole_integer(word);
  if (header.period) word = take_word(rest);
  if (word.size() < 2 || !word.ends_with(':')) return {};
  header.event = without_modifiers(word.substr(0, word.size() - 1));
  header.frame = rest;
  return header;
}

/// Its periods are ns on a processor.
bool is_clock(std::string_view event) { return event == "cpu-clock" || event == "task-clock"; }

struct Frame {
  std::string function;
  std::string file;
};

/// "ffffffff8104f45a native_write_msr+0xa ([kernel.kallsyms])". Unset for anything else.
std::optional<Frame> frame_of(std::string_view line) {
  std::string_view rest = line;
  const std::string_view address = take_word(rest);
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(address.data(), address.data() + address.size(), value, 16);
  if (address.empty() || error != std::errc{} || end != address.data() + address.size()) return {};
  while (rest.ends_with(' ')) rest.remove_suffix(1);
  Frame frame;
  const std::size_t open = last_bracket(rest);
  if (open != rest.npos) {
    frame.file = rest.substr(open + 2, rest.size() - open - 3);
    rest = rest.substr(0, open);
  }
  if (const std::size_t offset = rest.rfind("+0x"); offset != rest.npos && offset > 0)
    rest = rest.substr(0, offset);
  frame.function = rest.empty() ? "[unknown]" : rest;
  // Functions that Python itself names to perf: "py::work:/home/me/app.py".
  constexpr std::string_view kPython = "py::";
  if (!rest.starts_with(kPython)) return frame;
  rest.remove_prefix(kPython.size());
  const std::size_t colon = rest.find(':');
  if (colon == rest.npos || colon == 0) return frame;
  frame.function = rest.substr(0, colon);
  frame.file = rest.substr(colon + 1);
  return frame;
}

/// The first line that is no comment stands above a stack.
bool sniff(std::span<const std::byte> head) {
  std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.empty() || line.starts_with('#')) continue;
    return header_of(line).has_value();
  }
  return false;
}

/// Takes the lines of one text.
class Samples {
 public:
  explicit Samples(StackMaker& maker) : maker_(maker) {}

  void take(std::string_view line, std::uint64_t offset) {
    if (line.starts_with('#')) return;
    if (line.find_first_not_of(" \t") == line.npos) return close();
    const std::optional<Header> header = header_of(line);
    if (!header && inside_ && (line.starts_with(' ') || line.starts_with('\t'))) {
      if (std::optional<Frame> frame = frame_of(line)) {
        stack_.push_back(std::move(*frame));
      } else {
        maker_.import().add(Repair::malformed_event, offset, line);
      }
      return;
    }
    close();
    if (!header) {
      maker_.import().add(Repair::malformed_event, offset, line);
      return;
    }
    if (event_.empty()) {
      event_ = header->event;
      in_time_ = is_clock(event_) && header->period.has_value();
    }
    // Sums over different events mean nothing.
    if (header->event != event_) {
      maker_.import().add_unknown("event " + std::string(header->event));
      return;
    }
    inside_ = true;
    offset_ = offset;
    name_ = header->thread.name;
    thread_ = header->thread;
    time_ = header->time;
    weight_ = in_time_ ? header->period.value_or(0) : 1;
    if (const std::optional<Frame> frame = frame_of(header->frame)) stack_.push_back(*frame);
  }
  void close() {
    if (!inside_) return;
    inside_ = false;
    thread_.name = name_;
    std::uint32_t frame = kNoFrame;
    std::ranges::reverse(stack_);
    for (const Frame& one : stack_)
      frame = maker_.frame(frame, one.function, one.file, -1, offset_);
    stack_.clear();
    if (frame == kNoFrame) frame = maker_.frame(frame, "[unknown]", {}, -1, offset_);
    maker_.sample(thread_, time_, frame, static_cast<double>(weight_), offset_);
  }
  /// Are the weights ns? Else they are samples.
  [[nodiscard]] bool in_time() const { return in_time_; }

 private:
  StackMaker& maker_;
  std::string event_;  // the first one's
  std::vector<Frame> stack_;
  StackOwner thread_;
  std::string name_;
  std::int64_t time_ = 0;
  std::int64_t weight_ = 0;
  std::uint64_t offset_ = 0;
  bool inside_ = false;
  bool in_time_ = false;
};

Result<Trace> read(ByteSource& source, const ReadOptions& /*options*/) {
  StackMaker maker;
  Samples samples(maker);
  TextLines lines(source);
  while (const std::optional<std::string_view> line = lines.next())
    samples.take(*line, lines.offset());
  samples.close();
  if (lines.error()) return *lines.error();
  return maker.finish("perf-script", samples.in_time() ? "" : "samples", source, lines.bytes());
}

}  // namespace
}  // namespace perf_script_format

Format perf_script() {
  return {.id = "perf-script",
          .title = "Text of perf script, Linux's sampler of stacks",
          .sniff = perf_script_format::sniff,
          .read = perf_script_format::read};
}

}  // namespace fathom
