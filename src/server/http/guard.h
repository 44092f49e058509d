// Who may ask at all: by address, by page and by the token in the path.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/http/request.h"

namespace fathom::server {

/// What a request needs to show.
struct Guard {
  std::string token;                     ///< 32 hexadecimal digits: the first part of each path.
  std::vector<std::string> other_hosts;  ///< Names beside localhost and loopback's own.

  /// Why it is refused as a status, or 0. A name that an attacker's page resolves to loopback is
  /// not a Host of ours, and a page of another origin names it; both whatever the path.
  [[nodiscard]] unsigned refuses(const HttpRequest& request) const;
  /// The path behind the token and its slash; unset where the token is not the first part. What it
  /// takes does not depend on where they differ.
  [[nodiscard]] std::optional<std::string_view> inside(std::string_view path) const;
};

/// 128 bits of the system as 32 hexadecimal digits. Error: io.
Result<std::string> random_token();

}  // namespace fathom::server
