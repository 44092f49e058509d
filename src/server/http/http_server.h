// HttpServer: connections in, answers out; what is answered is somebody else's business.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "server/http/guard.h"
#include "server/http/listener.h"
#include "server/http/request.h"
#include "server/http/response.h"
#include "server/http/target.h"

namespace fathom::server {

/// Limits of a server.
struct HttpOptions {
  RequestLimits request;
  std::size_t connections = 32;  ///< At a time; others wait to be accepted.
  std::size_t waiting = 64;      ///< Requests that wait for a thread; more are refused.
  unsigned threads = 4;          ///< That answer.
  std::chrono::milliseconds request_timeout{10'000};  ///< From its first byte to its last.
  std::chrono::milliseconds idle_timeout{60'000};     ///< Of a connection without a request.
  std::chrono::milliseconds write_timeout{30'000};    ///< For a client that does not read.
  /// Ends the server when nothing was asked for so long.
  std::optional<std::chrono::milliseconds> end_when_idle;
  /// A pipe or socket whose end ends the server, or -1.
  int watched = -1;
  /// A descriptor that ends the server when it becomes readable (of signals, say), or -1.
  int signals = -1;
};

/// A request that passed the guard.
struct GuardedRequest {
  std::string_view path;  ///< Behind the token: "api/session".
  const Target& target;
  /// True once nobody waits for the answer any more.
  const std::atomic<bool>& dropped;
};

using Answer = std::function<Response(const GuardedRequest&)>;

/// One thread does all reading and writing; others call `answer`, several at a time.
class HttpServer {
 public:
  HttpServer(const Listener& listener, Guard guard, Answer answer, const HttpOptions& options);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Until stop(), the end of what is watched, or idleness. Error: io.
  Result<void> run();
  /// From any thread.
  void stop() noexcept;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace fathom::server
