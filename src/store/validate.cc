// Checks the columns of a trace: lengths, ids, durations.
#include "store/validate.h"

#include <algorithm>
#include <vector>

namespace fathom {
namespace {

/// Collects the first complaint.
class Checker {
 public:
  explicit Checker(const Trace& trace) : trace_(trace) {}

  std::string check() {
    lengths();
    if (!complaint_.empty()) return complaint_;  // the rest reads row by row
    slices();
    details();
    others();
    tracks();
    return complaint_;
  }

 private:
  void expect(bool holds, std::string_view what, std::size_t row = 0) {
    if (!holds && complaint_.empty())
      complaint_ = std::string(what) + " (row " + std::to_string(row) + ")";
  }
  template <typename T>
  void same(std::string_view name, const T& table) {
    T::each(
        [&](const auto& column) {
          if (column.size() != table.size())
            expect(false, std::string(name).append(": columns differ in length"), column.size());
        },
        table);
  }
  [[nodiscard]] bool known(StringId id) const {
    return id.valid() && id.row() < trace_.strings.size();
  }
  [[nodiscard]] bool known_or_none(StringId id) const { return !id.valid() || known(id); }
  [[nodiscard]] bool known(TrackId id) const {
    return id.valid() && id.row() < trace_.tracks.size();
  }

  void lengths();
  void slices();
  void details();
  void arguments(const std::vector<Argument>& arguments, std::size_t rows);
  void others();
  void tracks();

  const Trace& trace_;
  std::string complaint_;
};

void Checker::lengths() {
  const Trace& t = trace_;
  same("slices", t.slices);
  same("ops", t.ops);
  same("kernels", t.kernels);
  same("copies", t.copies);
  same("frames", t.frames);
  same("syncs", t.syncs);
  same("flows", t.flows);
  same("memory", t.memory);
  same("samples", t.samples);
  same("instants", t.instants);
  expect(t.categories.size() <= 256, "more than 256 categories");
}

void Checker::slices() {
  const Slices& slices = trace_.slices;
  for (std::size_t row = 0; row < slices.size(); ++row) {
    expect(known(slices.track[row]), "a slice lies on no track", row);
    expect(known(slices.name[row]), "a slice has no name", row);
    expect(slices.category[row] < trace_.categories.size(), "a slice has no category", row);
    if (!complaint_.empty()) return;
    expect(slices.duration[row] >= Duration::zero(), "a duration is negative", row);
    std::int64_t end = 0;
    expect(!__builtin_add_overflow(to_ns(slices.start[row]), to_ns(slices.duration[row]), &end),
           "an end is beyond 64 bits", row);
    const std::uint32_t detail = slices.detail[row];
    expect(detail == SliceId::kNone || detail < trace_.details(trace_.kind(SliceId(row))),
           "a slice's detail is no row of its table", row);
  }
}

void Checker::details() {
  const Trace& t = trace_;
  for (std::size_t row = 0; row < t.ops.size(); ++row) {
    const SignatureId id = t.ops.signature[row];
    expect(!id.valid() || id.row() < t.signatures.size(), "an operator's signature does not exist",
           row);
    expect(known_or_none(t.ops.stack[row]) && known_or_none(t.ops.module[row]),
           "an operator's text", row);
  }
  for (const Signature& s : t.signatures) {
    expect(known_or_none(s.shapes) && known_or_none(s.types) && known_or_none(s.strides) &&
               known_or_none(s.concrete),
           "a signature's text does not exist");
  }
  for (std::size_t row = 0; row < t.kernels.size(); ++row) {
    const LaunchConfigId id = t.kernels.config[row];
    expect(id.valid() && id.row() < t.launch_configs.size(), "a kernel's configuration", row);
  }
  for (std::size_t row = 0; row < t.syncs.size(); ++row) {
    expect(known_or_none(t.syncs.kind[row]), "a wait's kind does not exist", row);
  }
  SliceId last(0);
  for (const Collective& collective : t.collectives) {
    expect(collective.slice.valid() && collective.slice.row() < t.slices.size(),
           "a collective's slice");
    expect(last <= collective.slice, "collectives are not sorted by slice");
    last = collective.slice;
  }
  last = SliceId(0);
  for (const NumberedSlice& numbered : t.numbers) {
    expect(numbered.slice.valid() && numbered.slice.row() < t.slices.size(), "a number's slice");
    expect(last <= numbered.slice, "numbers are not sorted by slice");
    last = numbered.slice;
  }
}

void Checker::arguments(const std::vector<Argument>& arguments, std::size_t rows) {
  std::uint32_t last = 0;
  for (const Argument& argument : arguments) {
    expect(argument.row < rows, "an argument is of no row", argument.row);
    expect(last <= argument.row, "arguments are not sorted by row", argument.row);
    expect(known(argument.key) && known(argument.value), "an argument's texts do not exist");
    last = argument.row;
  }
}

void Checker::others() {
  const Trace& t = trace_;
  arguments(t.slice_arguments, t.slices.size());
  arguments(t.instant_arguments, t.instants.size());
  for (std::size_t row = 0; row < t.flows.size(); ++row) {
    expect(known(t.flows.track[row]) && known_or_none(t.flows.category[row]), "a flow's track",
           row);
  }
  for (std::size_t row = 0; row < t.memory.size(); ++row) {
    expect(known(t.memory.track[row]), "a memory event's track", row);
  }
  for (std::size_t row = 0; row < t.samples.size(); ++row) {
    expect(known(t.samples.track[row]), "a sample's track", row);
    expect(t.samples.value[row] - t.samples.value[row] == 0, "a sample is not finite", row);
  }
  for (std::size_t row = 0; row < t.instants.size(); ++row) {
    expect(known(t.instants.track[row]) && known(t.instants.name[row]),
           "an instant's track or name", row);
  }
  for (const ProcessRun& run : t.process_runs)
    expect(known_or_none(run.role) && known_or_none(run.name), "a process's texts do not exist");
  for (const FunctionTime& function : t.functions)
    expect(known(function.file) && known(function.name), "a function's texts do not exist");
  expect(t.span.begin <= t.span.end, "the span ends before it begins");
}

void Checker::tracks() {
  std::vector<std::uint32_t> slices(trace_.tracks.size(), 0);
  std::vector<std::uint64_t> of_category(trace_.categories.size(), 0);
  if (!complaint_.empty()) return;
  for (const TrackId track : trace_.slices.track) ++slices[track.row()];
  for (const std::uint8_t category : trace_.slices.category) ++of_category[category];
  for (std::size_t row = 0; row < trace_.tracks.size(); ++row) {
    const Track& track = trace_.tracks[row];
    expect(track.slices == slices[row], "a track counts its slices wrongly", row);
    expect(known_or_none(track.name) && known_or_none(track.process) &&
               known_or_none(track.thread) && known_or_none(track.unit),
           "a track's names do not exist", row);
  }
  for (std::size_t row = 0; row < trace_.categories.size(); ++row) {
    expect(trace_.categories[row].slices == of_category[row], "a category counts wrongly", row);
    expect(known(trace_.categories[row].name), "a category has no name", row);
  }
}

}  // namespace

std::string broken_promise(const Trace& trace) { return Checker(trace).check(); }

}  // namespace fathom
