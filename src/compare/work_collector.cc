// Walks the accounting of the usual steps and sums it by operator.
#include "compare/work_collector.h"

#include <algorithm>
#include <concepts>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "analysis/accounting/credit.h"
#include "analysis/operators/call_sites.h"
#include "analysis/roofline/op_arguments.h"
#include "analysis/structure/compilation_names.h"
#include "analysis/structure/from_outside.h"
#include "base/hash.h"
#include "compare/key_ranks.h"

namespace fathom {
namespace {

/// A key by numbers of the trace; texts are made once per row.
struct RawKey {
  AnyBucket bucket;
  Phase phase = Phase::other;
  std::uint32_t module = Modules::kTop;
  std::uint32_t outer = UINT32_MAX;      // canonical name
  std::uint32_t op = UINT32_MAX;         // canonical name
  std::uint32_t signature = UINT32_MAX;  // row
  std::uint32_t kernel = UINT32_MAX;     // name
  bool compiling = false;
  bool after_sync = false;
  friend bool operator==(const RawKey&, const RawKey&) = default;
};

std::uint32_t hash_of(const RawKey& key) {
  std::uint64_t hash = hash_mix(std::uint64_t{key.module} << 32U | key.op,
                                std::uint64_t{key.signature} << 32U | key.kernel);
  hash = hash_mix(hash, std::uint64_t{key.outer} << 8U | key.bucket.number());
  return static_cast<std::uint32_t>(hash_mix(hash, static_cast<std::uint64_t>(key.phase) << 2U |
                                                       (key.compiling ? 2U : 0U) |
                                                       (key.after_sync ? 1U : 0U)));
}

/// Entries by their keys, in the order in which they came. Open addressing: where each event has a
/// name of its own, nodes of a hash table take as much memory as the entries.
template <typename Entry>
class ByKey {
 public:
  /// Of the entry with that key, or of a new one.
  std::size_t place_of(const RawKey& key) {
    if (2 * (entries_.size() + 1) > slots_.size()) grow();
    const std::uint32_t hash = hash_of(key);
    Slot& slot = slot_for(hash, [&](const Slot& at) { return entries_[at.next - 1U].key == key; });
    if (slot.next == 0) {
      entries_.push_back({.key = key});
      slot = {.hash = hash, .next = static_cast<std::uint32_t>(entries_.size())};
    }
    return slot.next - std::size_t{1};
  }
  Entry& operator[](std::size_t place) { return entries_[place]; }
  std::vector<Entry>& entries() { return entries_; }
  /// Keys are no longer asked for.
  void forget_keys() { slots_ = {}; }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t next = 0;  // the place after the entry's; 0: free
  };

  /// The one that holds what is sought, or a free one.
  template <typename Same>
  Slot& slot_for(std::uint32_t hash, const Same& same) {
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at].next != 0 && (slots_[at].hash != hash || !same(slots_[at])))
      at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }
  void grow() {
    std::vector<Slot> before(std::max<std::size_t>(64, 2 * slots_.size()));
    before.swap(slots_);
    for (const Slot& slot : before)
      if (slot.next != 0) slot_for(slot.hash, [](const Slot&) { return false; }) = slot;
  }

  std::vector<Entry> entries_;
  std::vector<Slot> slots_;  // a power of two
};

/// The calls of one number in their steps. With one kernel of an operator only few numbers are.
struct RawOccurrence {
  std::uint8_t number = 0;
  Occurrence sum;
};

struct RawRow {
  RawKey key;
  WorkTime work;
  SliceId example;                         // a host slice, for the place in the code
  std::uint32_t last = UINT32_MAX;         // the gap that was counted last
  Time first = Time::max();                // of a call
  std::vector<RawOccurrence> occurrences;  // by number
};

/// The last call of an operator, or of a kernel without one.
struct LastCall {
  RawKey key;  // without bucket and kernel
  std::size_t step = SIZE_MAX;
  std::uint8_t number = 0;  // there, from 1 on
};

