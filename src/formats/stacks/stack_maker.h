// StackMaker: the stacks that another profiler sampled, as the tables of a trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/byte_source.h"
#include "base/result.h"
#include "formats/common/frame_table.h"
#include "store/trace.h"

namespace fathom {

/// The bytes of an input to its end.
Result<std::string> read_whole(ByteSource& source);

/// How many ns one of a unit is: "nanoseconds", "ms". Unset for what is no time.
std::optional<double> ns_per(std::string_view unit);

/// Whose stack was sampled. Numbers are kAbsent where the file has none.
struct StackOwner {
  std::int64_t pid = kAbsent;
  std::int64_t tid = kAbsent;
  std::string_view name;
};

/// Fills a trace with stacks. Such profilers say where a thread was on a processor, not what it
/// waited for.
class StackMaker {
 public:
  /// The row of a frame, for its callees and for sample(). Line -1: not known.
  std::uint32_t frame(std::uint32_t parent, std::string_view function, std::string_view file,
                      std::int64_t line, std::uint64_t offset);
  /// Until `time`, in ns, a thread was `weight` with this stack: ns, or what the profiler counts.
  /// What cannot be is counted and left out.
  void sample(const StackOwner& thread, std::int64_t time, std::uint32_t frame, double weight,
              std::uint64_t offset);
  ImportLog& import() { return trace_.import; }

  /// The trace; an error where it has no stack. `unit`: what weights are, or empty for ns.
  Result<Trace> finish(std::string_view format, std::string_view unit, ByteSource& source,
                       std::uint64_t bytes);

 private:
  StringId text(std::string_view text, std::uint64_t offset);

  Trace trace_;
  FrameTable frames_{trace_.stack_frames};
  std::int64_t sum_ = 0;  ///< Of all weights.
  double rest_ = 0;       ///< Of them, what is less than one.
};

}  // namespace fathom
