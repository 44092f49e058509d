// Reads pieces of memory twice.
#include "sample/snapshot.h"

#include <algorithm>
#include <functional>

namespace fathom::sample {
namespace {

/// A larger piece is looked into by any address in it; a smaller one is asked for by its own.
constexpr std::size_t kLarge = 1024;

}  // namespace

void Snapshot::add(Address at, std::size_t size) {
  const auto found = index_.find(at);
  if (found != index_.end()) {
    Kept& kept = pieces_[found->second];
    changed_ = changed_ || kept.size != size;
    kept.size = size;
    kept.used = take_;
    return;
  }
  if (pieces_.size() >= kMostPieces) return;
  index_.emplace(at, pieces_.size());
  pieces_.push_back({.at = at, .size = size, .begin = 0, .used = take_, .turn = 0, .taken = false});
  changed_ = true;
}

void Snapshot::remove(Address at) {
  const auto found = index_.find(at);
  if (found == index_.end()) return;
  pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(found->second));
  number_again();
}

void Snapshot::number_again() {
  changed_ = true;
  index_.clear();
  for (std::size_t i = 0; i < pieces_.size(); ++i) index_.emplace(pieces_[i].at, i);
}

void Snapshot::remove_unused(std::uint32_t takes) {
  const std::size_t before = pieces_.size();
  std::erase_if(pieces_, [&](const Kept& kept) { return take_ - kept.used > takes; });
  if (pieces_.size() != before) number_again();
}

void Snapshot::lay_out() {
  std::size_t size = 0;
  large_.clear();
  std::ranges::stable_sort(pieces_, std::greater<>(), &Kept::turn);
  number_again();
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    pieces_[i].begin = size;
    pieces_[i].taken = false;
    size += pieces_[i].size;
    if (pieces_[i].size >= kLarge) large_.push_back(i);
  }
  reads_.clear();
  for (auto& buffer : buffers_) {
    buffer.resize(size);
    for (const Kept& kept : pieces_)
      reads_.push_back({.at = kept.at, .to = std::span(buffer).subspan(kept.begin, kept.size)});
  }
  std::reverse(reads_.begin() + static_cast<std::ptrdiff_t>(pieces_.size()), reads_.end());
  changed_ = false;
}

bool Snapshot::take(std::span<const Piece> others) { return take_readings(2, others); }
bool Snapshot::take_once(std::span<const Piece> others) { return take_readings(1, others); }

bool Snapshot::take_readings(std::size_t readings, std::span<const Piece> others) {
  ++take_;
  turn_ = 0;
  if (changed_) lay_out();
  const std::size_t own = readings * pieces_.size();
  std::span<const Piece> reads = std::span(reads_).first(own);
  if (!others.empty()) {
    with_others_.assign(reads.begin(), reads.end());
    with_others_.insert(with_others_.end(), others.begin(), others.end());
    reads = with_others_;
  }
  const std::size_t got = memory_.read_pieces(reads);
  const bool all = got >= own;
  others_read_ = all ? got - own : 0;
  for (std::size_t i = 0; i < pieces_.size(); ++i) pieces_[i].taken = all;
  // What lies behind the piece that is gone is read the next time.
  if (!all) remove(reads_[got].at);
  return all;
}

std::span<const std::byte> Snapshot::bytes(int reading, Address at, std::size_t size) {
  const auto within = [&](Kept& kept) -> std::span<const std::byte> {
    const Address offset = at - kept.at;
    if (!kept.taken || offset > kept.size || size > kept.size - offset) return {};
    kept.used = take_;
    kept.turn = turn_++;
    return std::span<const std::byte>(buffers_[reading]).subspan(kept.begin + offset, size);
  };
  for (const std::size_t i : large_) {
    if (i >= pieces_.size()) break;
    Kept& kept = pieces_[i];
    if (at < kept.at || at - kept.at >= kept.size) continue;
    const auto found = within(kept);
    if (!found.empty()) return found;
  }
  const auto found = index_.find(at);
  if (found == index_.end()) return {};
  return within(pieces_[found->second]);
}

}  // namespace fathom::sample
