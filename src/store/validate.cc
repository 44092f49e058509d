// Checks the columns of a trace: lengths, ids, durations. Long columns first as blocks without a
// branch, then, where something is wrong, row by row.
#include "store/validate.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/parallel.h"

namespace fathom {
namespace {

constexpr std::size_t kBlockRows = std::size_t{1} << 14;

/// Is every id the row of a table of `rows`, or none where that is allowed?
template <typename Table>
bool all_known(std::span<const Id<Table>> ids, std::size_t rows, bool or_none) {
  bool known = true;
  for (const Id<Table> id : ids) known &= id.value < rows || (or_none && !id.valid());
  return known;
}

/// Is every enumerator at most `last`?
template <typename Enum>
bool all_named(std::span<const Enum> values, Enum last) {
  bool named = true;
  for (const Enum value : values) named &= value <= last;
  return named;
}

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
  [[nodiscard]] bool sound(std::size_t begin, std::size_t end) const;
  void slices();
  void slices(std::size_t begin, std::size_t end);
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
  for (const Category& category : t.categories)
    expect(category.kind <= SliceKind::other, "a category is of no kind");
}

/// Are these rows of slices as they should be?
bool Checker::sound(std::size_t begin, std::size_t end) const {
  const Slices& slices = trace_.slices;
  std::array<std::uint32_t, 256> details{};
  for (std::size_t row = 0; row < trace_.categories.size(); ++row)
    details[row] = static_cast<std::uint32_t>(trace_.details(trace_.categories[row].kind));
  const std::size_t rows = end - begin;
  bool good = all_known(slices.track.span().subspan(begin, rows), trace_.tracks.size(), false) &&
              all_known(slices.name.span().subspan(begin, rows), trace_.strings.size(), false);
  for (std::size_t row = begin; row < end; ++row) {
    const std::uint32_t detail = slices.detail[row];
    good &= slices.category[row] < trace_.categories.size();
    good &= detail == SliceId::kNone || detail < details[slices.category[row]];
  }
  for (std::size_t row = begin; row < end; ++row) {
    std::int64_t ends = 0;
    good &= slices.duration[row] >= Duration::zero();
    good &= !__builtin_add_overflow(to_ns(slices.start[row]), to_ns(slices.duration[row]), &ends);
  }
  return good;
}

void Checker::slices() {
  const std::size_t rows = trace_.slices.size();
  std::vector<std::uint8_t> bad((rows + kBlockRows - 1) / kBlockRows);
  for_each_in_parallel(bad.size(), rows < kWorthThreads ? 1 : 0, [&](std::size_t block) {
    const std::size_t begin = block * kBlockRows;
    bad[block] = sound(begin, std::min(rows, begin + kBlockRows)) ? 0 : 1;
  });
  const auto first = std::ranges::find(bad, 1);
  if (first == bad.end()) return;
  const std::size_t begin = static_cast<std::size_t>(first - bad.begin()) * kBlockRows;
  slices(begin, std::min(rows, begin + kBlockRows));
}

void Checker::slices(std::size_t begin, std::size_t end) {
  const Slices& slices = trace_.slices;
  for (std::size_t row = begin; row < end; ++row) {
    expect(known(slices.track[row]), "a slice lies on no track", row);
    expect(known(slices.name[row]), "a slice has no name", row);
    expect(slices.category[row] < trace_.categories.size(), "a slice has no category", row);
    if (!complaint_.empty()) return;
    expect(slices.duration[row] >= Duration::zero(), "a duration is negative", row);
    std::int64_t ends = 0;
    expect(!__builtin_add_overflow(to_ns(slices.start[row]), to_ns(slices.duration[row]), &ends),
           "an end is beyond 64 bits", row);
    const std::uint32_t detail = slices.detail[row];
    expect(detail == SliceId::kNone || detail < trace_.details(trace_.kind(SliceId(row))),
           "a slice's detail is no row of its table", row);
  }
}

void Checker::details() {
  const Trace& t = trace_;
  const std::size_t texts = t.strings.size();
  expect(all_known(t.ops.signature.span(), t.signatures.size(), true),
         "an operator's signature does not exist");
  expect(all_known(t.ops.stack.span(), texts, true) && all_known(t.ops.module.span(), texts, true),
         "an operator's text");
  for (const Signature& s : t.signatures) {
    expect(known_or_none(s.shapes) && known_or_none(s.types) && known_or_none(s.strides) &&
               known_or_none(s.concrete),
           "a signature's text does not exist");
  }
  expect(all_known(t.kernels.config.span(), t.launch_configs.size(), false),
         "a kernel's configuration");
  expect(all_named(t.copies.kind.span(), CopyKind::memset) &&
             all_named(t.copies.source.span(), MemoryKind::managed) &&
             all_named(t.copies.destination.span(), MemoryKind::managed),
         "a copy of no kind");
  expect(all_known(t.syncs.kind.span(), texts, true), "a wait's kind does not exist");
  SliceId last(0);
  for (const Collective& collective : t.collectives) {
    expect(collective.slice.valid() && collective.slice.row() < t.slices.size(),
           "a collective's slice");
    expect(last <= collective.slice, "collectives are not sorted by slice");
    expect(known_or_none(collective.name) && known_or_none(collective.dtype) &&
               known_or_none(collective.group_name) &&
               known_or_none(collective.group_description) && known_or_none(collective.ranks),
           "a collective's text does not exist");
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
  const std::size_t tracks = t.tracks.size();
  const std::size_t texts = t.strings.size();
  expect(all_known(t.flows.track.span(), tracks, false) &&
             all_known(t.flows.category.span(), texts, true),
         "a flow's track");
  expect(all_named(t.flows.phase.span(), FlowPhase::finish), "a flow's end is of no kind");
  expect(all_known(t.memory.track.span(), tracks, false), "a memory event's track");
  expect(all_known(t.samples.track.span(), tracks, false), "a sample's track");
  for (std::size_t row = 0; row < t.samples.size(); ++row)
    expect(t.samples.value[row] - t.samples.value[row] == 0, "a sample is not finite", row);
  expect(all_known(t.instants.track.span(), tracks, false) &&
             all_known(t.instants.name.span(), texts, false),
         "an instant's track or name");
  for (const TimedSlice& timed : t.timed)
    expect(known_or_none(timed.name) && known_or_none(timed.category),
           "a stretch's texts do not exist");
  for (const Process& process : t.processes)
    expect(
        known_or_none(process.id) && known_or_none(process.name) && known_or_none(process.labels),
        "a process's texts do not exist");
  for (const ProcessRun& run : t.process_runs)
    expect(known_or_none(run.role) && known_or_none(run.name), "a process's texts do not exist");
  for (const FunctionTime& function : t.functions)
    expect(known(function.file) && known(function.name), "a function's texts do not exist");
  for (const FunctionCalls& calls : t.function_calls)
    expect(known(calls.file) && known(calls.name) && known(calls.caller_file) &&
               known(calls.caller_name),
           "a caller's texts do not exist");
  for (const LineTime& line : t.lines)
    expect(known(line.file) && known(line.function), "a line's texts do not exist");
  for (const FunctionPart& part : t.function_parts)
    expect(known(part.time.file) && known(part.time.name), "a function's texts do not exist");
  for (const LinePart& part : t.line_parts)
    expect(known(part.time.file) && known(part.time.function), "a line's texts do not exist");
  for (const SourceText& source : t.sources)
    expect(known(source.file) && known(source.text), "a source's texts do not exist");
  for (std::size_t row = 0; row < t.stack_frames.size(); ++row) {
    const StackFrame& frame = t.stack_frames[row];
    expect(frame.parent == kNoFrame || frame.parent < row, "a frame's caller comes later", row);
    expect(known(frame.function) && known(frame.file), "a frame's texts do not exist", row);
  }
  for (const StackSample& sample : t.stack_samples) {
    expect(sample.frame == kNoFrame || sample.frame < t.stack_frames.size(),
           "a sampled stack does not exist");
    expect(known(sample.thread) && known(sample.cause) && known(sample.object),
           "a sample's texts do not exist");
  }
  expect(t.span.begin <= t.span.end, "the span ends before it begins");
}

void Checker::tracks() {
  std::vector<std::uint32_t> slices(trace_.tracks.size(), 0);
  std::vector<std::uint64_t> of_category(trace_.categories.size(), 0);
  if (!complaint_.empty()) return;
  for_each_in_parallel(2, trace_.slices.size() < kWorthThreads ? 1 : 0, [&](std::size_t column) {
    if (column == 0) {
      for (const TrackId track : trace_.slices.track) ++slices[track.row()];
    } else {
      for (const std::uint8_t category : trace_.slices.category) ++of_category[category];
    }
  });
  for (std::size_t row = 0; row < trace_.tracks.size(); ++row) {
    const Track& track = trace_.tracks[row];
    expect(track.slices == slices[row], "a track counts its slices wrongly", row);
    expect(track.kind <= TrackKind::async, "a track is of no kind", row);
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
