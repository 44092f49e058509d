// Finds copies between host and device, and what asked for them.
#include "rules/common/host_copies.h"

#include <algorithm>
#include <array>

#include "base/quantity_text.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"

namespace fathom {
namespace {

constexpr auto kTransfers =
    std::to_array<std::string_view>({"aten::to", "aten::_to_copy", "aten::copy_"});
constexpr auto kValues = std::to_array<std::string_view>(
    {"aten::_local_scalar_dense", "aten::item", "aten::is_nonzero", "aten::nonzero", "aten::index",
     "aten::masked_select", "aten::equal", "aten::_unique2"});

template <std::size_t Size>
bool is_one_of(const std::array<std::string_view, Size>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

std::vector<HostCopy> host_copies(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const Links& links = rules.context.links();
  std::vector<HostCopy> copies;
  for_each_activity(rules, [&](SliceId activity, SliceId op) {
    const std::uint32_t detail = trace.slices.detail[activity.row()];
    if (trace.kind(activity) != SliceKind::memcpy || detail == SliceId::kNone) return;
    const CopyKind kind = trace.copies.kind[detail];
    if (kind != CopyKind::h2d && kind != CopyKind::d2h) return;
    copies.push_back({.activity = activity,
                      .launch = links.launch[activity.row()],
                      .op = op,
                      .kind = kind,
                      .host = kind == CopyKind::h2d ? trace.copies.source[detail]
                                                    : trace.copies.destination[detail],
                      .bytes = trace.copies.bytes[detail]});
  });
  return copies;
}

AroundCopies::AroundCopies(const RuleContext& rules) : rules_(rules) {
  transfers_.resize(rules.trace().slices.size());
  values_.resize(rules.trace().slices.size());
}

SliceId AroundCopies::asker(const HostCopy& copy) const {
  const Trace& trace = rules_.trace();
  const auto is_transfer = [&trace](SliceId at) {
    return trace.kind(at) == SliceKind::cpu_op && is_one_of(kTransfers, trace.name(at));
  };
  const SliceId found =
      outermost_around(transfers_, rules_.context.nesting().parent, copy.op, is_transfer);
  return found.valid() ? found : copy.op.valid() ? copy.op : copy.launch;
}

bool AroundCopies::brings_value(const HostCopy& copy) const {
  const Trace& trace = rules_.trace();
  const auto is_value = [&trace](SliceId at) { return is_one_of(kValues, trace.name(at)); };
  return innermost_around(values_, rules_.context.nesting().parent, copy.op, is_value).valid();
}

std::string volume_text(const std::vector<HostCopy>& copies) {
  std::int64_t bytes = 0;
  bool known = false;
  for (const HostCopy& copy : copies) {
    bytes += std::max<std::int64_t>(copy.bytes, 0);
    known = known || copy.bytes >= 0;
  }
  return (known ? bytes_text(bytes) + " in " : "") +
         count_text(static_cast<std::int64_t>(copies.size())) +
         (copies.size() == 1 ? " copy" : " copies");
}

Evidence evidence_of(const RuleContext& rules, const std::vector<HostCopy>& copies,
                     std::string text) {
  Blamed blamed;
  for (const HostCopy& copy : copies) blamed.activities.push_back(copy.activity);
  return evidence_of(rules, blamed, std::move(text));
}

}  // namespace fathom
