// The rows of a comparison as texts, for the screen and for markdown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compare/comparison.h"

namespace fathom {

/// One line of a table of changes.
struct ChangeLine {
  std::int64_t change_ns = 0;
  std::string what;
  std::string base;  ///< Per step; empty where it does not apply.
  std::string now;
  bool is_part = false;  ///< Of the row above it, which has its change, too.
};

/// "−33,104,221": whole ns with their sign.
std::string change_text(std::int64_t ns);
/// "−47.8 %".
std::string signed_percent(double percent);

/// Where the time goes: the accounting's buckets, at most `limit` of them with a line for the rest,
/// median less mean where it is not zero, and the step. The lines before the last sum to it.
std::vector<ChangeLine> bucket_lines(const Comparison& comparison, std::size_t limit);

/// Why: the causes with the names of their rows, and a line for the rest. They sum to the change
/// of the mean, as the buckets do. Empty where withheld or where nothing changed.
std::vector<ChangeLine> cause_lines(const Comparison& comparison, std::size_t limit);

/// Every row that changed, with its cause.
std::vector<ChangeLine> row_lines(const Comparison& comparison, std::size_t limit);

/// The same as a tree, each level indented below its sum: phase, module, operator, kernel.
std::vector<ChangeLine> tree_lines(const Comparison& comparison);

/// "backward −3,104 ns; device idle −210 ns": of a device, in whole ns, which sum to the change of
/// the mean. "" without a device, where buckets are phases, and where withheld.
std::string phases_text(const Comparison& comparison);

/// What `step_text` is of: "Step time", or "Time" where results of fathom bench are of another.
std::string_view time_label(const Comparison& comparison);
/// "68.57 ms → 35.79 ms, −32,780,000 ns (−47.8 %); …".
std::string step_text(const Comparison& comparison);
/// "base faster after 12 steps; new never steady", and with `all` also how neighbours correlate.
/// "" where there is nothing to tell.
std::string steadiness_text(const Comparison& comparison, bool all);
/// "PyTorch 2.14 → 2.15", "seed of torch not recorded → 1": one each.
std::vector<std::string> condition_texts(const std::vector<ComparedCondition>& differs);
/// "PyTorch 2.14 → 2.15; only new recorded: seed of torch 1; threads 8": all of them in a sentence,
/// those first that both sides recorded. "" where nothing differs.
std::string differs_text(const std::vector<ComparedCondition>& differs);
/// "kernel launches 120 → 3": those that differ, per step.
std::vector<std::string> counter_texts(const Comparison& comparison);
/// The titles of those that are equal.
std::vector<std::string> equal_counters(const Comparison& comparison);
/// "98 % of the operators' time: …" by which keys it was matched.
std::string alignment_text(const Comparison& comparison);
/// The same in one line: of the operators' time of both sides. Empty where nothing is compared.
std::string matched_text(const Comparison& comparison);
/// The sentence for two recordings that are one, or "".
std::string same_text(const Comparison& comparison);

}  // namespace fathom
