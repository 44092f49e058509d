// Recognises compilers and autotuners in a recording.
#include "rules/common/compilation.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "rules/common/host_work.h"
#include "rules/common/names.h"
#include "rules/common/stretches.h"

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
  std::string_view file;
  std::string_view function;
};
constexpr auto kFunctions = std::to_array<Compiler>({
    {"torch/_dynamo/convert_frame.py", "_compile"},
    {"torch/_dynamo/convert_frame.py", "compile_inner"},
    {"torch/_inductor/compile_fx.py", "compile_fx"},
    {"torch/_inductor/compile_fx.py", "compile_fx_inner"},
    {"torch/_inductor/runtime/triton_heuristics.py", "precompile"},
    {"torch/_inductor/runtime/triton_heuristics.py", "benchmark_all_configs"},
    {"torch/_inductor/runtime/triton_heuristics.py", "autotune_to_one_config"},
    {"triton/runtime/autotuner.py", "_bench"},
    {"triton/runtime/autotuner.py", "benchmark"},
    {"triton/compiler/compiler.py", "compile"},
    {"torch/utils/cpp_extension.py", "_jit_compile"},
});

bool is_compiling_range(std::string_view name) {
  if (name == "dynamo" || name.ends_with("(dynamo_timed)")) return true;
  return std::ranges::any_of(kRanges, [name](std::string_view range) {
    return name.starts_with(range) && name.find("_data: ") == name.npos;
  });
}

bool is_compiling_frame(std::string_view name) {
  if (name.find("_compile") == name.npos && name.find("tun") == name.npos &&
      name.find("compile") == name.npos && name.find("benchmark") == name.npos) {
    return false;
  }
  const CodePlace place = parse_place(name);
  return place.valid() && std::ranges::any_of(kFunctions, [&](const Compiler& compiler) {
           return place.file.ends_with(compiler.file) && place.function == compiler.function;
         });
}

}  // namespace

Compilation compilation_in(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const Nesting& nesting = rules.context.nesting();
  Compilation found;
  add_outermost(rules, nesting.work, NameSet(trace, is_compiling_range), found.slices);
  add_outermost(rules, nesting.frames, NameSet(trace, is_compiling_frame), found.slices);
  for (const SliceId slice : found.slices) found.stretches.push_back(interval_of(trace, slice));
  found.stretches = merged(std::move(found.stretches));
  return found;
}

}  // namespace fathom
