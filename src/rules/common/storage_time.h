// What of sampled time is spent until a disk has what was written, and what in SQLite.
#pragma once

#include <functional>
#include <string>

#include "analysis/samples/stack_roles.h"
#include "rules/finding.h"

namespace fathom {

/// Parts of a time outside of the run queue, by the system calls and the functions that samples
/// met.
struct StorageTime {
  Duration on_cpu{};
  Duration blocked{};
  Duration syncing{};         ///< On a processor, in fsync and its like,
  Duration synced{};          ///< and blocked there.
  Duration sqlite_on_cpu{};   ///< With a function of SQLite on the stack,
  Duration sqlite_blocked{};  ///< and blocked so,
  Duration sqlite_sleeps{};   ///< of that for a time to pass.

  /// In fsync and its like, 0…1 of all.
  [[nodiscard]] double disk_share() const;
  /// Whether most of it is waiting for a disk: within SQLite what goes with a commit counts, too.
  [[nodiscard]] bool is_disk() const;
  [[nodiscard]] bool is_sqlite() const;           ///< Whether most of it is SQLite's.
  [[nodiscard]] bool computes_in_sqlite() const;  ///< Most of what is on a processor is SQLite's.
  [[nodiscard]] bool sleeps_in_sqlite() const;    ///< Most of what is blocked is SQLite's sleep.
  /// "outside of the run queue, 61.0 % are blocked in fsync or its like, 20.0 % on a processor
  /// there; 80.0 % in SQLite"; "" without both.
  [[nodiscard]] std::string text() const;
};

/// What a sample counts on a processor and blocked.
struct SampleWeights {
  std::function<Duration(const StackSample&)> on_cpu;
  std::function<Duration(const StackSample&)> blocked;
};
/// O(samples).
StorageTime storage_time(const Trace& trace, const StackRoles& roles, const SampleWeights& weights);

/// What to do about waits that are for a disk. `native`: without code of Python.
Fix disk_fix(const StorageTime& storage, bool native);
/// The same where a lock is held meanwhile.
Fix disk_fix_under_lock(const StorageTime& storage);
/// What to do where SQLite waits for a time to pass.
Fix sqlite_busy_fix();
/// What to do about a program that computes in SQLite.
Fix sqlite_computing_fix();

}  // namespace fathom
