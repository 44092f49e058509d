// Reader: the bytes of a capture file in, its records out; what is damaged is skipped and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "wire/device.h"
#include "wire/layout.h"
#include "wire/records.h"

namespace fathom::wire {

/// Is given the records in the order of the file, each with the byte where it begins. Texts are
/// valid during the visit only; they may be any bytes. What it has no use for it need not see.
class Visitor {
 public:
  virtual ~Visitor() = default;
  Visitor() = default;
  Visitor(const Visitor&) = delete;
  Visitor& operator=(const Visitor&) = delete;

  virtual void clock(const ClockRecord& /*record*/, std::uint64_t /*offset*/) {}
  virtual void process(const ProcessRecord& /*record*/, std::uint64_t /*offset*/) {}
  virtual void thread(const ThreadRecord& /*record*/, std::uint64_t /*offset*/) {}
  virtual void slice(const SliceRecord& /*record*/, std::uint64_t /*offset*/) {}
  virtual void begin(const MomentRecord& /*record*/, std::uint64_t /*offset*/) {}
  virtual void end(const EndRecord& /*record*/, std::uint64_t /*offset*/) {}
  virtual void instant(const MomentRecord& /*record*/, std::uint64_t /*offset*/) {}
  /// A number of the visitor's for this counter; the samples of this block come with it.
  virtual std::uint32_t counter(const CounterRecord& /*record*/, std::uint64_t /*offset*/) {
    return 0;
  }
  virtual void sample(const SampleRecord& /*record*/, std::uint64_t /*offset*/) {}
  virtual void fact(const FactRecord& /*record*/, std::uint64_t /*offset*/) {}
  virtual void exit(const ExitRecord& /*record*/, std::uint64_t /*offset*/) {}
  virtual void dropped(const DroppedRecord& /*record*/, std::uint64_t /*offset*/) {}
  virtual void function(const FunctionRecord& /*record*/, std::uint64_t /*offset*/) {}
  virtual void line(const LineRecord& /*record*/, std::uint64_t /*offset*/) {}
  virtual void line_run(const LineRunRecord& /*record*/, std::uint64_t /*offset*/) {}
  virtual void function_part(const FunctionPartRecord& /*record*/, std::uint64_t /*offset*/) {}
  virtual void line_part(const LinePartRecord& /*record*/, std::uint64_t /*offset*/) {}
  virtual void function_calls(const FunctionCallsRecord& /*record*/, std::uint64_t /*offset*/) {}
  /// Of the slice, begin, instant, device activity or call before it.
  virtual void argument(const ArgumentRecord& /*record*/, std::uint64_t /*offset*/) {}
  /// Without its details: these come next, then its arguments.
  virtual void device(const DeviceActivity& /*record*/, std::uint64_t /*offset*/) {}
  virtual void launch(const Launch& /*record*/, std::uint64_t /*offset*/) {}
  virtual void copy(const Copy& /*record*/, std::uint64_t /*offset*/) {}
  virtual void wait(const Wait& /*record*/, std::uint64_t /*offset*/) {}
  virtual void call(const Call& /*record*/, std::uint64_t /*offset*/) {}
  virtual void memory(const MemoryOperation& /*record*/, std::uint64_t /*offset*/) {}
  /// A number of the visitor's for this frame, not 0; frames below it and stacks come with it.
  virtual std::uint32_t frame(const FrameRecord& /*record*/, std::uint64_t /*offset*/) { return 1; }
  virtual void stack(const StackRecord& /*record*/, std::uint64_t /*offset*/) {}
};

/// How often something was found, and the byte where it was found first.
struct Found {
  std::uint64_t count = 0;
  std::uint64_t first = 0;
  void add(std::uint64_t offset, std::uint64_t more = 1) {
    if (count == 0) first = offset;
    count = count + more < count ? UINT64_MAX : count + more;
  }
};

/// What was not as it should be.
struct Damage {
  Found skipped;                    ///< Stretches that are no sound block.
  std::uint64_t skipped_bytes = 0;  ///< In all of them.
  Found cut_off;                    ///< 1: the file ends within a block or the magic.
  Found missing;                    ///< Blocks whose number does not occur, but for leading ones.
  std::uint64_t first_number = 0;  ///< Of the first block: above 0 where earlier ones were dropped.
  Found malformed;                 ///< Records too short, or that overlap the end of their block.
  Found texts;                     ///< Texts, counters and frames that are used but not defined.
  std::map<std::uint16_t, Found> unknown_kinds;
  std::map<std::uint16_t, Found> unknown_blocks;  ///< By type.
};

/// Takes the bytes of a file in pieces of any size. Holds one block at a time.
class Reader {
 public:
  explicit Reader(Visitor& visitor) : visitor_(visitor) {}

  /// The next bytes of the file.
  void feed(std::span<const std::byte> bytes);
  /// No more bytes will come. Call once.
  void finish();

  [[nodiscard]] const Damage& damage() const { return damage_; }
  [[nodiscard]] std::uint64_t blocks() const { return blocks_; }
  [[nodiscard]] std::uint64_t bytes() const { return offset_ + pending_.size(); }

 private:
  struct Record {
    Kind kind = Kind::string;
    std::string_view body;
    std::uint64_t offset = 0;
  };

  void parse(bool last);
  bool take_block(bool last);
  bool sound(std::string_view block);
  void skip_damage(bool last);
  void skip(std::size_t bytes);
  void end_of_damage();
  void count_number(std::uint64_t number);
  void records(std::string_view payload, std::uint64_t offset);
  void record(const Record& record);
  template <typename Fields>
  [[nodiscard]] Fields read(const Record& record);
  void define(const Record& record);
  void sample(const Record& record);
  void detail(const Record& record);
  void frame(const Record& record);
  void stack(const Record& record);
  [[nodiscard]] std::string_view rest() const;
  std::string_view text(std::uint32_t id, std::uint64_t offset);

  Visitor& visitor_;
  Damage damage_;
  std::vector<char> pending_;
  std::size_t at_ = 0;        // in pending_
  std::uint64_t offset_ = 0;  // of pending_ in the file
  std::uint64_t blocks_ = 0;
  std::uint64_t next_number_ = 0;
  std::uint64_t skipping_ = 0;  // bytes of the stretch at hand
  std::uint64_t in_vain_ = 0;   // bytes summed up for blocks that were not sound
  bool magic_seen_ = false;
  bool argument_fits_ = false;  // something before it in the block can have one
  bool detail_fits_ = false;    // a device activity came before it in the block
  std::unordered_map<std::uint32_t, std::string_view> texts_;
  std::unordered_map<std::uint32_t, std::uint32_t> counters_;
  std::unordered_map<std::uint32_t, std::uint32_t> frames_;
};

}  // namespace fathom::wire
