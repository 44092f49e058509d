// Where connections come in: a port of loopback, or a socket in the file system.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"

namespace fathom::server {

/// Sockets that listen. A socket of the file system is removed with it.
class Listener {
 public:
  /// 127.0.0.1, and ::1 where there is IPv6; the same port on both. 0: one that is free.
  static Result<Listener> on_port(std::uint16_t port);
  /// A socket that only this user may connect to. A socket that nobody listens on any more is
  /// replaced; anything else that is there is an error.
  static Result<Listener> on_path(const std::string& path);

  Listener(Listener&& other) noexcept = default;
  Listener& operator=(Listener&&) = delete;
  ~Listener();

  [[nodiscard]] const std::vector<Descriptor>& sockets() const { return sockets_; }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Of the file system, or "".
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  Listener() = default;

  std::vector<Descriptor> sockets_;
  std::uint16_t port_ = 0;
  std::string path_;
};

}  // namespace fathom::server
