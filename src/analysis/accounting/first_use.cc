// Finds what is slow because it is used for the first time: calls, launches and operators.
#include "analysis/accounting/first_use.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/structure/links.h"
#include "analysis/structure/nesting.h"
#include "analysis/structure/stretches.h"
#include "store/profiler_step.h"

namespace fathom {
namespace {

/// What takes less is not worth to be told apart from work that comes again.
constexpr Duration kLong = duration_ns(1'000'000);
/// After steps that were not recorded most has been used before. What is shorter may then as well
/// be the processor working for another program meanwhile: schedulers take turns of milliseconds.
constexpr Duration kLongAfterSteps = duration_ns(10'000'000);
constexpr std::int64_t kStepsBefore = 2;
/// A first use takes at least so many times as long as the usual one.
constexpr int kLonger = 3;
/// As many later calls show what is usual for calls of one signature.
constexpr std::size_t kFewestLater = 2;

/// A device's context takes at least so long to make, and far longer than a later call.
constexpr Duration kContext = duration_ns(100'000'000);
constexpr Duration kSurelyContext = duration_ns(1'000'000'000);
constexpr int kMuchLonger = 10;

/// A load of code is looked for in so many calls, and a launch in so many operators around it.
constexpr int kMostCalls = 64;
constexpr int kDeepest = 64;

constexpr std::string_view kOperator = "aten::";
constexpr std::array<std::string_view, 4> kAllocate = {"aten::empty", "aten::to", "aten::_to_copy",
                                                       "aten::copy_"};
/// Only allocates: of a processor's memory in no time, so that a long call is of a device.
constexpr std::string_view kAllocatesOnly = "aten::empty";
/// Operators of libraries that choose an algorithm when they are first called.
constexpr std::array<std::string_view, 2> kChoose = {"aten::cudnn_", "aten::miopen_"};
// How recorders name the loading of code beside the call that waits for it.
constexpr std::array<std::string_view, 2> kLoading = {"Lazy Function Loading",
                                                      "Runtime Triggered Module Loading"};
// Names of kernels that a compiler generated: NNC and nvFuser of TorchScript, Inductor, jiterator.
constexpr std::array<std::string_view, 5> kGenerated = {"fused_", "triton_", "nvfuser",
                                                        "CudaCodeGen", "jitted_"};
// Parts of functions of TorchScript: what runs where a fused group does not, fused groups.
constexpr std::array<std::string_view, 3> kScripted = {"fallback_function", "fused_", "TensorExpr"};
// torch 1.8 wrote annotations as operators.
constexpr std::array<std::string_view, 3> kAnnotations = {kProfilerStep, "Optimizer.",
                                                          "enumerate("};

template <std::size_t Count>
bool starts_with_any(const std::array<std::string_view, Count>& beginnings, std::string_view name) {
  return std::ranges::any_of(beginnings,
                             [name](std::string_view each) { return name.starts_with(each); });
}

bool is_generated(std::string_view kernel) {
  return std::ranges::any_of(
      kGenerated, [kernel](std::string_view word) { return kernel.find(word) != kernel.npos; });
}

/// The first launched kernel of a name, and the next one that another call launched.
struct Kernel {
  SliceId first{};
  SliceId next{};
};

class FirstUses {
 public:
  explicit FirstUses(const Context& context)
      : context_(context),
        trace_(context.trace),
        links_(context.links()),
        parent_(context.nesting().parent),
        threads_(trace_.tracks.size()),
        least_(runs_already(context.steps()) ? kLongAfterSteps : kLong) {
    for (const Nesting::Thread& thread : context.nesting().work)
      threads_[thread.track.row()] = &thread;
    find_kernels();
  }

  std::vector<OneOff> find() {
    calls();
    loading();
    if (links_.activities.empty()) {
      contexts();
      return std::move(found_);
    }
    operators_of_kernels();
    operators_by_signature();
    operators_that_choose();
    before_generated();
    before_scripted();
    return std::move(found_);
  }

 private:
  /// Were steps before the first recorded one left out by the profiler's schedule?
  [[nodiscard]] static bool runs_already(const Steps& steps) {
    return steps.source == StepSource::profiler_step && !steps.steps.empty() &&
           steps.steps.front().number >= kStepsBefore;
  }
  [[nodiscard]] Time start(SliceId slice) const { return trace_.slices.start[slice.row()]; }
  [[nodiscard]] Time end(SliceId slice) const { return trace_.slices.end(slice); }
  [[nodiscard]] StringId name(SliceId slice) const { return trace_.slices.name[slice.row()]; }
  [[nodiscard]] Duration duration(SliceId slice) const {
    return trace_.slices.duration[slice.row()];
  }
  /// Orders by start, the longer before the shorter.
  [[nodiscard]] std::pair<Time, Duration> start_and_length(SliceId slice) const {
    return {start(slice), -duration(slice)};
  }
  /// Calls that last as long as the device works or data moves.
  [[nodiscard]] bool waits(SliceId call) const {
    switch (links_.call_kind(trace_, call)) {
      case CallKind::synchronize:
      case CallKind::copy:
      case CallKind::copy_blocking:
      case CallKind::fill_blocking:
        return true;
      default:
        return false;
    }
  }

  [[nodiscard]] bool earlier(SliceId a, SliceId b) const {
    const auto key = [this](SliceId call) {
      const SliceId op = parent_[call.row()];
      return std::tuple(start(call), end(call), op.valid() ? start(op) : Time::max(),
                        op.valid() ? end(op) : Time::max());
    };
    return key(a) < key(b);
  }

  void find_kernels() {
    std::vector<std::uint32_t> index(trace_.strings.size(), UINT32_MAX);
    for (const SliceId activity : links_.activities) {
      const SliceId launch = links_.launch[activity.row()];
      if (trace_.kind(activity) != SliceKind::kernel || !launch.valid()) continue;
      std::uint32_t& at = index[name(activity).row()];
      if (at == UINT32_MAX) {
        at = static_cast<std::uint32_t>(kernels_.size());
        kernels_.push_back({.first = activity});
        continue;
      }
      Kernel& kernel = kernels_[at];
      const SliceId first = links_.launch[kernel.first.row()];
      // Of those that start together, the one that was launched first, whatever the file's order.
      if (start(activity) == start(kernel.first) && earlier(launch, first)) {
        kernel.next = std::exchange(kernel.first, activity);
      } else if (!kernel.next.valid() && first != launch) {
        kernel.next = activity;
      }
    }
  }

  /// Launches of new kernels, and calls of new names.
  void calls() {
    std::vector<SliceId> longer;
    for (std::size_t row = 0; row < trace_.slices.size(); ++row) {
      const SliceId slice(row);
      if (trace_.slices.duration[row] >= least_ && is_runtime_call(trace_.kind(slice)) &&
          !waits(slice))
        longer.push_back(slice);
    }
    if (longer.empty()) return;
    std::vector<Time> earliest(trace_.strings.size(), Time::max());
    for (std::size_t row = 0; row < trace_.slices.size(); ++row) {
      if (!is_runtime_call(trace_.kind(SliceId(row)))) continue;
      Time& first = earliest[trace_.slices.name[row].row()];
      first = std::min(first, trace_.slices.start[row]);
    }
    std::vector<SliceId> launches;
    for (const Kernel& kernel : kernels_) launches.push_back(links_.launch[kernel.first.row()]);
    std::ranges::sort(launches);
    for (const SliceId call : longer) {
      const bool launch = std::ranges::binary_search(launches, call);
      if (!launch && earliest[name(call).row()] != start(call)) continue;
      found_.push_back({call,
                        {start(call), end(call)},
                        launch ? OneOffKind::first_launch : OneOffKind::first_call});
    }
  }

  /// What recorders mark as loading, in the calls that wait for it.
  void loading() {
    std::vector<bool> named(trace_.strings.size());
    for (std::size_t row = 0; row < named.size(); ++row)
      named[row] = starts_with_any(kLoading, trace_.strings.view(StringId(row)));
    if (std::ranges::find(named, true) == named.end()) return;
    std::vector<Load> loads;
    for (std::size_t row = 0; row < trace_.slices.size(); ++row) {
      const SliceId slice(row);
      if (named[name(slice).row()] && trace_.kind(slice) == SliceKind::overhead)
        loads.push_back({.interval = {start(slice), end(slice)}});
    }
    std::ranges::sort(loads, {}, [](const Load& load) { return load.interval.begin; });
    for (const Nesting::Thread& thread : context_.nesting().work)
      for (const SliceId slice : thread.slices)
        if (is_runtime_call(trace_.kind(slice))) loads_in(slice, loads);
  }

  struct Load {
    Interval interval{};
    int calls = 0;  ///< That wait for it, so far.
  };

  void loads_in(SliceId call, std::vector<Load>& loads) {
    auto load = std::ranges::lower_bound(loads, start(call), {},
                                         [](const Load& each) { return each.interval.begin; });
    for (; load != loads.end() && load->interval.begin < end(call); ++load) {
      if (++load->calls > kMostCalls) continue;
      const Interval both{load->interval.begin, std::min(load->interval.end, end(call))};
      found_.push_back({call, both, OneOffKind::first_launch});
    }
  }

  /// Exports of the former profiler have no categories.
  [[nodiscard]] bool may_be_operator(SliceId slice) const {
    return trace_.kind(slice) == SliceKind::cpu_op || trace_.kind(slice) == SliceKind::other;
  }

  /// Without a device's activity: operators that only allocate or copy, and take so long because
  /// they are the first to use a device, and the first calls of a device's libraries. Allocations
  /// of the processor have the same name: the long one need not be the first of all.
  void contexts() {
    std::map<StringId, std::vector<SliceId>> calls;
    for (std::size_t row = 0; row < trace_.slices.size(); ++row) {
      const SliceId op(row);
      if (!may_be_operator(op) || trace_.slices.duration[row] < kContext) continue;
      const std::string_view called = trace_.name(op);
      if (starts_with_any(kAllocate, called) || starts_with_any(kChoose, called))
        calls.try_emplace(name(op));
    }
    if (calls.empty()) return;
    for (std::size_t row = 0; row < trace_.slices.size(); ++row) {
      const SliceId op(row);
      if (!may_be_operator(op)) continue;
      if (const auto at = calls.find(name(op)); at != calls.end()) at->second.push_back(op);
    }
    for (const auto& [name, ops] : calls) {
      SliceId first =
          *std::ranges::min_element(ops, {}, [this](SliceId op) { return start_and_length(op); });
      if (trace_.text(name) == kAllocatesOnly)
        first = *std::ranges::max_element(ops, {}, [this](SliceId op) { return duration(op); });
      Duration longest{};
      for (const SliceId op : ops)
        if (op != first) longest = std::max(longest, duration(op));
      const Duration own = own_time(first);
      const bool once = ops.size() == 1 ? own >= kSurelyContext : own >= kMuchLonger * longest;
      if (once && own >= kContext) add_operator(first, {start(first), end(first)});
    }
  }

  /// The time of an operator outside of what is directly inside it.
  [[nodiscard]] Duration own_time(SliceId op) const {
    const std::vector<SliceId>& slices = threads_[trace_.slices.track[op.row()].row()]->slices;
    Duration own = duration(op);
    for (auto at = place_of(slices, op); at != slices.end() && start(*at) < end(op); ++at)
      if (parent_[at->row()] == op) own -= duration(*at);
    return own;
  }

  /// Operators up to the launch of a kernel that they are the first to launch.
  void operators_of_kernels() {
    std::map<SliceId, Time> ends;
    for (const Kernel& kernel : kernels_) {
      const SliceId op = links_.op[kernel.first.row()];
      const SliceId launch = links_.launch[kernel.first.row()];
      if (!op.valid() || !trace_.name(op).starts_with(kOperator)) continue;
      if (end(launch) - start(op) < least_) continue;
      Time& last = ends.try_emplace(op, Time::min()).first->second;
      last = std::max(last, end(launch));
    }
    if (ends.empty()) return;
    std::map<StringId, std::vector<SliceId>> same;
    for (const auto& [op, last] : ends) same.try_emplace(name(op));
    for (std::size_t row = 0; row < trace_.slices.size(); ++row) {
      const SliceId slice(row);
      if (trace_.kind(slice) != SliceKind::cpu_op) continue;
      if (const auto at = same.find(name(slice)); at != same.end()) at->second.push_back(slice);
    }
    std::map<StringId, Duration> usual;
    for (const auto& [called, ops] : same) {
      std::vector<Duration> others;
      std::vector<SliceId> again = repeated(ops);
      std::erase_if(again, [&ends](SliceId op) { return ends.contains(op); });
      for (const SliceId op : again.empty() ? ops : again)
        if (!ends.contains(op)) others.push_back(duration(op));
      usual[called] = others.empty() ? Duration{} : median_of(std::move(others));
    }
    for (const auto& [op, last] : ends) {
      const Duration took = last - start(op);
      if (kLonger * usual.at(name(op)) <= took) add_operator(op, {start(op), last});
    }
  }

  /// With what arguments an operator is called; invalid where that was not recorded.
  [[nodiscard]] SignatureId signature(SliceId op) const {
    const std::uint32_t detail = trace_.slices.detail[op.row()];
    const bool has = trace_.kind(op) == SliceKind::cpu_op && detail != SliceId::kNone;
    return has ? trace_.ops.signature[detail] : SignatureId();
  }

  /// Of the calls of one operator, those with arguments that an earlier one had, too.
  [[nodiscard]] std::vector<SliceId> repeated(std::vector<SliceId> ops) const {
    std::ranges::sort(ops, {}, [this](SliceId op) { return std::pair(start_and_length(op), op); });
    std::set<SignatureId> seen;
    std::erase_if(ops, [&](SliceId op) {
      return !signature(op).valid() || seen.insert(signature(op)).second;
    });
    return ops;
  }

  /// Operators for which a library chooses an algorithm when it meets their arguments for the first
  /// time: first calls that take far longer than calls with arguments that were there before.
  void operators_that_choose() {
    std::map<StringId, std::vector<SliceId>> calls;
    for (std::size_t row = 0; row < trace_.slices.size(); ++row) {
      const SliceId op(row);
      if (trace_.kind(op) != SliceKind::cpu_op || trace_.slices.duration[row] < least_) continue;
      if (starts_with_any(kChoose, trace_.name(op))) calls.try_emplace(name(op));
    }
    if (calls.empty()) return;
    for (std::size_t row = 0; row < trace_.slices.size(); ++row) {
      if (trace_.kind(SliceId(row)) != SliceKind::cpu_op) continue;
      if (const auto at = calls.find(trace_.slices.name[row]); at != calls.end())
        at->second.push_back(SliceId(row));
    }
    std::vector<SliceId> firsts;
    for (const auto& [called, ops] : calls) {
      std::vector<SliceId> again = repeated(ops);
      if (again.empty()) continue;
      std::vector<Duration> later;
      later.reserve(again.size());
      for (const SliceId op : again) later.push_back(duration(op));
      const Duration usual = median_of(std::move(later));
      std::ranges::sort(again);
      for (const SliceId op : ops) {
        if (duration(op) < least_ || kLonger * usual > duration(op)) continue;
        if (signature(op).valid() && !std::ranges::binary_search(again, op)) firsts.push_back(op);
      }
    }
    add_outermost(std::move(firsts));
  }

  /// Operators whose first call with these arguments takes far longer than those after it.
  void operators_by_signature() {
    using Key = std::pair<StringId, SignatureId>;
    std::map<Key, std::vector<SliceId>> calls;
    const auto key_of = [this](SliceId op) { return Key(name(op), signature(op)); };
    std::vector<bool> named(trace_.strings.size());
    for (std::size_t row = 0; row < trace_.slices.size(); ++row) {
      const SliceId op(row);
      if (trace_.slices.duration[row] < least_ || trace_.kind(op) != SliceKind::cpu_op) continue;
      const Key key = key_of(op);
      if (!key.second.valid() || !trace_.name(op).starts_with(kOperator)) continue;
      calls.try_emplace(key);
      named[name(op).row()] = true;
    }
    if (calls.empty()) return;
    for (std::size_t row = 0; row < trace_.slices.size(); ++row) {
      if (!named[trace_.slices.name[row].row()]) continue;
      if (const auto at = calls.find(key_of(SliceId(row))); at != calls.end())
        at->second.push_back(SliceId(row));
    }
    std::vector<SliceId> firsts;
    for (auto& [key, ops] : calls) {
      const auto first =
          std::ranges::min_element(ops, {}, [this](SliceId op) { return start_and_length(op); });
      std::vector<Duration> later;
      for (const SliceId op : ops)
        if (op != *first) later.push_back(duration(op));
      if (later.size() < kFewestLater || duration(*first) < least_) continue;
      if (kLonger * median_of(std::move(later)) <= duration(*first)) firsts.push_back(*first);
    }
    add_outermost(std::move(firsts));
  }

  /// Adds operators, but none inside another.
  void add_outermost(std::vector<SliceId> ops) {
    std::ranges::sort(ops, {}, [this](SliceId op) { return std::pair(start_and_length(op), op); });
    std::vector<Time> covered(trace_.tracks.size(), Time::min());
    for (const SliceId op : ops) {
      Time& until = covered[trace_.slices.track[op.row()].row()];
      if (end(op) <= until) continue;
      until = end(op);
      add_operator(op, {start(op), end(op)});
    }
  }

  /// Time in an operator, in no call, right before it launches a kernel that was generated.
  void before_generated() {
    for (const Kernel& kernel : kernels_) {
      const SliceId launch = links_.launch[kernel.first.row()];
      const bool driver = trace_.kind(launch) == SliceKind::driver;
      if (!driver && !is_generated(trace_.name(kernel.first))) continue;
      const auto [op, stretch] = before(launch);
      if (!op.valid() || stretch.length() < least_) continue;
      const Interval usual =
          kernel.next.valid() ? before(links_.launch[kernel.next.row()]).second : Interval{};
      if (kLonger * usual.length() > stretch.length()) continue;
      found_.push_back({op, stretch, OneOffKind::first_operator});
    }
  }

  /// Time in nothing that was recorded, right before the first call of a scripted function: its
  /// graph is optimised for the types and sizes at hand before anything of it runs.
  void before_scripted() {
    std::map<StringId, std::set<std::tuple<Time, Duration, SliceId>>> calls;
    for (const Nesting::Thread& thread : context_.nesting().work) {
      for (const SliceId part : thread.slices) {
        if (!starts_with_any(kScripted, trace_.name(part))) continue;
        const SliceId function = outermost_operator(part);
        if (!function.valid() || function == part) continue;
        calls[name(function)].emplace(start(function), -duration(function), function);
      }
    }
    for (const auto& [called, functions] : calls) {
      const SliceId first = std::get<SliceId>(*functions.begin());
      const Interval stretch = nothing_before(first);
      if (stretch.length() < least_) continue;
      const Interval usual = functions.size() > 1
                                 ? nothing_before(std::get<SliceId>(*std::next(functions.begin())))
                                 : Interval{};
      if (kLonger * usual.length() > stretch.length()) continue;
      found_.push_back({first, stretch, OneOffKind::first_operator});
    }
  }

  /// The outermost operator around a slice that no library named; invalid where it is one's.
  [[nodiscard]] SliceId outermost_operator(SliceId slice) const {
    SliceId op = slice;
    int depth = 0;
    for (SliceId at = slice; at.valid(); at = parent_[at.row()]) {
      if (++depth > kDeepest) return {};
      if (trace_.kind(at) != SliceKind::cpu_op || starts_with_any(kAnnotations, trace_.name(at)))
        break;
      op = at;
    }
    return trace_.name(op).find("::") == std::string_view::npos ? op : SliceId();
  }

  /// From the end of what ran before on the thread to the begin of `slice`; empty where nothing
  /// did.
  [[nodiscard]] Interval nothing_before(SliceId slice) const {
    const std::vector<SliceId>& slices = threads_[trace_.slices.track[slice.row()].row()]->slices;
    const auto at = place_of(slices, slice);
    if (at == slices.begin()) return {};
    const SliceId parent = parent_[slice.row()];
    if (parent.valid()) return {end_before(slice, parent), start(slice)};
    SliceId before = *std::prev(at);
    for (int depth = 0; parent_[before.row()].valid(); ++depth) {
      if (depth == kDeepest) return {};
      before = parent_[before.row()];
    }
    return {end(before), start(slice)};
  }

  /// The longest stretch of an operator around a launch that ends where the part of it begins that
  /// launches: up to there it was in nothing that was recorded.
  [[nodiscard]] std::pair<SliceId, Interval> before(SliceId launch) const {
    std::pair<SliceId, Interval> longest;
    int depth = 0;
    for (SliceId at = launch; parent_[at.row()].valid(); at = parent_[at.row()]) {
      if (++depth > kDeepest) break;
      const SliceId op = parent_[at.row()];
      if (trace_.kind(op) != SliceKind::cpu_op) break;
      if (starts_with_any(kAnnotations, trace_.name(op))) break;
      const Interval stretch{end_before(at, op), start(at)};
      if (stretch.length() > longest.second.length()) longest = {op, stretch};
    }
    return longest;
  }

  /// When the sibling before `slice` ended, or its parent began.
  [[nodiscard]] Time end_before(SliceId slice, SliceId parent) const {
    const std::vector<SliceId>& slices = threads_[trace_.slices.track[slice.row()].row()]->slices;
    SliceId before = *std::prev(place_of(slices, slice));
    for (int depth = 0; before != parent && parent_[before.row()] != parent; ++depth) {
      if (depth == kDeepest) return start(slice);
      before = parent_[before.row()];
    }
    return before == parent ? start(parent) : end(before);
  }

  [[nodiscard]] std::vector<SliceId>::const_iterator place_of(const std::vector<SliceId>& slices,
                                                              SliceId slice) const {
    const auto start_of = [this](SliceId each) { return start(each); };
    auto at = std::ranges::lower_bound(slices, start(slice), {}, start_of);
    while (*at != slice) ++at;
    return at;
  }

  /// All of the stretch but the calls inside that wait, and the short ones that allocate.
  void add_operator(SliceId op, Interval stretch) {
    const std::vector<SliceId>& slices = threads_[trace_.slices.track[op.row()].row()]->slices;
    for (auto at = place_of(slices, op); at != slices.end() && start(*at) < stretch.end; ++at) {
      if (!is_runtime_call(trace_.kind(*at)) || end(*at) <= stretch.begin) continue;
      const bool allocates = links_.call_kind(trace_, *at) == CallKind::allocate;
      if (!waits(*at) && !(allocates && duration(*at) < kLong)) continue;
      add_part(op, {stretch.begin, start(*at)});
      stretch.begin = std::min(end(*at), stretch.end);
    }
    add_part(op, stretch);
  }

  void add_part(SliceId op, Interval part) {
    if (part.begin < part.end) found_.push_back({op, part, OneOffKind::first_operator});
  }

  const Context& context_;
  const Trace& trace_;
  const Links& links_;
  const Column<SliceId>& parent_;
  std::vector<const Nesting::Thread*> threads_;  // by track
  Duration least_;                               // that a first use takes
  std::vector<Kernel> kernels_;
  std::vector<OneOff> found_;
};

}  // namespace

std::vector<OneOff> first_uses(const Context& context) { return FirstUses(context).find(); }

}  // namespace fathom