class Collector {
 public:
  Collector(const Context& context, const JudgedTime& judged)
      : context_(context), trace_(context.trace), judged_(judged), names_(judged.names) {
    const std::size_t slices = trace_.slices.size();
    numbers_.resize(slices);
    places_of_.resize(slices);
    compiling_notes_.resize(slices);
    outer_notes_.resize(slices);
    compiles_.resize(trace_.strings.size());
    for (std::size_t row = 0; row < compiles_.size(); ++row) {
      compiles_[row] = is_compiling_range(trace_.strings.view(StringId(row)));
      any_compiles_ = any_compiles_ || compiles_[row];
    }
  }

  std::vector<ProfileRow> collect() {
    if (judged_.device >= 0) {
      add_busy();
      add_idle();
    } else {
      add_main_thread();
    }
    add_outside();
    return named();
  }

 private:
  /// Among rows.
  std::size_t place_of(const RawKey& key) { return rows_.place_of(key); }
  RawRow& row(const RawKey& key) { return rows_[place_of(key)]; }

  /// What of a stretch lies in steps.
  struct Added {
    RawRow* row = nullptr;  // null where nothing does
    std::int64_t time_ns = 0;
    std::size_t step = 0;  // the first of them
  };
  Added add(const Interval& stretch, const RawKey& key) {
    return add(stretch, [&] { return place_of(key); });
  }
  template <typename Place>
  requires std::invocable<const Place&> Added add(const Interval& stretch, const Place& place) {
    Added added;
    judged_.windows.visit(stretch, [&](std::size_t step, Duration part) {
      if (part <= Duration{}) return;
      if (added.row == nullptr) added = {.row = &rows_[place()], .step = step};
      added.row->work.time_ns += to_ns(part);
      added.row->work.by_batch.add(judged_.batch_of[step], to_ns(part));
      added.time_ns += to_ns(part);
    });
    return added;
  }

  /// The how-manieth call of its operator this is in that step, from 1 on, whatever it launches and
  /// wherever its time counts. `call`: the operator; an activity without one stands for itself.
  std::uint8_t number_of(SliceId call, RawKey key, std::size_t step) {
    std::uint8_t& number = numbers_[call.row()];
    if (number != 0) return number;
    key.bucket = AnyBucket();
    if (key.op != UINT32_MAX) key.kernel = UINT32_MAX;
    LastCall& last = last_calls_[last_calls_.place_of(key)];
    if (last.step != step) {
      last.step = step;
      last.number = 0;
    }
    if (last.number < kMostOccurrences) ++last.number;
    return number = last.number;
  }
  /// Of a call that began before the steps the number is 0: it is the first.
  static Occurrence& occurrence(RawRow& at, std::uint8_t number) {
    number = std::max<std::uint8_t>(number, 1);
    const auto place = std::ranges::lower_bound(at.occurrences, number, {}, &RawOccurrence::number);
    if (place != at.occurrences.end() && place->number == number) return place->sum;
    return at.occurrences.insert(place, {.number = number, .sum = {}})->sum;
  }
  static void add_occurrences_of(const RawRow& raw, ProfileRow& into) {
    if (raw.occurrences.empty()) return;
    const std::size_t last = raw.occurrences.back().number;
    if (into.occurrences.size() < last) into.occurrences.resize(last);
    for (const RawOccurrence& each : raw.occurrences)
      into.occurrences[each.number - 1U].add(each.sum);
  }

  [[nodiscard]] bool is_compiling(SliceId host) const {
    if (!any_compiles_ || !host.valid()) return false;
    return innermost_around(
               compiling_notes_, context_.nesting().parent, host,
               [this](SliceId at) { return compiles_[trace_.slices.name[at.row()].row()]; })
        .valid();
  }

  [[nodiscard]] std::uint32_t canonical(SliceId host) const {
    return names_[trace_.slices.name[host.row()]].canonical;
  }
  /// The outermost operator around one.
  [[nodiscard]] std::uint32_t outer(SliceId op) const {
    const SliceId outermost =
        outermost_around(outer_notes_, context_.nesting().parent, op,
                         [this](SliceId at) { return trace_.kind(at) == SliceKind::cpu_op; });
    return outermost.valid() ? canonical(outermost) : UINT32_MAX;
  }
  [[nodiscard]] std::uint32_t signature(SliceId op) const {
    const Signature* const known = signature_of(trace_, op);
    return known == nullptr ? UINT32_MAX
                            : static_cast<std::uint32_t>(known - trace_.signatures.data());
  }
  [[nodiscard]] std::uint32_t module(SliceId host) const {
    return host.valid() && context_.modules().nodes.size() > 1 ? context_.modules()[host]
                                                               : Modules::kTop;
  }

