// info: what is in the file.
#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quantity_text.h"
#include "reports/report.h"

namespace fathom {
namespace info_report {
namespace {

struct Row {
  std::string_view section;
  std::string name;
  Cell value;
  std::string_view unit;
};
using Info = ReportRows<Row>;

constexpr Info::Column kColumns[] = {
    {"section", ColumnKind::text, "",
     "file, time, versions, devices, run, tracks, slices, other events, facts or log.",
     by<&Row::section>},
    {"name", ColumnKind::name, "", "What the value is.",
     [](const Row& row) { return std::string_view(row.name); }},
    {"value", ColumnKind::text, "", "The value: a number or a text.",
     [](const Row& row) { return row.value; }},
    {"unit", ColumnKind::text, "", "ns, bytes, count, or empty for a plain number or text.",
     by<&Row::unit>},
};

/// Collects the rows of one section after the other; rows with nothing to say are left out.
class Sections {
 public:
  explicit Sections(std::vector<Row>& rows) : rows_(rows) {}
  void section(std::string_view name) { section_ = name; }
  template <typename T>
  void add(std::string_view name, T value, std::string_view unit = {}) {
    Cell cell = cell_of(std::move(value));
    if (!is_null(value_of(cell)))
      rows_.push_back({section_, std::string(name), std::move(cell), unit});
  }
  void count(std::string_view name, std::size_t number) {
    if (number != 0) add(name, number, "count");
  }

