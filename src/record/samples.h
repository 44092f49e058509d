// What threads do beside a program that is being recorded.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "capture/launcher/manifest.h"
#include "capture/launcher/recording.h"
#include "sample/sampler.h"
#include "wire/writer.h"

namespace fathom::record {

/// Whose threads are looked at, how, and until when.
struct SamplesRequest {
  pid_t root = 0;  ///< Those below it are meant, too.
  capture::Sampling sampling;
  bool fresh = false;          ///< It has just been started: all that it has done counts.
  std::int64_t duration = 0;   ///< ns, at most.
  std::function<bool()> stop;  ///< Asked often; true ends it.
};

/// Looks at the threads without stopping them, into `writer`, until the time is over, the process
/// has ended or it is to stop. What was not recorded is added to `missing`. Errors: those of
/// sample::Sampler::open.
Result<void> record_samples(const SamplesRequest& request, wire::Writer& writer,
                            std::vector<capture::NotRecorded>& missing);

/// Looks at the threads of the process tree while it lives, from a thread of its own, without
/// stopping them.
class Samples {
 public:
  /// Of the process `root`, which has just been started, and of those below it, into `writer`,
  /// which must outlive stop_into().
  Samples(const capture::Sampling& sampling, pid_t root, wire::Writer& writer);
  ~Samples();
  Samples(const Samples&) = delete;
  Samples& operator=(const Samples&) = delete;

  /// Ends it, and adds what was not recorded to the manifest.
  void stop_into(capture::Manifest& manifest);

 private:
  void run(pid_t root, wire::Writer& writer);

  capture::Sampling sampling_;
  std::atomic<bool> stop_ = false;
  std::vector<capture::NotRecorded> missing_;  ///< The thread's, until it has ended.
  std::thread thread_;
};

}  // namespace fathom::record
