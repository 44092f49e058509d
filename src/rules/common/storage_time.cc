// Advice for programs that wait for a disk or work in SQLite.
#include "rules/common/storage_time.h"

#include "rules/common/sampled.h"

namespace fathom {
namespace {

constexpr double kMost = 0.5;
/// Of SQLite's waits for files: with its fsyncs go other calls for the same commit.
constexpr double kOfCommits = 0.2;
/// Less is not worth a word.
constexpr double kLeastShown = 0.005;

double part(Duration of, Duration all) {
  return all <= Duration{} ? 0 : static_cast<double>(to_ns(of)) / static_cast<double>(to_ns(all));
}

Fix commits(bool native) {
  return {.text =
              "Put many changes into one transaction: each commit waits until the disk has it. "
              "With PRAGMA journal_mode=WAL and synchronous=NORMAL only checkpoints wait. Caveat: "
              "then a power failure may take back the last commits, and WAL needs a local file "
              "system.",
          .before = native ? "" : "for row in rows:\n    db.execute(insert, row)\n    db.commit()",
          .after = native ? "" : "with db:\n    db.executemany(insert, rows)"};
}

Fix syncs(bool native) {
  return {
      .text =
          "Call fsync less often: write several records, then wait for the disk once for all of "
          "them (group commit); threads that commit at a time can share one fsync. Caveat: a "
          "power failure takes what was not synced, so report nothing as stored before.",
      .before = native ? ""
                       : "for record in records:\n    file.write(record)\n    file.flush()\n"
                         "    os.fsync(file.fileno())",
      .after = native ? ""
                      : "for record in records:\n    file.write(record)\nfile.flush()\n"
                        "os.fsync(file.fileno())"};
}

}  // namespace

double StorageTime::disk_share() const { return part(syncing + synced, on_cpu + blocked); }

bool StorageTime::is_disk() const { return disk_share() >= (is_sqlite() ? kOfCommits : kMost); }

bool StorageTime::is_sqlite() const {
  return part(sqlite_on_cpu + sqlite_blocked, on_cpu + blocked) >= kMost;
}

bool StorageTime::computes_in_sqlite() const { return part(sqlite_on_cpu, on_cpu) >= kMost; }

bool StorageTime::sleeps_in_sqlite() const { return part(sqlite_sleeps, blocked) >= kMost; }

std::string StorageTime::text() const {
  const Duration all = on_cpu + blocked;
  const Duration sqlite = sqlite_on_cpu + sqlite_blocked;
  std::string text;
  if (part(syncing + synced, all) >= kLeastShown) {
    text = share_text(part(synced, all)) + " are blocked in fsync or its like, " +
           share_text(part(syncing, all)) + " on a processor there";
  }
  if (part(sqlite, all) >= kLeastShown)
    text += (text.empty() ? "" : "; ") + share_text(part(sqlite, all)) + " are in SQLite";
  return text.empty() ? text : "outside of the run queue, " + text;
}

StorageTime storage_time(const Trace& trace, const StackRoles& roles,
                         const SampleWeights& weights) {
  StorageTime storage;
  for (const StackSample& sample : trace.stack_samples) {
    const Duration on_cpu = weights.on_cpu(sample);
    const Duration blocked = sample.blocked > Duration{} ? weights.blocked(sample) : Duration{};
    storage.on_cpu += on_cpu;
    storage.blocked += blocked;
    if (roles.in_sync_call(sample.frame)) storage.syncing += on_cpu;
    if (roles.waits_for_disk(sample)) storage.synced += blocked;
    if (!roles.in_sqlite(sample.frame)) continue;
    storage.sqlite_on_cpu += on_cpu;
    storage.sqlite_blocked += blocked;
    if (blocked > Duration{} && roles.wait_of(sample) == WaitClass::sleep)
      storage.sqlite_sleeps += blocked;
  }
  return storage;
}

Fix disk_fix(const StorageTime& storage, bool native) {
  return storage.is_sqlite() ? commits(native) : syncs(native);
}

Fix disk_fix_under_lock(const StorageTime& storage) {
  const bool sqlite = storage.is_sqlite();
  return {.text =
              "Do not wait for the disk under the lock: collect what threads want to store, and "
              "let one of them " +
              std::string(sqlite ? "put it into one transaction" : "write and sync it") +
              " for all (group commit). Caveat: a thread may report its data as stored only "
              "when the " +
              (sqlite ? "commit" : "fsync") + " that holds them has returned.",
          .before = "",
          .after = ""};
}

Fix sqlite_busy_fix() {
  return {.text =
              "Another connection holds the database's lock, and SQLite looks again after a time "
              "(its busy timeout). Keep transactions that write short, or let one thread write for "
              "all; with PRAGMA journal_mode=WAL readers do not wait for the writer. Caveat: WAL "
              "needs a local file system, and one writes at a time there, too.",
          .before = "",
          .after = ""};
}

Fix sqlite_computing_fix() {
  return {.text =
              "Let SQLite do less: one transaction and executemany for many changes, an index for "
              "what queries look up (EXPLAIN QUERY PLAN says SCAN where one is missing), only the "
              "rows and columns that are used. Caveat: an index makes changes slower.",
          .before = "",
          .after = ""};
}

}  // namespace fathom
