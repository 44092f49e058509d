// speedscope: sampled stacks of each thread, for speedscope.app.
#include <map>
#include <string>

#include "base/json_writer.h"
#include "export/function_stacks.h"
#include "export/sampled_stacks.h"
#include "export/write_buffer.h"
#include "store/sample_weights.h"
#include "store/stack_text.h"

namespace fathom {
namespace {

constexpr std::string_view kSchema = "https://www.speedscope.app/file-format-schema.json";

/// Numbers of the frames that are written; equal ones at other places of a stack share one.
class Frames {
 public:
  explicit Frames(const Trace& trace) : trace_(trace) {}

  std::size_t of_frame(std::uint32_t row) {
    const StackFrame& frame = trace_.stack_frames[row];
    return add({std::string(trace_.text(frame.function)), std::string(trace_.text(frame.file)),
                frame.line});
  }
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

  const Trace& trace_;
  std::map<Shown, std::size_t> numbers_;
  std::vector<const Shown*> order_;
};

struct Profile {
  std::string name;
  std::vector<std::vector<std::size_t>> stacks;  ///< Of each sample, the outermost frame first.
  std::vector<Duration> weights;
};

void write_profile(const Profile& profile, std::string_view unit,
                   BasicJsonWriter<WriteBuffer>& json) {
  Duration sum{};
  for (const Duration weight : profile.weights) sum += weight;
  json.object().member("type", "sampled").member("name", profile.name);
  json.member("unit", unit).member("startValue", 0).member("endValue", to_ns(sum));
  json.key("samples").array();
  for (const auto& stack : profile.stacks) {
    json.array();
    for (const std::size_t frame : stack) json.integer(frame);
    json.end();
  }
  json.end().key("weights").array();
  for (const Duration weight : profile.weights) json.integer(to_ns(weight));
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
  std::vector<std::uint32_t> rows;
  for (const auto& [thread, samples] : samples_by_thread(trace, selection)) {
    Profile profile;
    profile.name = name_of(trace, thread, trace.stack_samples[samples.back().row]);
    for (const SampledPart& part : samples) {
      const StackSample& sample = trace.stack_samples[part.row];
      frames_of(trace, sample.frame, rows);
      std::vector<std::size_t>& stack = profile.stacks.emplace_back();
      if (rows.empty()) stack.push_back(frames.of_thread(sample));
      for (const std::uint32_t frame : rows) stack.push_back(frames.of_frame(frame));
      if (part.is_blocked) stack.push_back(frames.of_blocked());
      profile.weights.push_back(part.time);
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
    write_profile(profile, unit_of(trace), json);
  }
  json.end().end();
  const Result<void> finished = out.finish();
  if (!finished) return finished.error();
  counts.bytes = out.written();
  return counts;
}

Result<WriteCounts> write(const Trace& trace, const WriteSelection& selection, ByteSink& sink) {
  if (!only_functions_have_stacks(trace)) return write_samples(trace, selection, sink);
  return write_samples(stacks_of_functions(trace), {}, sink);
}

constexpr std::string_view kExtensions[] = {".speedscope.json"};

}  // namespace

TraceWriter speedscope_writer() {
  return {.id = "speedscope",
          .title = "Sampled stacks of each thread, for speedscope.app",
          .text = true,
          .writes = WritesStacks::samples_or_functions,
          .extensions = kExtensions,
          .write = write};
}

}  // namespace fathom
