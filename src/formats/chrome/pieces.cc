// Cutting the input at likely event boundaries.
#include "formats/chrome/pieces.h"

#include <cstring>

#include "formats/chrome/json_scan.h"

namespace fathom::chrome {
namespace {

/// Is the '{' at `p` the start of an object in a list of objects, as far as its neighbours show?
bool looks_like_event_start(const char* begin, const char* p, const char* end) {
  const char* before = p;
  const auto previous = [begin, &before]() {
    while (before > begin && json::is_space(before[-1])) --before;
    return before > begin ? *--before : '\0';
  };
  if (previous() != ',' || previous() != '}') return false;
  const char* const after = json::skip_space(p + 1);
  return after < end && *after == '"';
}

/// The last likely event start in the text, or `end` when there is none.
const char* find_cut(const char* begin, const char* end) {
  const char* p = end;
  while (p > begin) {
    const void* const found = memrchr(begin, '{', static_cast<std::size_t>(p - begin));
    if (found == nullptr) break;
    p = static_cast<const char*>(found);
    if (looks_like_event_start(begin, p, end)) return p;
  }
  return end;
}

}  // namespace

void Piece::reserve(std::size_t bytes) {
  if (bytes <= capacity_) return;
  auto larger = std::make_unique_for_overwrite<char[]>(bytes);
  if (size_ > 0) std::memcpy(larger.get(), buffer_.get(), size_);
  buffer_ = std::move(larger);
  capacity_ = bytes;
}

Result<bool> PieceCutter::next(Piece& piece) {
  piece.size_ = 0;
  if (at_end_ && rest_.empty()) return false;
  const std::size_t wanted = rest_.size() + piece_bytes_;
  piece.reserve(wanted + json::kPadding);
  char* const buffer = piece.buffer_.get();
  std::memcpy(buffer, rest_.data(), rest_.size());
  piece.size_ = rest_.size();
  rest_.clear();
  if (!at_end_) {
    Result<std::size_t> got =
        source_.read({reinterpret_cast<std::byte*>(buffer + piece.size_), piece_bytes_});
    if (!got) return std::move(got).error();
    piece.size_ += *got;
    at_end_ = *got < piece_bytes_;
  }
  std::memset(buffer + piece.size_, 0, json::kPadding);
  if (!at_end_) {
    const char* const cut = find_cut(buffer, buffer + piece.size_);
    const auto kept = static_cast<std::size_t>(cut - buffer);
    if (kept > 0) {
      rest_.assign(cut, piece.size_ - kept);
      piece.size_ = kept;
      std::memset(buffer + kept, 0, json::kPadding);
    }
  }
  piece.offset_ = offset_;
  piece.number_ = number_++;
  piece.last_ = at_end_;
  offset_ += piece.size_;
  return true;
}

}  // namespace fathom::chrome
