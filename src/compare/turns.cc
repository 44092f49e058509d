// Pairs recordings by when they began.
#include "compare/turns.h"

#include <algorithm>

namespace fathom {
namespace {

struct Started {
  std::int64_t at = 0;
  bool now = false;
  std::size_t place = 0;
};

constexpr const char* kRemedy =
    "; record both sides in turns, each pair in random order, as examples/ci/check_change does";

/// In the order of time; unset where one does not say when.
std::optional<std::vector<Started>> in_time_order(std::span<const StartTime> base,
                                                  std::span<const StartTime> now) {
  std::vector<Started> all;
  for (std::size_t i = 0; i < base.size(); ++i) {
    if (!base[i]) return std::nullopt;
    all.push_back({.at = *base[i], .now = false, .place = i});
  }
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (!now[i]) return std::nullopt;
    all.push_back({.at = *now[i], .now = true, .place = i});
  }
  std::ranges::stable_sort(all, {}, &Started::at);
  return all;
}

}  // namespace

Turns turns_of(std::span<const StartTime> base, std::span<const StartTime> now,
               std::size_t fewest) {
  Turns out;
  const std::optional<std::vector<Started>> all = in_time_order(base, now);
  if (!all) {
    out.alone = base.size() + now.size();
    out.reason = std::string(
                     "not all recordings say when they were made (a baseline of an older "
                     "Fathom does not), so that it is not known whether the sides took "
                     "turns") +
                 kRemedy;
    return out;
  }
  bool base_first = false;
  bool new_first = false;
  for (std::size_t i = 0; i < all->size(); ++i) {
    const Started& one = (*all)[i];
    const bool pair =
        i + 1 < all->size() && (*all)[i + 1].now != one.now && (*all)[i + 1].at != one.at;
    if (!pair) {
      ++out.alone;
      continue;
    }
    const Started& other = (*all)[++i];
    (one.now ? new_first : base_first) = true;
    out.pairs.emplace_back(one.now ? other.place : one.place, one.now ? one.place : other.place);
  }
  if (out.pairs.size() < fewest) {
    out.reason = "the sides were not recorded in turns: " + std::to_string(out.pairs.size()) +
                 (out.pairs.size() == 1 ? " recording" : " recordings") +
                 " of base followed or preceded one of new directly, so that drift of the machine "
                 "counts as change" +
                 kRemedy;
  } else if (base_first != new_first) {
    out.reason = std::string(base_first ? "base" : "new") +
                 " was recorded first in every pair, so that drift of the machine counts as "
                 "change" +
                 kRemedy;
  }
  return out;
}

}  // namespace fathom