  [[nodiscard]] RawKey key_of_activity(SliceId activity) const {
    const SliceId op = context_.links().op[activity.row()];
    const SliceId launch = context_.links().launch[activity.row()];
    RawKey key{
        .bucket = AnyBucket(static_cast<Bucket>(context_.timelines().busy_kind(trace_, activity)))};
    key.kernel = trace_.slices.name[activity.row()].value;
    if (op.valid()) {
      key.outer = outer(op);
      key.op = canonical(op);
      key.signature = signature(op);
    }
    const SliceId host = launch.valid() ? launch : op;
    key.module = module(host);
    key.compiling = is_compiling(host);
    if (host.valid()) key.phase = context_.phases()[host];
    return key;
  }

  /// Among rows. Several stretches may be an activity's.
  std::size_t place_of(SliceId activity) {
    std::uint32_t& known = places_of_[activity.row()];
    if (known == 0) known = static_cast<std::uint32_t>(place_of(key_of_activity(activity))) + 1;
    return known - std::size_t{1};
  }

  /// The operator of an activity, or itself.
  [[nodiscard]] SliceId call_of(SliceId activity) const {
    const SliceId op = context_.links().op[activity.row()];
    return op.valid() ? op : activity;
  }

  void add_busy() {
    const DeviceTimeline* const timeline = context_.timelines().find(judged_.device);
    if (timeline == nullptr) return;
    for (const SliceId activity : timeline->activities) {
      const std::optional<std::size_t> step =
          judged_.windows.step_at(trace_.slices.start[activity.row()]);
      if (!step) continue;
      RawRow& at = rows_[place_of(activity)];
      ++at.work.calls;
      ++occurrence(at, number_of(call_of(activity), at.key, *step)).calls;
      const SliceId launch = context_.links().launch[activity.row()];
      at.first =
          std::min(at.first, trace_.slices.start[(launch.valid() ? launch : activity).row()]);
      if (!at.example.valid())
        at.example = launch.valid() ? launch : context_.links().op[activity.row()];
    }
    for_each_credit(trace_, context_.timelines(), *timeline,
                    [&](SliceId activity, Interval stretch) {
                      const Added added = add(stretch, [&] { return place_of(activity); });
                      if (added.row == nullptr) return;
                      const std::uint8_t number = numbers_[call_of(activity).row()];
                      occurrence(*added.row, number).time_ns += added.time_ns;
                    });
  }

  void add_idle() {
    const DeviceAccounting* const idle = context_.accounting().find(judged_.device);
    if (idle == nullptr) return;
    for (const IdlePiece& piece : idle->pieces) {
      const Gap& gap = idle->gaps[piece.gap];
      RawKey key{.bucket = AnyBucket(piece.cause)};
      SliceId host = gap.late_op;
      if (gap.opener == Opener::sync_call && gap.opener_call.valid() && host_late(piece.cause)) {
        key.after_sync = true;
        host = gap.opener_call;
      }
      if (host.valid()) {
        key.op = canonical(host);
        key.compiling = is_compiling(host);
      }
      const Added added = add(piece.interval, key);
      if (added.row == nullptr) continue;
      RawRow& at = *added.row;
      if (at.last != piece.gap) ++at.work.calls;
      at.last = piece.gap;
      if (!at.example.valid()) at.example = host.valid() ? host : gap.launch;
    }
  }

  /// Causes of idleness that the host would have hidden had it not waited for the device before.
  static bool host_late(Bucket cause) {
    return cause == Bucket::sync || cause == Bucket::dispatch || cause == Bucket::python ||
           cause == Bucket::launch_latency;
  }

