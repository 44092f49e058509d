// pprof: sampled stacks as a profile for pprof, Pyroscope and others.
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "export/proto.h"
#include "export/sampled_stacks.h"
#include "export/write_buffer.h"
#include "formats/stacks/pprof_fields.h"
#include "store/sample_weights.h"
#include "store/stack_text.h"

namespace fathom {
namespace pprof_format {
namespace {

/// The tables of a profile, each entry once. Numbers of locations and functions count from 1.
class Tables {
 public:
  explicit Tables(const Trace& trace)
      : trace_(trace), of_row_(trace.stack_frames.size(), kUnknown) {
    text("");
  }

  std::uint64_t text(std::string_view text) {
    const auto [at, fresh] = numbers_.try_emplace(std::string(text), texts_.size());
    if (fresh) texts_.push_back(&at->first);
    return at->second;
  }
  std::uint64_t location(std::string_view function, std::string_view file, std::int32_t line) {
    const std::pair place(text(function), text(file));
    const std::uint64_t known = functions_.try_emplace(place, functions_.size() + 1).first->second;
    return locations_.try_emplace({known, line}, locations_.size() + 1).first->second;
  }

  /// Of a row of frames.
  std::uint64_t location(std::uint32_t row) {
    std::uint64_t& known = of_row_[row];
    if (known == kUnknown) {
      const StackFrame& frame = trace_.stack_frames[row];
      known = location(trace_.text(frame.function), trace_.text(frame.file), frame.line);
    }
    return known;
  }

  void write(ProtoMessage& message) const {
    for (const auto& [place, number] : locations_) {
      const auto location = message.begin(PprofProfile::kLocation);
      message.varint(PprofLocation::kId, number);
      const auto line = message.begin(PprofLocation::kLine);
      message.varint(PprofLine::kFunction, place.first);
      if (place.second > 0)
        message.varint(PprofLine::kLine, static_cast<std::uint64_t>(place.second));
      message.end(line);
      message.end(location);
    }
    for (const auto& [place, number] : functions_) {
      const auto function = message.begin(PprofProfile::kFunction);
      message.varint(PprofFunction::kId, number);
      message.varint(PprofFunction::kName, place.first);
      message.varint(PprofFunction::kFile, place.second);
      message.end(function);
    }
    for (const std::string* const text : texts_) message.text(PprofProfile::kString, *text);
  }

 private:
  static constexpr std::uint64_t kUnknown = 0;

  const Trace& trace_;
  std::map<std::string, std::uint64_t> numbers_;
  std::vector<const std::string*> texts_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> functions_;  // name, file
  std::map<std::pair<std::uint64_t, std::int32_t>, std::uint64_t> locations_;   // function, line
  std::vector<std::uint64_t> of_row_;  // locations of Trace::stack_frames
};

/// A type of the values of samples; both texts have small numbers, for they come first.
void write_type(std::uint64_t type, std::uint64_t unit, ProtoMessage& message) {
  const auto tag = [](std::uint32_t field) { return static_cast<char>(field << 3U); };
  const std::array<char, 4> bytes = {tag(PprofValueType::kType), static_cast<char>(type),
                                     tag(PprofValueType::kUnit), static_cast<char>(unit)};
  message.text(PprofProfile::kSampleType, {bytes.data(), bytes.size()});
}

/// Labels tell threads apart.
void write_label(std::uint64_t key, std::uint64_t text, std::int64_t number,
                 ProtoMessage& message) {
  const auto label = message.begin(PprofSample::kLabel);
  message.varint(PprofLabel::kKey, key);
  if (text != 0) message.varint(PprofLabel::kText, text);
  if (number >= 0) message.varint(PprofLabel::kNumber, static_cast<std::uint64_t>(number));
  message.end(label);
}

/// As profilers call it.
std::string_view type_of(SampledTime time) {
  if (time == SampledTime::on_cpu) return "cpu";
  return time == SampledTime::blocked ? "blocked" : "wall";
}

Result<WriteCounts> write(const Trace& trace, const WriteSelection& selection, ByteSink& sink) {
  WriteCounts counts;
  Tables tables(trace);
  ProtoMessage message;
  WriteBuffer out(sink);
  const std::string_view unit = weight_unit(trace);
  const bool times = unit.empty();
  const std::uint64_t type_text = tables.text(times ? "samples" : unit);
  write_type(type_text, tables.text(unit == "bytes" ? unit : "count"), message);
  if (times) write_type(tables.text(type_of(selection.time)), tables.text("nanoseconds"), message);
  const std::uint64_t thread_text_number = tables.text("thread");
  const std::uint64_t tid_text = tables.text("tid");
  const std::uint64_t pid_text = tables.text("pid");
  const auto flush = [&] {
    out.text(message.bytes());
    message.clear();
  };
  // Equal stacks of a thread are one sample.
  struct Sum {
    std::uint64_t samples = 0;
    std::int64_t weight = 0;
  };
  std::vector<std::uint32_t> rows;
  for (const auto& [thread, samples] : samples_by_thread(trace, selection)) {
    std::map<std::pair<std::uint32_t, bool>, Sum> sums;
    StringId name{};
    for (const SampledPart& part : samples) {
      const StackSample& sample = trace.stack_samples[part.row];
      Sum& sum = sums[{sample.frame, part.is_blocked}];
      ++sum.samples;
      sum.weight += to_ns(part.time);
      name = sample.thread;
      ++counts.events;
    }
    for (const auto& [stack, sum] : sums) {
      const auto& [frame, is_blocked] = stack;
      const auto sample = message.begin(PprofProfile::kSample);
      frames_of(trace, frame, rows);
      if (is_blocked)
        message.varint(PprofSample::kLocation, tables.location(kBlockedFrame, {}, -1));
      if (rows.empty()) {
        const StackSample& last = trace.stack_samples[samples.back().row];
        message.varint(PprofSample::kLocation, tables.location(thread_text(trace, last), {}, -1));
      }
      for (std::size_t at = rows.size(); at-- > 0;)
        message.varint(PprofSample::kLocation, tables.location(rows[at]));
      message.varint(PprofSample::kValue,
                     times ? sum.samples : static_cast<std::uint64_t>(sum.weight));
      if (times) message.varint(PprofSample::kValue, static_cast<std::uint64_t>(sum.weight));
      if (!trace.text(name).empty())
        write_label(thread_text_number, tables.text(trace.text(name)), -1, message);
      if (thread.second != kAbsent) write_label(tid_text, 0, thread.second, message);
      if (thread.first != kAbsent) write_label(pid_text, 0, thread.first, message);
      message.end(sample);
      constexpr std::size_t kMuch = 1U << 20U;
      if (message.bytes().size() > kMuch) flush();
    }
    if (out.stopped()) break;
  }
  tables.write(message);
  flush();
  return finish(out, counts);
}

constexpr std::string_view kExtensions[] = {".pprof", ".pb"};

}  // namespace
}  // namespace pprof_format

TraceWriter pprof_writer() {
  return {.id = "pprof",
          .title = "Sampled stacks with their ns on a processor or blocked, for pprof",
          .writes = WritesStacks::samples,
          .extensions = pprof_format::kExtensions,
          .write = pprof_format::write};
}

}  // namespace fathom
