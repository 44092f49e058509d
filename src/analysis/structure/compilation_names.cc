// The names of compilers: their ranges, and their functions.
#include "analysis/structure/compilation_names.h"

#include <algorithm>
#include <array>

namespace fathom {
namespace {

// Ranges that compilers write around themselves.
constexpr auto kRanges = std::to_array<std::string_view>({
    "entire_frame_compile",
    "_compile.",
    "compile_attempt_",
    "backend_compile",
    "OutputGraph.call_user_compiler",
    "create_aot_dispatcher_function",
    "bytecode_tracing",
    "aot_trace_joint_graph",
    "compile_fx",
    "fx_codegen_and_compile",
    "inductor_compile",
    "GraphLowering.",
    "Scheduler.codegen",
    "async_compile",
    "PyCodeCache.",
    "CachingAutotuner.",
});

struct Compiler {
  std::string_view file;      ///< Up to the line.
  std::string_view function;  ///< From the line on.
};
constexpr auto kFunctions = std::to_array<Compiler>({
    {"torch/_dynamo/convert_frame.py(", "): _compile"},
    {"torch/_dynamo/convert_frame.py(", "): compile_inner"},
    {"torch/_inductor/compile_fx.py(", "): compile_fx"},
    {"torch/_inductor/compile_fx.py(", "): compile_fx_inner"},
    {"torch/_inductor/runtime/triton_heuristics.py(", "): precompile"},
    {"torch/_inductor/runtime/triton_heuristics.py(", "): benchmark_all_configs"},
    {"torch/_inductor/runtime/triton_heuristics.py(", "): autotune_to_one_config"},
    {"triton/runtime/autotuner.py(", "): _bench"},
    {"triton/runtime/autotuner.py(", "): benchmark"},
    {"triton/compiler/compiler.py(", "): compile"},
    {"torch/utils/cpp_extension.py(", "): _jit_compile"},
});

}  // namespace

bool is_compiling_range(std::string_view name) {
  if (name == "dynamo" || name.ends_with("(dynamo_timed)")) return true;
  return std::ranges::any_of(kRanges, [name](std::string_view range) {
    return name.starts_with(range) && name.find("_data: ") == name.npos;
  });
}

bool is_compiling_frame(std::string_view name) {
  return std::ranges::any_of(kFunctions, [name](const Compiler& compiler) {
    return name.ends_with(compiler.function) && name.find(compiler.file) != name.npos;
  });
}

}  // namespace fathom
