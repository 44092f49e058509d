// What a comparison needs of one recording; small beside it, so that two need not be in memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/accounting/accounting.h"
#include "compare/shared_text.h"
#include "compare/time_by_batch.h"
#include "engine/session.h"

namespace fathom {

/// A bucket of the accounting of a device or of the main thread, or what lies outside of both.
class AnyBucket {
 public:
  constexpr AnyBucket() = default;
  constexpr explicit AnyBucket(Bucket bucket) : number_(static_cast<std::uint8_t>(bucket)) {}
  constexpr explicit AnyBucket(HostBucket bucket)
      : number_(static_cast<std::uint8_t>(kBuckets + static_cast<std::size_t>(bucket))) {}
  /// The part of a step's window that lies outside of what was recorded.
  static constexpr AnyBucket outside() { return {}; }

  [[nodiscard]] std::string_view name() const;
  [[nodiscard]] constexpr std::uint8_t number() const { return number_; }
  [[nodiscard]] constexpr bool is(Bucket bucket) const { return *this == AnyBucket(bucket); }
  [[nodiscard]] constexpr bool is(HostBucket bucket) const { return *this == AnyBucket(bucket); }
  /// Something ran on the device.
  [[nodiscard]] constexpr bool busy() const {
    return number_ < static_cast<std::uint8_t>(Bucket::input);
  }
  /// The device idled.
  [[nodiscard]] constexpr bool idle() const {
    return !busy() && number_ < static_cast<std::uint8_t>(kBuckets);
  }
  friend constexpr auto operator<=>(AnyBucket, AnyBucket) = default;

 private:
  std::uint8_t number_ = kBuckets + kHostBuckets;
};

/// Where time of the usual steps went. Texts are empty where they do not apply or were not
/// recorded.
struct WorkKey {
  AnyBucket bucket;
  /// Of work on a device the phase that launched it: "forward". Elsewhere the bucket tells.
  SharedText phase;
  SharedText module;  ///< Path of the nn.Module: "Net_0/Linear_1".
  SharedText outer;   ///< The outermost operator around it: "aten::conv2d".
  /// The innermost operator, without one the kernel. Of idle time the operator that the host spent
  /// most of the gap in, or "after cudaStreamSynchronize" where a wait for the device had emptied
  /// its queue.
  SharedText op;
  SharedText shapes;  ///< As recorded: "[[64,128],[128]]".
  SharedText types;
  bool compiling = false;   ///< A compiler or autotuner is at work.
  bool after_sync = false;  ///< Idle time behind a call that waited for the device.
  friend auto operator<=>(const WorkKey&, const WorkKey&) = default;
};

/// Sums over the usual steps.
struct WorkTime {
  std::int64_t time_ns = 0;
  /// Device work: activities. Host work: calls. Idle time: gaps. Python between operators:
  /// stretches.
  std::int64_t calls = 0;
  /// The time by batch of consecutive steps (see Profile::batches).
  TimeByBatch by_batch;
  void add(const WorkTime& other);
};

struct KernelTime {
  SharedText name;
  WorkTime work;
};

/// What the k-th calls of each step take, over the usual steps.
struct Occurrence {
  std::int64_t time_ns = 0;
  std::int64_t calls = 0;
  void add(const Occurrence& other);
};
/// The last has what comes after it, too.
inline constexpr std::size_t kMostOccurrences = 64;
/// Number by number.
void add_occurrences(std::vector<Occurrence>& into, const std::vector<Occurrence>& more);

struct ProfileRow {
  WorkKey key;
  WorkTime work;
  /// Of the first call in each step, of the second, …: they sum to `work`. Empty where that is not
  /// known, as of what is no operator's or kernel's call.
  std::vector<Occurrence> occurrences{};
  std::vector<KernelTime> kernels;  ///< Of operators on the device, by name; sum to `work`.
  SharedText place;                 ///< "train.py:42" of one of the calls, where recorded.
  /// Its place among all rows by its first call, which is the order of the program. Rows whose
  /// order is not known have the same.
  std::size_t order = 0;

  /// Drops those that are not all of the work.
  void keep_whole_occurrences();
};

/// A number that a program gives again exactly when it runs again. Sums over the usual steps, where
/// `per_step`.
struct Counter {
  std::string id;     ///< Stable, for JSON: "kernel_launches".
  std::string title;  ///< "kernel launches".
  std::string unit;   ///< "count", "bytes" or "flops".
  std::int64_t value = 0;
  bool per_step = true;
};

/// What a recording was made under. `value` is empty where it was not recorded.
struct Condition {
  std::string id;     ///< Stable, for JSON: "device".
  std::string title;  ///< "device".
  std::string value;
};

struct Profile {
  std::string input;
  std::uint64_t content = 0;    ///< Equal for the same recording, whatever the file is called.
  std::int64_t rank = kAbsent;  ///< Of a distributed run.
  /// When the recording begins; unset where its clock does not count from 1970.
  std::optional<std::int64_t> started_unix_ns;
  std::string step_name;                 ///< What repeats; empty for a whole trace.
  std::size_t steps_left_out = 0;        ///< Edge steps and outliers.
  std::vector<std::int64_t> lengths_ns;  ///< Of the usual steps, in their order.
  /// Where there are times only: the lengths before rounding. Else empty.
  std::vector<double> unrounded_ns;
  std::size_t runs = 1;    ///< So many, whose steps stand one after the other.
  bool on_device = false;  ///< The accounting is of a device, else of a main thread.
  /// What the recording can show at all: what it cannot is no work that went away.
  bool operators_recorded = true;
  bool launches_recorded = true;  ///< Without which no idle time of a device has a cause.
  /// Lengths of whole runs (compare/bench_result.h), without what they went into: one row without a
  /// name is all of it.
  bool times_only = false;
  /// By key. Their times sum to the lengths, to the nanosecond.
  std::vector<ProfileRow> rows;
  /// Steps per batch; consecutive steps make at most 64 batches, for what follows one another is
  /// correlated (batch means: Law and Kelton, "Simulation Modeling and Analysis").
  std::vector<std::int64_t> batches;
  /// Mean clock of the device's multiprocessors in the usual steps, where telemetry has it.
  std::optional<double> clock_mhz;
  std::vector<Counter> counters;
  std::vector<Condition> conditions;

  [[nodiscard]] std::int64_t steps() const { return static_cast<std::int64_t>(lengths_ns.size()); }
  [[nodiscard]] std::int64_t sum_ns() const;
  /// As exact as they are known.
  [[nodiscard]] std::vector<double> lengths() const;
};

/// The same steps of the same recording.
bool same_recording(const Profile& a, const Profile& b);

/// O(n log n). Errors: invalid_argument for a selection that the trace does not have, or where
/// nothing in it lasts.
Result<Profile> profile_of(const Session& session, const Request& request);

}  // namespace fathom
