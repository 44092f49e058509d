// TraceMaker: the records of a capture file as the tables of a trace.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/common/frame_table.h"
#include "formats/fathom_wire/clock_readings.h"
#include "store/trace.h"
#include "wire/reader.h"

namespace fathom::own {

/// In the file, a negative number stands for what is not known.
inline std::int64_t known(std::int64_t value) { return value < 0 ? kAbsent : value; }

/// Takes the records of one file; finish() gives the trace. What cannot be true is counted and left
/// out.
class TraceMaker final : public wire::Visitor {
 public:
  void clock(const wire::ClockRecord& record, std::uint64_t offset) override;
  void process(const wire::ProcessRecord& record, std::uint64_t offset) override;
  void thread(const wire::ThreadRecord& record, std::uint64_t offset) override;
  void slice(const wire::SliceRecord& record, std::uint64_t offset) override;
  void begin(const wire::MomentRecord& record, std::uint64_t offset) override;
  void end(const wire::EndRecord& record, std::uint64_t offset) override;
  void instant(const wire::MomentRecord& record, std::uint64_t offset) override;
  std::uint32_t counter(const wire::CounterRecord& record, std::uint64_t offset) override;
  void sample(const wire::SampleRecord& record, std::uint64_t offset) override;
  void fact(const wire::FactRecord& record, std::uint64_t offset) override;
  void exit(const wire::ExitRecord& record, std::uint64_t offset) override;
  void dropped(const wire::DroppedRecord& record, std::uint64_t offset) override;
  void function(const wire::FunctionRecord& record, std::uint64_t offset) override;
  void line(const wire::LineRecord& record, std::uint64_t offset) override;
  void argument(const wire::ArgumentRecord& record, std::uint64_t offset) override;
  // In line_records.cc:
  void line_run(const wire::LineRunRecord& record, std::uint64_t offset) override;
  void function_part(const wire::FunctionPartRecord& record, std::uint64_t offset) override;
  void line_part(const wire::LinePartRecord& record, std::uint64_t offset) override;
  void function_calls(const wire::FunctionCallsRecord& record, std::uint64_t offset) override;
  // In device_records.cc:
  void device(const wire::DeviceActivity& record, std::uint64_t offset) override;
  void launch(const wire::Launch& record, std::uint64_t offset) override;
  void copy(const wire::Copy& record, std::uint64_t offset) override;
  void wait(const wire::Wait& record, std::uint64_t offset) override;
  void call(const wire::Call& record, std::uint64_t offset) override;
  void memory(const wire::MemoryOperation& record, std::uint64_t offset) override;
  // In stack_records.cc:
  std::uint32_t frame(const wire::FrameRecord& record, std::uint64_t offset) override;
  void stack(const wire::StackRecord& record, std::uint64_t offset) override;

  /// The trace, with what the reader found damaged. Call once, at the end.
  Trace finish(const wire::Damage& damage);

 private:
  struct Open {
    std::int64_t time = 0;
    StringId name{};
    std::uint8_t category = 0;
    TrackId track;
    std::vector<Argument> arguments{};  ///< Their rows are not known yet.
  };
  /// What an argument record that comes next is of.
  enum class Owner : std::uint8_t { none, slice, begin, instant };
  using Thread = std::pair<std::int64_t, std::int64_t>;  // pid, tid

  [[nodiscard]] bool true_time(std::int64_t time, std::uint64_t offset);
  /// Whether the sum so far may grow by that; then it does.
  [[nodiscard]] static bool true_profile_time(std::int64_t& sum, std::int64_t total,
                                              std::int64_t self);
  StringId text(std::string_view text, std::uint64_t offset);
  // In tracks.cc:
  StringId slice_name(std::string_view category, std::string_view name, std::int64_t value,
                      std::uint64_t offset);
  std::uint8_t category(std::string_view spelling, std::uint64_t offset);
  TrackId track(TrackKind kind, std::int64_t pid, std::int64_t tid, std::string_view series);
  TrackId track_of(std::string_view category, std::int64_t pid, std::int64_t tid);
  // In line_records.cc:
  TrackId line_track(std::int64_t pid, std::int64_t tid);

  void add_slice(TrackId track, std::int64_t start, std::int64_t duration, StringId name,
                 std::uint8_t category, std::int64_t value);
  void add_open(const Open& begun, std::int64_t end);
  ProcessRun& run_of(std::int64_t pid);
  void note_time(std::int64_t time);

  [[nodiscard]] std::int64_t true_duration(std::int64_t duration, std::uint64_t offset);
  // In device_records.cc:
  TrackId stream_track(std::int32_t device, std::uint32_t context, std::int64_t stream);
  LaunchConfigId config_of(const LaunchConfig& config);
  void add_devices();
  void per_multiprocessor();
  void name_devices();

  // In stack_records.cc:
  [[nodiscard]] bool is_of_recorder(const StackSample& sample, bool& known) const;
  void leave_out_recorder();

  // In trace_finish.cc:
  void close_open();
  void place_in_time();
  void add_facts(const wire::Damage& damage);
  void add_damage(const wire::Damage& damage);
  void add_processes();
  void set_span();
  void find_rank();

  Trace trace_;
  ClockReadings clocks_;
  std::map<std::pair<std::int64_t, std::string>, std::string> facts_;  // pid, key
  std::map<std::int64_t, ProcessRun> runs_;
  std::map<Thread, StringId> thread_names_;
  std::map<std::pair<TrackKind, std::pair<std::int64_t, std::string>>, TrackId> tracks_;
  std::map<Thread, TrackId> threads_;
  std::map<Thread, TrackId> line_tracks_;
  Thread last_thread_{};
  TrackId last_track_;
  std::unordered_map<std::string, std::uint8_t> categories_;
  std::map<Thread, std::vector<Open>> open_;
  Owner owner_ = Owner::none;
  Thread owner_thread_{};  // of the begin
  /// A stream's number is its own in a context; a second context's number is part of it.
  std::map<std::tuple<std::int32_t, std::uint32_t, std::int64_t>, TrackId> streams_;
  std::map<std::pair<std::int32_t, std::int64_t>, std::uint32_t> first_context_;  // of a stream
  std::unordered_map<LaunchConfig, LaunchConfigId, LaunchConfigHash> configs_;
  std::map<std::int32_t, std::int64_t> allocated_;  // bytes by device
  FrameTable frames_{trace_.stack_frames};
  std::int64_t stack_time_ = 0;    ///< ns of all samples so far.
  std::int64_t profile_time_ = 0;  ///< ns of all functions and lines so far.
  std::int64_t part_time_ = 0;     ///< ns of all parts of them so far.
  std::int64_t caller_time_ = 0;   ///< ns of all calls by a caller so far.
  wire::Found ends_alone_;
  std::int64_t main_pid_ = 0;
  std::int64_t last_time_ = 0;
};

}  // namespace fathom::own
