// CallLog: the calls of one thread that took long, one by one, while that is asked for.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fathom::python {

/// Nothing throws; what there is no room for is counted. Used under the interpreter's lock.
class CallLog {
 public:
  /// All threads together keep no more than this many until they are taken.
  static constexpr std::size_t kMost = std::size_t{1} << 19U;

  /// Times in ticks.
  struct Call {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    const void* label = nullptr;
    std::int32_t tid = 0;
    bool open = false;  ///< It went on when the recording ended.
  };

  /// Of calls that took so many ticks or more, all are kept; nothing is before it is called.
  static void begin(std::uint64_t ticks) { least_ticks = ticks; }
  static void stop() { least_ticks = kNever; }
  static bool takes(std::uint64_t ticks) { return ticks >= least_ticks; }
  static bool is_on() { return least_ticks != kNever; }

  void belongs_to(std::int64_t tid) { tid_ = static_cast<std::int32_t>(tid); }
  void add(const void* label, std::uint64_t begin, std::uint64_t end, bool open = false);
  /// Nothing is kept.
  void clear();
  /// Calls on_call(Call) for each, in the order of their ends.
  template <typename OnCall>
  void visit(OnCall on_call) const {
    for (const Chunk* each = first_; each != nullptr; each = each->next)
      for (std::size_t at = 0; at < each->count; ++at) on_call(each->calls[at]);
  }
  /// Calls that there was no room for, since clear().
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  struct Chunk {
    static constexpr std::size_t kCalls = 1020;
    Chunk* next = nullptr;
    std::size_t count = 0;
    Call calls[kCalls];
  };
  bool grow();

  // Of the process.
  // NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables,bugprone-dynamic-static-initializers)
  static std::uint64_t least_ticks;
  static Chunk* spare;        // memory of cleared ones
  static std::size_t chunks;  // in use
  // NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables,bugprone-dynamic-static-initializers)

  Chunk* first_ = nullptr;
  Chunk* last_ = nullptr;
  std::int32_t tid_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace fathom::python
