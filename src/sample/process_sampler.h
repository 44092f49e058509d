// ProcessSampler: the threads of one process, looked at again and again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sched.h>
#include <sys/types.h>

#include "sample/alongside.h"
#include "sample/canary.h"
#include "sample/known_stacks.h"
#include "sample/memory.h"
#include "sample/native/watch.h"
#include "sample/runtime.h"
#include "sample/schedule.h"
#include "sample/switches.h"
#include "sample/thread_file.h"
#include "sample/thread_list.h"
#include "sample/thread_sample.h"

namespace fathom::sample {

/// How many stacks were looked at, by what is known of them.
struct StackCounts {
  std::int64_t whole = 0;
  std::int64_t shortened = 0;
  std::int64_t unread = 0;
  StackCounts& operator+=(const StackCounts& more);
};

/// A thread that was met running gets the time on a processor that it used since it was last met
/// so; one that was met blocked, the time for which it was. So a thread's own rest is never charged
/// to what it waits in, nor the other way round. One that has not run since is not read again.
class ProcessSampler {
 public:
  struct Options {
    /// It was started while we looked, so all that it has done counts.
    bool fresh = false;
    /// Ends with a process that has loaded PyTorch.
    bool without_torch = false;
    /// Where threads are watched by perf; null: nowhere. Must outlive it.
    native::Watch* watch = nullptr;
    /// Native functions are looked for, too. Otherwise only switches are watched.
    bool native = false;
    /// Only below Python's functions, as native::below_python has them.
    bool below_python = false;
    /// Not of processes with Python.
    bool without_python = false;
    /// Whether there is time left to unwind; unset: always.
    std::function<bool()> may_unwind;
  };

  /// `files` and `sink` must outlive it.
  ProcessSampler(pid_t pid, const Options& options, FileBudget& files, SampleSink& sink);

  /// False once it has ended. Without `all`, threads that wake for a moment and sleep again are
  /// looked at less often, where their switches are written down.
  bool look(std::int64_t now, bool all);
  /// Perf has something to say of this thread. Without `unwind` it is only counted: the time is
  /// given with what comes later.
  void take_native(pid_t id, bool ended, bool unwind);
  /// Processes that its threads have started and that have not been waited for; of threads that
  /// have not run since this was last asked, none.
  std::vector<pid_t> new_children();
  /// Whether the kernel reports all that its threads start, so that nobody has to look for it.
  [[nodiscard]] bool tells_children() const { return tells_ && !children_moved_ && !untold_; }
  /// Whether it has reported some since new_children() was asked, or only waits for that to begin.
  [[nodiscard]] bool has_children() const {
    return !begun_.processes.empty() || begun_.threads || begins_to_tell_;
  }
  /// Gives the sink what was not given yet.
  void finish();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// How many it looks at.
  [[nodiscard]] std::size_t threads() const { return threads_.size(); }
  /// Why it has no Python stacks; empty where it has, or where there is no Python in it.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] const StackCounts& counts() const { return counts_; }
  /// Its stacks are left to PyTorch's profiler.
  [[nodiscard]] bool has_torch() const { return has_torch_; }
  /// ns that its threads ran or could have run, as far as it was given.
  [[nodiscard]] std::int64_t ready() const { return ready_; }
  /// The processors that its threads may use.
  [[nodiscard]] const cpu_set_t& processors() const { return processors_; }
  /// It has handed out frames.
  [[nodiscard]] bool has_code() const { return python_ != nullptr; }

