// Both sides become one tree of frames first; what is drawn follows from it.
#include "render/compare_svg.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <deque>
#include <initializer_list>
#include <map>
#include <string_view>
#include <vector>

#include "base/quantity_text.h"
#include "render/compare_rows.h"
#include "render/page/html.h"
#include "render/text_width.h"

namespace fathom {
namespace {

constexpr double kWidth = 1200;
constexpr double kMargin = 12;
constexpr double kRowHeight = 18;
constexpr double kHead = 56;
constexpr double kBetween = 40;
constexpr double kFoot = 24;
constexpr double kLetter = 6.6;       // px of an average letter
constexpr double kThinnest = 0.2;     // px; what is thinner is not seen
constexpr std::size_t kDeepest = 40;  // modules below one another

constexpr std::string_view kStyle = R"(<style>
:root{--ink:#1b1f24;--soft:#6a737d;--paper:#fff;--same:#e6e8eb;--edge:#fff}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa4af;--paper:#0d1117;--same:#30363d;--edge:#0d1117}}
text{font:11px system-ui,sans-serif;fill:var(--ink)}.title{font-size:13px;font-weight:600}.soft{fill:var(--soft)}.paper{fill:var(--paper)}
.frame{fill:var(--same);stroke:var(--edge);stroke-width:.6}.less{fill:#1f6feb}.more{fill:#d1242f}
</style>)";

struct Frame {
  std::string name;
  double base_ns = 0;  // per step
  double new_ns = 0;
  std::map<std::string, std::size_t, std::less<>> child_of;  // place in `children`
  std::vector<Frame*> children;
};

/// All frames; those of a tree stay where they are.
class Tree {
 public:
  explicit Tree(const Comparison& comparison) : comparison_(comparison) {
    root_ = &frames_.emplace_back();
    root_->name = "mean step";
    if (comparison.rows.empty()) {
      for (const ComparedBucket& bucket : comparison.buckets)
        add({std::string(bucket.bucket.name())}, bucket.part);
    }
    for (const ComparedRow& row : comparison.rows) add_row(row);
    sort(*root_);
  }
  [[nodiscard]] const Frame& root() const { return *root_; }
  [[nodiscard]] std::size_t depth() const { return depth_; }

 private:
  void add_row(const ComparedRow& row) {
    std::vector<std::string> path = {row.phase};
    if (row.phase != row.bucket.name()) path.emplace_back(row.bucket.name());
    for (std::string_view rest = row.module; !rest.empty();) {
      const std::size_t end = std::min(rest.find('/'), rest.size());
      if (path.size() == kDeepest) {
        path.emplace_back(rest);
        break;
      }
      if (end > 0) path.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    path.push_back(row.shapes.empty() ? row.what : row.what + " " + row.shapes);
    add(path, row.part);
    for (const ComparedKernel& kernel : row.kernels) {
      std::vector<std::string> below = path;
      below.push_back(kernel.name);
      add_leaf(below, kernel.part);
    }
  }

  [[nodiscard]] double base_ns(const ComparedPart& part) const {
    return static_cast<double>(part.base_sum_ns) / static_cast<double>(comparison_.base.steps);
  }
  [[nodiscard]] double new_ns(const ComparedPart& part) const {
    return static_cast<double>(part.new_sum_ns) / static_cast<double>(comparison_.now.steps);
  }

  void add(const std::vector<std::string>& path, const ComparedPart& part) {
    Frame* at = root_;
    count(*at, part);
    for (const std::string& name : path) {
      at = &child(*at, name);
      count(*at, part);
    }
    depth_ = std::max(depth_, path.size());
  }
  /// What those above have already.
  void add_leaf(const std::vector<std::string>& path, const ComparedPart& part) {
    Frame* at = root_;
    for (const std::string& name : path) at = &child(*at, name);
    count(*at, part);
    depth_ = std::max(depth_, path.size());
  }
  void count(Frame& frame, const ComparedPart& part) const {
    frame.base_ns += base_ns(part);
    frame.new_ns += new_ns(part);
  }

  Frame& child(Frame& parent, const std::string& name) {
    const auto [at, added] = parent.child_of.try_emplace(name, parent.children.size());
    if (!added) return *parent.children[at->second];
    Frame& frame = frames_.emplace_back();
    frame.name = name;
    parent.children.push_back(&frame);
    return frame;
  }

  /// The widest first, in the same order on both sides.
  void sort(Frame& frame) {
    std::ranges::stable_sort(frame.children, std::ranges::greater(), [](const Frame* each) {
      return std::max(each->base_ns, each->new_ns);
    });
    for (Frame* const each : frame.children) sort(*each);
  }

  const Comparison& comparison_;
  std::deque<Frame> frames_;
  Frame* root_ = nullptr;
  std::size_t depth_ = 0;
};

std::string fixed(double value, int decimals = 1) {
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::fixed, decimals)
                       .ptr;
  return {text.data(), end};
}

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

std::string time_text(double ns) { return duration_text(duration_ns(std::llround(ns))); }

class Drawing {
 public:
  explicit Drawing(const Comparison& comparison) : comparison_(comparison), tree_(comparison) {
    const Frame& root = tree_.root();
    const double longest = std::max({root.base_ns, root.new_ns, 1.0});
    scale_ = (kWidth - 2 * kMargin) / longest;
    const double panel = kRowHeight * static_cast<double>(tree_.depth() + 1);
    const double height = kHead + panel + kBetween + panel + kFoot;
    begin(height);
    const double second = kHead + panel + kBetween;
    title(kHead - 8, "Base: " + comparison.base.input + ", " + time_text(root.base_ns));
    frames(root, &Frame::base_ns, kMargin, kHead);
    title(second - 8, "New: " + comparison.now.input + ", " + time_text(root.new_ns));
    frames(root, &Frame::new_ns, kMargin, second);
    out_ += "</svg>\n";
  }
  std::string take() { return std::move(out_); }

 private:
  void begin(double height) {
    const std::string width = fixed(kWidth, 0);
    const std::string tall = fixed(height, 0);
    out_ = joined({R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 )", width, " ", tall,
                   R"(" width=")", width, R"(" height=")", tall,
                   R"(" role="img" aria-label="Differential flame graph">)", "\n", kStyle, "\n",
                   R"(<rect class="paper" width=")", width, R"(" height=")", tall, "\"/>\n"});
    text(kMargin, 20, "The mean step of both sides in one scale: " + step_text(comparison_),
         "title");
    text(kMargin, height - 8,
         "Width: time per step. Red takes more than in base, blue less; the stronger, the larger "
         "the change by what it was.",
         "soft");
  }

