// Recognises frameworks by names, and reads what fathom run has noted of command and machine.
#include "rules/common/program.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/roofline/kernel_type.h"
#include "analysis/util/json_list.h"
#include "rules/common/arguments.h"
#include "rules/common/counted.h"
#include "rules/common/machine.h"
#include "rules/common/names.h"

namespace fathom {
namespace {

struct Mark {
  std::string_view word;
  bool Frameworks::*shows;
};
constexpr auto kMarks = std::to_array<Mark>({
    {"DistributedDataParallel", &Frameworks::ddp},
    {"c10d::reducer", &Frameworks::ddp},
    {"torch/nn/parallel/distributed.py", &Frameworks::ddp},
    {"FullyShardedDataParallel", &Frameworks::fsdp},
    {"FSDP::", &Frameworks::fsdp},
    {"fsdp::", &Frameworks::fsdp},
    {"torchrec", &Frameworks::torchrec},
    {"TrainPipeline", &Frameworks::torchrec},
    {"fbgemm::", &Frameworks::torchrec},
    {"KJTAllToAll", &Frameworks::torchrec},
    {"vllm", &Frameworks::vllm},
    {"DataLoader", &Frameworks::loader},
    {"Torch-Compiled Region", &Frameworks::compiled},
    {"CompiledFxGraph", &Frameworks::compiled},
    {"CompiledFunction", &Frameworks::compiled},
    {"aten::embedding", &Frameworks::embeds},
    {"Torch-Compiled Region", &Frameworks::generates},
    {"CompiledFxGraph", &Frameworks::generates},
    {"triton_", &Frameworks::generates},
    {"cpp_fused", &Frameworks::generates},
    {"torch/_inductor", &Frameworks::generates},
});

constexpr std::string_view kCommandFact = "command";

struct Option {
  std::string_view profiler;
  std::string_view run;
};
constexpr auto kOptions = std::to_array<Option>({{"record_shapes=True", "shapes"},
                                                 {"with_stack=True", "stacks"},
                                                 {"profile_memory=True", "memory"}});

/// The type that a product's kernel works on: as recorded, else as its name shows.
NumberType type_of_product(const Trace& trace, SliceId kernel, SliceId op, KernelTypes& by_name) {
  const Signature* const signature = signature_of(trace, op);
  if (signature != nullptr && signature->types.valid()) {
    for (const std::string_view quoted : json_elements(trace.text(signature->types))) {
      const std::string_view type = json_unquoted(quoted);
      if (element_bytes(type) != 0) return number_type(type);
    }
  }
  return by_name.of(kernel);
}

bool is_narrow(NumberType type) {
  return type == NumberType::fp16 || type == NumberType::bf16 || type == NumberType::fp8 ||
         type == NumberType::int8;
}

/// A word as a shell reads it back.
std::string quoted(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-";
  if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) return std::string(word);
  return "'" + std::string(word) + "'";
}

/// Options of torch.profiler, or, of a run, what fathom run calls them.
std::string option_with(const Trace& trace, std::string_view options) {
  if (!recorded_by_run(trace)) return std::string(options);
  std::string list;
  for (const Option& option : kOptions) {
    if (options.find(option.profiler) == options.npos) continue;
    list += (list.empty() ? "" : ",") + std::string(option.run);
  }
  return "fathom run --with " + list;
}

}  // namespace

Frameworks frameworks_of(const Trace& trace) {
  Frameworks found;
  for (std::size_t row = 0; row < trace.strings.size(); ++row) {
    const std::string_view name = trace.strings.view(StringId(row));
    for (const Mark& mark : kMarks) {
      if (!(found.*mark.shows) && name.find(mark.word) != name.npos) found.*mark.shows = true;
    }
  }
  return found;
}

bool multiplies_in_few_bits(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const Timelines& timelines = rules.context.timelines();
  Duration all{};
  Duration narrow{};
  KernelTypes by_name(trace);
  for_each_activity(rules, [&](SliceId activity, SliceId op) {
    if (trace.kind(activity) != SliceKind::kernel) return;
    const KernelClass kind = timelines.traits_of(trace, activity).kernel_class;
    if (kind != KernelClass::gemm && kind != KernelClass::conv && kind != KernelClass::attention)
      return;
    const NumberType type = type_of_product(trace, activity, op, by_name);
    if (type == NumberType::unknown) return;
    all += trace.slices.duration[activity.row()];
    if (is_narrow(type)) narrow += trace.slices.duration[activity.row()];
  });
  return narrow > all / 2;
}

bool recorded_by_run(const Trace& trace) { return trace.fact(kCommandFact) != nullptr; }

std::string command_of(const Trace& trace) {
  constexpr std::size_t kLongest = 120;
  const Fact* const fact = trace.fact(kCommandFact);
  std::string text;
  if (fact != nullptr) {
    for (const std::string_view word : json_elements(fact->value))
      text += (text.empty() ? "" : " ") + quoted(json_unquoted(word));
  }
  return text.empty() || text.size() > kLongest ? "python train.py" : text;
}

std::string recording_later(const Trace& trace, int wait, int warmup, int active) {
  const bool run = recorded_by_run(trace);
  const std::string separator = run ? "," : ", ";
  const std::string steps = "wait=" + std::to_string(wait) + separator +
                            "warmup=" + std::to_string(warmup) + separator +
                            "active=" + std::to_string(active);
  return run ? "fathom run --steps " + steps + " -- " + command_of(trace)
             : "schedule(" + steps + ")";
}

std::string_view steps_marked(const Trace& trace) {
  return recorded_by_run(trace) ? "--step-by says what a step is, or fathom.step() ends each"
                                : "each ended by prof.step()";
}

std::string recording_with(const Trace& trace, std::string_view options) {
  const std::string with = option_with(trace, options);
  return recorded_by_run(trace) ? with + " -- " + command_of(trace) : with;
}

Abstention not_recorded(const RuleContext& rules, std::string_view lacks, std::string_view option) {
  return {std::string(lacks) + ": use " + option_with(rules.trace(), option)};
}

std::optional<int> processors_of(const RuleContext& rules) {
  const MachineView machine(rules);
  std::optional<double> least;
  for (const std::string_view counter : {"cpu.count", "cgroup.cpu_limit"}) {
    const auto known = machine.most_ever(counter);
    if (known && *known > 0) least = std::min(*known, least.value_or(*known));
  }
  if (!least) return {};
  return std::max(1, static_cast<int>(std::lround(*least)));
}

int workers_for(const RuleContext& rules, int wanted) {
  const std::optional<int> processors = processors_of(rules);
  return processors ? std::min(wanted, *processors) : wanted;
}

}  // namespace fathom
