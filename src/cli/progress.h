// A line on the terminal while something takes long.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace fathom::cli {

/// Shows "what … 3 s" on stderr once a moment has passed, until destroyed. Does nothing when stderr
/// is not a terminal or `quiet` is set.
class Progress {
 public:
  Progress(const std::string& what, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void show(const std::stop_token& stop);

  std::string what_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

}  // namespace fathom::cli
