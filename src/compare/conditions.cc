// Reads device, versions, batch, types and mode of a recording.
#include "compare/conditions.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/quantity_text.h"
#include "compare/machine_conditions.h"

namespace fathom {
namespace {

/// Facts that change what a program does or how fast, by the end of their keys: those of a process
/// have its number in front.
struct KnownFact {
  std::string_view key;
  std::string_view title;
};
constexpr KnownFact kFacts[] = {
    {"torch", "PyTorch"},
    {"cuda", "CUDA"},
    {"cuda_runtime_version", "CUDA runtime"},
    {"cuda_driver_version", "CUDA driver"},
    {"cudnn", "cuDNN"},
    {"host.cpu", "processor"},
    {"host.cores_allowed", "processor cores"},
    {"host.governor", "CPU governor"},
    {"host.cgroup.cpus", "processor quota"},
    {"threads", "threads"},
    {"model.class", "model"},
    {"model.parameters", "parameters"},
    {"batch_size", "batch size"},
    {"loader.num_workers", "workers of the data loader"},
    {"mode", "mode"},
    {"amp.autocast", "autocast"},
    {"compile", "compiled"},
    {"optimizers", "optimizers"},
    {"world_size", "processes"},
    {"tf32_matmul", "TF32"},
    {"cudnn_benchmark", "cudnn.benchmark"},
    {"deterministic", "deterministic"},
    {"seed", "seed of torch"},
    {"with_stack", "stacks recorded"},
    {"record_shapes", "shapes recorded"},
    {"profile_memory", "memory recorded"},
};

std::string unquoted(const std::string& json) {
  const bool quoted = json.size() >= 2 && json.front() == '"' && json.back() == '"';
  return quoted ? json.substr(1, json.size() - 2) : json;
}

/// The value of the first fact of that name.
std::string fact_of(const Trace& trace, std::string_view key) {
  const std::string suffix = "." + std::string(key);
  for (const Fact& fact : trace.facts) {
    if (fact.key == key || fact.key.ends_with(suffix)) return unquoted(fact.value);
  }
  return {};
}

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

bool multiplies(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "aten::mm",      "aten::addmm",       "aten::bmm",    "aten::baddbmm",
      "aten::_linalg", "aten::convolution", "aten::linear", "aten::scaled_dot_product_attention",
      "aten::matmul",
  };
  return std::ranges::find(kNames, name) != std::end(kNames);
}

/// What of the work shows in names, looked at once per name.
struct Seen {
  bool compiled = false;
  bool backward = false;
  bool graphs = false;
  bool operators = false;
  std::set<std::string> types;  // of tensors in matrix multiplications and convolutions
  std::string shapes;           // of the first of them
};

bool is_type(std::string_view text) {
  return !text.empty() && text != "Scalar" && text != "ScalarList" && text != "TensorList" &&
         text.find("int") == std::string_view::npos && text != "bool";
}

void add_types(const Trace& trace, const Signature& signature, std::set<std::string>& types) {
  if (!signature.types.valid()) return;
  // "["float","float",""]": the texts between quotation marks.
  std::string_view rest = trace.text(signature.types);
  while (true) {
    const std::size_t open = rest.find('"');
    if (open == std::string_view::npos) return;
    const std::size_t close = rest.find('"', open + 1);
    if (close == std::string_view::npos) return;
    const std::string_view type = rest.substr(open + 1, close - open - 1);
    if (is_type(type)) types.emplace(type);
    rest.remove_prefix(close + 1);
  }
}

Seen look(const Context& context, const StepWindows& windows) {
  const Trace& trace = context.trace;
  std::vector<std::uint8_t> kind(trace.strings.size());
  for (std::size_t row = 0; row < kind.size(); ++row) {
    const std::string_view name = trace.strings.view(StringId(row));
    if (multiplies(name)) kind[row] = 1;
    if (name.starts_with("Torch-Compiled Region") || name.starts_with("CompiledFunction") ||
        name.starts_with("## Call CompiledFxGraph"))
      kind[row] = 2;
  }
  Seen seen;
  std::set<std::uint32_t> signatures;
  for (const Nesting::Thread& thread : context.nesting().work) {
    for (const SliceId slice : thread.slices) {
      if (!windows.holds(trace.slices.start[slice.row()])) continue;
      const bool op = trace.kind(slice) == SliceKind::cpu_op;
      seen.operators = seen.operators || op;
      seen.backward = seen.backward || context.phases()[slice] == Phase::backward;
      const std::uint8_t what = kind[trace.slices.name[slice.row()].row()];
      seen.compiled = seen.compiled || what == 2;
      const std::uint32_t detail = trace.slices.detail[slice.row()];
      if (what != 1 || !op || detail == SliceId::kNone) continue;
      const SignatureId signature = trace.ops.signature[detail];
      if (!signature.valid() || !signatures.insert(signature.value).second) continue;
      const Signature& inputs = trace.signatures[signature.row()];
      add_types(trace, inputs, seen.types);
      if (seen.shapes.empty() && inputs.shapes.valid())
        seen.shapes = std::string(trace.name(slice)) + " " + std::string(trace.text(inputs.shapes));
    }
  }
  for (const SliceId activity : context.links().activities) {
    if (seen.graphs) break;
    seen.graphs = context.links().replay[activity.row()] > 0;
  }
  return seen;
}

std::string mode_of(const Seen& seen) {
  if (!seen.operators) return {};
  std::string text = seen.backward ? "training" : "inference";
  if (seen.compiled) text += ", compiled";
  if (seen.graphs) text += ", CUDA graphs";
  return text;
}

std::string device_of(const Context& context, std::int32_t device) {
  if (device < 0) return "none: the main thread is accounted for";
  const Device* const known = context.trace.device(device);
  return known != nullptr && !known->name.empty() ? known->name : "not named";
}

std::string batch_text(const std::optional<Batch>& batch) {
  if (!batch) return {};
  std::string text;
  if (batch->samples) text = real_text(*batch->samples) + " samples";
  if (batch->tokens) text += (text.empty() ? "" : ", ") + real_text(*batch->tokens) + " tokens";
  return text;
}

}  // namespace

std::vector<Condition> conditions_of(const Context& context, const UsualSteps& steps,
                                     const StepWindows& windows) {
  const Trace& trace = context.trace;
  const Seen seen = look(context, windows);
  std::vector<Condition> out;
  out.push_back({"device", "device", device_of(context, steps.device)});
  out.push_back({"batch", "batch per step", batch_text(steps.batch)});
  out.push_back({"types", "types of GEMMs and convolutions", joined(seen.types)});
  out.push_back({"shapes", "shapes of the first GEMM or convolution", seen.shapes});
  out.push_back({"work", "kind of work", mode_of(seen)});
  out.push_back({"step", "step",
                 context.steps().source == StepSource::whole_trace ? "the whole recording"
                                                                   : context.steps().name});
  if (trace.distributed) {
    const Distributed& job = *trace.distributed;
    out.push_back({"ranks", "ranks",
                   job.world_size == kAbsent ? std::string() : std::to_string(job.world_size)});
  }
  for (const KnownFact& fact : kFacts)
    out.push_back({std::string(fact.key), std::string(fact.title), fact_of(trace, fact.key)});
  out.push_back({"power_limit", "power limit of GPUs", power_limits(fact_of(trace, "gpus"))});
  out.push_back({"load", "load at the start",
                 load_condition(fact_of(trace, "host.load"), fact_of(trace, "host.cores"))});
  return out;
}

}  // namespace fathom
