// speedscope: sampled stacks of each thread, for speedscope.app.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "export/function_stacks.h"
#include "export/sampled_stacks.h"
#include "export/write_buffer.h"
#include "store/sample_weights.h"
#include "store/stack_text.h"

namespace fathom {
namespace speedscope_format {
namespace {

constexpr std::string_view kSchema = "https://www.speedscope.app/file-format-schema.json";

/// Numbers of the frames that are written; equal ones at other places of a stack share one.
class Frames {
 public:
  explicit Frames(const Trace& trace)
      : trace_(trace), of_row_(trace.stack_frames.size(), kUnknown) {}

  /// Numbers all of a stack, the outermost first. Callers of a frame that has one have theirs.
  void add_stack(std::uint32_t row) {
    path_.clear();
    for (; row != kNoFrame && of_row_[row] == kUnknown; row = trace_.stack_frames[row].parent)
      path_.push_back(row);
    for (std::size_t i = path_.size(); i-- > 0;) {
      const StackFrame& frame = trace_.stack_frames[path_[i]];
      of_row_[path_[i]] = add({std::string(trace_.text(frame.function)),
                               std::string(trace_.text(frame.file)), frame.line});
    }
  }
  [[nodiscard]] std::size_t of_frame(std::uint32_t row) const { return of_row_[row]; }
  std::size_t of_blocked() { return add({std::string(kBlockedFrame), {}, -1}); }
  std::size_t of_thread(const StackSample& sample) {
    return add({thread_text(trace_, sample), {}, -1});
  }
  void write(BasicJsonWriter<WriteBuffer>& json) const {
    json.key("shared").object().key("frames").array();
    for (const Shown* const frame : order_) {
      json.object().member("name", frame->function);
      if (!frame->file.empty()) json.member("file", frame->file);
      if (frame->line >= 0) json.member("line", frame->line);
      json.end();
    }
    json.end().end();
  }

 private:
  struct Shown {
    std::string function;
    std::string file;
    std::int32_t line = -1;
    auto operator<=>(const Shown&) const = default;
  };
  std::size_t add(Shown shown) {
    const auto [at, fresh] = numbers_.try_emplace(std::move(shown), numbers_.size());
    if (fresh) order_.push_back(&at->first);
    return at->second;
  }

  static constexpr std::size_t kUnknown = SIZE_MAX;

  const Trace& trace_;
  std::map<Shown, std::size_t> numbers_;
  std::vector<const Shown*> order_;
  std::vector<std::size_t> of_row_;  // of Trace::stack_frames
  std::vector<std::uint32_t> path_;  // of add_stack()
};

/// A stack is written when it is walked: all together may be longer than memory.
struct Sample {
  std::uint32_t frame = kNoFrame;     ///< The innermost.
  std::optional<std::size_t> thread;  ///< In its place.
  std::optional<std::size_t> blocked;
  Duration weight{};
};
struct Profile {
  std::string name;
  std::vector<Sample> samples;
};

void write_profile(const Trace& trace, const Frames& frames, const Profile& profile,
                   std::string_view unit, BasicJsonWriter<WriteBuffer>& json) {
  Duration sum{};
  for (const Sample& sample : profile.samples) sum += sample.weight;
  json.object().member("type", "sampled").member("name", profile.name);
  json.member("unit", unit).member("startValue", 0).member("endValue", to_ns(sum));
  json.key("samples").array();
  std::vector<std::uint32_t> rows;
  for (const Sample& sample : profile.samples) {
    json.array();
    frames_of(trace, sample.frame, rows);
    for (const std::uint32_t row : rows) json.integer(frames.of_frame(row));
    if (sample.thread) json.integer(*sample.thread);
    if (sample.blocked) json.integer(*sample.blocked);
    json.end();
  }
  json.end().key("weights").array();
  for (const Sample& sample : profile.samples) json.integer(to_ns(sample.weight));
  json.end().end();
}

/// As speedscope has it.
std::string_view unit_of(const Trace& trace) {
  const std::string_view unit = weight_unit(trace);
  if (unit.empty()) return "nanoseconds";
  return unit == "bytes" ? unit : "none";
}

/// Its name, and its numbers where they are known.
std::string name_of(const Trace& trace, SampledThread thread, const StackSample& sample) {
  std::string name(trace.text(sample.thread));
  if (thread.first != kAbsent) name += " " + std::to_string(thread.first) + "/";
  if (thread.second != kAbsent) {
    if (thread.first == kAbsent) name += " ";
    name += std::to_string(thread.second);
  }
  return name;
}

Result<WriteCounts> write_samples(const Trace& trace, const WriteSelection& selection,
                                  ByteSink& sink) {
  WriteCounts counts;
  Frames frames(trace);
  std::vector<Profile> profiles;
  for (const auto& [thread, samples] : samples_by_thread(trace, selection)) {
    Profile profile;
    profile.name = name_of(trace, thread, trace.stack_samples[samples.back().row]);
    for (const SampledPart& part : samples) {
      const StackSample& sample = trace.stack_samples[part.row];
      frames.add_stack(sample.frame);
      Sample& shown = profile.samples.emplace_back();
      shown = {.frame = sample.frame, .thread = {}, .blocked = {}, .weight = part.time};
      if (sample.frame == kNoFrame) shown.thread = frames.of_thread(sample);
      if (part.is_blocked) shown.blocked = frames.of_blocked();
      ++counts.events;
    }
    profiles.push_back(std::move(profile));
  }
  WriteBuffer out(sink);
  BasicJsonWriter<WriteBuffer> json(out, kJsonCompact);
  json.object().member("$schema", kSchema).member("exporter", "fathom");
  frames.write(json);
  json.key("profiles").array();
  for (const Profile& profile : profiles) {
    if (out.stopped()) break;
    write_profile(trace, frames, profile, unit_of(trace), json);
  }
  json.end().end();
  return finish(out, counts);
}

Result<WriteCounts> write(const Trace& trace, const WriteSelection& selection, ByteSink& sink) {
  return write_stacks(trace, selection, sink, write_samples);
}

constexpr std::string_view kExtensions[] = {".speedscope.json"};

}  // namespace
}  // namespace speedscope_format

TraceWriter speedscope_writer() {
  return {.id = "speedscope",
          .title = "Sampled stacks of each thread, for speedscope.app",
          .text = true,
          .writes = WritesStacks::samples_or_functions,
          .extensions = speedscope_format::kExtensions,
          .write = speedscope_format::write};
}

}  // namespace fathom
