// What a tile's bytes say, as far as a file needs to know it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::server {

/// The blocks of several answers of api/tiles put together; those without boxes are left out.
class TileBytes {
 public:
  /// `answer` is what the route gave.
  void add(std::string_view answer);
  /// As an answer of its own.
  [[nodiscard]] std::string bytes() const;
  [[nodiscard]] const std::set<std::uint32_t>& names() const { return names_; }
  /// Are there slices that a finer tile would tell apart?
  [[nodiscard]] bool merged() const { return merged_; }
  /// The tracks that have boxes.
  [[nodiscard]] const std::vector<std::uint32_t>& tracks() const { return tracks_; }

 private:
  std::uint32_t blocks_ = 0;
  std::string body_;
  std::set<std::uint32_t> names_;
  bool merged_ = false;
  std::vector<std::uint32_t> tracks_;
};

}  // namespace fathom::server
