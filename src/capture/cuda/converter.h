// Converter: from CUPTI's activity records to records of the capture file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "capture/cuda/clock_fit.h"
#include "capture/cuda/cupti.h"
#include "capture/cuda/cupti_names.h"
#include "capture/cuda/graph_cost.h"
#include "capture/cuda/layouts.h"
#include "capture/cuda/recent.h"
#include "wire/writer.h"

namespace fathom::cuda {

/// Of what the program makes without end, so many are remembered.
inline constexpr std::size_t kMostRemembered = std::size_t{1} << 16;

/// Launches with an attribute that no record shows, noted as the program makes them. Thread-safe.
class LaunchNotes {
 public:
  /// This call launches a kernel that may begin before the one before it has ended.
  void programmatic(std::uint32_t correlation);
  /// True once for each that was noted.
  bool take(std::uint32_t correlation);
  /// In all, of those whose kernel did not come in time.
  std::uint64_t forgotten();

 private:
  struct Nothing {};
  std::mutex mutex_;
  Recent<std::uint32_t, Nothing> programmatic_{kMostRemembered};
};

/// What the records say beyond themselves, for facts and `health`.
struct ConverterCounts {
  std::uint64_t records = 0;
  std::uint64_t without_time = 0;  ///< Device activity that CUPTI has no times for.
  std::uint64_t running = 0;       ///< Device activity that had begun and not ended.
  std::uint64_t unknown = 0;       ///< Of kinds that are not read.
  std::uint64_t programmatic = 0;  ///< Programmatic dependent launches.
  std::uint64_t kept = 0;          ///< Of all that has a time.
  std::uint64_t outside = 0;       ///< Not to be kept.
  std::uint64_t graph_nodes = 0;   ///< Device activity that was a node of a CUDA graph.
  /// Waits for a CUDA event of which it is forgotten where it was recorded: they lack the stream.
  std::uint64_t waits_without_stream = 0;
  std::uint64_t events_forgotten = 0;    ///< Recordings of CUDA events: harmless if nobody waits.
  std::uint64_t external_forgotten = 0;  ///< Ids that the program gave to calls that came too late.
  std::uint64_t launches_forgotten = 0;  ///< Programmatic launches whose kernels came too late.
  std::uint64_t activities = 0;          ///< Work of devices that was written.
  std::int64_t activity_ns = 0;          ///< The sum of its durations.
};

/// The name of a function of the runtime or the driver by CUPTI's number of it, or null.
using FunctionName = std::function<const char*(CUpti_CallbackDomain, CUpti_CallbackId)>;

/// Not thread-safe; records come in the order in which CUPTI hands them over. What it reads is as a
/// libcupti of `version` wrote it.
class Converter {
 public:
  Converter(wire::Writer& writer, const ClockFit& clock, std::int32_t pid, std::uint32_t version,
            FunctionName names, LaunchNotes* notes = nullptr);

  void convert(const CUpti_Activity& record);
  [[nodiscard]] const ConverterCounts& counts();
  /// From now on only what begins at such a time, of the host's clock, is kept.
  void keep_only(std::function<bool(std::int64_t)> keeps) { keeps_ = std::move(keeps); }
  /// Gets the launches of graphs.
  void watch_graphs(GraphCost* cost) { graph_cost_ = cost; }
  /// Until the next call, device activity that has begun and not ended is written as running until
  /// then, of the host's clock.
  void set_running_until(std::int64_t host) { running_until_ = host; }

 private:
  struct Recorded {
    std::int64_t stream = -1;
    std::int64_t correlation = -1;
  };
  struct Range {
    std::int64_t start = 0;
    std::int64_t tid = 0;
    std::string name;
    std::string domain;
  };
  struct Pool {
    std::int32_t device = 0;
    std::int64_t reserved = 0;
    std::int64_t used = 0;
  };
  struct Times {
    std::int64_t start = 0;
    std::int64_t duration = 0;
  };

  /// What all that a device does has in common; nothing where it is not to be written.
  template <typename Record>
  std::optional<wire::DeviceActivity> activity_of(const Record& record, std::string_view category);
  void kernel(const KernelRecord& record);
  template <typename Record>
  void copy(const Record& record, std::string_view more);
  void fill(const FillRecord& record);
  void call(const CUpti_ActivityAPI& record);
  void memory(const MemoryRecord& record);
  void pool(const PoolRecord& record);
  void device(const DeviceRecord& record);
  void context(const ContextRecord& record);
  void stream(const CUpti_ActivityStream& record);
  void name(const CUpti_ActivityName& record);
  void event(const EventRecord& record);
  void wait(const WaitRecord& record);
  void external(const CUpti_ActivityExternalCorrelation& record);
  void overhead(const OverheadRecord& record);
  void jit(const JitRecord& record);
  void graph(const GraphRecord& record);
  void marker(const MarkerRecord& record);
  bool newer(const CUpti_Activity& record);
  void host_function(std::uint64_t start, std::uint64_t end, std::uint32_t tid,
                     std::uint32_t correlation, std::string_view named);

  /// False, and counted, where that is not kept.
  bool keeps(std::int64_t start);
  /// False, and counted, where CUPTI has no times for it, or it is not kept.
  bool times(std::uint64_t start, std::uint64_t end, Times& times);
  /// The same of device activity, which may be running still.
  bool device_times(std::uint64_t start, std::uint64_t end, Times& times);
  [[nodiscard]] std::int32_t device_of(std::uint32_t context) const;
  const std::string& function(CUpti_CallbackDomain domain, CUpti_CallbackId id);
  const Recorded* recorded_for(const WaitRecord& record) const;
  void write(const wire::DeviceActivity& activity);
  void sample(std::int64_t time, std::int32_t device, std::string_view name, std::int64_t value);

  wire::Writer& writer_;
  const ClockFit& clock_;
  std::int32_t pid_;
  std::uint32_t version_;
  FunctionName names_;
  std::function<bool(std::int64_t)> keeps_;
  LaunchNotes* notes_;
  GraphCost* graph_cost_ = nullptr;
  std::int64_t running_until_ = 0;
  ConverterCounts counts_;
  Demangler demangle_;
  std::map<std::pair<CUpti_CallbackDomain, CUpti_CallbackId>, std::string> functions_;
  std::unordered_map<std::uint32_t, std::int32_t> devices_;         // of contexts
  Recent<std::uint32_t, std::int64_t> externals_{kMostRemembered};  // of calls to come
  using Event = std::pair<std::uint32_t, std::uint32_t>;            // its context and number
  Recent<Event, Recorded, std::map<Event, Recorded>> events_{kMostRemembered};  // the last
  Recent<std::uint64_t, Recorded> recorded_{kMostRemembered};  // by CUPTI's id of a recording
  std::unordered_map<std::uint32_t, Range> ranges_;            // of markers that are open
  std::map<std::uint64_t, Pool> pools_;                        // by address
  std::map<std::pair<std::int32_t, std::string>, std::uint32_t> counters_;
};

}  // namespace fathom::cuda
