// Makes requests of the bytes of a connection; it does no I/O. The one door to the HTTP library.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "server/http/request.h"

namespace fathom::server {

/// Reads one request after the other of one connection.
class RequestReader {
 public:
  enum class State : std::uint8_t {
    incomplete,  ///< More bytes are needed.
    complete,    ///< take() has the request.
    refused,     ///< status() says why; nothing that follows can be understood.
  };

  explicit RequestReader(const RequestLimits& limits);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  /// Takes the bytes that came next. What lies behind the end of a request is kept for the next.
  State read(std::string_view bytes);
  /// The request, once; goes on with what was kept of the next, as read({}) tells.
  HttpRequest take();
  /// Has nothing of the next request come yet?
  [[nodiscard]] bool empty() const;
  /// Of a refused request: 400, 413, 417, 431, 501.
  [[nodiscard]] unsigned status() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fathom::server
