#include "engine/glossary.h"

#include <algorithm>

namespace fathom {
namespace {

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
    {"compute-bound", "verdict",
     "The device computes for most of the step, mostly in kernels near the compute peak. Without "
     "a device: the main thread is inside operators."},
    {"memory-bandwidth-bound", "verdict",
     "The device computes for most of the step, mostly in kernels near the bandwidth peak."},
    {"latency-bound", "verdict",
     "The device computes for most of the step, mostly in kernels that reach less than 60 % of "
     "either roof."},
    {"memory-capacity-bound", "verdict",
     "Nothing else is large, and memory is so full that it limits the batch."},
    {"physically-limited", "verdict", "Throttled by power or heat, where that was recorded."},
    {"balanced", "verdict", "Nothing alone takes much of the step."},
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
     "Launched longer ago than the launch latency, and nothing tells why it does not run."},
    {"host unknown", "bucket", "Idle until an activity whose launch is not in the trace."},
    {"forward", "bucket",
     "Without a device: the main thread is in an operator of the forward pass."},
    {"backward", "bucket",
     "Without a device: the main thread is in an operator of the backward pass, or waits for it."},
    {"optimizer", "bucket", "Without a device: the main thread is in an optimizer's step."},
    {"waiting", "bucket",
     "Without a device: the main thread is blocked in a join, a queue or a synchronisation."},
    {"other operators", "bucket",
     "Without a device: the main thread is in an operator of no known phase."},

    {"step", "term",
     "What repeats: ProfilerStep#N, else an annotation or an optimizer's step that repeats, else "
     "the whole trace. Its window ends when the last work that it launched ends. Edge steps, which "
     "hold work of others, do not count."},
    {"accounting", "term",
     "Every nanosecond of the counted steps in exactly one bucket; the buckets sum to the steps."},
    {"gain", "term",
     "What a replay of the recording with the change in it takes off the mean step: likely, and as "
     "an interval from what is expected at least to the upper bound. Gains of several findings do "
     "not add up where one hides behind the other."},
    {"upper bound", "term",
     "The time that a finding claims and no finding before it has claimed: more it cannot give. "
     "All of them together never exceed the step."},
    {"confidence", "term", "How sure a finding is of its cause, not of its gain."},
    {"effort", "term", "What a change costs: a flag, a line, a refactoring or a redesign."},
    {"quick win", "term",
     "The place of a finding by gain per effort; a line counts twice a flag, a refactoring 8 "
     "times, "
     "a redesign 30 times."},
    {"severity", "term",
     "note, warning or critical: how much of the step a finding is about, as its rule says."},
    {"family", "term",
     "What kind of time a finding would recover; the verdict is named after the largest."},
    {"evidence", "term",
     "The numbers that a finding rests on, with slices and places; \"but\" is the strongest fact "
     "that speaks against it."},
    {"residual", "term",
     "Delays that no dependency of the replay explains; they stay as they are in every prediction. "
     "The smaller, the better the model."},
    {"focus", "term",
     "The calls of one module, annotation or operator, or the stretches of one phase, diagnosed as "
     "if each were a step: fathom diagnose --focus NAME."},
};

}  // namespace

std::span<const Term> all_terms() { return kTerms; }

const Term* find_term(std::string_view id) {
  const auto* const at = std::ranges::find(kTerms, id, &Term::id);
  return at == std::end(kTerms) ? nullptr : at;
}

}  // namespace fathom
