// Begin and end events joined into slices.
#include <algorithm>
#include <map>
#include <tuple>

#include "formats/chrome/finish.h"

namespace fathom::chrome {
namespace {

/// What an end may close: the begins of its thread, or of its category and id.
using Group = std::tuple<bool, std::uint32_t, std::uint32_t, std::int64_t>;

Group group_of(const PairEnd& pair) {
  return {pair.async, pair.place.value, pair.async ? pair.category.value : 0,
          pair.async ? pair.id : 0};
}

void close(Batch& rows, const PairEnd& begin, std::int64_t end_ns) {
  rows.slices.duration[begin.slice] =
      duration_ns(std::max<std::int64_t>(0, end_ns - begin.time_ns));
}

template <typename T>
void override_with(T& value, const T& other) {
  if (other != T(Absent())) value = other;
}

/// The arguments of the end win over those of the begin.
void merge_arguments(Batch& rows, std::uint32_t slice, const PairEnd& end) {
  override_with(rows.slices.correlation[slice], end.correlation);
  override_with(rows.slices.external_id[slice], end.external_id);
  const SliceKind kind = rows.kinds[rows.slices.category[slice]];
  if (end.op == Id<OpTable>::kNone ||
      (kind != SliceKind::cpu_op && kind != SliceKind::user_annotation))
    return;
  std::uint32_t& op = rows.slices.detail[slice];
  if (op == Id<OpTable>::kNone) {
    op = end.op;
    return;
  }
  Ops::each([&](auto& column) { override_with(column[op], column[end.op]); }, rows.ops);
}

}  // namespace

void close_pairs(Batch& rows) {
  std::ranges::stable_sort(rows.pairs, {}, &PairEnd::time_ns);
  std::map<Group, std::vector<PairEnd>> open;
  std::map<Group, std::int64_t> last_time;
  for (const PairEnd& pair : rows.pairs) {
    const Group group = group_of(pair);
    last_time[group] = pair.time_ns;
    std::vector<PairEnd>& stack = open[group];
    if (pair.begin) {
      stack.push_back(pair);
    } else if (stack.empty()) {
      rows.log.add(Repair::unmatched_end, pair.offset);
    } else {
      close(rows, stack.back(), pair.time_ns);
      merge_arguments(rows, stack.back().slice, pair);
      stack.pop_back();
    }
  }
  for (const auto& [group, stack] : open) {
    for (const PairEnd& begin : stack) {
      rows.log.add(Repair::unmatched_begin, begin.offset);
      close(rows, begin, last_time[group]);
    }
  }
  rows.pairs.clear();
}

}  // namespace fathom::chrome
