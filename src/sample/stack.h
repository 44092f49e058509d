// StackReader: the Python stack of one thread, read from outside while it runs.
#pragma once

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
/// the places of the last time; where both readings say the same, the stack was so in between. It
/// never stops the thread and never drops a stack: what is in doubt is left out, and `state` tells
/// it. To 3.10 frames lie apart on the heap, and a loop may come by twice while they are read:
/// there only what was the same four times, down to the instruction, is taken. Read Alongside,
/// every stack is whole. `memory`, `layout` and `codes` must outlive it.
class StackReader {
 public:
  /// `thread` and `interpreter` are the addresses of CPython's structs.
  StackReader(const Memory& memory, const Layout& layout, CodeTable& codes, Address thread,
              Address interpreter);

  /// Valid until the next call.
  const Stack& read();
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
  void keep_common();
  void keep_known();
  [[nodiscard]] bool is_live(Address at, Address top) const;
  [[nodiscard]] std::optional<Frame> same_in_both(Address at, Address previous, Address top,
                                                  bool& own);
  [[nodiscard]] std::span<const std::byte> bytes_at(int reading, Address at, std::size_t size,
                                                    Walk& walk);
  [[nodiscard]] bool take_frame(std::span<const std::byte> bytes, Address at, Walk& walk);
  [[nodiscard]] bool is_neighbour(Address outer, std::uint32_t bytes, Address inner) const;
  [[nodiscard]] const Chunk* chunk_of(Address at) const;
  [[nodiscard]] bool is_lowest(Address frame) const;
  [[nodiscard]] std::int64_t instruction_of(std::span<const std::byte> bytes, const Code& code);
  [[nodiscard]] bool agree(const Walk& a, const Walk& b) const;
  [[nodiscard]] bool settled();

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
  Walk walks_[2];
  std::vector<Frame> before_;   ///< What the take before agreed upon.
  std::vector<Address> known_;  ///< The path of the last stack that was read.
  std::vector<std::byte> single_;
  Stack stack_;
};

}  // namespace fathom::sample
