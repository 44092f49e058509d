// Writes the elements of a picture of frames.
#include "render/frame_picture.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/text_fields.h"
#include "render/page/html.h"
#include "render/svg_plot.h"
#include "render/text_width.h"

namespace fathom {
namespace {

using svg::fixed;
using svg::joined;

constexpr double kHead = 56;  // without a note
constexpr double kFoot = 24;
constexpr double kLine = 16;            // px from one line of a note to the next
constexpr double kLetter = 6.6;         // px of an average letter
constexpr double kTitleLetter = 9;      // likewise, of the widest usual font, as DejaVu Sans
constexpr double kLeastStrength = 0.1;  // of a shade that is drawn

constexpr std::string_view kStyle = R"(<style>
:root{--ink:#1b1f24;--soft:#6a737d;--paper:#fff;--same:#e6e8eb;--edge:#fff}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa4af;--paper:#0d1117;--same:#30363d;--edge:#0d1117}}
text{font:11px system-ui,sans-serif;fill:var(--ink)}.title{font-size:13px;font-weight:600}.soft{fill:var(--soft)}.paper{fill:var(--paper)}
.frame{fill:var(--same);stroke:var(--edge);stroke-width:.6}.less{fill:#1f6feb}.more{fill:#d1242f}.warm{fill:#d9822b}
</style>)";

/// The columns that fit into so many px.
std::size_t room_of(double width, double letter) {
  return static_cast<std::size_t>(std::max(width, 0.0) / letter);
}

std::vector<std::string> lines_of(std::string_view note) {
  std::vector<std::string> lines;
  const std::string wrapped =
      wrap(printable(note), room_of(FramePicture::kWidth - 2 * FramePicture::kMargin, kLetter), "");
  for (std::string_view rest = wrapped; !rest.empty();) {
    const std::string_view line = take_line(rest);
    if (!line.empty()) lines.emplace_back(line);
  }
  return lines;
}

}  // namespace

FramePicture::FramePicture(const Words& words, double height) {
  const std::vector<std::string> note = lines_of(words.note);
  head_ = kHead + kLine * static_cast<double>(note.size());
  const double whole = head_ + height + kFoot;
  const std::string width = fixed(kWidth, 0);
  const std::string tall = fixed(whole, 0);
  out_ = joined({R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 )", width, " ", tall,
                 R"(" width=")", width, R"(" height=")", tall, R"(" role="img" aria-label=")",
                 page::escaped(words.label), "\">\n", kStyle, "\n",
                 R"(<rect class="paper" width=")", width, R"(" height=")", tall, "\"/>\n"});
  constexpr double kTitle = 20;
  this->words(kMargin, kTitle, words.title, "title");
  double y = kTitle;
  for (const std::string& line : note) this->words(kMargin, y += kLine, line, "soft");
  this->words(kMargin, whole - 8, words.caption, "soft");
}

void FramePicture::words(double x, double y, std::string_view words, std::string_view kind) {
  const std::size_t room = room_of(kWidth - x - kMargin, kind == "title" ? kTitleLetter : kLetter);
  out_ += joined({R"(<text class=")", kind, R"(" x=")", fixed(x), R"(" y=")", fixed(y), "\">",
                  page::escaped(shorten_middle(printable(words), room)), "</text>\n"});
}

void FramePicture::frame(double x, double y, double width, std::string_view name,
                         std::string_view hint, const Shade& shade) {
  const std::string shown = printable(name);
  out_ += joined(
      {"<g><title>", page::escaped(shown), "\n", page::escaped(printable(hint)), "</title>"});
  box("frame", x, y, width, "");
  if (shade.strength > kLeastStrength)
    box(shade.kind, x, y, width, joined({R"( fill-opacity=")", fixed(shade.strength, 2), "\""}));
  const std::size_t room = room_of(width, kLetter);
  if (room >= 4) {
    out_ += joined({R"(<text x=")", fixed(x + 3), R"(" y=")", fixed(y + kRowHeight - 5), "\">",
                    page::escaped(shorten_middle(shown, room - 1)), "</text>"});
  }
  out_ += "</g>\n";
}

std::string FramePicture::take() {
  out_ += "</svg>\n";
  return std::move(out_);
}

void FramePicture::box(std::string_view kind, double x, double y, double width,
                       const std::string& more) {
  out_ += joined({R"(<rect class=")", kind, R"(" x=")", fixed(x, 2), R"(" y=")", fixed(y),
                  R"(" width=")", fixed(width, 2), R"(" height=")", fixed(kRowHeight - 1), "\"",
                  more, "/>"});
}

}  // namespace fathom
