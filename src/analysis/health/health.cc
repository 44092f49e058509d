// Puts the groups of checks together, and says in one line what matters most.
#include "analysis/health/health.h"

#include <algorithm>
#include <array>

#include "analysis/health/checks.h"
#include "base/digit_groups.h"

namespace fathom {
namespace {

constexpr std::array<std::string_view, 5> kStatusNames = {"not applicable", "ok", "note", "warning",
                                                          "bad"};
static_assert(kStatusNames[static_cast<std::size_t>(CheckStatus::bad)] == "bad");

std::string counted(std::uint64_t count, std::string_view noun) {
  return grouped(count) + ' ' + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace

std::string_view to_string(CheckStatus status) {
  return kStatusNames[static_cast<std::size_t>(status)];
}

double HealthCheck::share_percent() const {
  if (share >= 0) return 100.0 * share;
  return of == 0 ? -1 : 100.0 * static_cast<double>(count) / static_cast<double>(of);
}

std::string HealthCheck::sentence() const {
  if (status <= CheckStatus::ok) return {};
  std::string text;
  if (!stands_alone) {
    text = grouped(count) + ' ';
    if (of != 0) text += "of " + grouped(of) + ' ';
  }
  text += what;
  if (!consequence.empty()) text += ": " + consequence;
  return text;
}

CheckStatus Health::worst() const {
  CheckStatus worst = CheckStatus::ok;
  for (const HealthCheck& check : checks) worst = std::max(worst, check.status);
  return worst;
}

const HealthCheck* Health::named_in_summary() const {
  const CheckStatus worst_status = worst();
  if (worst_status < CheckStatus::warning) return nullptr;
  // Of the worst ones the first: the groups stand in the order in which they undermine the rest.
  return &*std::ranges::find(checks, worst_status, &HealthCheck::status);
}

std::string Health::summary() const {
  const auto with = [this](CheckStatus status) {
    return static_cast<std::uint64_t>(std::ranges::count(checks, status, &HealthCheck::status));
  };
  const HealthCheck* const first = named_in_summary();
  if (first == nullptr) {
    const std::uint64_t notes = with(CheckStatus::note);
    return notes == 0 ? "good" : "good (" + counted(notes, "note") + ")";
  }
  std::string text = first->sentence();
  const std::uint64_t more = with(CheckStatus::bad) + with(CheckStatus::warning) - 1;
  if (more != 0) text += " (and " + counted(more, "more finding") + ")";
  return text;
}

std::vector<const HealthCheck*> Health::losses_beside_summary() const {
  const HealthCheck* const named = named_in_summary();
  std::vector<const HealthCheck*> losses;
  for (const HealthCheck& check : checks) {
    if (check.loss && check.status > CheckStatus::ok && &check != named) losses.push_back(&check);
  }
  return losses;
}

const HealthCheck* Health::find(std::string_view id) const {
  const auto at = std::ranges::find(checks, id, &HealthCheck::id);
  return at == checks.end() ? nullptr : &*at;
}

Health compute_health(const Context& context) {
  const HealthTally tally = tally_slices(context.trace, context.links());
  const HealthInput input{context, tally};
  Health health;
  check_reading(input, health);
  check_links(input, health);
  check_time(input, health);
  check_structure(input, health);
  check_steps(input, health);
  check_recording(input, health);
  check_recorder(input, health);
  return health;
}

}  // namespace fathom
