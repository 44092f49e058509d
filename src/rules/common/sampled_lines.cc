// Sums samples of stacks that lie in given stretches by line.
#include "rules/common/sampled_lines.h"

#include <algorithm>
#include <string>
#include <utility>

#include "analysis/samples/hot_spots.h"
#include "analysis/samples/stack_roles.h"
#include "analysis/structure/stretches.h"
#include "base/base_name.h"
#include "base/quantity_text.h"
#include "rules/common/evidence.h"
#include "rules/common/recorded.h"
#include "rules/common/share_range.h"

namespace fathom {
std::optional<Evidence> sampled_line(const RuleContext& rules, std::vector<Interval> stretches,
                                     TrackId track) {
  const Trace& trace = rules.trace();
  if (trace.stack_samples.empty() || has_frames(rules)) return std::nullopt;
  stretches = merged(std::move(stretches));
  const Track& host = trace.tracks[track.row()];
  const bool thread_known = std::ranges::any_of(
      trace.stack_samples,
      [&](const StackSample& sample) { return sample.pid == host.pid && sample.tid == host.tid; });
  std::size_t count = 0;
  Duration whole{};
  const auto weight = [&](const StackSample& sample) {
    const bool own = sample.pid == host.pid && (!thread_known || sample.tid == host.tid);
    if (!own || sample.frame == kNoFrame || sample.on_cpu <= Duration{}) return Duration{};
    const auto at = std::ranges::upper_bound(stretches, sample.time, {}, &Interval::end);
    if (at == stretches.end() || sample.time < at->begin) return Duration{};
    return sample.on_cpu;
  };
  for (const StackSample& sample : trace.stack_samples) {
    const Duration time = weight(sample);
    whole += time;
    count += time > Duration{} ? 1 : 0;
  }
  if (count < kFewestSamples) return std::nullopt;
  const StackRoles roles(trace);
  const std::vector<UserSpot> spots =
      user_spots(trace, SpotBy::line, weight,
                 [&roles](const StackSample& sample) { return roles.user_frame(sample.frame); });
  if (spots.empty() || spots.front().frame == kNoFrame) return std::nullopt;
  const StackFrame& frame = trace.stack_frames[spots.front().frame];
  const double share =
      static_cast<double>(to_ns(spots.front().time)) / static_cast<double>(to_ns(whole));
  const ShareRange between = share_range(share, static_cast<double>(count));
  Evidence evidence;
  std::string place(base_name(trace.text(frame.file)));
  evidence.location = std::string(trace.text(frame.file));
  if (frame.line >= 0) {
    place += ":" + std::to_string(frame.line);
    evidence.location += ":" + std::to_string(frame.line);
  }
  evidence.text = "sampled from outside, " + place + " in " +
                  std::string(trace.text(frame.function)) + " has " + percent_text(100 * share) +
                  " of what the thread computes meanwhile (" + percent_text(100 * between.least) +
                  " to " + percent_text(100 * between.most) + " with 95 %, by " +
                  counted_noun(count, "sample") + ")";
  return evidence;
}

}  // namespace fathom
