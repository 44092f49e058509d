// How PyTorch's profiler names the annotation of a step: "ProfilerStep#7".
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace fathom {

inline constexpr std::string_view kProfilerStep = "ProfilerStep#";
/// What all of them are called together.
inline constexpr std::string_view kProfilerSteps = "ProfilerStep*";

constexpr bool is_profiler_step(std::string_view name) { return name.starts_with(kProfilerStep); }

std::string profiler_step_name(std::integral auto number) {
  return std::string(kProfilerStep) + std::to_string(number);
}

}  // namespace fathom
