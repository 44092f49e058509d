// Reads targets, and how far they are reached.
#include "compare/target.h"

#include <array>

#include "engine/query/quantity.h"

namespace fathom {

Result<Target> parse_target(std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    return Error{ErrorCode::invalid_argument, "'" + std::string(text) + "': " + std::string(why)};
  };
  Target target{.text = std::string(text), .ratio = {}, .ns = {}, .within_runs = false};
  if (text.ends_with('%')) {
    const Result<double> percent = parse_quantity(text, QuantityKind::percent);
    if (!percent) return percent.error();
    if (!(*percent > 0 && *percent < 100)) return refuse("less step time is between 0 and 100 %");
    target.ratio = 1 - *percent / 100;
    return target;
  }
  if (text.find_first_not_of("0123456789.") == std::string_view::npos)
    return refuse("it has no unit; write 20% for so much less step time, or 30ms for a step time");
  const Result<double> ns = parse_quantity(text, QuantityKind::duration);
  if (!ns) return ns.error();
  if (!(*ns > 0)) return refuse("a step time is above 0");
  target.ns = *ns;
  return target;
}

std::string_view to_string(Reached reached) {
  constexpr std::array<std::string_view, 3> kNames = {"reached", "not_reached", "cannot_tell"};
  return kNames[static_cast<std::size_t>(reached)];
}

TargetProgress progress_to(const Target& target, double base_ns, double now_ns,
                           const std::optional<Bounds>& interval) {
  TargetProgress out{.target_ns = target.ns.value_or(base_ns * target.ratio.value_or(1)),
                     .way = {},
                     .reached = Reached::cannot_tell,
                     .reason = {}};
  if (base_ns > out.target_ns) out.way = (base_ns - now_ns) / (base_ns - out.target_ns);
  if (!interval || !(base_ns > 0)) return out;
  const double ratio = out.target_ns / base_ns;
  if (interval->high <= ratio) out.reached = Reached::yes;
  if (interval->low > ratio) out.reached = Reached::no;
  return out;
}

}  // namespace fathom
