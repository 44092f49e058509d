// network: bytes over each interface.
#include <map>
#include <utility>

#include "monitor/proc_text.h"
#include "monitor/source.h"

namespace fathom::monitor {
namespace network_reader {
namespace {

constexpr CounterSpec kCounters[] = {
    {"network.*.received", "bytes", CounterKind::total, CounterOf::machine, "/proc/net/dev",
     "received by that interface"},
    {"network.*.sent", "bytes", CounterKind::total, CounterOf::machine, "/proc/net/dev",
     "sent by that interface"},
};
/// One of them.
consteval const CounterSpec& counter(std::string_view name) { return counter_in(kCounters, name); }

class Network : public Source {
 public:
  explicit Network(const std::string& path) : file_(path) {}

  void sample(const Tick& tick, Series& series) override {
    if (!tick.brisk) return;
    for (const Interface& interface : parse_interfaces(file_.read(buffer_))) {
      auto at = handles_.find(interface.name);
      if (at == handles_.end()) {
        // Interfaces that never carried anything are not worth their lines.
        if (interface.received == 0 && interface.sent == 0) continue;
        const Handles handles{series.add(counter("network.*.received"), interface.name),
                              series.add(counter("network.*.sent"), interface.name)};
        at = handles_.emplace(interface.name, handles).first;
      }
      series.put(tick.time, at->second.received, static_cast<double>(interface.received));
      series.put(tick.time, at->second.sent, static_cast<double>(interface.sent));
    }
  }

 private:
  struct Handles {
    Series::Handle received;
    Series::Handle sent;
  };
  RereadFile file_;
  std::map<std::string, Handles> handles_;
  std::string buffer_;
};

Opened open(Surroundings& surroundings, Series& /*series*/) {
  const std::string path = surroundings.roots.proc + "/net/dev";
  if (std::string why = why_unreadable(path); !why.empty()) {
    return {.source = nullptr,
            .missing = {{.what = "network interfaces",
                         .why = std::move(why),
                         .remedy = "mount procfs on /proc",
                         .whole_source = true}}};
  }
  return {.source = std::make_unique<Network>(path), .missing = {}};
}

}  // namespace
}  // namespace network_reader

SourceSpec network_source() {
  return {.name = "network",
          .title = "network interfaces",
          .lost = "network.*",
          .lane = Lane::host,
          .open = network_reader::open,
          .counters = network_reader::kCounters};
}

}  // namespace fathom::monitor
