// What commands write to standard error: its end is kept or shown, and looked at.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/descriptor.h"

namespace fathom::measure {

/// Does a text say that memory did not suffice, in the words of PyTorch, CUDA, Python, NumPy, the
/// C++ library or the system?
bool says_no_memory(std::string_view text);

/// The same of a text that comes in pieces.
class MemoryWords {
 public:
  void see(std::string_view piece);
  [[nodiscard]] bool seen() const { return seen_; }

 private:
  std::string end_;  ///< Of the pieces so far: words may begin in it.
  bool seen_ = false;
};

/// Passes on to our standard error what is written to a pipe, by a thread of its own.
class ErrorRelay;

/// Takes the standard error of one run after the other.
class ErrorOutput {
 public:
  ErrorOutput();
  ~ErrorOutput();
  ErrorOutput(const ErrorOutput&) = delete;
  ErrorOutput& operator=(const ErrorOutput&) = delete;

  /// Where the next run is to write; -1: nowhere. `shown`: it goes on to our own standard error.
  int begin(bool shown);
  /// After the run was started, or could not be.
  void started();
  /// Now and then during a run: gigabytes of errors do not fill the memory.
  void look();
  /// Everything of the run was written.
  void end();

  /// Of the run that ended, in lines without an end of line; empty where it was shown.
  [[nodiscard]] std::string last_words() const;
  /// Did it say so anywhere?
  [[nodiscard]] bool said_no_memory() const { return words_.seen(); }

 private:
  /// Looks at what is new, up to there.
  void scan(off_t end);

  Descriptor memory_;
  off_t scanned_ = 0;
  MemoryWords words_;
  std::unique_ptr<ErrorRelay> relay_;  ///< While a run is shown.
  bool shown_ = false;
};

}  // namespace fathom::measure
