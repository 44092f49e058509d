// Writes the keys around the events of a Chrome trace.
#include "export/chrome_header.h"

#include <charconv>
#include <optional>
#include <string>
#include <unordered_set>

namespace fathom {
namespace {

constexpr std::string_view kBase = "baseTimeNanoseconds";
/// Before the first event, so that none has time 0, which readers take for a lost time.
constexpr std::int64_t kLeadNs = 1'000'000;

std::optional<std::int64_t> recorded_base(const Trace& trace) {
  const Fact* const fact = trace.fact(kBase);
  if (fact == nullptr)
    return trace.format == "chrome-json" ? std::optional<std::int64_t>(0) : std::nullopt;
  std::string_view text = fact->value;
  if (text.size() > 2 && text.front() == '"') text = text.substr(1, text.size() - 2);
  std::int64_t base = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), base);
  return error == std::errc() && rest == text.data() + text.size() ? base : 0;
}

std::int64_t base_of(const Trace& trace) {
  return recorded_base(trace).value_or(trace.origin_ns - kLeadNs);
}

class Header {
 public:
  Header(const Trace& trace, TraceJson& json) : trace_(trace), json_(json) {}

  void write() {
    for (const Fact& fact : trace_.facts) json_.key(fact.key).raw(fact.value);
    if (trace_.fact(kBase) == nullptr && !recorded_base(trace_))
      json_.member(kBase, base_of(trace_));
    if (trace_.fact("deviceProperties") == nullptr && trace_.fact("computeProperties") == nullptr &&
        !trace_.devices.empty())
      devices();
    if (trace_.fact("distributedInfo") == nullptr && trace_.distributed) distributed();
  }

 private:
  void devices() {
    constexpr JsonLayout kLines = {"\n", ",\n", "", ": "};
    json_.key("deviceProperties").array(kLines);
    for (const Device& device : trace_.devices) {
      json_.object(kJsonInline).member("id", device.id).member("name", device.name);
      json_.member("totalGlobalMem", device.memory_bytes);
      json_.member("computeMajor", device.compute_major);
      json_.member("computeMinor", device.compute_minor);
      json_.member("maxThreadsPerBlock", device.max_threads_per_block);
      json_.member("maxThreadsPerMultiprocessor", device.max_threads_per_sm);
      json_.member("regsPerBlock", device.registers_per_block);
      json_.member("warpSize", device.warp_size);
      json_.member("sharedMemPerBlock", device.shared_memory_per_block);
      json_.member("numSms", device.sms);
      json_.member("regsPerMultiprocessor", device.registers_per_sm);
      json_.member("sharedMemPerBlockOptin", device.shared_memory_per_block_optin);
      json_.member("sharedMemPerMultiprocessor", device.shared_memory_per_sm).end();
    }
    json_.end();
  }

  void distributed() {
    const Distributed& info = *trace_.distributed;
    json_.key("distributedInfo").object(kJsonInline).member("backend", info.backend);
    if (info.rank != kAbsent) json_.member("rank", info.rank);
    if (info.world_size != kAbsent) json_.member("world_size", info.world_size);
    json_.end();
  }

  const Trace& trace_;
  TraceJson& json_;
};

class Metadata {
 public:
  Metadata(const Trace& trace, TraceJson& json) : trace_(trace), json_(json) {}

  void write() {
    std::unordered_set<std::uint32_t> tracked;
    for (const Track& track : trace_.tracks) tracked.insert(track.process.value);
    for (const Process& process : trace_.processes) {
      // Perfetto's reader takes an empty name for an error; tracks bring their process along.
      if (!trace_.text(process.name).empty() || !tracked.contains(process.id.value))
        text("process_name", process.id, {}, "name", process.name);
      if (process.labels.valid()) text("process_labels", process.id, {}, "labels", process.labels);
      if (process.sort_index != kAbsent)
        sort("process_sort_index", process.id, {}, process.sort_index);
    }
    for (const Track& track : trace_.tracks) {
      if (track.kind != TrackKind::host_thread && track.kind != TrackKind::device_stream) continue;
      if (!trace_.text(track.name).empty())
        text("thread_name", track.process, track.thread, "name", track.name);
      if (track.sort_index != kAbsent)
        sort("thread_sort_index", track.process, track.thread, track.sort_index);
    }
  }

 private:
  void begin(std::string_view event, StringId process, StringId thread) {
    json_.object(kJsonCompact).member("ph", "M").member("name", event).key("pid");
    json_.number_or_text(trace_.text(process)).key("tid");
    json_.number_or_text(thread.valid() ? trace_.text(thread) : "0");
    // Perfetto's reader wants a time of every event.
    json_.member("ts", 0).key("args").object();
  }
  void text(std::string_view event, StringId process, StringId thread, std::string_view key,
            StringId value) {
    begin(event, process, thread);
    json_.member(key, value.valid() ? trace_.text(value) : "").end().end();
  }
  void sort(std::string_view event, StringId process, StringId thread, std::int64_t index) {
    begin(event, process, thread);
    json_.member("sort_index", index).end().end();
  }

  const Trace& trace_;
  TraceJson& json_;
};

}  // namespace

std::int64_t chrome_offset_ns(const Trace& trace) {
  // Absurd inputs may wrap around, as they did when they were read.
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(trace.origin_ns) -
                                   static_cast<std::uint64_t>(base_of(trace)));
}

void write_chrome_header(const Trace& trace, TraceJson& json) { Header(trace, json).write(); }

void write_chrome_metadata(const Trace& trace, TraceJson& json) { Metadata(trace, json).write(); }

}  // namespace fathom
