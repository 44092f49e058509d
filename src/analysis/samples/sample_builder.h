// SampleBuilder: samples of threads for tests, as fathom run records them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "store/trace.h"

namespace fathom {

/// Times in ms. Each thread begins at 0 and goes on where it stopped.
class SampleBuilder {
 public:
  explicit SampleBuilder(Trace& trace) : trace_(trace) {
    trace_.format = "fathom-wire";
    thread(1, 1);
  }

  SampleBuilder& thread(std::int64_t pid, std::int64_t tid, std::string_view name = "python") {
    pid_ = pid;
    tid_ = tid;
    name_ = trace_.strings.intern(name);
    return *this;
  }
  /// "main app.py 3;work app.py 7": the outermost first; "" without Python.
  SampleBuilder& at(std::string_view stack) {
    frame_ = kNoFrame;
    while (!stack.empty()) {
      const std::size_t end = stack.find(';');
      add_frame(stack.substr(0, end));
      stack.remove_prefix(end == stack.npos ? stack.size() : end + 1);
    }
    return *this;
  }
  SampleBuilder& runs(std::int64_t on_cpu, std::int64_t queued = 0) {
    return add(on_cpu, queued, 0, "", "");
  }
  SampleBuilder& waits(std::string_view cause, std::int64_t blocked, std::string_view object = "") {
    return add(0, 0, blocked, cause, object);
  }
  SampleBuilder& processors(int count) {
    trace_.facts.push_back({"samples.processors", "\"" + std::to_string(count) + "\""});
    return *this;
  }

 private:
  void add_frame(std::string_view text) {
    const std::size_t file = text.find(' ');
    const std::size_t line = text.rfind(' ');
    trace_.stack_frames.push_back(
        {.parent = frame_,
         .function = trace_.strings.intern(text.substr(0, file)),
         .file = trace_.strings.intern(text.substr(file + 1, line - file - 1)),
         .line = std::stoi(std::string(text.substr(line + 1)))});
    frame_ = static_cast<std::uint32_t>(trace_.stack_frames.size() - 1);
  }
  SampleBuilder& add(std::int64_t on_cpu, std::int64_t queued, std::int64_t blocked,
                     std::string_view cause, std::string_view object) {
    constexpr std::int64_t kNsPerMs = 1'000'000;
    std::int64_t& now = now_[{pid_, tid_}];
    now += on_cpu + queued + blocked;
    trace_.stack_samples.push_back({.pid = pid_,
                                    .tid = tid_,
                                    .time = time_ns(now * kNsPerMs),
                                    .thread = name_,
                                    .frame = frame_,
                                    .on_cpu = duration_ns(on_cpu * kNsPerMs),
                                    .queued = duration_ns(queued * kNsPerMs),
                                    .blocked = duration_ns(blocked * kNsPerMs),
                                    .cause = trace_.strings.intern(cause),
                                    .object = trace_.strings.intern(object)});
    return *this;
  }

  Trace& trace_;
  std::int64_t pid_ = 1;
  std::int64_t tid_ = 1;
  StringId name_{};
  std::uint32_t frame_ = kNoFrame;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> now_;
};

}  // namespace fathom
