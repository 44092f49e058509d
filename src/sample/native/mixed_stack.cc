// Puts Python's functions in the place of the interpreter's.
#include "sample/native/mixed_stack.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/base_name.h"

namespace fathom::sample::native {

namespace {

bool fits(const CallNames& calls, std::span<const std::size_t> runs) {
  const std::size_t loops = calls.loops();
  return loops > 0 && (calls.whole ? loops == runs.size() : loops <= runs.size());
}

/// The program or library that is CPython, by its name.
bool is_interpreter(std::string_view file) {
  const std::string_view name = base_name(file);
  if (name.starts_with("libpython3") || name == "python") return true;
  return name.starts_with("python3") && name.find(".so") == std::string_view::npos;
}

/// Of the C library, where programs and threads begin, or a program that is Python and no more.
bool starts_python(std::string_view file) {
  const std::string_view name = base_name(file);
  return name.starts_with("libc.so") || name.starts_with("libc-2") ||
         name.starts_with("libpthread") || name.starts_with("ld-musl") || is_interpreter(file);
}

/// Whether something else than its own start calls the interpreter: a program that has it within.
bool is_embedded(std::span<const FrameLook> outer, std::string_view interpreter) {
  return std::ranges::any_of(outer, [interpreter](const FrameLook& look) {
    return look.file != interpreter && !starts_python(look.file);
  });
}

/// Of native calls that end before any loop.
MixedStack below_leaf(const CallNames& calls, std::span<const FrameLook> python) {
  MixedStack mixed{.frames = {}, .join = Join::joined};
  for (const FrameLook& look : calls.looks) {
    if (!is_interpreter(look.file)) mixed.frames.push_back(look);
  }
  mixed.frames.insert(mixed.frames.end(), python.begin(), python.end());
  return mixed;
}

}  // namespace

std::size_t CallNames::loops() const {
  return static_cast<std::size_t>(std::ranges::count(evaluator, true));
}

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

bool tells_more(const CallNames& calls) {
  const auto loop = std::ranges::find(calls.evaluator, true) - calls.evaluator.begin();
  const auto at = static_cast<std::size_t>(loop);
  const std::string interpreter = at < calls.looks.size() ? calls.looks[at].file : std::string();
  return std::ranges::any_of(calls.looks, [&](const FrameLook& look) {
    return look.file.starts_with('/') && look.file != interpreter && !starts_python(look.file);
  });
}

MixedStack mix(const CallNames& calls, std::span<const FrameLook> python,
               std::span<const std::size_t> runs) {
  MixedStack mixed;
  const bool joins = fits(calls, runs);
  if (calls.loops() > 0 || !runs.empty()) mixed.join = joins ? Join::joined : Join::unmatched;
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

MixedStack below_python(const CallNames& calls, std::span<const FrameLook> python,
                        std::span<const std::size_t> runs) {
  if (calls.loops() == 0 && runs.empty()) return mix(calls, python, runs);
  if (calls.loops() == 0 && !calls.whole) return below_leaf(calls, python);
  if (!fits(calls, runs))
    return {.frames = {python.begin(), python.end()}, .join = Join::unmatched};
  const auto first = std::ranges::find(calls.evaluator, true) - calls.evaluator.begin();
  const std::string& interpreter = calls.looks[static_cast<std::size_t>(first)].file;
  MixedStack mixed{.frames = {}, .join = Join::joined};
  std::size_t run = 0;
  std::size_t next = 0;  // of Python's functions
  for (std::size_t i = 0; i < calls.looks.size(); ++i) {
    if (calls.evaluator[i]) {
      const std::size_t end = std::min(next + runs[run++], python.size());
      while (next < end) mixed.frames.push_back(python[next++]);
      const std::span<const FrameLook> outer = std::span(calls.looks).subspan(i + 1);
      if (run == calls.loops() && !is_embedded(outer, interpreter)) break;
    } else if (calls.looks[i].file != interpreter) {
      mixed.frames.push_back(calls.looks[i]);
    }
  }
  // Where native calls end earlier.
  while (next < python.size()) mixed.frames.push_back(python[next++]);
  return mixed;
}

}  // namespace fathom::sample::native
