// Joins batches of rows: columns are appended, row numbers are shifted.
#include "formats/chrome/batch.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace fathom::chrome {
namespace {

/// Visits the same table of all batches at once.
void each_of(auto&& visit, auto&&... of) {
  SliceTables::each_table(visit, of...);
  visit(of.flows...);
  visit(of.memory...);
  visit(of.samples...);
  visit(of.instants...);
}

/// How many rows each detail table has, by the kind of the slices that point into it.
std::array<std::uint32_t, kSliceKinds> detail_rows(const Batch& batch) {
  std::array<std::uint32_t, kSliceKinds> rows{};
  for (std::size_t kind = 0; kind < kSliceKinds; ++kind)
    rows[kind] = static_cast<std::uint32_t>(batch.details(static_cast<SliceKind>(kind)));
  return rows;
}

}  // namespace

void Batch::clear() {
  each_of([](auto& table) { table.clear(); }, *this);
  collectives.clear();
  pairs.clear();
  metadata.clear();
  zero_times.clear();
  jumps.clear();
  devices.clear();
  log.clear();
  events = 0;
}

void Batch::append(const Batch& batch) {
  const auto first_slice = static_cast<std::uint32_t>(slices.size());
  const std::array<std::uint32_t, kSliceKinds> first_detail = detail_rows(*this);
  each_of([](auto& ours, const auto& theirs) { ours.append(theirs); }, *this, batch);

  std::array<std::uint32_t, 256> shift{};
  for (std::size_t i = 0; i < shift.size(); ++i)
    shift[i] = first_detail[static_cast<std::size_t>(batch.kinds[i])];
  for (std::size_t row = first_slice; row < slices.size(); ++row) {
    std::uint32_t& detail = slices.detail[row];
    if (detail != SliceId::kNone) detail += shift[slices.category[row]];
  }
  for (Collective collective : batch.collectives) {
    collective.slice.value += first_slice;
    collectives.push_back(collective);
  }
  for (PairEnd pair : batch.pairs) {
    if (pair.begin) pair.slice += first_slice;
    if (pair.op != Id<OpTable>::kNone)
      pair.op += first_detail[static_cast<std::size_t>(SliceKind::cpu_op)];
    pairs.push_back(pair);
  }
  for (const Suspect& suspect : batch.zero_times)
    zero_times.push_back({suspect.slice + first_slice, suspect.offset});
  metadata.insert(metadata.end(), batch.metadata.begin(), batch.metadata.end());
  devices.insert(devices.end(), batch.devices.begin(), batch.devices.end());
  log.merge(batch.log);
  events += batch.events;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (batch.kinds[i] != SliceKind{}) kinds[i] = batch.kinds[i];
  }
}

}  // namespace fathom::chrome