 private:
  std::vector<Row>& rows_;
  std::string_view section_;
};

/// "2024-04-03 18:51:35 UTC".
std::string utc(std::int64_t unix_ns) {
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 40> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text.data();
}

void add_file(const Trace& trace, Sections& rows) {
  rows.section("file");
  rows.add("format", text_or_null(trace.format));
  rows.add("uncompressed size", trace.bytes_read, "bytes");
  rows.count("repairs", trace.import.total());
  rows.section("time");
  rows.add("span", trace.span.length(), "ns");
  if (trace.origin_is_unix) {
    const std::int64_t start = trace.origin_ns + to_ns(trace.span.begin);
    rows.add("recorded from", utc(start));
    rows.add("start, ns since 1970", start);
  }
}

/// "12040" is 12.4 in CUDA's own numbering; other numbers stay as they are.
std::string cuda_version(std::string_view json) {
  int number = 0;
  const auto parsed = std::from_chars(json.data(), json.data() + json.size(), number);
  if (parsed.ec != std::errc() || number < 1000) return std::string(json);
  return std::to_string(number / 1000) + '.' + std::to_string(number % 1000 / 10) + " (" +
         std::to_string(number) + ')';
}

/// The JSON text of a plain string without its quotes; anything else as it stands.
std::string_view plain(std::string_view json) {
  const bool quoted = json.size() >= 2 && json.front() == '"' && json.back() == '"' &&
                      json.find('\\') == std::string_view::npos;
  return quoted ? json.substr(1, json.size() - 2) : json;
}

/// The version of torch where some fact lists Python packages ("torch==2.6.0+cu124").
std::string_view torch_version(const Trace& trace) {
  constexpr std::string_view kPackage = "\"torch==";
  for (const Fact& fact : trace.facts) {
    const std::size_t at = fact.value.find(kPackage);
    if (at == std::string::npos) continue;
    const std::string_view rest = std::string_view(fact.value).substr(at + kPackage.size());
    return rest.substr(0, rest.find('"'));
  }
  return {};
}

bool is_version(std::string_view key) {
  return key == "schemaVersion" || key.ends_with("_version") || key.ends_with("Version");
}
bool is_log(std::string_view key) {
  return key == "INFO" || key == "WARNING" || key == "ERROR" || key == "STAGE";
}

void add_versions(const Trace& trace, Sections& rows) {
  rows.section("versions");
  rows.add("torch", text_or_null(torch_version(trace)));
  for (const Fact& fact : trace.facts) {
    if (!is_version(fact.key)) continue;
    const std::string_view value = plain(fact.value);
    const bool cuda = fact.key.starts_with("cuda_");
    rows.add(fact.key, made_or_null(cuda ? cuda_version(value) : std::string(value)));
  }
}

/// By device.
std::vector<std::uint64_t> slices_on(const Trace& trace) {
  std::vector<std::uint64_t> slices;
  for (const Track& track : trace.tracks) {
    if (track.kind != TrackKind::device_stream || track.device < 0) continue;
    const auto device = static_cast<std::size_t>(track.device);
    if (device >= 4096)
      continue;  // A number like this is damage; it has no row in a list of devices.
    if (device >= slices.size()) slices.resize(device + 1);
    slices[device] += track.slices;
  }
  return slices;
}

void add_devices(const Trace& trace, Sections& rows) {
  rows.section("devices");
  const std::vector<std::uint64_t> slices = slices_on(trace);
  for (const Device& device : trace.devices) {
    const std::string label = "device " + std::to_string(device.id);
    rows.add(label, device.name.empty() ? "(no name recorded)" : device.name);
    if (device.memory_bytes > 0) rows.add(label + " memory", device.memory_bytes, "bytes");
    if (device.compute_major > 0) {
      rows.add(label + " compute capability",
               std::to_string(device.compute_major) + '.' + std::to_string(device.compute_minor));
    }
    if (device.sms > 0) rows.add(label + " multiprocessors", device.sms, "count");
  }
  for (std::size_t device = 0; device < slices.size(); ++device) {
    rows.count("device " + std::to_string(device) + " slices", slices[device]);
  }
}

void add_run(const Trace& trace, Sections& rows) {
  rows.section("run");
  if (trace.distributed) {
    rows.add("backend", text_or_null(trace.distributed->backend));
    rows.add("rank", int_or_null(trace.distributed->rank));
    rows.add("world size", int_or_null(trace.distributed->world_size));
  }
  // Recorders announce a process for every device of the machine; those that did nothing are only
  // counted.
  std::vector<bool> used(trace.strings.size());
  for (const Track& track : trace.tracks) {
    if (track.slices != 0 && track.process.valid()) used[track.process.row()] = true;
  }
  std::size_t idle = 0;
  for (const Process& process : trace.processes) {
    if (!process.id.valid() || !used[process.id.row()]) {
      ++idle;
      continue;
    }
    std::string name(trace.text(process.name));
    if (!trace.text(process.labels).empty())
      name += " (" + std::string(trace.text(process.labels)) + ")";
    rows.add("process " + std::string(trace.text(process.id)), made_or_null(name));
  }
  rows.count("processes without slices", idle);
}

void add_tracks(const Trace& trace, Sections& rows) {
  rows.section("tracks");
  const auto count = [&trace](TrackKind kind) {
    return static_cast<std::size_t>(std::ranges::count_if(trace.tracks, [kind](const Track& track) {
      return track.kind == kind && track.slices != 0;
    }));
  };
  rows.count("host threads", count(TrackKind::host_thread));
  rows.count("device streams", count(TrackKind::device_stream));
  rows.count("asynchronous tracks", count(TrackKind::async));
  rows.count("counters", static_cast<std::size_t>(
                             std::ranges::count(trace.tracks, TrackKind::counter, &Track::kind)));
}

void add_events(const Trace& trace, Sections& rows) {
  rows.section("slices");
  std::vector<const Category*> categories;
  for (const Category& category : trace.categories) categories.push_back(&category);
  // By count, then name: the order of reading differs between runs.
  std::ranges::sort(categories, [&trace](const Category* a, const Category* b) {
    return a->slices != b->slices ? a->slices > b->slices
                                  : trace.text(a->name) < trace.text(b->name);
  });
  for (const Category* category : categories) {
    const std::string_view name = trace.text(category->name);
    rows.count(name.empty() ? "(no category)" : name, category->slices);
  }
  rows.count("total", trace.slices.size());
  rows.section("other events");
  rows.count("flow points", trace.flows.size());
  rows.count("allocator events", trace.memory.size());
  rows.count("samples", trace.samples.size());
  rows.count("instants", trace.instants.size());
  rows.count("collectives with metadata", trace.collectives.size());
  for (const auto& [what, count] : trace.import.unknown()) rows.count("not read: " + what, count);
}

void add_facts(const Trace& trace, Sections& rows) {
  rows.section("facts");
  for (const Fact& fact : trace.facts) {
    if (!is_version(fact.key) && !is_log(fact.key))
      rows.add(fact.key, text_or_null(plain(fact.value)));
  }
  rows.section("log");
  for (const Fact& fact : trace.facts) {
    if (is_log(fact.key)) rows.add(fact.key, text_or_null(plain(fact.value)));
  }
}

/// More devices than this are shown by kind; of more rows than that in a section, so many.
constexpr std::size_t kDevices = 2;
constexpr std::size_t kLongSection = 12;
constexpr std::size_t kShownOfLong = 6;
constexpr std::size_t kKinds = 3;

/// "NVIDIA H100, 80 GiB, 132 multiprocessors".
std::string kind_of(const Device& device) {
  std::string text = device.name.empty() ? "(no name recorded)" : device.name;
  if (device.memory_bytes > 0) text += ", " + bytes_text(device.memory_bytes);
  if (device.compute_major > 0) {
    text += ", compute capability " + std::to_string(device.compute_major) + '.' +
            std::to_string(device.compute_minor);
  }
  if (device.sms > 0) text += ", " + std::to_string(device.sms) + " multiprocessors";
  return text;
}

void add_kinds_of_devices(const Trace& trace, Sections& rows) {
  rows.section("devices");
  std::map<std::string, std::size_t> kinds;
  for (const Device& device : trace.devices) ++kinds[kind_of(device)];
  std::vector<std::pair<std::string, std::size_t>> order(kinds.begin(), kinds.end());
  std::ranges::stable_sort(order, std::ranges::greater(),
                           &std::pair<std::string, std::size_t>::second);
  for (std::size_t i = 0; i < std::min(order.size(), kKinds); ++i) {
    const auto& [kind, count] = order[i];
    rows.add(std::to_string(count) + (count == 1 ? " device" : " devices"), kind);
  }
  if (order.size() > kKinds) rows.count("more kinds of devices", order.size() - kKinds);
  const std::vector<std::uint64_t> slices = slices_on(trace);
  rows.count("devices with slices",
             slices.size() - static_cast<std::size_t>(std::ranges::count(slices, 0U)));
}

/// What people see where that is not all: devices by kind, and the first rows of long sections.
std::vector<Row> in_brief(const Trace& trace, const std::vector<Row>& all) {
  std::map<std::string_view, std::size_t> sizes;
  for (const Row& row : all) ++sizes[row.section];
  const bool many = trace.devices.size() > kDevices;
  const auto is_long = [](const auto& each) { return each.second > kLongSection; };
  if (!many && std::ranges::none_of(sizes, is_long)) return {};
  std::vector<Row> brief;
  Sections rows(brief);
  std::map<std::string_view, std::size_t> shown;
  for (const Row& row : all) {
    const std::size_t before = shown[row.section]++;
    if (many && row.section == "devices") {
      if (before == 0) add_kinds_of_devices(trace, rows);
    } else if (before < kShownOfLong || sizes[row.section] <= kLongSection) {
      brief.push_back(row);
    } else if (before == kShownOfLong) {
      rows.section(row.section);
      rows.count("more, see --wide", sizes[row.section] - kShownOfLong);
    }
  }
  return brief;
}

Result<Info> compute(const Context& context) {
  Info info;
  Sections rows(info.rows);
  add_file(context.trace, rows);
  add_versions(context.trace, rows);
  add_devices(context.trace, rows);
  add_run(context.trace, rows);
  add_tracks(context.trace, rows);
  add_events(context.trace, rows);
  add_facts(context.trace, rows);
  info.brief = in_brief(context.trace, info.rows);
  return info;
}

Report report() {
  return report_of<kColumns, compute>(
      {.id = "info",
       .title = "What is in the file",
       .doc = "One row per thing known about the recording: size, time, versions, devices, "
              "processes, how many "
              "slices of each category, other events, and what the recorder said about the run. "
              "Text shows more than two devices by kind, and of a long section the first rows; "
              "--wide shows every row.",
       .group_by = {},
       .sort = "",
       .example = "fathom info trace.json.gz",
       .whole = true});
}

}  // namespace
}  // namespace info_report

Report info() { return info_report::report(); }

}  // namespace fathom
