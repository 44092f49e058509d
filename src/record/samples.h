// What threads do beside a program that is being recorded.
#pragma once

#include <atomic>
#include <optional>
#include <thread>

#include "capture/launcher/manifest.h"
#include "capture/launcher/recording.h"
#include "sample/sampler.h"
#include "wire/writer.h"

namespace fathom::record {

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
