// What devices did, and the calls that had them do it: records of the capture file.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace fathom::wire {

/// What a slice, begin, instant, device activity or call says beyond its name.
struct Argument {
  std::string_view key;
  std::string_view value;
};

using Dimensions = std::array<std::int32_t, 3>;

/// How a kernel was launched.
struct Launch {
  Dimensions grid{};
  Dimensions block{};
  Dimensions cluster{};              ///< 0: none.
  std::int32_t registers = -1;       ///< Per thread.
  std::int32_t static_shared = -1;   ///< Bytes per block.
  std::int32_t dynamic_shared = -1;  ///< Bytes per block.
  std::int64_t local_bytes = -1;     ///< Of local memory, in all.
};

struct Copy {
  std::int64_t bytes = -1;
  std::string_view kind;  ///< "HtoD", "DtoH", …; of a fill "Memset".
  std::string_view source;
  std::string_view destination;  ///< "Pageable", "Pinned", "Device", "Array", "Managed".
};

/// What was waited for; -1 where that does not apply.
struct Wait {
  std::string_view kind;  ///< "Stream Sync", "Event Sync", …, as torch.profiler has them.
  std::int64_t stream = -1;
  std::int64_t event = -1;
  std::int64_t correlation = -1;  ///< Of the call that recorded the event.
};

/// Texts, details and arguments are borrowed for the call that writes it.
struct DeviceActivity {
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::int32_t pid = 0;
  std::int32_t device = 0;
  std::uint32_t context = 0;
  std::int64_t stream = -1;  ///< -1: of the whole device.
  std::string_view name;
  std::string_view category;
  std::int64_t correlation = -1;  ///< Of the call that launched it.
  std::int64_t graph = -1;        ///< CUDA graph that it was part of.
  std::int64_t node = -1;         ///< Node of that graph.
  const Launch* launch = nullptr;
  const Copy* copy = nullptr;
  const Wait* wait = nullptr;
  std::span<const Argument> arguments;
};

/// A call of a library, in the thread that made it.
struct Call {
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::int32_t pid = 0;
  std::int64_t tid = 0;
  std::string_view name;
  std::string_view category;
  std::int64_t correlation = -1;
  std::int64_t external = -1;  ///< What the program calls it, where it does.
  std::span<const Argument> arguments;
};

/// Memory of a device was taken, or given back.
struct MemoryOperation {
  std::int64_t time = 0;
  std::int32_t pid = 0;
  std::int64_t correlation = -1;
  std::int32_t device = -1;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;      ///< Negative: given back.
  std::int64_t reserved = -1;  ///< Bytes of the pool that it is from, after it.
  std::string_view kind;       ///< "Device", "Pinned", "Managed", …
};

}  // namespace fathom::wire
