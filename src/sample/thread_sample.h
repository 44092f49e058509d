// ThreadSample: what a thread spent since it was met the last time, and the stack that it was met
// with.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <sys/types.h>

#include "sample/frame_names.h"
#include "sample/layout.h"
#include "sample/stack.h"
#include "sample/task.h"
#include "sample/thread_ledger.h"

namespace fathom::sample {

/// What takes the place of functions that are not known.
inline constexpr std::string_view kInnerNotRead = "(inner functions not read)";
inline constexpr std::string_view kNotRead = "(stack not read)";

/// Borrowed for the call, but for the code of the frames: that lives until forget_code().
struct ThreadSample {
  std::int64_t time = 0;  ///< CLOCK_MONOTONIC, ns: the end of what was spent.
  pid_t process = 0;
  pid_t thread = 0;
  std::string_view name;  ///< Of the thread.
  bool python = false;    ///< CPython knows it.
  StackState state = StackState::whole;
  std::span<const Frame> frames;   ///< The innermost first.
  const Layout* layout = nullptr;  ///< Of the frames; null without Python.
  /// In place of the frames: native functions, with Python's among them. The innermost first.
  std::span<const FrameLook> mixed = {};
  Spent spent;
  const Wait* wait = nullptr;  ///< Of one that was met blocked, what it waits for.
};

/// Is handed the samples as they are found. One thread at a time.
class SampleSink {
 public:
  virtual ~SampleSink() = default;
  SampleSink() = default;
  SampleSink(const SampleSink&) = delete;
  SampleSink& operator=(const SampleSink&) = delete;
  virtual void take(const ThreadSample& sample) = 0;
  /// Whether it uses where threads are blocked; else that is not looked up.
  [[nodiscard]] virtual bool wants_waits() const { return true; }
  /// From now on another code may lie where that of a frame lay.
  virtual void forget_code() {}
};

}  // namespace fathom::sample
