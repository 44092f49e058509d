// A session: one opened recording, its analyses, and the reports that can be asked of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "analysis/context.h"
#include "engine/inputs/inputs.h"
#include "engine/inputs/trace_cache.h"
#include "engine/query/quantity.h"
#include "engine/query/query.h"
#include "formats/format.h"
#include "reports/report.h"

namespace fathom {

/// Everything a user may ask of a report.
struct Request {
  std::optional<Selection::StepRange> steps;
  std::optional<std::int32_t> device;
  std::optional<WindowRequest> window;
  TableOptions options;   ///< group_by as typed, e.g. "stack=5".
  OptionValues own = {};  ///< Of the options that the report declares.
  Query query;
};

/// When the trace that was read is kept for the next time: beside what is asked first, or when
/// Session::keep_read() is called.
enum class Keeping : std::uint8_t { at_once, when_told };

/// One recording in memory. Running reports is thread-safe; analyses are computed once and shared.
class Session {
 public:
  /// Reads the file (or standard input for "-") to its end, or takes what was kept of it; or a
  /// session folder of one recording.
  static Result<std::unique_ptr<Session>> open(std::string_view path, const ReadOptions& options,
                                               Keeping keeping = Keeping::at_once);
  /// Reads one of the inputs that expand_inputs() found, with what belongs to it.
  static Result<std::unique_ptr<Session>> open(const Inputs::File& file, const ReadOptions& options,
                                               Keeping keeping = Keeping::at_once);
  /// Takes over a trace that was built elsewhere; `input` is what to call it.
  Session(Trace trace, std::string input);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const Trace& trace() const { return trace_; }
  [[nodiscard]] const Analyses& analyses() const { return analyses_; }
  [[nodiscard]] const std::string& input() const { return input_; }
  /// Where answers about the recording are kept for the next time: as its file was before it was
  /// read. Null where it is not, or not only, what one file holds.
  [[nodiscard]] const TraceCache* kept() const { return kept_ ? &*kept_ : nullptr; }

  /// Was the trace taken from where it was kept?
  [[nodiscard]] bool is_of_cache() const { return of_cache_; }
  /// Keeps what was opened with Keeping::when_told, unless that is done or it came from there.
  void keep_read() const;

  /// Computes the report for what the request selects, and shapes it. Errors: invalid_argument for
  /// a request that this report or this trace cannot answer (unknown column, no such device or
  /// step).
  [[nodiscard]] Result<View> run(const Report& report, const Request& request) const;
  /// What steps, device and window of the request select. Errors as of run().
  [[nodiscard]] Result<Selection> select(const Request& request) const;

 private:
  /// Its call forest and launches come from where they were kept, and are kept once computed.
  void use_kept_structure();
  void keep_structure() const noexcept;
  /// Keeps the trace, beside what is asked of the session, which ends no earlier.
  void keep_beside();

  Trace trace_;
  Analyses analyses_;
  std::string input_;
  std::optional<TraceCache> kept_;
  bool of_cache_ = false;
  mutable std::atomic<bool> to_keep_ = false;
  mutable std::atomic<bool> structure_kept_ = false;
  std::int64_t process_;  // that keeping_ runs in
  std::jthread keeping_;  // last: it reads the rest
};

}  // namespace fathom
