// The glossary's text: every kind of word, then every word with what it means.
#include "engine/glossary.h"

namespace fathom {
namespace {

constexpr TermKind kKinds[] = {
    {"verdict", "Verdicts", "in the line Verdict of a diagnosis: what bounds the step"},
    {"bucket", "Buckets of the accounting", "in the bar of a diagnosis and in fathom accounting"},
    {"family", "Families", "in JSON and on the page: what kind of time a finding would save"},
    {"term", "Terms", "in sentences"},
    {"label", "Labels of the screens", "left of the text"},
    {"effort", "Efforts", "after a predicted saving"},
    {"confidence", "Confidences", "of a finding"},
    {"severity", "Severities", "of a finding"},
    {"stage", "Stages of a diagnosis", "as phase of a finding in JSON"},
    {"outcome", "Outcomes of a rule", "in JSON, and below fathom diagnose --all"},
    {"phase", "Phases", "in columns phase"},
    {"class", "Kernel classes", "in columns class"},
    {"launch_advice", "What launches waste", "in the column launch_advice of fathom kernels"},
    {"limiter", "What limits occupancy", "in the column occupancy_limiter of fathom kernels"},
    {"bound", "What bounds an operator", "in the column bound of fathom roofline"},
    {"opener", "What opens a gap", "in the column opener of fathom gaps"},
    {"reason", "Why a call waits", "in the column reason of fathom syncs"},
    {"path", "Parts of the critical path", "in fathom critical-path and fathom whatif"},
    {"copy", "Kinds of copies", "in the column kind of fathom copies"},
    {"memory", "Kinds of memory", "in the columns source and destination of fathom copies"},
    {"row", "Kinds of rows", "in the column kind of fathom ops and fathom ranges"},
    {"status", "Statuses", "in fathom health and fathom doctor"},
    {"role", "Roles of processes", "in the columns role"},
    {"source", "Sources of energy", "in the column source of fathom energy"},
    {"column", "Kinds of columns", "in the reference of tables and in JSON"},
    {"unit", "Units", "of columns and values"},
};

constexpr Term kTerms[] = {
    {"input-bound", "verdict",
     "The largest loss: the device idles while the launching thread fetches data. Without a "
     "device: the main thread loads data or waits for it."},
    {"io-bound", "verdict",
     "Input-bound, and the loader waits for storage while processors are idle."},
    {"host-bound", "verdict",
     "The largest loss: the device idles while the host dispatches operators or runs Python. "
     "Without a device: the main thread runs Python in no operator."},
    {"sync-bound", "verdict",
     "The largest loss: the device idles after calls that wait for it, until the host has caught "
     "up."},
    {"transfer-bound", "verdict", "The largest loss: copies beside which no kernel runs."},
    {"communication-bound", "verdict",
     "The largest loss: collectives beside which no compute kernel runs."},
    {"straggler", "verdict", "The largest loss: waiting in collectives for a late rank."},
    {"allocation-bound", "verdict",
     "The largest loss: the device idles while device or pinned memory is allocated or freed."},
    {"warmup-in-window", "verdict",
     "The largest loss: what a program does only once, on first use. Record later steps."},
    {"compute-bound", "verdict",
     "The device computes for most of the step, mostly in kernels near the compute peak. Without "
     "a device: the main thread is inside operators."},
    {"memory-bandwidth-bound", "verdict",
     "The device computes for most of the step, mostly in kernels near the bandwidth peak. Without "
     "a device: in operators that only move large tensors."},
    {"latency-bound", "verdict",
     "The device computes for most of the step, mostly in kernels that reach less than 60 % of "
     "either roof."},
    {"memory-capacity-bound", "verdict",
     "Nothing else is large, and memory is so full that it limits the batch."},
    {"physically-limited", "verdict", "Throttled by power or heat, where that was recorded."},
    {"balanced", "verdict", "Nothing alone takes much of the step."},
    {"too-few-cores", "verdict",
     "Threads of the program could run, but wait for a processor: it has fewer than it uses. By "
     "samples of its threads."},
    {"gil-contention", "verdict",
     "Threads of Python wait for each other's global interpreter lock: only one of them runs at a "
     "time. By samples of its threads."},
    {"lock-contention", "verdict",
     "Threads of Python wait for locks that others of them hold. By samples of its threads."},
    {"blocked-event-loop", "verdict",
     "Tasks of an event loop compute or wait in it for long, while no other task can run. By "
     "samples of its threads."},
    {"cpu-bound", "verdict",
     "The program computes for most of its time. By samples of its threads."},
    {"waiting", "verdict",
     "The program waits for most of its time: for a file, a socket, a child, a time. By samples of "
     "its threads."},
    {"cannot-tell", "verdict",
     "The device's work was not recorded, or most of the idle time has no cause in the trace."},

    {"compute", "bucket", "A compute kernel runs on the device."},
    {"communication", "bucket",
     "Exposed communication: a communication kernel runs, and no compute kernel. Without a device: "
     "the main thread is in a collective."},
    {"copies", "bucket", "Exposed copies: memcpy or memset runs, and no kernel."},
    {"memcpy", "bucket", "Exposed: a copy runs, and no kernel."},
    {"memset", "bucket", "Exposed: a fill runs, and neither kernel nor copy."},
    {"input", "bucket",
     "The device idles, and the thread that launches its next work is inside a data-loader fetch. "
     "Without a device: the main thread is."},
    {"allocation", "bucket",
     "The device idles while that thread allocates or frees device or pinned memory."},
    {"sync", "bucket", "The device idles while that thread is blocked in a synchronising call."},
    {"dispatch", "bucket",
     "The device idles while that thread is inside an operator or a launching call."},
    {"python", "bucket",
     "The device idles while that thread is in no operator and no call: Python, or what was not "
     "recorded. Without a device: the main thread is in no operator."},
    {"dependency", "bucket", "Work is launched, but waits for an event, another stream or a peer."},
    {"launch latency", "bucket",
     "Work is launched and not yet running, within the trace's median delay of launches that found "
     "their stream idle."},
    {"unexplained", "bucket",
     "Idle time for which the trace shows no cause: device wait and host unknown."},
    {"device wait", "bucket",
     "Launched longer ago than the launch latency, and nothing shows why it does not run."},
    {"host unknown", "bucket",
     "Idle until an activity whose launch is not in the trace, or while the host waits before the "
     "first recorded activity or after the last."},
    {"warm-up", "bucket",
     "The device idles while that thread does what is done only once: it makes contexts, loads "
     "code, chooses algorithms, compiles or captures a graph. Without a device: the main thread "
     "does."},
    {"forward", "bucket",
     "Without a device: the main thread is in an operator of the forward pass."},
    {"backward", "bucket",
     "Without a device: the main thread is in an operator of the backward pass, or waits for it."},
    {"optimizer", "bucket", "Without a device: the main thread is in an optimizer's step."},
    {"waiting", "bucket",
     "Without a device: the main thread is blocked in a join, a queue or a synchronisation."},
    {"other operators", "bucket",
     "Without a device: the main thread is in an operator of no known phase."},

    {"capture", "family",
     "Nothing to save: the finding is about the recording itself, or about work that is done only "
     "once."},
    {"input", "family", "Idle time while the program loads its input."},
    {"host", "family", "Idle time while the host dispatches operators or runs Python."},
    {"synchronisation", "family", "Idle time after calls that wait for the device."},
    {"transfer", "family", "Exposed copies between host and device."},
    {"communication", "family", "Exposed collectives."},
    {"straggler", "family", "Waiting in collectives for a late rank."},
    {"allocation", "family", "Idle time while device or pinned memory is allocated or freed."},
    {"compute", "family",
     "Device time of kernels near the compute roof, or that compute too much."},
    {"memory bandwidth", "family", "Device time of kernels that memory bandwidth bounds."},
    {"latency", "family", "Device time of kernels far from both roofs."},
    {"memory capacity", "family", "No time: memory that limits the batch."},
    {"physical limits", "family", "Time lost to clocks lowered by power or heat."},

    {"step", "term",
     "What repeats: ProfilerStep#N, else an annotation or an optimizer's step that repeats, else "
     "the whole trace. Its window ends when the last work that it launched ends."},
    {"edge step", "term",
     "A step that holds work launched before it or without a launch. It is shown, but not "
     "counted."},
    {"outlier", "term",
     "A step far longer than the others: 1.5 × the median, and beyond the quartiles. The verdict "
     "and most findings leave it out."},
    {"accounting", "term",
     "Every nanosecond of the counted steps in exactly one bucket; the buckets sum to the steps."},
    {"exposed", "term",
     "Communication or a copy while nothing else runs on the device, so that it costs time."},
    {"finding", "term",
     "One cause of lost time with its evidence, a change, and the saving predicted for it. "
     "Findings divide the step: no nanosecond counts for two of them."},
    {"predicted saving", "term",
     "What a replay of the recording with the change in it takes off the mean step, as in \"saves "
     "58.9 ms of 177.6 ms (33.1 %; 19.9–39.0 %)\": the likely saving, the step, and the saving in "
     "percent with its interval. Savings of several findings do not add up where one hides behind "
     "the other."},
    {"request", "term", "A step of a server: from a request's arrival in a thread to its answer."},
    {"no gain", "term",
     "A finding that saves no time by itself; in JSON no_gain, the part of the list it is in."},
    {"gain", "term", "The name of the predicted saving in JSON and Python: gain_ns."},
    {"upper bound", "term",
     "The time that a finding claims and no finding before it has claimed; it cannot save more. "
     "All of them together never exceed the step."},
    {"confidence", "term",
     "How sure a finding is of its cause, not of its predicted saving: low, medium or high."},
    {"effort", "term",
     "What a change costs: one flag, one line, refactoring (several places) or redesign."},
    {"quick win", "term",
     "The place of a finding by predicted saving per effort. One line counts twice one flag, "
     "refactoring 8 times, redesign 30 times."},
    {"alternative", "term",
     "Another finding of the same cause as a finding: one card shows both, the other behind also."},
    {"together", "term",
     "The step after the changes of the first three findings, by one replay of all of them. It is "
     "no sum: where one saving hides behind another, both give less."},
    {"checklist", "term",
     "What makes a recording one to judge by: met, not met, or not recordable, which is what this "
     "kind of recording cannot hold."},
    {"MFU", "term",
     "Model FLOPs utilisation: the share of the device's peak that operators with a formula reach "
     "over the step. Unknown where they are not behind half of the time of matrix "
     "multiplications and convolutions."},
    {"severity", "term",
     "note, warning or critical: how much of the step a finding is about, by limits of its rule."},
    {"family", "term",
     "The kind of time that a finding would save; the verdict is named after the largest."},
    {"evidence", "term", "The numbers that a finding rests on, with slices and places."},
    {"counter-evidence", "term", "The strongest fact that speaks against a finding."},
    {"abstained", "term",
     "A rule without a result, because the recording lacks what it needs. The reason says what."},
    {"residual", "term",
     "Delays that no dependency of the replay explains. They stay as they are in every prediction; "
     "the smaller, the better the model."},
    {"critical path", "term", "The chain of dependencies that decides when a step ends."},
    {"roof", "term",
     "The least time of an operator by the peaks of the device: for its operations, or its bytes."},
    {"tail effect", "term",
     "The last wave of a kernel's blocks fills the device only partly, and the rest of it idles."},
    {"Tensor Cores", "term",
     "The units of NVIDIA devices for matrix multiplication; matrix units of other makers count "
     "likewise. Kernels that use them are recognised by name."},
    {"late rank", "term", "The rank that others wait for in collectives."},
    {"differential profile", "term",
     "The change of a step's time, divided among what the time goes into: fathom compare BASE "
     "NEW."},
    {"ladder", "term",
     "A recording and changes made one after the other, each beside the one before and beside the "
     "first: fathom compare A B C."},
    {"graph break", "term",
     "Where compiled code ends and Python goes on; what follows is compiled as a piece of its "
     "own."},
    {"exclusive time", "term",
     "Time that counts for one thing alone: of the host the self time of the innermost operator, "
     "of "
     "a device the one activity that is credited with a busy instant."},
    {"focus", "term",
     "The calls of one module, annotation or operator, or the stretches of one phase, diagnosed as "
     "if each were a step: fathom diagnose --focus NAME."},
    {"knee", "term",
     "Of a sweep: the smallest value that is certainly not worse than the best by more than the "
     "resolution."},
    {"crossover", "term",
     "The size from which on a command or function costs no more than what it is measured "
     "against, by the medians of pairs; beside it the sizes at which that is certain."},
    {"statement", "term",
     "Of a profile of lines: what Python runs as one, also where it lies on several lines; of if, "
     "for and the like the header alone. Statements that share a line are one."},
    {"hit", "term", "Of a profile of lines: a statement began."},
    {"session", "term", "A folder that fathom run wrote: traces, telemetry, conditions."},
    {"fallback level", "term",
     "How much of CUDA could be recorded: full activity, activity without what was refused, CUDA "
     "events, or telemetry of the GPU. The fact cuda.fallback_level has it."},

    {"Diagnosis", "label", "The input."},
    {"All ranks", "label", "How many ranks, which one is diagnosed, and why."},
    {"Recordings", "label", "How many recordings of one process, and which one is diagnosed."},
    {"Capture", "label",
     "The worst check of the recording, of which fathom health has all, and remarks on it."},
    {"Baseline", "label",
     "The median step, its mean, spread and extremes; samples or tokens a second where shapes show "
     "the batch; use of the peak, memory, and the device."},
    {"Operators", "label",
     "The five operators with most self time, and their shares: on the device, without one on the "
     "host."},
    {"Program", "label", "Which of several programs of the session this is."},
    {"Run", "label", "Wall, user and system time and peak memory of the main process."},
    {"Whole run", "label", "Where the time of the whole run went: phases by their share."},
    {"Telemetry", "label", "Processors, memory, storage and GPUs, means or peaks over the run."},
    {"Ranks", "label", "Processors and memory of each rank with its children."},
    {"Energy", "label", "Joules of the run and of a step, with money and CO2 if asked for."},
    {"Not recorded", "label", "What was not recorded; --all shows why, and what would allow it."},
    {"Verdict", "label", "What bounds the step, and the accounting as a bar."},
    {"Phases", "label", "Time of each phase of a program without PyTorch."},
    {"Python", "label", "Threads and pauses of the garbage collector."},
    {"Annotations", "label", "Time in what the program annotated."},
    {"Functions", "label", "The costliest functions of a deterministic profile."},
    {"Processes", "label", "Wall, user and system time and peak memory of each process."},
    {"Note", "label", "What was assumed or left out."},
    {"Steps", "label", "How steps were found."},
    {"Replay", "label", "The share of the window that no dependency explains."},
    {"Together", "label", "The step time now, and after the changes of the first findings."},
    {"Quick wins", "label", "Findings by predicted saving per effort."},
    {"Next", "label", "Commands that show more of this diagnosis."},
    {"Other ranks", "label", "The command that diagnoses another rank."},
    {"Narrower", "label", "The command that looks at the part with the largest loss."},
    {"predicted", "label", "Of a finding: its predicted saving and effort."},
    {"evidence", "label", "Of a finding: a number that it rests on, and where."},
    {"against", "label", "Of a finding: its counter-evidence."},
    {"also", "label", "Of a finding: what else was found of the same cause."},
    {"change", "label", "Of a finding: what to do, with its caveats."},
    {"before", "label", "Of a finding: code as it may stand now."},
    {"after", "label", "Of a finding: the same code with the change."},
    {"assumed", "label", "Of a finding: what the prediction assumes, and its least saving."},
    {"check", "label", "Of a finding: the command that shows whether the change worked."},
    {"confidence", "label", "Of a finding: how sure it is of its cause."},
    {"Step time", "label",
     "The median step: of a what-if now and with the changes, of a comparison on both sides."},
    {"Base", "label", "Of a comparison: the recording before the change, and its usual steps."},
    {"New", "label", "Of a comparison: the recording after it."},
    {"Differs", "label", "Of a comparison: conditions that are not the same on both sides."},
    {"Matched", "label", "Of a comparison: by what the work of both sides was found the same."},
    {"By phase", "label",
     "Of a comparison on a device: what each phase, and the idle device, changes of the mean "
     "step."},
    {"Ladder", "label", "How many recordings, each beside the one before and beside the first."},
    {"In all", "label", "Of a ladder: what the interval of the change since the first covers."},
    {"Target", "label", "How far the last recording is from the target, and whether it is there."},
    {"Counts", "label",
     "Of a comparison: what has no noise, per step; what differs, and what is equal."},
    {"Bound by", "label", "Of a what-if: the parts of the critical path now."},
    {"Then by", "label", "Of a what-if: the parts of the critical path with the changes."},
    {"Change", "label", "Of a what-if: what one change concerns, and what it assumes."},
    {"Unexplained", "label", "Of a what-if: the residual."},

    {"one flag", "effort", "An option, argument or environment variable."},
    {"one line", "effort", "A line of code, or a few."},
    {"refactoring", "effort", "Several places of the program."},
    {"redesign", "effort", "Another structure of the program, or other hardware."},
    {"low", "confidence", "The cause is one of several possible."},
    {"medium", "confidence", "The cause is likely."},
    {"high", "confidence", "The recording shows the cause directly."},
    {"note", "severity", "Worth knowing; little or no time."},
    {"warning", "severity", "Worth a change."},
    {"critical", "severity", "Costs much of the step."},
    {"capture", "stage", "About the recording: can its numbers be trusted?"},
    {"bottleneck", "stage", "About what bounds the step."},
    {"component", "stage", "About a part of the step: data, forward, backward, optimizer."},
    {"operation", "stage", "About an operator, a kernel or a line."},
    {"found", "outcome", "The rule has at least one finding."},
    {"silent", "outcome", "The rule looked and found nothing."},
    {"abstained", "outcome", "The recording lacks what the rule needs."},

    {"forward", "phase", "The forward pass."},
    {"backward", "phase", "The backward pass."},
    {"optimizer", "phase", "The optimizer's step."},
    {"data", "phase", "Loading of data."},
    {"communication", "phase", "Collectives."},
    {"other", "phase", "No phase is known."},

    {"gemm", "class", "Matrix multiplication."},
    {"conv", "class", "Convolution."},
    {"attention", "class", "Fused attention."},
    {"normalisation", "class", "Batch, layer, group and RMS norm."},
    {"softmax", "class", "Softmax, also of a loss."},
    {"elementwise", "class", "Arithmetic element by element."},
    {"reduction", "class", "Sums, means, maxima along dimensions."},
    {"embedding", "class", "Embedding, index, gather and scatter."},
    {"optimizer", "class", "Fused optimizer updates."},
    {"copy-like", "class", "Copies, casts, transposes and concatenations by kernels."},
    {"communication", "class", "Collectives and messages."},
    {"other", "class", "The name shows no class."},

    {"small grid", "launch_advice", "Fewer blocks than the device has multiprocessors."},
    {"tail", "launch_advice", "Tail effect: the last wave of blocks is only partly full."},
    {"ragged block", "launch_advice", "A block size that is no multiple of the warp."},
    {"short", "launch_advice", "Most runs are shorter than the call that launched them."},

    {"warps", "limiter", "The warps that a multiprocessor can hold."},
    {"registers", "limiter", "Its registers."},
    {"shared memory", "limiter", "Its shared memory."},
    {"blocks", "limiter", "The blocks that it can hold."},

    {"compute", "bound", "At least 60 % of the compute roof is reached."},
    {"bandwidth", "bound", "At least 60 % of the bandwidth roof is reached."},
    {"latency", "bound", "Less than 60 % of either roof is reached."},
    {"unknown", "bound", "The operator's cost or the peaks are not known."},

    {"start", "opener", "Nothing ran before: the trace begins with the gap."},
    {"sync call", "opener", "The host waited for the device, and launched on only after that."},
    {"ran dry", "opener", "The host launched too late for another reason."},
    {"waiting", "opener", "The next activity was already launched."},
    {"unknown", "opener", "The launch of the next activity is not in the trace."},

    {"synchronize", "reason", "A call whose purpose is to wait."},
    {"blocking copy", "reason", "A copy that returns when it is done."},
    {"blocking fill", "reason", "A fill that returns when it is done."},
    {"pageable copy", "reason",
     "An asynchronous copy of pageable host memory that waited for the device."},

    {"host", "path", "A thread's own work."},
    {"launch", "path",
     "From the launching call to the start on the device, and between activities of a stream."},
    {"device", "path", "Kernels that compute."},
    {"communication", "path", "Communication kernels."},
    {"copy", "path", "Copies and fills."},
    {"wait", "path",
     "For an event, for the host to notice the device, or for what nothing in the trace explains."},

    {"HtoD", "copy", "Host to device."},
    {"DtoH", "copy", "Device to host."},
    {"DtoD", "copy", "Within a device."},
    {"PtoP", "copy", "From one device to another."},
    {"HtoH", "copy", "Within the host."},
    {"memset", "copy", "A fill."},
    {"array", "copy", "From or to a CUDA array."},
    {"unknown", "copy", "The name does not show it."},
    {"pageable", "memory", "Host memory that the system may move; copies of it block."},
    {"pinned", "memory", "Host memory that stays in place; copies of it can be asynchronous."},
    {"device", "memory", "Memory of a device."},
    {"managed", "memory", "Memory that moves between host and device by itself."},
    {"array", "memory", "A CUDA array."},
    {"unknown", "memory", "The name does not show it."},

    {"host", "row", "An operator, a runtime or driver call, or profiler overhead."},
    {"annotation", "row", "A range that the program or torch named."},
    {"device", "row", "A kernel, copy or fill as torch lists it (--torch)."},
    {"device annotation", "row", "An annotation that Kineto projects onto the device (--torch)."},
    {"memory", "row", "Allocator events outside of every operator."},
    {"remainder", "row", "Device time without an operator, or without a launch."},
    {"range", "row", "A range that need not nest."},
    {"mark", "row", "A moment."},
    {"frame", "row", "A round of a rhythm that the program named."},

    {"ok", "status", "Nothing was found, or it may be recorded."},
    {"note", "status", "No number is wrong, but something is missing or coarse."},
    {"warning", "status", "Some numbers are less true than they look."},
    {"bad", "status", "Do not trust the numbers that the check names."},
    {"not applicable", "status", "There was nothing to check."},
    {"limited", "status", "Of fathom doctor: available in part."},
    {"missing", "status", "Of fathom doctor: not available."},
    {"met", "status", "Of the checklist: the recording shows it."},
    {"not met", "status", "Of the checklist: the recording shows that it is not so."},
    {"not recordable", "status", "Of the checklist: a recording of this kind cannot show it."},
    {"info", "status", "Of fathom doctor: a fact about the machine."},

    {"main", "role", "The first process of the program."},
    {"rank", "role", "A process of a distributed program."},
    {"loader-worker", "role", "A worker process of a data loader."},
    {"child", "role", "Any other process."},

    {"counter", "source", "The hardware's own count of energy."},
    {"power", "source", "Integrated from samples of power."},

    {"text", "column", "Text."},
    {"name", "column", "Text that a narrow terminal shortens in the middle."},
    {"integer", "column", "A whole number without a unit, such as a number of a step."},
    {"count", "column", "A whole number of things; text separates thousands."},
    {"duration_ns", "column", "Whole nanoseconds; text shows µs, ms or s."},
    {"time_ns", "column", "Whole nanoseconds from the start of the trace."},
    {"bytes", "column", "Whole bytes; text shows KiB, MiB or GiB."},
    {"real", "column", "A number with decimals."},
    {"percent", "column", "0 to 100, where the column says no more."},
    {"flag", "column", "true or false."},

    {"ns", "unit", "Nanoseconds."},
    {"bytes", "unit", "Bytes; 1 KiB is 1,024 of them."},
    {"percent", "unit", "Hundredths of a whole."},
    {"count", "unit", "A number of things."},
    {"GB/s", "unit", "10^9 bytes per second."},
    {"TFLOP/s", "unit", "10^12 floating-point operations per second."},
    {"FLOP/byte", "unit", "Floating-point operations per byte."},
    {"J", "unit", "Joules."},
    {"W", "unit", "Watts."},
    {"g", "unit", "Grams."},
};

}  // namespace

std::span<const TermKind> all_term_kinds() { return kKinds; }

std::span<const Term> all_terms() { return kTerms; }

std::vector<const Term*> find_terms(std::string_view id) {
  std::vector<const Term*> found;
  for (const Term& term : kTerms) {
    if (term.id == id) found.push_back(&term);
  }
  return found;
}

}  // namespace fathom