 private:
  /// Where a thread was met.
  struct Place {
    std::vector<Frame> frames;
    StackState state = StackState::whole;
    bool python = false;
    std::int64_t read = 0;  ///< When the stack was.
    Wait wait;
    std::vector<FrameLook> natives;  ///< Of one that waits, with Python's functions among them.
  };
  struct Thread {
    Thread(pid_t pid, const Task& task, std::int64_t begin, const Spent& before, FileBudget& files);
    /// ns that it ran or could have run, as last read.
    [[nodiscard]] std::int64_t ready() const { return std::max<std::int64_t>(0, on_cpu + queued); }
    // What each look asks for lies side by side: of hundreds of threads all but a few sleep.
    std::int64_t next = 0;  ///< When to look again.
    std::optional<native::SwitchEvent> switch_event;
    /// What switch_event->state() was before it was looked at; unset: not looked at since it began.
    std::optional<std::uint64_t> switch_state;
    std::int64_t still = 0;  ///< Until then it has slept for certain since it was looked at.
    bool asleep = false;
    bool ran_unseen = false;  ///< It has run and slept again since it was looked at.
    pid_t id;
    std::string name;
    std::int64_t native;
    ThreadFile schedule;
    ThreadFile call;
    ThreadLedger ledger;
    std::int64_t on_cpu = -1;  ///< As last read.
    std::int64_t queued = -1;
    std::int64_t scheduled;  ///< How often it was given a processor.
    std::int64_t last = 0;   ///< When that was.
    std::int64_t moved = 0;  ///< When it was last found to have run.
    std::int64_t given = 0;
    std::int64_t slept = 0;   ///< Of the ledger's blocked time, what is certainly the place's.
    std::int64_t listed = 0;  ///< What it was ready when Python's threads were listed.
    int quiet = 0;            ///< Looks since it ran.
    int in_vain = 0;          ///< Stacks in a row of which nothing could be read.
    bool taken_over = false;  ///< Its number is that of another one by now.
    Place place;              ///< Where it sleeps, or was met last.
    /// Where it was met running since the scheduler last wrote down what it ran, and when.
    std::vector<std::pair<std::int64_t, Place>> running;
    std::optional<StackReader> reader;
    std::optional<Alongside> alongside;  ///< Where a running thread cannot be read otherwise.
    std::optional<native::PerfEvent> event;
    bool refused = false;                         ///< There is none, and none to be had.
    std::vector<std::vector<FrameLook>> natives;  ///< Where it ran since time was given last.
    std::vector<FrameLook> last_native;
    bool heard = false;       ///< Perf had something to say since then, and be it of no use.
    KnownStacks known;        ///< As they were met running,
    KnownStacks known_waits;  ///< and waiting.
    std::optional<native::BlockedAt> blocked_at;
    bool found_late = false;            ///< Python's since it was met asleep.
    bool native_missed = false;         ///< Of where it sleeps: there was no time for it.
    Place sampled;                      ///< Python's stack as it was read for perf's last sample.
    bool polled = false;                ///< Its switches are not to be had, or too many.
    std::vector<Switch> switches;       ///< That no look has used yet.
    bool switches_missing = false;      ///< Some of them may be.
    bool switches_ended = false;        ///< There will be no more.
    std::optional<Switch> last_switch;  ///< Since its switches are written down.
    int silent = 0;                     ///< Looks in a row that found it had run without a switch.
    bool tells_children = false;        ///< They were listed since its switches are written down,
    bool tells_name = false;            ///< and its name was read.
    std::int64_t children_at = -1;      ///< What it had run when its children were listed.
    std::int64_t scheduled_when_found = 0;
    std::int64_t scheduled_when_listed = -1;
    std::int64_t listed_at = 0;
  };
  /// The CPython of the program that the process runs.
  struct Python {
    Python(const Memory& memory, Runtime found)
        : runtime(std::move(found)), codes(memory, runtime.layout) {}
    Runtime runtime;
    CodeTable codes;
    std::vector<Gil> gils;
    enum class Trust : std::uint8_t { unasked, doubted, shown } trust = Trust::unasked;
    std::optional<Address> canary;  ///< Where the hook has written one.
    int canary_searches = 0;
    int canary_missed = 0;
  };

