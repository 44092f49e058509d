// FramePicture: what pictures of nested frames share: the paper, words, and boxes with a name.
#pragma once

#include <string>
#include <string_view>

namespace fathom {

/// A self-contained SVG, light and dark by the reader's preference, drawn on from the top left.
class FramePicture {
 public:
  static constexpr double kWidth = 1200;
  static constexpr double kMargin = 12;
  static constexpr double kRowHeight = 18;
  /// What is thinner, in px, is not seen.
  static constexpr double kThinnest = 0.2;

  struct Words {
    std::string_view label;    ///< For those who cannot see the picture.
    std::string_view title;    ///< One line.
    std::string note;          ///< Below the title, in as many lines as it takes; may be empty.
    std::string_view caption;  ///< At the foot.
  };
  /// What is drawn takes `height` px between head and foot.
  FramePicture(const Words& words, double height);

  /// Where what is drawn begins, below title and note.
  [[nodiscard]] double head() const { return head_; }

  /// `kind` is "title" or "soft". Words are shortened to what the width has room for.
  void words(double x, double y, std::string_view words, std::string_view kind);

  /// A colour over a frame: a class of the style sheet and how strong it is, 0…1.
  struct Shade {
    std::string_view kind;
    double strength = 0;
  };
  /// A box of one row; `hint` is shown below the name beside the pointer.
  void frame(double x, double y, double width, std::string_view name, std::string_view hint,
             const Shade& shade);

  /// The whole picture; nothing can be drawn any more.
  std::string take();

 private:
  void box(std::string_view kind, double x, double y, double width, const std::string& more);

  double head_;
  std::string out_;
};

}  // namespace fathom
