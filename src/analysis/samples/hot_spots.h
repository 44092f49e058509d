// Where sampled threads spent their time: functions and lines.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/samples/stack_roles.h"
#include "store/trace.h"

namespace fathom {

/// A function or a line, over all threads and processes.
struct HotSpot {
  StringId function{};
  StringId file{};
  std::int32_t line = -1;  ///< Of a line; of a function, its line with the most own time.
  Duration self{};         ///< On a processor, while it was the innermost.
  Duration total{};        ///< While it was on the stack; a function that calls itself counts once.
  Duration blocked{};      ///< Blocked, while it was the innermost.
  std::uint64_t samples = 0;  ///< In which it was the innermost and its thread had run.
};

enum class SpotBy : std::uint8_t { function, line };

struct HotSpots {
  std::vector<HotSpot> spots;  ///< The most own time first.
  Duration on_cpu{};           ///< Of all samples.
  Duration outside{};          ///< Of those: of threads without Python.
  std::uint64_t samples = 0;   ///< Whose threads had run.
};

/// O((samples + frames) * log frames), however deep the stacks are.
HotSpots hot_spots(const Trace& trace, SpotBy by);

/// Time of samples by the program's own innermost function and line.
struct UserSpot {
  std::uint32_t frame = kNoFrame;  ///< One of its frames; kNoFrame: without Python.
  StringId thread{};               ///< Of one without Python, its name.
  Duration time{};
  std::uint64_t samples = 0;  ///< That count.
};
/// `weight` is what a sample counts, `frame_of` its frame. By function or by line, the largest
/// first.
std::vector<UserSpot> user_spots(const Trace& trace, SpotBy by,
                                 const std::function<Duration(const StackSample&)>& weight,
                                 const std::function<std::uint32_t(const StackSample&)>& frame_of);

}  // namespace fathom
