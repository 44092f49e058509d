// Puts the server, its token and the routes together.
#include "server/serve.h"

#include "server/route.h"

namespace fathom::server {

Result<void> serve(const Listener& listener, Viewed& viewed, std::vector<std::string> other_hosts,
                   const HttpOptions& options,
                   const std::function<void(const std::string&)>& ready) {
  Result<std::string> token = random_token();
  if (!token) return std::move(token).error();
  const std::string path = "/" + *token + "/";
  HttpServer server(
      listener, Guard{.token = *std::move(token), .other_hosts = std::move(other_hosts)},
      [&viewed](const GuardedRequest& request) { return answer(viewed, request); }, options);
  ready(path);
  return server.run();
}

}  // namespace fathom::server
