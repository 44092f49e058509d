// In-order assembly of speculatively parsed pieces.
#include "formats/chrome/document.h"

#include "formats/chrome/json_scan.h"

namespace fathom::chrome {
namespace {

/// An event longer than this is not waited for to end.
constexpr std::size_t kMaxEventBytes = std::size_t{64} << 20;

}  // namespace

void Document::add(const Piece& piece, const Guess& guess) {
  bytes_ = piece.offset() + static_cast<std::uint64_t>(piece.end() - piece.begin());
  if (guess.made && outline_.in_events() && carry_.empty()) {
    rows_.append(guess.batch);
    const char* const at = follow(guess.result, piece.end());
    if (at < piece.end()) {
      read(at, piece.end(), piece.offset() + static_cast<std::uint64_t>(at - piece.begin()),
           piece.last());
    }
    return;
  }
  if (carry_.empty()) {
    read(piece.begin(), piece.end(), piece.offset(), piece.last());
    return;
  }
  std::string text = std::move(carry_);
  carry_.clear();
  const std::uint64_t offset = piece.offset() - text.size();
  text.append(piece.begin(), piece.end());
  const std::size_t size = text.size();
  text.append(json::kPadding, '\0');
  read(text.data(), text.data() + size, offset, piece.last() || size > kMaxEventBytes);
}

void Document::read(const char* begin, const char* end, std::uint64_t offset, bool last) {
  for (const char* p = begin; p < end;) {
    const std::uint64_t at = offset + static_cast<std::uint64_t>(p - begin);
    if (!outline_.in_events()) {
      p = outline_.read(p, end, at);
      continue;
    }
    scratch_.clear();
    const ListResult result = read_events(parser_, p, end, at, last, scratch_);
    rows_.append(scratch_);
    p = follow(result, end);
  }
}

const char* Document::follow(const ListResult& result, const char* end) {
  if (result.stop == ListStop::incomplete) carry_.assign(result.at, end);
  if (result.stop != ListStop::closed) return end;
  outline_.events_closed();
  return result.at;
}

Result<void> Document::finish(bool source_damaged) {
  if (!outline_.saw_events()) {
    return Error{ErrorCode::corrupt, "not a trace that Fathom reads"};
  }
  const std::uint64_t without_phase = rows_.log[Repair::unknown_phase].count;
  const std::uint64_t other = rows_.log[Repair::malformed_event].count + without_phase;
  if (outline_.bare_list() && rows_.events <= without_phase && other > 0) {
    return Error{ErrorCode::corrupt, "not a trace that Fathom reads"};
  }
  if (outline_.has_garbage()) rows_.log.add(Repair::trailing_garbage, outline_.garbage_offset());
  if (!outline_.complete() && rows_.log[Repair::truncated].count == 0) {
    rows_.log.add(source_damaged ? Repair::truncated : Repair::missing_close, bytes_);
  }
  return {};
}

}  // namespace fathom::chrome
