// StackReader: the Python stack of one thread, read from outside while it runs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sample/code.h"
#include "sample/layout.h"
#include "sample/memory.h"
#include "sample/snapshot.h"

namespace fathom::sample {

struct Frame {
  const Code* code = nullptr;     ///< Of the CodeTable.
  std::int64_t instruction = -1;  ///< Offset in the bytecode, in bytes; -1: before the first.
  Address address = 0;
  /// C code called it: those further in, up to the next such, are run by the same call of the
  /// interpreter's loop. Certain in whole stacks only.
  bool entry = false;
  /// By where it is; whether C code called it follows from that.
  bool operator==(const Frame& other) const {
    return code == other.code && instruction == other.instruction && address == other.address;
  }
};

/// What is known of a stack.
enum class StackState : std::uint8_t {
  whole,      ///< From the innermost frame to the first.
  shortened,  ///< It changed all the time: only the outer frames, which stayed.
  unread,     ///< Nothing of it could be read for certain.
};

std::string_view to_string(StackState state);

struct Stack {
  std::vector<Frame> frames;  ///< The innermost first.
  StackState state = StackState::unread;
  int takes = 0;  ///< How often it was read.
};

/// Reads a thread's stack again and again. What it needs is read twice, in one system call and at
/// the places of the last time. Where both readings say the same, the stack was so in between, or
/// the thread has left it and come back: a loop may come by twice meanwhile, and what lies where a
/// function has ended does not change at all. So only what the take before had, too, is taken: the
/// same four times. A function that runs by itself calls none, whatever lies behind it. It never
/// stops the thread and never drops a stack: what is in doubt is left out, and `state` tells it.
/// Read Alongside, every stack is whole. `memory`, `layout` and `codes` must outlive it.
class StackReader {
 public:
  /// `thread` and `interpreter` are the addresses of CPython's structs.
  StackReader(const Memory& memory, const Layout& layout, CodeTable& codes, Address thread,
              Address interpreter);

  /// Valid until the next call.
  const Stack& read();
  /// The same of a thread that does not run meanwhile, which the caller has to find out: then one
  /// reading tells all. Null where what it says cannot be, as of one that runs after all.
  const Stack* read_resting();
  [[nodiscard]] Address thread() const { return thread_; }

  /// Deeper ones are unread.
  static constexpr std::size_t kMostFrames = 32768;

 private:
  /// A stack as one reading has it.
  struct Walk {
    std::vector<Frame> frames;
    std::vector<Address> path;  ///< Where they lie, those of the interpreter too.
    bool reaches_end = false;   ///< The first frame was found: the outer frames can be counted.
    bool sound = false;         ///< Nothing contradicts itself.
    bool all_taken = false;     ///< Everything was read twice.
    std::size_t sure_from = 0;  ///< Frames further in are in doubt.
    Address inner = 0;          ///< The last frame that lies in a chunk.
    bool may_be_first = false;  ///< Whether the last frame may be the first of a thread.
    /// The frame that was taken last was called by Python code, without C code in between.
    bool called_inline = false;
  };
  /// What two readings have in common: the outer frames, or all.
  struct Seen {
    std::vector<Frame> frames;
    bool whole = false;
  };
  /// A frame of the last stack that was read; no code: one of the interpreter's own.
  struct Known {
    Address at = 0;
    Frame frame;
  };
  /// A frame that is the same in both readings.
  struct Same {
    Frame frame;
    bool own = false;    ///< The interpreter's.
    bool waits = false;  ///< In both, for a function that it called without C code in between.
    bool called_inline = false;
  };
  struct Chunk {
    Address begin = 0;
    Address end = 0;
  };

  bool prepare();
  [[nodiscard]] bool add_chunks(Address newest, Address top);
  [[nodiscard]] std::optional<Address> innermost(int reading, int cframes, Walk& walk);
  void walk(int reading, Walk& into);
  void walk_from(int reading, Address at, Walk& into);
  [[nodiscard]] Seen look_at_both();
  [[nodiscard]] std::vector<Frame> still_known();
  [[nodiscard]] std::optional<Same> same_in_both(Address at, Address previous,
                                                 const std::array<Address, 2>& tops);
  bool confirm(Seen now);
  void begin_reading();
  [[nodiscard]] bool take(bool once);
  void remember(const Walk& walk);
  [[nodiscard]] std::span<const std::byte> bytes_at(int reading, Address at, std::size_t size,
                                                    Walk& walk);
  [[nodiscard]] bool take_frame(std::span<const std::byte> bytes, Address at, Walk& walk);
  [[nodiscard]] bool is_neighbour(Address outer, std::uint32_t bytes, Address inner) const;
  [[nodiscard]] const Chunk* chunk_of(Address at) const;
  [[nodiscard]] bool is_lowest(Address frame) const;
  [[nodiscard]] std::int64_t instruction_of(std::span<const std::byte> bytes, const Code& code);
  [[nodiscard]] bool waits_inline(std::span<const std::byte> frame) const;
  [[nodiscard]] bool is_inline(std::span<const std::byte> frame) const;
  [[nodiscard]] bool is_live(Address at, Address top) const;
  [[nodiscard]] bool same_stack(const std::vector<Frame>& a, const std::vector<Frame>& b) const;

  const Memory& memory_;
  const Layout& layout_;
  CodeTable& codes_;
  Address thread_;
  Address interpreter_;
  std::size_t thread_bytes_;
  std::size_t frame_size_;
  std::vector<Chunk> chunks_;  ///< The newest first.
  Address chunk_top_ = 0;      ///< As far as the newest is read.
  Snapshot snapshot_;
  int last_reading_ = 0;  ///< Of the last take.
  Walk walks_[2];
  Seen before_;               ///< Of the take before.
  std::vector<Known> known_;  ///< The last stack that was read, the innermost first.
  std::vector<std::byte> single_;
  Stack stack_;
};

}  // namespace fathom::sample
