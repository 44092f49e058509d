// What a recording shows of the program and its machine, so that advice applies to both.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rules/rule.h"

namespace fathom {

/// What the names of a recording show of the frameworks in use.
struct Frameworks {
  bool ddp = false;       ///< torch's DistributedDataParallel.
  bool fsdp = false;      ///< FullyShardedDataParallel, or fully_shard.
  bool torchrec = false;  ///< Sparse tables of TorchRec, or FBGEMM's embeddings.
  bool vllm = false;
  bool loader = false;    ///< torch's DataLoader.
  bool compiled = false;  ///< torch.compile.
  bool embeds = false;    ///< Looks tokens up in a table: a vocabulary exists.
  /// Inductor makes code. Where a program is compiled without, its backend calls operators.
  bool generates = false;
};
/// O(names).
Frameworks frameworks_of(const Trace& trace);

/// Are most products of the counted steps computed in 16 or 8 bits: by autocast, or since the
/// model is of such a type? O(activities).
bool multiplies_in_few_bits(const RuleContext& rules);

/// Was it recorded by fathom run?
bool recorded_by_run(const Trace& trace);

/// The program's own command, where fathom run has recorded it, else "python train.py".
std::string command_of(const Trace& trace);

/// How to record steps that come later: fathom run's "--steps wait=10,…", where it was that, else
/// torch.profiler's "schedule(wait=10, …)".
std::string recording_later(const Trace& trace, int wait, int warmup, int active);

/// "each ended by prof.step()"; of a run there is no such object: how fathom run learns of steps.
std::string_view steps_marked(const Trace& trace);

/// How to record what is named by the options of torch.profiler, such as "record_shapes=True,
/// with_stack=True": these, or, of a run, fathom's own options and the command.
std::string recording_with(const Trace& trace, std::string_view options);

/// Why a rule cannot judge, and what to record it with: "shapes were not recorded: use
/// record_shapes=True". `option` is one of torch.profiler.
Abstention not_recorded(const RuleContext& rules, std::string_view lacks, std::string_view option);

/// Processors that the program may use: whole ones, at least one; unset: not recorded.
std::optional<int> processors_of(const RuleContext& rules);

/// Workers that a loader should have at most, of those that the advice would name.
int workers_for(const RuleContext& rules, int wanted);

}  // namespace fathom
