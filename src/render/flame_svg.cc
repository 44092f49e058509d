// Stacks become one tree of frames first; what is drawn follows from it.
#include "render/flame_svg.h"

#include <algorithm>
#include <deque>
#include <map>
#include <string_view>
#include <vector>

#include "base/digit_groups.h"
#include "base/hash.h"
#include "base/quantity_text.h"
#include "render/folded.h"
#include "render/frame_picture.h"

namespace fathom {
namespace {

using Picture = FramePicture;

struct Frame {
  std::string_view name;
  std::int64_t weight = 0;
  std::map<std::string_view, Frame*> children;
};

class Tree {
 public:
  Tree() { frames_.emplace_back(); }
  [[nodiscard]] const Frame& root() const { return frames_.front(); }

  /// `stack` must outlive it.
  void add(std::string_view stack, std::int64_t weight) {
    Frame* at = &frames_.front();
    at->weight += weight;
    while (!stack.empty()) {
      const std::size_t end = std::min(stack.find(';'), stack.size());
      at = &child(*at, stack.substr(0, end));
      at->weight += weight;
      stack.remove_prefix(std::min(end + 1, stack.size()));
    }
  }

 private:
  Frame& child(Frame& parent, std::string_view name) {
    const auto [at, fresh] = parent.children.try_emplace(name, nullptr);
    if (!fresh) return *at->second;
    Frame& frame = frames_.emplace_back();
    frame.name = name;
    at->second = &frame;
    return frame;
  }

  std::deque<Frame> frames_;  // those of a tree stay where they are
};

/// The widest first; equal ones by name.
std::vector<const Frame*> in_order(const Frame& frame) {
  std::vector<const Frame*> children;
  for (const auto& [name, child] : frame.children) children.push_back(child);
  std::ranges::stable_sort(children, std::ranges::greater(), &Frame::weight);
  return children;
}

/// A frame as it is drawn.
struct Place {
  const Frame* frame;
  double x;
  double width;
  std::size_t row;
};

/// All frames that can be seen, from the root down.
std::vector<Place> places_of(const Frame& root) {
  const double room = Picture::kWidth - 2 * Picture::kMargin;
  const double scale = room / static_cast<double>(std::max<std::int64_t>(root.weight, 1));
  std::vector<Place> places;
  if (root.weight > 0) places.push_back({&root, Picture::kMargin, room, 0});
  for (std::size_t next = 0; next < places.size(); ++next) {
    const Place parent = places[next];
    double x = parent.x;
    for (const Frame* const child : in_order(*parent.frame)) {
      const double width = static_cast<double>(child->weight) * scale;
      if (width < Picture::kThinnest) break;
      places.push_back({child, x, width, parent.row + 1});
      x += width;
    }
  }
  return places;
}

/// The same name has the same shade everywhere.
Picture::Shade shade_of(std::string_view name) {
  constexpr std::uint64_t kShades = 8;
  std::uint64_t sum = 1;
  for (const char c : name) sum = hash_mix(sum, static_cast<unsigned char>(c));
  return {.kind = "warm", .strength = 0.25 + 0.06 * static_cast<double>(sum % kShades)};
}

std::string weight_text(std::int64_t weight, bool time) {
  return time ? duration_text(duration_ns(weight)) : grouped(static_cast<std::uint64_t>(weight));
}

std::string hint_of(std::int64_t weight, bool time, std::int64_t all) {
  const double share = 100.0 * static_cast<double>(weight) / static_cast<double>(all);
  return weight_text(weight, time) + ", " + percent_text(share);
}

}  // namespace

std::string render_flame_svg(const View& view) {
  const auto [column, time] = stack_weight(view);
  Tree tree;
  for (std::size_t row = 0; row < view.table.rows(); ++row) {
    tree.add(std::get<std::string_view>(view.table.at(row, 0)),
             std::get<std::int64_t>(view.table.at(row, column)));
  }
  const Frame& root = tree.root();
  const std::vector<Place> places = places_of(root);
  const std::size_t rows = places.empty() ? 1 : places.back().row + 1;
  Picture picture({.label = "Flame graph",
                   .title = "Flame graph of " + view.input + ": " + weight_text(root.weight, time),
                   .note = "",
                   .caption = std::string(time ? "Width: time." : "Width: weight.") +
                              " A frame lies below the one that called it, the widest first."},
                  Picture::kRowHeight * static_cast<double>(rows));
  for (const Place& place : places) {
    const bool all = place.frame == &root;
    picture.frame(place.x, picture.head() + Picture::kRowHeight * static_cast<double>(place.row),
                  place.width, all ? "all" : place.frame->name,
                  hint_of(place.frame->weight, time, root.weight),
                  all ? Picture::Shade{} : shade_of(place.frame->name));
  }
  return picture.take();
}

}  // namespace fathom
