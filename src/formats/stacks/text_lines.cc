// Takes lines out of pieces of a text.
#include "formats/stacks/text_lines.h"

#include <algorithm>
#include <span>

namespace fathom {
namespace {

constexpr std::size_t kPiece = std::size_t{256} << 10U;

}  // namespace

TextLines::TextLines(ByteSource& source) : source_(source), piece_(read_size(source, kPiece)) {}

bool TextLines::fill() {
  if (over_) return false;
  base_ += at_;
  at_ = 0;
  buffer_.resize(piece_);
  const Result<std::size_t> got = source_.read(std::as_writable_bytes(std::span(buffer_)));
  if (!got) error_ = got.error();
  buffer_.resize(got ? *got : 0);
  over_ = buffer_.size() < piece_;
  return !buffer_.empty();
}

std::optional<std::string_view> TextLines::next() {
  line_.clear();
  cut_ = false;
  offset_ = bytes();
  bool any = false;
  while (at_ < buffer_.size() || fill()) {
    any = true;
    const std::string_view rest = std::string_view(buffer_).substr(at_);
    const std::size_t end = rest.find('\n');
    const std::string_view part = rest.substr(0, end);
    at_ += std::min(part.size() + 1, rest.size());
    if (end != rest.npos && line_.empty() && part.size() <= kLongest)
      return part.ends_with('\r') ? part.substr(0, part.size() - 1) : part;
    const std::size_t room = kLongest - line_.size();
    cut_ = cut_ || part.size() > room;
    line_ += part.substr(0, room);
    if (end != rest.npos) break;
  }
  if (!any) return {};
  if (line_.ends_with('\r')) line_.pop_back();
  return line_;
}

}  // namespace fathom
