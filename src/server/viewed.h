// Viewed: the inputs that the page looks at, read in the background, and what is kept of each.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "analysis/context.h"
#include "analysis/timeline/slice_links.h"
#include "base/once.h"
#include "base/read_progress.h"
#include "engine/each_session.h"
#include "engine/inputs/inputs.h"
#include "engine/query/typed.h"
#include "engine/session.h"
#include "replay/replay.h"
#include "server/input_file.h"
#include "server/kept_answers.h"
#include "server/kept_screen.h"
#include "server/kept_what_if.h"
#include "server/timeline_model.h"

namespace fathom::server {

/// What the command line said.
struct ViewRequest {
  Inputs inputs;
  unsigned threads = 0;
  std::string command;  ///< As typed, for people to copy.
  /// --steps, --device, --window as typed: what the page looks at first.
  TypedOptions scope;
  /// Make the diagnosis of the scope as soon as one input is read: a server whose page begins with
  /// it. Its Viewed is never destroyed, which would wait for that.
  bool diagnose_ahead = false;
};

/// "fathom view --steps 3-7 trace.json": what opens the page of these inputs from a server.
std::string view_command(const TypedOptions& scope, const std::vector<std::string>& inputs);

/// One recording in memory, and what was computed of it for the page alone. Thread-safe.
class OpenInput {
 public:
  explicit OpenInput(SharedSession session);

  [[nodiscard]] const Session& session() const { return *session_; }
  [[nodiscard]] const SharedSession& shared() const { return session_; }
  /// Of the recorded times: the same for the same recording, whoever reads it.
  [[nodiscard]] const std::string& digest() const { return digest_; }
  /// From the first to the last of anything recorded.
  [[nodiscard]] Interval range() const { return range_; }
  /// Computed when first asked for.
  [[nodiscard]] const TimelineModel& timeline();
  /// By device of the timeline, then as kDeviceCounters.
  [[nodiscard]] const std::vector<CounterSeries>& device_counters();
  [[nodiscard]] const SliceLinks& links();
  /// Of all steps, with their critical paths.
  [[nodiscard]] const Replay& replay();
  /// The whole recording, as analyses take it.
  [[nodiscard]] Context context() const {
    return {session_->trace(), session_->analyses(), {}, {}};
  }
  [[nodiscard]] KeptWhatIf& what_if() { return what_if_; }
  /// Of this input as JSON, by what was asked.
  [[nodiscard]] KeptAnswers& diagnoses() { return diagnoses_; }
  [[nodiscard]] KeptScreen& screen() { return screen_; }

  /// Computes what the page shows of every recording: its devices and steps.
  void analyse();
  /// Is that done? Until then only the recording itself can be shown without waiting.
  [[nodiscard]] bool analysed() const { return analysed_.load(); }

 private:
  /// Its digest and range, as they were kept, or from all that was recorded.
  void identify();

  SharedSession session_;  // with who read it, where that is not the page
  std::string digest_;
  Interval range_{};
  Once timeline_once_;
  std::optional<TimelineModel> timeline_;
  Once device_counters_once_;
  std::vector<CounterSeries> device_counters_;
  Once links_once_;
  std::optional<SliceLinks> links_;
  Once replay_once_;
  std::optional<Replay> replay_;
  KeptWhatIf what_if_;
  KeptAnswers diagnoses_;
  KeptScreen screen_;
  std::atomic<bool> analysed_ = false;
};

class Viewed {
 public:
  enum class State : std::uint8_t { reading, ready, failed };
  struct Progress {
    State state = State::reading;
    ErrorCode code = ErrorCode::io;  ///< Of a failure, as its message.
    std::string message;
    double seconds = 0;           ///< That reading took so far, or altogether.
    std::optional<double> share;  ///< Of the bytes, while it reads; from 0 to 1.
  };

  explicit Viewed(ViewRequest request);
  /// The first input is read already.
  Viewed(ViewRequest request, SharedSession first);
  ~Viewed();
  Viewed(const Viewed&) = delete;
  Viewed& operator=(const Viewed&) = delete;

  [[nodiscard]] const ViewRequest& request() const { return request_; }
  /// Of the first input, which is read from the start.
  [[nodiscard]] Progress progress() const;
  /// The same, once it is read or a moment has gone by.
  [[nodiscard]] Progress progress_soon() const;
  /// Until the first input is read and analysed, or that has failed. By one thread.
  void wait();
  /// Was a file written or replaced since it was read?
  [[nodiscard]] bool replaced(std::size_t input) const;
  /// An input; others than the first are read when they are first asked for, and one of them is
  /// kept. Errors: not_found; those of reading; unsupported while the first is read (see
  /// progress()).
  Result<std::shared_ptr<OpenInput>> open(std::size_t input);
  /// The recording of one of the inputs alone: read as by open() and kept in the same place, but
  /// nothing that the page shows of it is computed.
  Result<SharedSession> session(const Inputs::File& file);

 private:
  /// Where no thread can be started, the first input is read before this returns.
  std::jthread begin_to_read();
  void read_first();
  void read_or_say_why();
  Result<std::shared_ptr<OpenInput>> read(std::size_t input, Keeping keeping);
  [[nodiscard]] Result<std::shared_ptr<OpenInput>> first() const;
  /// Under `reading_`.
  Result<std::shared_ptr<OpenInput>> other(std::size_t input);
  void analyse(OpenInput& input) const;
  void prepare(OpenInput& input) const;
  [[nodiscard]] bool diagnoses_ahead() const;
  /// After the first screen was drawn: prepares what is not prepared yet, and keeps what was read
  /// and asked first for the next time.
  void finish_beside(const std::shared_ptr<OpenInput>& input);

  const ViewRequest request_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  mutable std::mutex mutex_;  // of what follows
  Progress progress_;
  mutable std::condition_variable read_changed_;
  ReadProgress read_;  // of the first input
  std::shared_ptr<OpenInput> first_;
  std::vector<FileIdentity> identities_;  // by input, as they were when read
  std::mutex reading_;                    // one further input at a time, and of what follows
  std::shared_ptr<OpenInput> other_;
  std::size_t other_input_ = 0;
  bool other_prepared_ = false;
  std::jthread keeper_;  // of the first input; begun by the reader
  std::jthread reader_;  // last: it uses the rest
};

}  // namespace fathom::server
