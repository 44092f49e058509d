// An HTTP request as it was read: nothing of it is decoded or believed yet.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom::server {

/// What a request may be at most.
struct RequestLimits {
  std::size_t header_bytes = std::size_t{8} << 10;  ///< First line and fields together.
  std::size_t body_bytes = std::size_t{64} << 10;
};

struct HttpRequest {
  std::string method;                                       ///< "GET".
  std::string target;                                       ///< As sent: "/a%20b?c=d".
  std::vector<std::pair<std::string, std::string>> fields;  ///< Names in lower case, in order.
  std::string body;
  bool keep_alive = true;

  /// The first field of that name (lower case), or "".
  [[nodiscard]] std::string_view field(std::string_view name) const;
  [[nodiscard]] std::size_t count(std::string_view name) const;
};

}  // namespace fathom::server
