// Series: values of counters on their way to the capture file, without those that say nothing new.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/counter.h"

namespace fathom::monitor {

/// Where samples go. Times of wire::monotonic_ns().
class SampleSink {
 public:
  virtual ~SampleSink() = default;
  SampleSink() = default;
  SampleSink(const SampleSink&) = delete;
  SampleSink& operator=(const SampleSink&) = delete;
  /// `pid` 0 is the machine, `device` -1 none.
  virtual std::uint32_t counter(std::int32_t pid, std::int32_t device, std::string_view name,
                                std::string_view unit) = 0;
  virtual void sample(std::int64_t time, std::uint32_t counter, double value) = 0;
  /// Something ceased to be recorded: "GPU 0: the GPU has fallen off the bus".
  virtual void lose(std::int64_t time, std::string_view what) = 0;
};

/// Counters of one thread that samples. A value that does not change is written once a second; when
/// it changes, the last of the equal ones is written first, so that nothing between two samples is
/// lost to a reader who draws a line from one to the next.
class Series {
 public:
  /// `sink` must outlive it.
  explicit Series(SampleSink& sink) : sink_(sink) {}

  using Handle = std::uint32_t;
  /// A counter that may be sampled; it appears in the file with its first value.
  Handle add(const CounterSpec& spec, std::int32_t pid = 0, std::int32_t device = -1);
  /// One of a name with a `*`, which `instance` replaces.
  Handle add(const CounterSpec& spec, std::string_view instance);

  void put(std::int64_t time, Handle handle, double value);
  /// Writes what was held back, for counters that end.
  void finish(Handle handle);
  void finish_all();
  void lose(std::int64_t time, std::string_view what) { sink_.lose(time, what); }

 private:
  struct Line {
    const CounterSpec* spec;
    std::string name;
    std::int32_t pid;
    std::int32_t device;
    std::uint32_t id = 0;
    bool begun = false;
    bool held = false;  // the last value is not written
    std::int64_t seen = 0;
    std::int64_t written = 0;
    double value = 0;
  };
  void write(Line& line, std::int64_t time, double value);

  SampleSink& sink_;
  std::vector<Line> lines_;
};

}  // namespace fathom::monitor
