// Serves the page of some inputs until it is to end.
#pragma once

#include <functional>

#include "server/http/http_server.h"
#include "server/http/listener.h"
#include "server/viewed.h"

namespace fathom::server {

/// Starts reading, and answers until the server ends. `ready` is called with the path of the page,
/// "/token/", once connections are taken. Error: io.
Result<void> serve(const Listener& listener, Viewed& viewed, std::vector<std::string> other_hosts,
                   const HttpOptions& options,
                   const std::function<void(const std::string&)>& ready);

}  // namespace fathom::server