  void title(double y, const std::string& words) { text(kMargin, y, words, "title"); }

  void text(double x, double y, const std::string& words, std::string_view kind) {
    const auto room = static_cast<std::size_t>((kWidth - x - kMargin) / kLetter);
    out_ += joined({R"(<text class=")", kind, R"(" x=")", fixed(x), R"(" y=")", fixed(y), "\">",
                    page::escaped(shorten_middle(printable(words), room)), "</text>\n"});
  }

  /// A frame, and below it what it consists of.
  void frames(const Frame& frame, double Frame::*side, double x, double y) {
    const double width = frame.*side * scale_;
    if (width < kThinnest) return;
    rectangle(frame, x, y, width);
    double at = x;
    for (const Frame* const child : frame.children) {
      frames(*child, side, at, y + kRowHeight);
      at += child->*side * scale_;
    }
  }

  void rectangle(const Frame& frame, double x, double y, double width) {
    const double change = frame.new_ns - frame.base_ns;
    const double whole = std::max(frame.base_ns, frame.new_ns);
    const double strength = whole > 0 ? std::abs(change) / whole : 0;
    const std::string name = printable(frame.name);
    out_ += joined({"<g><title>", page::escaped(name), "\n", time_text(frame.base_ns), " → ",
                    time_text(frame.new_ns), ", ", change_text(std::llround(change)),
                    " ns per step</title>"});
    box("frame", x, y, width, "");
    if (strength > 0.005)
      box(change < 0 ? "less" : "more", x, y, width,
          joined({R"( fill-opacity=")", fixed(0.12 + 0.68 * strength, 2), "\""}));
    const auto room = static_cast<std::size_t>(width / kLetter);
    if (room >= 4) {
      out_ += joined({R"(<text x=")", fixed(x + 3), R"(" y=")", fixed(y + kRowHeight - 5), "\">",
                      page::escaped(shorten_middle(name, room - 1)), "</text>"});
    }
    out_ += "</g>\n";
  }

  void box(std::string_view kind, double x, double y, double width, const std::string& more) {
    out_ += joined({R"(<rect class=")", kind, R"(" x=")", fixed(x, 2), R"(" y=")", fixed(y),
                    R"(" width=")", fixed(width, 2), R"(" height=")", fixed(kRowHeight - 1), "\"",
                    more, "/>"});
  }

  const Comparison& comparison_;
  const Tree tree_;
  double scale_ = 1;
  std::string out_;
};

}  // namespace

std::string render_compare_svg(const Comparison& comparison) { return Drawing(comparison).take(); }

}  // namespace fathom
