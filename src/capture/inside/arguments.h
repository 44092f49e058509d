// What an event says beyond its name, as texts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "capture/inside/details.h"
#include "wire/writer.h"

namespace fathom::inside {

/// The arguments of one record; nothing is allocated.
class Arguments {
 public:
  /// `details` may be null: no arguments. `payload` are 64 bits as details->payload says.
  Arguments(const Details* details, std::uint64_t payload);
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  [[nodiscard]] std::span<const wire::Argument> all() const { return {all_.data(), count_}; }

 private:
  std::array<wire::Argument, 4> all_;
  std::size_t count_ = 0;
  std::array<char, 32> number_{};
  std::array<char, 16> color_{};
};

}  // namespace fathom::inside