  void list(std::int64_t now);
  void list_threads(std::int64_t now);
  void add_thread(pid_t id, std::int64_t now, bool from_start);
  void look_for_python(std::int64_t now);
  void list_python();
  void look_at_canary();
  [[nodiscard]] bool shows_canary();
  [[nodiscard]] std::int64_t ran_so_far() const;
  [[nodiscard]] bool runs_unknown() const;
  bool note_unready();
  void forget_python();
  [[nodiscard]] std::optional<Schedule> read_schedule(const Thread& thread);
  /// Enters it into the ledger; ns that the thread was blocked since the last time.
  static std::int64_t enter(Thread& thread, const Schedule& schedule, std::int64_t now);
  [[nodiscard]] bool is_left_alone(Thread& thread, std::int64_t now, bool all);
  void read_switches(Thread& thread);
  void take_names();
  static void enter_sleep(Thread& thread);
  void look_at_switches(Thread& thread, std::uint64_t state, bool moved);
  void look_later(Thread& thread, std::int64_t now);
  [[nodiscard]] bool has_run(const Thread& thread);
  [[nodiscard]] bool is_running(Thread& thread, bool moved, Task& task);
  [[nodiscard]] char state_of(const Thread& thread) const;
  bool look_at_thread(Thread& thread);
  void met(Thread& thread, const Task& task, std::int64_t now, Between looks);
  static bool is_read_for_perf(const Thread& thread, const Between& looks);
  static void forget_place(Thread& thread);
  void read_stack(Thread& thread, bool running);
  void watch_threads(std::int64_t now);
  void watch_switches(Thread& thread, std::int64_t now);
  std::optional<BlockedParts> blocked_parts(Thread& thread, const Between& looks, std::int64_t now);
  void unwatch(Thread& thread);
  void drop_switches(Thread& thread);
  void drop_event(Thread& thread);
  [[nodiscard]] bool keeps_looks(const Thread& thread) const;
  [[nodiscard]] bool is_by_perf(const Thread& thread, bool ends) const;
  void read_native_wait(Thread& thread);
  bool read_for(Thread& thread, std::int64_t time);
  std::vector<FrameLook> mixed_stack(Thread& thread, const native::PerfSample& sample);
  std::optional<std::vector<FrameLook>> native_wait(Thread& thread);
  static std::vector<FrameLook> known_at(const Thread& thread, const Place& place);
  [[nodiscard]] std::vector<FrameLook> looks_of(const Place& place) const;
  void give_running(Thread& thread, std::int64_t time, bool ends = false);
  void give(const Thread& thread, const Place& place, std::int64_t time, const Spent& spent,
            const Wait* wait, const std::vector<FrameLook>& native = {});
  void give_unseen(Thread& thread, std::int64_t blocked);
  void give_rest(Thread& thread);

  pid_t pid_;
  Options options_;
  FileBudget& files_;
  SampleSink& sink_;
  ProcessMemory memory_;
  std::unique_ptr<Python> python_;
  std::string reason_;
  std::string unready_;  ///< Why there was no Python when it was looked for last, but may be soon.
  std::unique_ptr<native::ProcessCode> code_;
  std::map<pid_t, Thread> threads_;
  StackCounts counts_;
  std::int64_t ready_ = 0;
  cpu_set_t processors_{};
  std::string buffer_;
  std::string program_;       ///< What /proc/PID/exe leads to.
  std::uint64_t mapped_ = 0;  ///< Of the files that were mapped when there was no Python.
  std::int64_t next_list_ = 0;
  std::int64_t next_whole_list_ = 0;
  std::int64_t next_search_ = 0;
  std::int64_t search_after_ = 0;
  int quick_searches_ = 0;
  int list_python_ = 0;            ///< How often the threads of Python are still to be listed.
  int lost_ = 0;                   ///< Listings that found no thread of Python.
  std::int64_t next_unknown_ = 0;  ///< When one that runs unknown makes them be listed.
  std::optional<std::int64_t> searched_;  ///< What it had run when Python was looked for.
  native::Begun begun_;                   ///< What the kernel has told since it was asked for.
  bool tells_ = false;                    ///< It tells what any of the threads begins.
  bool untold_ = false;                   ///< Some of that may be missing.
  bool begins_to_tell_ = false;           ///< It does of one whose children were not listed since.
  bool started_;
  bool reads_waits_;            ///< Somebody uses the stacks of threads that wait.
  bool list_names_ = true;      ///< Threads have other names, as in another program.
  bool children_moved_ = true;  ///< Any thread may have children of another one.
  bool has_torch_ = false;
  bool left_out_ = false;  ///< It is counted as a process whose native functions are left out.
  bool refused_ = false;   ///< Its Python is not what it seems: it is looked at as if it had none.
};

}  // namespace fathom::sample