  void add_main_thread() {
    for (const HostPiece& piece : context_.accounting().host) {
      RawKey key{.bucket = AnyBucket(piece.bucket)};
      if (piece.op.valid()) {
        key.outer = outer(piece.op);
        key.op = canonical(piece.op);
        key.signature = signature(piece.op);
        key.module = module(piece.op);
        key.compiling = is_compiling(piece.op);
      }
      const Added added = add(piece.interval, key);
      if (added.row == nullptr) continue;
      RawRow& at = *added.row;
      at.first = std::min(at.first, piece.interval.begin);
      // An operator is cut into pieces by what it calls. Of Python each stretch counts.
      if (piece.op.valid() && piece.bucket != HostBucket::python) {
        const bool counted = numbers_[piece.op.row()] != 0;
        Occurrence& same = occurrence(at, number_of(piece.op, key, added.step));
        same.time_ns += added.time_ns;
        if (counted) continue;
        ++same.calls;
      }
      ++at.work.calls;
      if (!at.example.valid()) at.example = piece.op;
    }
  }

  /// The windows may reach beyond what the accounting covers, as in account(): never less.
  void add_outside() {
    std::vector<std::int64_t> left(judged_.batches);
    for (std::size_t step = 0; step < judged_.steps.size(); ++step)
      left[judged_.batch_of[step]] += to_ns(judged_.steps[step]->window.length());
    for (const RawRow& at : rows_.entries()) {
      at.work.by_batch.for_each(
          [&left](std::size_t batch, std::int64_t time) { left[batch] -= time; });
    }
    if (std::ranges::all_of(left, [](std::int64_t time) { return time == 0; })) return;
    RawRow& rest = row({.bucket = AnyBucket::outside()});
    for (std::size_t batch = 0; batch < left.size(); ++batch) {
      rest.work.by_batch.add(batch, left[batch]);
      rest.work.time_ns += left[batch];
    }
  }

  /// Texts that several rows have are made once.
  template <typename Number, typename Make>
  static const SharedText& once(std::unordered_map<Number, SharedText>& texts, Number number,
                                const Make& make) {
    const auto [at, added] = texts.try_emplace(number);
    if (added) at->second = make();
    return at->second;
  }
  [[nodiscard]] SharedText op_text(std::uint32_t op) {
    return once(op_texts_, op, [&] { return SharedText(names_.text(op)); });
  }
  [[nodiscard]] SharedText kernel_text(std::uint32_t kernel) {
    return once(kernel_texts_, kernel,
                [&] { return SharedText(trace_.strings.view(StringId(kernel))); });
  }
  [[nodiscard]] SharedText text(StringId id) {
    if (!id.valid()) return {};
    return once(texts_, id.value, [&] { return SharedText(trace_.text(id)); });
  }

  [[nodiscard]] SharedText what(const RawKey& key) {
    if (key.op == UINT32_MAX)
      return key.kernel == UINT32_MAX ? SharedText() : kernel_text(key.kernel);
    if (!key.after_sync) return op_text(key.op);
    return once(after_texts_, key.op, [&] { return SharedText("after " + op_text(key.op).str()); });
  }

  [[nodiscard]] WorkKey texts(const RawKey& key) {
    WorkKey out{.bucket = key.bucket,
                .module = once(module_texts_, key.module,
                               [&] { return context_.modules().path(trace_, key.module); }),
                .op = what(key),
                .compiling = key.compiling,
                .after_sync = key.after_sync};
    if (key.bucket.busy()) {
      out.phase = once(phase_texts_, static_cast<std::uint32_t>(key.phase),
                       [&] { return to_string(key.phase); });
    }
    if (key.outer != UINT32_MAX) out.outer = op_text(key.outer);
    if (key.signature == UINT32_MAX) return out;
    const Signature& signature = trace_.signatures[key.signature];
    out.shapes = text(signature.shapes);
    out.types = text(signature.types);
    return out;
  }

