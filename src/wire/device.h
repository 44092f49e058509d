// What devices did, and the calls that had them do it: records of the capture file.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "wire/records.h"

namespace fathom::wire {

/// How a kernel was launched.
struct Launch {
  static constexpr Kind kKind = Kind::launch;
  Dimensions grid{};
  Dimensions block{};
  Dimensions cluster{};              ///< 0: none.
  std::int32_t registers = -1;       ///< Per thread.
  std::int32_t static_shared = -1;   ///< Bytes per block.
  std::int32_t dynamic_shared = -1;  ///< Bytes per block.
  std::int64_t local_bytes = -1;     ///< Of local memory, in all.
  static constexpr auto fields(auto&& visit) {
    return visit(Field{"grid", &Launch::grid}, Field{"block", &Launch::block},
                 Field{"cluster", &Launch::cluster}, Field{"registers", &Launch::registers},
                 Field{"static", &Launch::static_shared}, Field{"dynamic", &Launch::dynamic_shared},
                 Field{"local", &Launch::local_bytes});
  }
};

struct Copy {
  static constexpr Kind kKind = Kind::copy;
  std::int64_t bytes = -1;
  std::string_view kind;  ///< "HtoD", "DtoH", …; of a fill "Memset".
  std::string_view source;
  std::string_view destination;  ///< "Pageable", "Pinned", "Device", "Array", "Managed".
  static constexpr auto fields(auto&& visit) {
    return visit(Field{"bytes", &Copy::bytes}, Field{"kind", &Copy::kind},
                 Field{"source", &Copy::source}, Field{"destination", &Copy::destination});
  }
};

/// What was waited for; -1 where that does not apply.
struct Wait {
  static constexpr Kind kKind = Kind::wait;
  std::string_view kind;  ///< "Stream Sync", "Event Sync", …, as torch.profiler has them.
  std::int64_t stream = -1;
  std::int64_t event = -1;
  std::int64_t correlation = -1;  ///< Of the call that recorded the event.
  static constexpr auto fields(auto&& visit) {
    return visit(Field{"kind", &Wait::kind}, Field{"stream", &Wait::stream},
                 Field{"event", &Wait::event}, Field{"correlation", &Wait::correlation});
  }
};

/// Texts, details and arguments are borrowed for the call that writes it.
struct DeviceActivity {
  static constexpr Kind kKind = Kind::device;
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
  static constexpr auto fields(auto&& visit) {
    return visit(
        Field{"start", &DeviceActivity::start}, Field{"duration", &DeviceActivity::duration},
        Field{"pid", &DeviceActivity::pid}, Field{"device", &DeviceActivity::device},
        Field{"context", &DeviceActivity::context}, Field{"stream", &DeviceActivity::stream},
        Field{"name", &DeviceActivity::name}, Field{"category", &DeviceActivity::category},
        Field{"correlation", &DeviceActivity::correlation}, Field{"graph", &DeviceActivity::graph},
        Field{"node", &DeviceActivity::node});
  }
};

/// A call of a library, in the thread that made it.
struct Call {
  static constexpr Kind kKind = Kind::call;
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::int32_t pid = 0;
  std::int64_t tid = 0;
  std::string_view name;
  std::string_view category;
  std::int64_t correlation = -1;
  std::int64_t external = -1;  ///< What the program calls it, where it does.
  std::span<const Argument> arguments;
  static constexpr auto fields(auto&& visit) {
    return visit(Field{"start", &Call::start}, Field{"duration", &Call::duration},
                 Field{"pid", &Call::pid}, Field{"tid", &Call::tid}, Field{"name", &Call::name},
                 Field{"category", &Call::category}, Field{"correlation", &Call::correlation},
                 Field{"external", &Call::external});
  }
};

/// Memory of a device was taken, or given back.
struct MemoryOperation {
  static constexpr Kind kKind = Kind::memory;
  std::int64_t time = 0;
  std::int32_t pid = 0;
  std::int64_t correlation = -1;
  std::int32_t device = -1;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;      ///< Negative: given back.
  std::int64_t reserved = -1;  ///< Bytes of the pool that it is from, after it.
  std::string_view kind;       ///< "Device", "Pinned", "Managed", …
  static constexpr auto fields(auto&& visit) {
    return visit(
        Field{"time", &MemoryOperation::time}, Field{"pid", &MemoryOperation::pid},
        Field{"correlation", &MemoryOperation::correlation},
        Field{"device", &MemoryOperation::device}, Field{"address", &MemoryOperation::address},
        Field{"bytes", &MemoryOperation::bytes}, Field{"reserved", &MemoryOperation::reserved},
        Field{"kind", &MemoryOperation::kind});
  }
};

}  // namespace fathom::wire
