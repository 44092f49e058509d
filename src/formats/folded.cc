// Folded stacks, "main;work 12": of py-spy, perf, bcc, async-profiler and of Fathom itself.
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "formats/format.h"
#include "formats/stacks/last_bracket.h"
#include "formats/stacks/stack_maker.h"
#include "formats/stacks/text_lines.h"

namespace fathom {
namespace folded_format {
namespace {

struct Line {
  std::string_view stack;
  double weight = 0;
};

/// Unset for what is no stack with a number behind it.
std::optional<Line> line_of(std::string_view text) {
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  const std::size_t blank = text.find_last_of(" \t");
  if (blank == text.npos || blank == 0) return {};
  const std::string_view number = text.substr(blank + 1);
  Line line{.stack = text.substr(0, blank)};
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), line.weight);
  if (error != std::errc{} || end != number.data() + number.size() || !(line.weight >= 0))
    return {};
  return line;
}

bool is_comment(std::string_view line) { return line.empty() || line.starts_with('#'); }

/// All whole lines are stacks, and one of them has two frames.
bool sniff(std::span<const std::byte> head) {
  std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  // Where the head may have cut the last line, it says nothing.
  const bool whole = head.size() < kSniffBytes || text.ends_with('\n');
  bool deep = false;
  bool any = false;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (end == text.npos && !whole && any) break;
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (is_comment(line)) continue;
    deep = deep || line.find(';') != line.npos;
    if (end == text.npos && !whole) break;  // one line that is longer than the head
    if (!line_of(line)) return false;
    any = true;
  }
  return any && deep && head[0] != std::byte{'{'};
}

/// A frame as profilers write it: "work (app.py:12)", "work (app.py)" or "work".
struct Place {
  std::string_view function;
  std::string_view file;
  std::int64_t line = -1;
};

Place place_of(std::string_view text) {
  const std::size_t open = last_bracket(text);
  if (open == text.npos || open == 0) return {.function = text};
  Place place{.function = text.substr(0, open),
              .file = text.substr(open + 2, text.size() - open - 3)};
  const std::size_t colon = place.file.rfind(':');
  if (colon == place.file.npos) return place;
  const std::string_view number = place.file.substr(colon + 1);
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), place.line);
  if (error != std::errc{} || end != number.data() + number.size() || place.line < 0) {
    place.line = -1;
    return place;
  }
  place.file = place.file.substr(0, colon);
  return place;
}

Result<Trace> read(ByteSource& source, const ReadOptions& /*options*/) {
  StackMaker maker;
  TextLines lines(source);
  double sum = 0;
  while (const std::optional<std::string_view> text = lines.next()) {
    const std::uint64_t offset = lines.offset();
    if (is_comment(*text)) continue;
    const std::optional<Line> line = lines.was_cut() ? std::nullopt : line_of(*text);
    if (!line) {
      maker.import().add(Repair::malformed_event, offset, *text);
      continue;
    }
    std::uint32_t frame = kNoFrame;
    for (std::string_view rest = line->stack; !rest.empty();) {
      const std::size_t end = rest.find(';');
      const Place place = place_of(rest.substr(0, end));
      frame = maker.frame(frame, place.function, place.file, place.line, offset);
      rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    }
    sum += line->weight;
    maker.sample({}, static_cast<std::int64_t>(std::min(sum, 1e18)), frame, line->weight, offset);
  }
  if (lines.error()) return *lines.error();
  return maker.finish("folded", "weights", source, lines.bytes());
}

}  // namespace
}  // namespace folded_format

Format folded() {
  return {.id = "folded",
          .title = "Folded stacks with their weights, of py-spy, perf and others (*.folded, *.txt)",
          .sniff = folded_format::sniff,
          .read = folded_format::read};
}

}  // namespace fathom
