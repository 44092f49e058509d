// Sums a profile by function, and puts what stands out into sentences.
#include "engine/diagnosis/function_notes.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <tuple>

#include "base/base_name.h"
#include "base/quantity_text.h"
#include "rules/common/program.h"

namespace fathom {
namespace {

constexpr std::size_t kNamed = 3;

struct Sum {
  std::string name;
  std::uint64_t calls = 0;
  std::uint64_t nested = 0;  ///< Of the calls, inside another of the same function.
  Duration self{};
};

/// "work (app.py:12)"; what the interpreter itself has is nowhere.
std::string name_of(const Trace& trace, const FunctionTime& function) {
  std::string name(trace.text(function.name));
  const std::string_view file = trace.text(function.file);
  if (file.empty() || file == "~") return name;
  return name + " (" + std::string(base_name(file)) + ":" + std::to_string(function.line) + ")";
}

/// By file, line and name: several profiles may have been read together.
std::vector<Sum> sums_of(const Trace& trace) {
  std::map<std::tuple<std::string_view, std::uint32_t, std::string_view>, Sum> sums;
  for (const FunctionTime& function : trace.functions) {
    Sum& sum = sums[{trace.text(function.file), function.line, trace.text(function.name)}];
    if (sum.name.empty()) sum.name = name_of(trace, function);
    sum.calls += function.calls;
    if (function.primitive > 0) sum.nested += function.calls - function.primitive;
    sum.self += function.self;
  }
  std::vector<Sum> all;
  all.reserve(sums.size());
  for (auto& [key, sum] : sums) all.push_back(std::move(sum));
  std::ranges::stable_sort(all, std::ranges::greater(), &Sum::self);
  return all;
}

std::string text_of(std::uint64_t count) { return count_text(static_cast<std::int64_t>(count)); }

std::string own_time(const std::vector<Sum>& sums, Duration whole) {
  std::string text = "Most own time, of " + duration_text(whole) + ":";
  for (std::size_t i = 0; i < std::min(kNamed, sums.size()); ++i) {
    if (sums[i].self <= Duration{}) break;
    const double percent =
        100.0 * static_cast<double>(to_ns(sums[i].self)) / static_cast<double>(to_ns(whole));
    text += (i == 0 ? " " : ", ") + sums[i].name + " " + percent_text(percent);
  }
  return text + ".";
}

std::string most_calls(const Sum& sum) {
  const auto calls = static_cast<std::int64_t>(sum.calls);
  return "Most calls: " + sum.name + ", " + text_of(sum.calls) + ", with " +
         duration_text(sum.self / calls) +
         " of its own each. A profile makes short functions longer than they are.";
}

}  // namespace

bool only_functions(const Trace& trace) {
  return !trace.functions.empty() && trace.slices.size() == 0 && trace.stack_samples.empty() &&
         trace.process_runs.empty();
}

std::vector<std::string> function_notes(const Trace& trace) {
  if (!only_functions(trace)) return {};
  const std::vector<Sum> sums = sums_of(trace);
  Duration whole{};
  for (const Sum& sum : sums) whole += sum.self;
  std::vector<std::string> notes;
  if (whole > Duration{}) notes.push_back(own_time(sums, whole));
  const Sum& called = *std::ranges::max_element(sums, {}, &Sum::calls);
  if (called.calls > 1) notes.push_back(most_calls(called));
  const Sum& nested = *std::ranges::max_element(sums, {}, &Sum::nested);
  if (nested.nested > 0) {
    notes.push_back("Recursion: of " + text_of(nested.calls) + " calls of " + nested.name + ", " +
                    text_of(nested.nested) + " are inside another one.");
  }
  notes.push_back(
      "Not in such a profile: when a function ran, which line took the time, what it waited for, "
      "steps, devices, threads that it was not asked about. Record these with fathom run -- " +
      command_of(trace) + ".");
  return notes;
}

}  // namespace fathom
