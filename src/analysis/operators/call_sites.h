// Where in the user's program a host slice was called from.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/context.h"
#include "analysis/lines/line_owners.h"
#include "analysis/lines/line_runs.h"
#include "analysis/structure/forward_ops.h"
#include "analysis/structure/from_outside.h"
#include "base/once.h"
#include "store/column.h"
#include "store/trace.h"

namespace fathom {

/// A function of the user's program as recorders write it: "train.py(42): main".
struct CodePlace {
  std::string_view file;
  std::string_view line;
  std::string_view function;
  [[nodiscard]] bool valid() const { return !file.empty(); }
};

/// Splits "path/train.py(42): main"; nothing valid for frames without a file: built-in functions
/// and modules.
CodePlace parse_place(std::string_view frame);

/// Is this frame code of the user, not of PyTorch, of Python's own library or of a launcher?
bool is_user_code(const CodePlace& place);

/// Looks up the places of one trace. Immutable, thread-safe.
class CallSites {
 public:
  explicit CallSites(const Context& context);

  /// The innermost frame of the user's code around a host slice, or invalid where no frames were
  /// recorded. q questions are O(q log n + n).
  [[nodiscard]] SliceId frame(SliceId host) const;
  /// "train.py:42": from recorded lines, else from frame(), else from the recorded call stack of
  /// the operator or the operators around it; of a backward operator, where its forward operator
  /// was called. "" where nothing was recorded. With frames the line is that of the function, with
  /// lines and call stacks that of the call. Of a function that ran when torch.profiler began,
  /// which writes the line of that moment, there is none: "train.py (main)".
  [[nodiscard]] std::string of(SliceId host) const;
  /// The forward operator that made the node which `backward` runs (see ForwardOps); invalid where
  /// it runs none, or none was recorded.
  [[nodiscard]] SliceId forward_of(SliceId backward) const;
  /// In which line each thread was, or nullptr where no lines were recorded.
  [[nodiscard]] const LineRuns* lines() const { return lines_ ? &lines_->runs : nullptr; }
  /// "train.py:42" of a statement of lines().
  [[nodiscard]] std::string place_of(StringId statement) const;

 private:
  struct Lines {
    explicit Lines(const Context& context) : runs(context.trace), owners(context, runs) {}
    LineRuns runs;
    LineOwners owners;
  };
  [[nodiscard]] std::string with_lines(SliceId host) const;
  [[nodiscard]] std::string with_frames_or_stack(SliceId host) const;
  [[nodiscard]] std::string text_of_frame(SliceId frame) const;
  [[nodiscard]] std::string recorded(SliceId host) const;
  /// The user's code that called the operator, where its call stack was recorded.
  [[nodiscard]] CodePlace stack_entry(SliceId host) const;

  const Trace& trace_;
  const Nesting& nesting_;
  std::unique_ptr<const Lines> lines_;
  FromOutside user_frames_;
  FromOutside with_stacks_;
  FromOutside backward_;
  mutable Column<std::uint32_t>
      entries_;  // By text: see stack_entry(). Takes no memory until used.
  std::vector<const Nesting::Thread*> frames_;  // By track; nullptr where a track has none.
  std::vector<SliceId> around_start_;           // Frames that ran when recording began; ascending.
  mutable Once forward_once_;  // Joining forward to backward is costly: only when asked.
  mutable std::unique_ptr<const ForwardOps> forward_;
};

}  // namespace fathom
