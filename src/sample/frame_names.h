// FrameNames: the functions and lines of frames, looked up once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/hash.h"
#include "sample/layout.h"
#include "sample/stack.h"

namespace fathom::sample {

struct FrameLook {
  std::string function;
  std::string file;
  std::optional<std::int32_t> line;
  bool operator==(const FrameLook&) const = default;
};

/// The frame with its names. `layout` is that of its process.
FrameLook look_of(const Frame& frame, const Layout& layout);

/// The code of frames must live until forget_code(); what was looked up stays.
class FrameNames {
 public:
  /// A number for what a frame shows; the same for two instructions of one line.
  std::uint32_t id(const Frame& frame, const Layout& layout);
  std::uint32_t id(const FrameLook& look);
  void forget_code() { by_instruction_.clear(); }
  /// Valid as long as this lives.
  [[nodiscard]] const FrameLook& look(std::uint32_t id) const { return looks_[id]; }

 private:
  using Key = std::pair<const Code*, std::int64_t>;
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return hash_mix(reinterpret_cast<std::uintptr_t>(key.first),
                      static_cast<std::uint64_t>(key.second));
    }
  };
  std::unordered_map<Key, std::uint32_t, KeyHash> by_instruction_;
  std::unordered_map<std::string, std::uint32_t> by_text_;
  std::deque<FrameLook> looks_;
};

}  // namespace fathom::sample
