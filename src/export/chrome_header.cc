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
  Header(const Trace& trace, JsonText& json, WriteBuffer& out)
      : trace_(trace), json_(json), out_(out) {}

  void write() {
    out_.text("{\n");
    for (const Fact& fact : trace_.facts) key(fact.key).text(fact.value).text(",\n");
    if (trace_.fact(kBase) == nullptr && !recorded_base(trace_))
      key(kBase).number(base_of(trace_)).text(",\n");
    if (trace_.fact("deviceProperties") == nullptr && trace_.fact("computeProperties") == nullptr &&
        !trace_.devices.empty())
      devices();
    if (trace_.fact("distributedInfo") == nullptr && trace_.distributed) distributed();
    out_.text("\"traceEvents\": [\n");
  }

 private:
  WriteBuffer& key(std::string_view name) {
    json_.quoted(name);
    return out_.text(": ");
  }

  void devices() {
    key("deviceProperties").character('[');
    bool first = true;
    for (const Device& device : trace_.devices) {
      out_.text(first ? "\n{\"id\": " : ",\n{\"id\": ").number(device.id).text(", \"name\": ");
      json_.quoted(device.name);
      member("totalGlobalMem", device.memory_bytes);
      member("computeMajor", device.compute_major);
      member("computeMinor", device.compute_minor);
      member("maxThreadsPerBlock", device.max_threads_per_block);
      member("maxThreadsPerMultiprocessor", device.max_threads_per_sm);
      member("regsPerBlock", device.registers_per_block);
      member("warpSize", device.warp_size);
      member("sharedMemPerBlock", device.shared_memory_per_block);
      member("numSms", device.sms);
      member("regsPerMultiprocessor", device.registers_per_sm);
      member("sharedMemPerBlockOptin", device.shared_memory_per_block_optin);
      member("sharedMemPerMultiprocessor", device.shared_memory_per_sm);
      out_.character('}');
      first = false;
    }
    out_.text("],\n");
  }

  void distributed() {
    key("distributedInfo").text("{\"backend\": ");
    json_.quoted(trace_.distributed->backend);
    if (trace_.distributed->rank != kAbsent) member("rank", trace_.distributed->rank);
    if (trace_.distributed->world_size != kAbsent)
      member("world_size", trace_.distributed->world_size);
    out_.text("},\n");
  }

  void member(std::string_view name, std::int64_t value) {
    out_.text(", \"").text(name).text("\": ").number(value);
  }

  const Trace& trace_;
  JsonText& json_;
  WriteBuffer& out_;
};

class Metadata {
 public:
  Metadata(const Trace& trace, JsonText& json, WriteBuffer& out)
      : trace_(trace), json_(json), out_(out) {}

  /// True when there was anything to write.
  bool write() {
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
    return any_;
  }

 private:
  void begin(std::string_view event, StringId process, StringId thread) {
    out_.text(any_ ? ",\n" : "").text("{\"ph\":\"M\",\"name\":\"").text(event).text("\",\"pid\":");
    any_ = true;
    json_.number_or_quoted(trace_.text(process));
    out_.text(",\"tid\":");
    json_.number_or_quoted(thread.valid() ? trace_.text(thread) : "0");
    // Perfetto's reader wants a time of every event.
    out_.text(",\"ts\":0,\"args\":{\"");
  }
  void text(std::string_view event, StringId process, StringId thread, std::string_view key,
            StringId value) {
    begin(event, process, thread);
    out_.text(key).text("\":");
    json_.quoted(value.valid() ? trace_.text(value) : "");
    out_.text("}}");
  }
  void sort(std::string_view event, StringId process, StringId thread, std::int64_t index) {
    begin(event, process, thread);
    out_.text("sort_index\":").number(index).text("}}");
  }

  const Trace& trace_;
  JsonText& json_;
  WriteBuffer& out_;
  bool any_ = false;
};

}  // namespace

std::int64_t chrome_offset_ns(const Trace& trace) {
  // Absurd inputs may wrap around, as they did when they were read.
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(trace.origin_ns) -
                                   static_cast<std::uint64_t>(base_of(trace)));
}

void write_chrome_header(const Trace& trace, JsonText& json, WriteBuffer& out) {
  Header(trace, json, out).write();
}

bool write_chrome_metadata(const Trace& trace, JsonText& json, WriteBuffer& out) {
  return Metadata(trace, json, out).write();
}

}  // namespace fathom
