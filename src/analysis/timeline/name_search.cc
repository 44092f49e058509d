// Searches the distinct names, then passes once over the column of names.
#include "analysis/timeline/name_search.h"

#include <algorithm>
#include <string>

#include "base/parallel.h"
#include "base/stop.h"

namespace fathom {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 18;
/// So often somebody looks whether the answer is still wanted.
constexpr std::size_t kNamesToStop = std::size_t{1} << 12;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

/// By StringId: does the name match?
std::vector<std::uint8_t> matching(const Trace& trace, std::string_view part) {
  std::string wanted(part);
  std::ranges::transform(wanted, wanted.begin(), lower);
  std::vector<std::uint8_t> matches(trace.strings.size());
  std::string name;
  for (std::size_t id = 0; id < matches.size(); ++id) {
    if (id % kNamesToStop == 0) stop_point();
    name = trace.text(StringId(id));
    std::ranges::transform(name, name.begin(), lower);
    matches[id] = name.find(wanted) != std::string::npos ? 1 : 0;
  }
  return matches;
}

/// What is found in a stretch of rows.
struct Found {
  std::vector<SliceId> slices;
};

class ByStart {
 public:
  explicit ByStart(const Trace& trace) : trace_(trace) {}
  bool operator()(SliceId a, SliceId b) const {
    const Time start_a = trace_.slices.start[a.row()];
    const Time start_b = trace_.slices.start[b.row()];
    return start_a != start_b ? start_a < start_b : a < b;
  }

 private:
  const Trace& trace_;
};

void add_density(const Trace& trace, Interval range, SliceId slice, NameSearch& result) {
  const std::int64_t length = to_ns(range.length());
  const std::int64_t at = to_ns(trace.slices.start[slice.row()] - range.begin);
  if (length <= 0 || at < 0 || at > length) return;
  const auto bin = static_cast<std::size_t>(static_cast<double>(at) / static_cast<double>(length) *
                                            kDensityBins);
  ++result.density[std::min(bin, kDensityBins - 1)];
}

}  // namespace

NameSearch search_names(const Trace& trace, std::string_view part, Interval range,
                        std::size_t first) {
  const std::vector<std::uint8_t> matches = matching(trace, part);
  const std::size_t rows = trace.slices.size();
  std::vector<Found> found((rows + kBlock - 1) / kBlock);
  for_each_in_parallel(found.size(), 0, [&](std::size_t block) {
    const std::size_t end = std::min(rows, (block + 1) * kBlock);
    for (std::size_t row = block * kBlock; row < end; ++row) {
      if (matches[trace.slices.name[row].row()] != 0) found[block].slices.push_back(SliceId(row));
    }
  });
  NameSearch result;
  std::vector<NameSearch::Name> by_name(trace.strings.size());
  const ByStart earlier(trace);
  for (const Found& block : found) {
    stop_point();
    for (const SliceId slice : block.slices) {
      ++result.slices;
      NameSearch::Name& name = by_name[trace.slices.name[slice.row()].row()];
      ++name.slices;
      name.total += trace.slices.duration[slice.row()];
      add_density(trace, range, slice, result);
      // A heap of those that start first, the last of them in front.
      if (result.first.size() < first || (first > 0 && earlier(slice, result.first.front()))) {
        if (result.first.size() == first) {
          std::ranges::pop_heap(result.first, earlier);
          result.first.pop_back();
        }
        result.first.push_back(slice);
        std::ranges::push_heap(result.first, earlier);
      }
    }
  }
  std::ranges::sort_heap(result.first, earlier);
  for (std::size_t id = 0; id < by_name.size(); ++id) {
    if (by_name[id].slices == 0) continue;
    by_name[id].name = StringId(id);
    result.names.push_back(by_name[id]);
  }
  std::ranges::sort(result.names, [&trace](const NameSearch::Name& a, const NameSearch::Name& b) {
    return a.total != b.total ? a.total > b.total : trace.text(a.name) < trace.text(b.name);
  });
  return result;
}

}  // namespace fathom
