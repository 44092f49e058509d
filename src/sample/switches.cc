// Divides what a thread was blocked by its switches.
#include "sample/switches.h"

#include <algorithm>
#include <cstddef>

namespace fathom::sample {
namespace {

bool as_met(const Between& looks, std::span<const Switch> switches) {
  if (switches.empty()) return false;
  const auto given = std::ranges::count(switches, false, &Switch::out);
  if (given != looks.scheduled) return false;
  for (std::size_t i = 0; i + 1 < switches.size(); ++i) {
    if (switches[i].out == switches[i + 1].out) return false;
  }
  const Switch& last = switches.back();
  if (looks.was_asleep && switches.front().out) return false;
  return !looks.is_asleep || (last.out && !last.displaced);
}

}  // namespace

std::optional<BlockedParts> divide_blocked(const Between& looks, std::span<const Switch> switches,
                                           std::int64_t now) {
  if (!as_met(looks, switches)) return std::nullopt;
  BlockedParts off;
  if (looks.was_asleep) off.before = std::max<std::int64_t>(0, switches.front().time - looks.since);
  if (looks.is_asleep) off.after = std::max<std::int64_t>(0, now - switches.back().time);
  for (std::size_t i = 0; i + 1 < switches.size(); ++i) {
    const Switch& out = switches[i];
    if (!out.out || out.displaced) continue;
    off.between += std::max<std::int64_t>(0, switches[i + 1].time - out.time);
  }
  // Who still sleeps waits for no processor; in the others some of the time may be such.
  const std::int64_t blocked = std::max<std::int64_t>(0, looks.blocked);
  BlockedParts parts;
  parts.after = std::min(off.after, blocked);
  const std::int64_t rest = blocked - parts.after;
  const std::int64_t others = off.before + off.between;
  if (others == 0) {
    (looks.is_asleep ? parts.after : parts.between) += rest;
    return parts;
  }
  parts.before = static_cast<std::int64_t>(
      static_cast<double>(rest) * static_cast<double>(off.before) / static_cast<double>(others));
  parts.before = std::clamp<std::int64_t>(parts.before, 0, rest);
  parts.between = rest - parts.before;
  return parts;
}

}  // namespace fathom::sample
