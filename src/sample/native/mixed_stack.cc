// Puts Python's functions in the place of the interpreter's.
#include "sample/native/mixed_stack.h"

#include <algorithm>
#include <array>

namespace fathom::sample::native {

std::string_view to_string(Join join) {
  constexpr std::array<std::string_view, 3> kNames = {"native", "joined", "unmatched"};
  return kNames[static_cast<std::size_t>(join)];
}

std::vector<std::size_t> evaluator_runs(std::span<const Frame> frames) {
  std::vector<std::size_t> runs;
  std::size_t run = 0;
  for (const Frame& frame : frames) {
    ++run;
    if (!frame.entry) continue;
    runs.push_back(run);
    run = 0;
  }
  // The first function of a thread is called by C code, whatever its frame says.
  if (run > 0) runs.push_back(run);
  return runs;
}

CallNames names_of(const Calls& calls, ProcessCode& code) {
  CallNames names;
  names.whole = calls.stop == Stop::whole;
  for (const Address address : calls.addresses) {
    names.looks.push_back(code.look_at(address));
    names.evaluator.push_back(code.is_evaluator(address));
  }
  return names;
}

MixedStack mix(const CallNames& calls, std::span<const FrameLook> python,
               std::span<const std::size_t> runs) {
  MixedStack mixed;
  const auto loops = static_cast<std::size_t>(std::ranges::count(calls.evaluator, true));
  const bool fits = calls.whole ? loops == runs.size() : loops <= runs.size();
  const bool joins = loops > 0 && fits;
  if (loops > 0 || !runs.empty()) mixed.join = joins ? Join::joined : Join::unmatched;
  std::size_t run = 0;
  std::size_t next = 0;  // of Python's functions
  const auto add_run = [&] {
    for (std::size_t i = 0; i < runs[run] && next < python.size(); ++i)
      mixed.frames.push_back(python[next++]);
    ++run;
  };
  for (std::size_t i = 0; i < calls.looks.size(); ++i) {
    if (joins && calls.evaluator[i])
      add_run();
    else
      mixed.frames.push_back(calls.looks[i]);
  }
  if (calls.whole) return mixed;
  if (joins && run < runs.size()) {
    while (run < runs.size()) add_run();
  } else {
    mixed.frames.push_back({.function = "(outer functions not read)", .file = {}, .line = {}});
  }
  return mixed;
}

}  // namespace fathom::sample::native
