// StackTexts: the texts of sampled stacks as a tree, in which each frame's is made once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "store/trace.h"

namespace fathom {

/// Stacks of one text are one node, however many rows of frames they have. A text itself is as long
/// as its stack is deep, and is made when it is asked for. The trace must outlive it.
class StackTexts {
 public:
  using Node = std::uint32_t;

  /// What is deeper than `deepest` frames belongs to the frame there.
  explicit StackTexts(const Trace& trace, std::size_t deepest = SIZE_MAX);

  /// Of the sample's stack, without Python of its thread's name. One that is blocked ends with
  /// kBlockedFrame. All calls together O(frames * log frames).
  [[nodiscard]] Node of(const StackSample& sample, bool is_blocked);

  /// "main (app.py:3);work (app.py:12)": the outermost first. Within a name ";" and line breaks are
  /// written ",". O(its length).
  [[nodiscard]] std::string text(Node node) const;

  /// Does the text of `a` come before that of `b`? O(depth) at most, and little for stacks that
  /// part where they end.
  [[nodiscard]] bool less(Node a, Node b) const;

 private:
  struct Entry {
    Node parent = 0;
    std::uint32_t depth = 0;            ///< 0 for the root, which is the empty stack.
    const std::string* name = nullptr;  ///< Of its innermost frame; in names_.
  };
  /// Of a row of frames.
  struct OfRow {
    Node node = kUnknown;
    std::size_t frames = 0;  ///< Its own and those below which it is.
  };
  static constexpr Node kUnknown = UINT32_MAX;

  Node of_frame(std::uint32_t row);
  Node child(Node parent, std::string name);
  [[nodiscard]] Node above(Node node, std::uint32_t depth) const;

  const Trace* trace_;
  std::size_t deepest_;
  std::map<std::string, std::uint32_t> names_;
  std::map<std::pair<Node, std::uint32_t>, Node> children_;  // by parent and number of the name
  std::vector<Entry> nodes_;
  std::vector<OfRow> rows_;
  std::vector<std::uint32_t> path_;  // of of_frame()
};

}  // namespace fathom
