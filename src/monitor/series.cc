// Writes samples of counters, leaving out repeated values.
#include "monitor/series.h"

namespace fathom::monitor {
namespace {

constexpr std::int64_t kRepeatNs = 1'000'000'000;

}  // namespace

Series::Handle Series::add(const CounterSpec& spec, std::int32_t pid, std::int32_t device) {
  lines_.push_back({.spec = &spec, .name = std::string(spec.name), .pid = pid, .device = device});
  return static_cast<Handle>(lines_.size() - 1);
}

Series::Handle Series::add(const CounterSpec& spec, std::string_view instance) {
  const Handle handle = add(spec);
  std::string& name = lines_[handle].name;
  if (const std::size_t star = name.find('*'); star != std::string::npos) {
    name.replace(star, 1, instance);
  }
  return handle;
}

void Series::write(Line& line, std::int64_t time, double value) {
  if (!line.begun) {
    line.id = sink_.counter(line.pid, line.device, line.name, line.spec->unit);
    line.begun = true;
  }
  sink_.sample(time, line.id, value);
  line.written = time;
}

void Series::put(std::int64_t time, Handle handle, double value) {
  Line& line = lines_[handle];
  const bool same = line.begun && value == line.value;
  if (!same && line.held) write(line, line.seen, line.value);
  line.held = same && time - line.written < kRepeatNs;
  if (!line.held) write(line, time, value);
  line.seen = time;
  line.value = value;
}

void Series::finish(Handle handle) {
  Line& line = lines_[handle];
  if (line.held) write(line, line.seen, line.value);
  line.held = false;
}

void Series::finish_all() {
  for (Handle handle = 0; handle < lines_.size(); ++handle) finish(handle);
}

}  // namespace fathom::monitor
