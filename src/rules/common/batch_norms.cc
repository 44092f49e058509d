// Finds convolutions that a batch normalisation follows.
#include "rules/common/batch_norms.h"

#include "analysis/structure/from_outside.h"
#include "analysis/util/json_list.h"
#include "rules/common/arguments.h"
#include "rules/common/counted.h"
#include "rules/common/names.h"

namespace fathom {
namespace {

constexpr std::size_t kTrains = 5;  // Argument of aten::batch_norm.

bool is_convolution(std::string_view name) {
  return name == "aten::conv2d" || name == "aten::conv1d" || name == "aten::conv3d";
}

/// The innermost operator around a slice; annotations between do not matter. `notes`: of that
/// question.
SliceId operator_around(const RuleContext& rules, const FromOutside& notes, SliceId slice) {
  const Column<SliceId>& parent = rules.context.nesting().parent;
  return innermost_around(notes, parent, parent[slice.row()],
                          [&](SliceId at) { return rules.trace().kind(at) == SliceKind::cpu_op; });
}

}  // namespace

bool counts_batches(const Trace& trace, SliceId op) {
  if (!trace.name(op).starts_with("aten::add")) return false;
  const Signature* const signature = signature_of(trace, op);
  if (signature == nullptr || !signature->shapes.valid()) return true;
  const std::vector<std::string_view> shapes = json_elements(trace.text(signature->shapes));
  return !shapes.empty() && shapes.front() == "[]";
}

bool is_batch_norm(std::string_view name) { return name == "aten::batch_norm"; }

std::vector<NormalisedConvolution> normalised_convolutions(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const NameSet convolutions(trace, is_convolution);
  const NameSet norms(trace, is_batch_norm);
  std::vector<NormalisedConvolution> found;
  if (!convolutions.any() || !norms.any()) return found;
  FromOutside notes;
  notes.resize(trace.slices.size());
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    SliceId last;  // The convolution that awaits its successor.
    for (const SliceId slice : thread.slices) {
      if (trace.kind(slice) != SliceKind::cpu_op) continue;
      const StringId name = trace.slices.name[slice.row()];
      if (last.valid()) {
        if (trace.slices.start[slice.row()] < trace.slices.end(last)) continue;
        if (operator_around(rules, notes, slice) == operator_around(rules, notes, last)) {
          if (counts_batches(trace, slice)) continue;
          if (norms.contains(name)) found.push_back({.convolution = last, .norm = slice});
          last = {};
        }
      }
      if (convolutions.contains(name) && counts(rules, slice)) last = slice;
    }
  }
  return found;
}

std::optional<bool> trains(const Trace& trace, SliceId norm) {
  const Signature* const signature = signature_of(trace, norm);
  if (signature == nullptr || !signature->concrete.valid()) return {};
  const std::vector<std::string_view> values = json_elements(trace.text(signature->concrete));
  const std::string_view text = values.size() > kTrains ? json_unquoted(values[kTrains]) : "";
  if (text.empty()) return {};
  return text != "False" && text != "0";
}

}  // namespace fathom
