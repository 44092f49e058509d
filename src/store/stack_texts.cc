// Puts sampled stacks of equal texts together.
#include "store/stack_texts.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "store/sampled_time.h"
#include "store/stack_text.h"

namespace fathom {
namespace {

/// As texts are compared.
bool is_before(char a, char b) {
  return static_cast<unsigned char>(a) < static_cast<unsigned char>(b);
}

}  // namespace

StackTexts::StackTexts(const Trace& trace, std::size_t deepest)
    : trace_(&trace), deepest_(deepest), nodes_(1), rows_(trace.stack_frames.size()) {}

StackTexts::Node StackTexts::of(const StackSample& sample, bool is_blocked) {
  const Node node =
      sample.frame == kNoFrame ? child(0, thread_text(*trace_, sample)) : of_frame(sample.frame);
  return is_blocked ? child(node, std::string(kBlockedFrame)) : node;
}

StackTexts::Node StackTexts::of_frame(std::uint32_t row) {
  const std::vector<StackFrame>& frames = trace_->stack_frames;
  path_.clear();
  for (; row != kNoFrame && rows_[row].node == kUnknown; row = frames[row].parent)
    path_.push_back(row);
  OfRow at = row == kNoFrame ? OfRow{.node = 0} : rows_[row];
  for (std::size_t i = path_.size(); i-- > 0;) {
    if (at.frames < deepest_) at.node = child(at.node, frame_text(*trace_, path_[i]));
    ++at.frames;
    rows_[path_[i]] = at;
  }
  return at.node;
}

StackTexts::Node StackTexts::child(Node parent, std::string name) {
  // It would add nothing to the text.
  if (parent == 0 && name.empty()) return parent;
  std::ranges::replace_if(
      name, [](char c) { return c == ';' || c == '\n' || c == '\r'; }, ',');
  const auto number = static_cast<std::uint32_t>(names_.size());
  const auto known = names_.try_emplace(std::move(name), number).first;
  const auto next = static_cast<Node>(nodes_.size());
  const auto [at, fresh] = children_.try_emplace({parent, known->second}, next);
  if (fresh) {
    nodes_.push_back({.parent = parent, .depth = nodes_[parent].depth + 1, .name = &known->first});
  }
  return at->second;
}

std::string StackTexts::text(Node node) const {
  std::vector<const std::string*> names;
  for (; node != 0; node = nodes_[node].parent) names.push_back(nodes_[node].name);
  std::string text;
  for (std::size_t i = names.size(); i-- > 0;) {
    if (i + 1 < names.size()) text += ';';
    text += *names[i];
  }
  return text;
}

StackTexts::Node StackTexts::above(Node node, std::uint32_t depth) const {
  while (nodes_[node].depth > depth) node = nodes_[node].parent;
  return node;
}

bool StackTexts::less(Node a, Node b) const {
  const std::uint32_t depth = std::min(nodes_[a].depth, nodes_[b].depth);
  Node one = above(a, depth);
  Node other = above(b, depth);
  // One of them goes on where the other ends.
  if (one == other) return nodes_[a].depth < nodes_[b].depth;
  while (nodes_[one].parent != nodes_[other].parent) {
    one = nodes_[one].parent;
    other = nodes_[other].parent;
  }
  const std::string_view first = *nodes_[one].name;
  const std::string_view second = *nodes_[other].name;
  const std::size_t common = std::min(first.size(), second.size());
  const int order = first.substr(0, common).compare(second.substr(0, common));
  if (order != 0) return order < 0;
  // The names are not equal, so one begins with the other, behind which comes a ";" or nothing.
  if (first.size() < second.size()) return one == a || is_before(';', second[common]);
  return other != b && is_before(first[common], ';');
}

}  // namespace fathom
