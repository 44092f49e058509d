// Puts what samples show into words.
#include "rules/common/sampled.h"

#include <algorithm>
#include <utility>

#include "analysis/samples/unsampled.h"
#include "base/base_name.h"
#include "base/quantity_text.h"
#include "rules/common/evidence.h"
#include "rules/common/machine.h"
#include "rules/common/share_range.h"
#include "store/recorder_file.h"
#include "store/sample_weights.h"

namespace fathom {
namespace {

constexpr std::size_t kShown = 3;
/// Places with less are not evidence.
constexpr double kLeastShown = 0.02;
/// Fewer threads on the average that wait for a processor of other programs are not worth a word.
constexpr double kLeastDisplaced = 0.1;
/// Where other programs use fewer processors, they are not what threads wait for.
constexpr double kLeastOthers = 0.1;
/// From this share of its time in the run queue on, a title tells it.
constexpr double kMuchQueued = 0.05;
constexpr double kHalf = 0.5;

bool recorded_inside(const Trace& trace) {
  return std::ranges::any_of(trace.categories, [](const Category& category) {
    return category.slices > 0 &&
           (category.kind == SliceKind::cpu_op || is_runtime_call(category.kind) ||
            is_device_activity(category.kind));
  });
}

/// Longer names of functions lose what stands in their brackets.
constexpr std::size_t kLongName = 60;

/// Where the bracket that ends at `end` begins; npos where there is none.
std::size_t opening_of(std::string_view name, std::size_t end) {
  const char close = name[end];
  const char open = close == ')' ? '(' : '<';
  int depth = 0;
  for (std::size_t i = end + 1; i-- > 0;) {
    if (close == '>' && name[i] == '>' && i > 0 && name[i - 1] == '-') continue;
    if (name[i] == close) ++depth;
    if (name[i] == open && --depth == 0) return i;
  }
  return name.npos;
}

/// "triad(...)": of a long name of C++ the types of parameters, then those of templates, tell
/// readers the least.
std::string short_name(std::string_view name) {
  std::string text(name);
  constexpr std::string_view kShort = "(...)";
  for (const char close : {')', '>'}) {
    std::size_t end = text.size();
    while (text.size() > kLongName && end > 0) {
      end = text.rfind(close, end - 1);
      if (end == text.npos) break;
      const std::size_t begin = opening_of(text, end);
      if (begin == text.npos || begin == 0) break;
      const std::string_view inside = std::string_view(text).substr(begin, end + 1 - begin);
      // A lambda names the function that it stands in.
      const bool keeps = inside.find('{') != inside.npos || inside == "(anonymous namespace)";
      if (inside.size() > kShort.size() && !keeps) {
        text.replace(begin + 1, end - begin - 1, "...");
      }
      end = begin;
    }
  }
  return text;
}

}  // namespace

SampledProgram::SampledProgram(const RuleContext& rules)
    : trace_(rules.trace()),
      roles_(trace_),
      inside_(recorded_inside(trace_)),
      partly_(trace_.fact("samples.left_to_torch") != nullptr) {
  if (inside_ || partly_) return;
  time_ = program_time(trace_, roles_);
  const MachineView machine(rules);
  if (!machine.empty()) others_ = machine.per_second("others.cpu");
}

Outcome SampledProgram::unjudged() const {
  if (inside_) return std::vector<Finding>{};
  if (partly_) {
    return Abstention{
        "processes with PyTorch were not sampled: use fathom run --with samples for those, too"};
  }
  if (!waits_are_known(trace_)) {
    return Abstention{
        "another profiler recorded the stacks, without what threads waited for: use fathom run "
        "--with samples"};
  }
  return Abstention{trace_.stack_samples.empty()
                        ? "no samples of threads were recorded: fathom run records them where "
                          "PyTorch is not in the process"
                        : "the program ran too short to judge by samples of its threads"};
}

/// Code without symbols has an address for a name, which tells nobody anything.
std::uint32_t SampledProgram::named_frame(std::uint32_t frame) const {
  const std::uint32_t user = roles_.user_frame(frame);
  if (user == kNoFrame) return kNoFrame;
  const StackFrame& found = trace_.stack_frames[user];
  const std::string begin = std::string(base_name(trace_.text(found.file))) + "+0x";
  return trace_.text(found.function).starts_with(begin) ? kNoFrame : user;
}

std::string SampledProgram::name_of(std::uint32_t frame) const {
  const StackFrame& found = trace_.stack_frames[frame];
  if (is_recorder_file(trace_.text(found.file))) return "Fathom's own recorder";
  std::string name = found.line < 0 ? short_name(trace_.text(found.function))
                                    : std::string(trace_.text(found.function));
  const std::string_view file = base_name(trace_.text(found.file));
  if (file.empty()) return name;
  name.append(" (").append(file);
  if (found.line >= 0) name += ":" + std::to_string(found.line);
  return name + ")";
}

std::string SampledProgram::name_of(const UserSpot& spot) const {
  if (spot.frame != kNoFrame) return name_of(spot.frame);
  return "native code of " + std::string(trace_.text(spot.thread));
}

bool SampledProgram::is_native(const UserSpot& spot) const {
  // Functions of Python have lines.
  if (spot.frame != kNoFrame) return trace_.stack_frames[spot.frame].line < 0;
  return std::ranges::none_of(trace_.stack_frames,
                              [](const StackFrame& frame) { return frame.line >= 0; });
}

std::string SampledProgram::location_of(std::uint32_t frame) const {
  if (frame == kNoFrame) return {};
  const StackFrame& found = trace_.stack_frames[frame];
  const std::string_view file = trace_.text(found.file);
  if (file.empty() || is_recorder_file(file)) return {};
  std::string location(file);
  return found.line >= 0 ? location + ":" + std::to_string(found.line) : location;
}

std::vector<UserSpot> SampledProgram::spots(
    const std::function<Duration(const StackSample&)>& weight, SpotBy by) const {
  return user_spots(trace_, by, weight,
                    [this](const StackSample& sample) { return named_frame(sample.frame); });
}

std::vector<UserSpot> SampledProgram::waits(WaitClass wait, bool counted) const {
  return spots([this, wait, counted](const StackSample& sample) {
    if (sample.blocked <= Duration{} || roles_.wait_of(sample) != wait) return Duration{};
    return counted ? time_->counted(sample, wait) : sample.blocked;
  });
}

bool SampledProgram::computes() const {
  return time_->activity.share(time_->to_compute()) >= kHalf;
}

StorageTime SampledProgram::storage() const {
  return storage_time(
      trace_, roles_,
      {.on_cpu = [this](const StackSample& sample) { return time_->counted(sample); },
       .blocked =
           [this](const StackSample& sample) {
             return time_->counted(sample, roles_.wait_of(sample));
           }});
}

std::string SampledProgram::queue_clause() const {
  const double share = time_->activity.share(time_->activity.queued);
  return share < kMuchQueued ? ""
                             : "; for " + share_text(share) + " of it, it waits for a processor";
}

std::string SampledProgram::queue_parts() const {
  const Activity& activity = time_->activity;
  if (activity.share(activity.queued) < kMuchQueued) return {};
  const Duration computes = std::min(activity.queued, time_->queued_to_compute);
  return " (" + share_text(activity.share(computes)) + " where it computes, " +
         share_text(activity.share(activity.queued - computes)) + " where it waits)";
}

void SampledProgram::add_time(Finding& finding) const {
  const Activity& activity = time_->activity;
  const auto whose = std::ranges::find_if(time_->threads, [this](const ThreadSum& thread) {
    return std::pair(thread.pid, thread.tid) == time_->whose;
  });
  if (whose == time_->threads.end()) return;
  const bool main = whose->pid == time_->main_pid && whose->is_main();
  std::string text = "of the " + duration_text(activity.whole()) + " of " +
                     (main ? "the main thread"
                           : "thread " + std::to_string(whose->tid) + " (" +
                                 std::string(trace_.text(whose->name)) + ")");
  text += ", " + share_text(activity.share(activity.on_cpu)) + " are on a processor, " +
          share_text(activity.share(activity.queued)) + " in the run queue" + queue_parts() + ", " +
          share_text(activity.share(activity.blocked())) + " blocked";
  finding.evidence.push_back(sentence(std::move(text)));
  if (!time_->by_others) return;
  finding.evidence.push_back(
      sentence(main ? "while the main thread waits for other threads or processes of the program, "
                      "what these do counts in place of that"
                    : "the main thread does next to nothing beside that one"));
}

void SampledProgram::add_limits(Finding& finding) const {
  const auto displaced = time_->displaced();
  const bool busy = others_.value_or(kLeastOthers) >= kLeastOthers;
  if (busy && displaced && time_->average(*displaced) >= kLeastDisplaced) {
    finding.evidence.push_back(sentence(
        "the machine is busy with other programs: threads that could have run waited for a "
        "processor for " +
        duration_text(*displaced) + " that the program itself did not take"));
  }
  if (time_->unsampled > Duration{}) {
    finding.evidence.push_back(
        sentence(duration_text(time_->unsampled) +
                 " on a processor were not sampled: of threads or processes that ended before "
                 "they were looked at, by what the kernel counted when the program ended"));
  }
  std::string unseen = started_threads(trace_).text();
  if (!unseen.empty()) finding.evidence.push_back(sentence(std::move(unseen)));
}

void SampledProgram::add_evidence(const std::vector<UserSpot>& spots, Duration whole,
                                  std::string_view of_what, Finding& finding) const {
  for (std::size_t i = 0; i < std::min(kShown, spots.size()); ++i) {
    const double share =
        static_cast<double>(to_ns(spots[i].time)) / static_cast<double>(to_ns(whole));
    if (i > 0 && share < kLeastShown) break;
    Evidence evidence =
        sentence(name_of(spots[i]) + ": " + share_text(share) + " of " + std::string(of_what));
    evidence.location = location_of(spots[i].frame);
    finding.evidence.push_back(std::move(evidence));
  }
  std::uint64_t samples = 0;
  for (const UserSpot& spot : spots) samples += spot.samples;
  if (samples == 0 || whole <= Duration{}) return;
  const double first = std::min(
      1.0, static_cast<double>(to_ns(spots.front().time)) / static_cast<double>(to_ns(whole)));
  const ShareRange range = share_range(first, static_cast<double>(samples));
  finding.evidence.push_back(sentence("how long is the scheduler's number, where is sampled: of " +
                                      counted_noun(samples, "sample") + ", " + share_text(first) +
                                      " stands for " + share_text(range.least) + " to " +
                                      share_text(range.most) + " with 95 %"));
}

std::string share_text(double share) { return percent_text(100 * share); }

std::string threads_text(double threads) {
  return plain_text(threads) + (plain_text(threads) == "1" ? " thread" : " threads");
}

}  // namespace fathom
