// A route: an address, and what answers it. all.cc names them all.
#pragma once

#include <span>
#include <string_view>

#include "engine/query/typed.h"
#include "server/http/http_server.h"
#include "server/viewed.h"

namespace fathom::server {

/// What a route is given. Borrowed for the call. Once nobody waits for the answer any more,
/// stop_point() (base/stop.h) ends what it computes.
struct Call {
  Viewed& viewed;
  OpenInput* input;       ///< The one that is asked about; null for routes that need none.
  std::string_view rest;  ///< The path behind the route's own.
  const Parameters& parameters;

  /// The first value of that name, or "".
  [[nodiscard]] std::string_view text(std::string_view name) const;
  /// A whole number of at least 0, or `otherwise` where it is not given. Error: invalid_argument.
  [[nodiscard]] Result<std::int64_t> number(std::string_view name, std::int64_t otherwise) const;
  /// All parameters but `input`, which chooses the recording.
  [[nodiscard]] TypedOptions options() const;
};

struct Route {
  std::string_view path;  ///< "api/session"; with a slash at its end it takes one more part.
  Result<Response> (*answer)(const Call& call) = nullptr;
  bool needs_input = true;  ///< It is answered once the recording is read.
  /// Does a page that was just opened ask for this? Then the answer, which depends on the recording
  /// and the address alone, is kept for the next time. Null: never. Of routes that need the input.
  bool (*of_first_screen)(const Call& call) = nullptr;
};

std::span<const Route> all_routes();

/// Answers by the table of routes; what is not in it is not found.
Response answer(Viewed& viewed, const GuardedRequest& request);

}  // namespace fathom::server
