// HangWatch: looks what a recorded program does when it does nothing any more.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/time.h"
#include "capture/launcher/manifest.h"
#include "record/hang_rule.h"
#include "record/messages.h"
#include "sample/process_look.h"
#include "wire/reader.h"

namespace fathom::record {

/// What was seen, as a text and as JSON, for the two files of a dump.
struct DumpTexts {
  std::string text;
  std::string json;
};
using ShowDump = std::function<DumpTexts(const std::vector<sample::ProcessLook>& processes,
                                         double milliseconds)>;

/// "thread 12 python waits (lock) in acquire (train.py:12)": of the thread that the program hangs
/// in, as far as that is known: the main thread, or that of the child that it waits for. ""
/// where there is none.
std::string odd_thread(const std::vector<sample::ProcessLook>& processes);

/// Looks from a thread of its own, and takes at most kMostDumps.
class HangWatch {
 public:
  static constexpr int kMostDumps = 3;

  /// Of the process `root` and those below it, into `folder`. `quiet` 0: never. `messages` are
  /// called from another thread.
  HangWatch(Duration quiet, pid_t root, std::string folder, ShowDump show, Messages messages);
  ~HangWatch();
  HangWatch(const HangWatch&) = delete;
  HangWatch& operator=(const HangWatch&) = delete;

  /// Ends it, and adds what it has found to the manifest.
  void stop_into(capture::Manifest& manifest);

 private:
  /// A capture file that grows.
  class Tail;
  void run();
  void end();
  /// False where it is to stop.
  bool wait_until(std::int64_t when);
  void read_steps();
  [[nodiscard]] TreeLook look(const std::vector<pid_t>& tree) const;
  void dump(const std::vector<pid_t>& tree, const std::string& why);

  std::int64_t quiet_;
  pid_t root_;
  std::string folder_;
  ShowDump show_;
  Messages messages_;
  HangRule rule_;
  std::map<std::string, std::unique_ptr<Tail>> tails_;
  std::vector<capture::HangDump> dumps_;  ///< The thread's, until it has ended.
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool stop_ = false;  ///< Guarded by mutex_.
  std::thread thread_;
};

}  // namespace fathom::record
