// A counter of telemetry: its name, unit and source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fathom::monitor {

enum class CounterKind : std::uint8_t {
  level,  ///< What holds at that moment.
  total,  ///< Since some beginning: only differences mean something.
};

/// Whose counter it is, and so which of its pid and device are set.
enum class CounterOf : std::uint8_t { machine, process, gpu };

struct CounterSpec {
  /// "gpu.power". A `*` stands for the name of an instance: "network.*.received".
  std::string_view name;
  std::string_view unit;
  CounterKind kind;
  CounterOf of;
  std::string_view source;  ///< Where it is read.
  std::string_view doc;
};

/// The counter of that name in a table. A name that is not in it does not compile.
template <std::size_t kSize>
consteval const CounterSpec& counter_in(const CounterSpec (&table)[kSize], std::string_view name) {
  for (const CounterSpec& spec : table) {
    if (spec.name == name) return spec;
  }
  throw "no such counter";
}

}  // namespace fathom::monitor