  /// Rows of equal texts become one, in their order.
  std::vector<ProfileRow> named() {
    rows_.forget_keys();
    last_calls_ = {};
    const CallSites sites(context_);
    std::vector<RawRow>& rows = rows_.entries();
    std::vector<std::pair<Time, std::uint32_t>> by_time;  // of a row's first call, and its place
    by_time.reserve(rows.size());
    for (const RawRow& raw : rows)
      by_time.emplace_back(raw.first, static_cast<std::uint32_t>(by_time.size()));
    std::ranges::sort(by_time);
    std::vector<WorkKey> keys;
    keys.reserve(rows.size());
    for (const auto& [first, at] : by_time) keys.push_back(texts(rows[at].key));
    std::vector<const WorkKey*> borrowed;
    borrowed.reserve(keys.size());
    for (const WorkKey& key : keys) borrowed.push_back(&key);
    const std::vector<KeyRank> ranks = key_ranks(borrowed);
    const std::vector<std::uint32_t> order = in_order(ranks);
    std::vector<std::uint32_t> firsts;  // of each row, which raw one is its first
    for (std::size_t i = 0; i < order.size(); ++i)
      if (i == 0 || ranks[order[i]] != ranks[order[i - 1]]) firsts.push_back(order[i]);
    std::vector<ProfileRow> out;
    out.reserve(firsts.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      RawRow& raw = rows[by_time[order[i]].second];
      if (out.size() < firsts.size() && order[i] == firsts[out.size()]) {
        out.push_back({.key = std::move(keys[order[i]]), .work = {}, .kernels = {}, .place = {}});
      }
      ProfileRow& into = out.back();
      into.work.add(raw.work);
      add_occurrences_of(raw, into);
      raw.occurrences = {};
      if (into.place.empty() && raw.example.valid()) into.place = place(sites.of(raw.example));
      // A kernel without an operator stands for itself.
      if (raw.key.kernel != UINT32_MAX && raw.key.op != UINT32_MAX) add_kernel(into, raw);
      raw.work = {};
    }
    number(firsts, out);
    for (ProfileRow& row : out) {
      if (row.kernels.size() > 1) add_equal(row.kernels);
      row.keep_whole_occurrences();
    }
    return out;
  }

  /// By their first calls, from 1 on.
  static void number(const std::vector<std::uint32_t>& firsts, std::vector<ProfileRow>& rows) {
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&firsts](std::size_t row) { return firsts[row]; });
    for (std::size_t i = 0; i < order.size(); ++i) rows[order[i]].order = i + 1;
  }

  SharedText place(const std::string& text) {
    if (text.empty()) return {};
    return once(places_, text, [&text] { return SharedText(text); });
  }

  /// By batch it is known of the row.
  void add_kernel(ProfileRow& into, const RawRow& raw) {
    const WorkTime work = {.time_ns = raw.work.time_ns, .calls = raw.work.calls, .by_batch = {}};
    into.kernels.push_back({.name = kernel_text(raw.key.kernel), .work = work});
  }

  /// By name, those of one name as one.
  static void add_equal(std::vector<KernelTime>& kernels) {
    std::ranges::sort(kernels, {}, &KernelTime::name);
    std::vector<KernelTime> out;
    for (KernelTime& each : kernels) {
      if (!out.empty() && out.back().name == each.name) {
        out.back().work.add(each.work);
      } else {
        out.push_back(std::move(each));
      }
    }
    kernels = std::move(out);
  }

  const Context& context_;
  const Trace& trace_;
  const JudgedTime& judged_;
  const TorchNames& names_;
  ByKey<RawRow> rows_;
  ByKey<LastCall> last_calls_;
  std::unordered_map<std::uint32_t, SharedText> op_texts_;  // by canonical name
  std::unordered_map<std::uint32_t, SharedText> after_texts_;
  std::unordered_map<std::uint32_t, SharedText> kernel_texts_;  // by name
  std::unordered_map<std::uint32_t, SharedText> texts_;
  std::unordered_map<std::uint32_t, SharedText> module_texts_;
  std::unordered_map<std::uint32_t, SharedText> phase_texts_;
  std::unordered_map<std::string, SharedText> places_;
  Column<std::uint8_t> numbers_;     // by slice: the how-manieth call in its step; 0: none
  Column<std::uint32_t> places_of_;  // by activity: its row and 1; 0: not known yet
  FromOutside compiling_notes_;
  FromOutside outer_notes_;
  std::vector<bool> compiles_;  // by name
  bool any_compiles_ = false;
};

}  // namespace

std::vector<ProfileRow> collect_work(const Context& context, const JudgedTime& judged) {
  return Collector(context, judged).collect();
}

}  // namespace fathom
