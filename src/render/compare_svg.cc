// Both sides become one tree of frames first; what is drawn follows from it.
#include "render/compare_svg.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <string_view>
#include <vector>

#include "base/quantity_text.h"
#include "render/compare_rows.h"
#include "render/frame_picture.h"

namespace fathom {
namespace {

constexpr double kBetween = 40;
constexpr std::size_t kDeepest = 40;  // modules below one another

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
    std::vector<std::string> path = {row.phase.str()};
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
    path.push_back(row.shapes.empty() ? row.what.str() : row.what.str() + " " + row.shapes.str());
    add(path, row.part);
    for (const ComparedKernel& kernel : row.kernels) {
      std::vector<std::string> below = path;
      below.push_back(kernel.name.str());
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

std::string time_text(double ns) { return duration_text(duration_ns(std::llround(ns))); }

using Picture = FramePicture;

class Drawing {
 public:
  explicit Drawing(const Comparison& comparison)
      : tree_(comparison),
        panel_(Picture::kRowHeight * static_cast<double>(tree_.depth() + 1)),
        picture_({.label = "Differential flame graph",
                  .title = "The mean step of both sides in one scale",
                  .note = std::string(time_label(comparison)) + ": " + step_text(comparison),
                  .caption = "Width: time per step. Red takes more than in base, blue less; the "
                             "stronger, the larger the change by what it was."},
                 panel_ + kBetween + panel_) {
    const Frame& root = tree_.root();
    const double longest = std::max({root.base_ns, root.new_ns, 1.0});
    scale_ = (Picture::kWidth - 2 * Picture::kMargin) / longest;
    side("Base: " + comparison.base.input, &Frame::base_ns, picture_.head());
    side("New: " + comparison.now.input, &Frame::new_ns, picture_.head() + panel_ + kBetween);
  }
  std::string take() { return picture_.take(); }

 private:
  void side(const std::string& words, double Frame::*side, double y) {
    const Frame& root = tree_.root();
    picture_.words(Picture::kMargin, y - 8, words + ", " + time_text(root.*side), "title");
    frames(root, side, Picture::kMargin, y);
  }

  /// A frame, and below it what it consists of.
  void frames(const Frame& frame, double Frame::*side, double x, double y) {
    const double width = frame.*side * scale_;
    if (width < Picture::kThinnest) return;
    draw(frame, x, y, width);
    double at = x;
    for (const Frame* const child : frame.children) {
      frames(*child, side, at, y + Picture::kRowHeight);
      at += child->*side * scale_;
    }
  }

  void draw(const Frame& frame, double x, double y, double width) {
    const double change = frame.new_ns - frame.base_ns;
    const double whole = std::max(frame.base_ns, frame.new_ns);
    const double strength = whole > 0 ? std::abs(change) / whole : 0;
    const std::string hint = time_text(frame.base_ns) + " → " + time_text(frame.new_ns) + ", " +
                             change_text(std::llround(change)) + " ns per step";
    Picture::Shade shade;
    if (strength > 0.005)
      shade = {.kind = change < 0 ? "less" : "more", .strength = 0.12 + 0.68 * strength};
    picture_.frame(x, y, width, frame.name, hint, shade);
  }

  const Tree tree_;
  double panel_;
  Picture picture_;
  double scale_ = 1;
};

}  // namespace

std::string render_compare_svg(const Comparison& comparison) { return Drawing(comparison).take(); }

}  // namespace fathom
