// Binds sockets.
#include "server/http/listener.h"

#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace fathom::server {
namespace {

/// As many may wait to be taken.
constexpr int kBacklog = 64;
/// A port that is free on one of both may be taken on the other.
constexpr int kTries = 20;

Error failed(const std::string& what, int code) {
  return {ErrorCode::io, what + ": " + std::generic_category().message(code)};
}

Descriptor new_socket(int family) {
  return Descriptor(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/// Binds and listens; 0 or the error's number.
template <typename Address>
int listen_on(const Descriptor& made, const Address& address) {
  if (!made) return errno;
  if (bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return errno;
  return listen(made.get(), kBacklog) == 0 ? 0 : errno;
}

int listen_v4(const Descriptor& made, std::uint16_t port) {
  const int on = 1;
  setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return listen_on(made, address);
}

int listen_v6(const Descriptor& made, std::uint16_t port) {
  const int on = 1;
  setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  setsockopt(made.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  address.sin6_addr = in6addr_loopback;
  return listen_on(made, address);
}

std::uint16_t port_of(const Descriptor& bound) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(bound.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

/// May a socket be made there? One that refuses connections is left over and removed.
Result<void> make_room(const std::string& path, const sockaddr_un& address) {
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0) return {};
  if (!S_ISSOCK(found.st_mode))
    return Error{ErrorCode::invalid_argument, path + " exists and is no socket"};
  const Descriptor probe = new_socket(AF_UNIX);
  if (probe &&
      connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return Error{ErrorCode::invalid_argument, path + " is in use by another server"};
  }
  if (errno != ECONNREFUSED) return failed(path, errno);
  unlink(path.c_str());
  return {};
}

}  // namespace

Result<Listener> Listener::on_port(std::uint16_t port) {
  int code = 0;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    Descriptor v4 = new_socket(AF_INET);
    code = listen_v4(v4, port);
    if (code != 0) break;
    Listener listener;
    listener.port_ = port_of(v4);
    Descriptor v6 = new_socket(AF_INET6);
    const int other = listen_v6(v6, listener.port_);
    if (other == EADDRINUSE && port == 0) continue;
    listener.sockets_.push_back(std::move(v4));
    // A machine without IPv6 has no ::1.
    if (other == 0) listener.sockets_.push_back(std::move(v6));
    return listener;
  }
  return failed("cannot listen on port " + std::to_string(port) + " of 127.0.0.1",
                code == 0 ? EADDRINUSE : code);
}

Result<Listener> Listener::on_path(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return Error{ErrorCode::invalid_argument,
                 path + ": the path of a socket has at most 107 bytes"};
  std::memcpy(address.sun_path, path.data(), path.size());
  Result<void> room = make_room(path, address);
  if (!room) return std::move(room).error();
  Descriptor made = new_socket(AF_UNIX);
  // From its first moment on nobody else may connect.
  const mode_t before = umask(S_IRWXG | S_IRWXO | S_IXUSR);
  const int code = listen_on(made, address);
  umask(before);
  if (code != 0) return failed("cannot listen on " + path, code);
  Listener listener;
  listener.path_ = path;
  listener.sockets_.push_back(std::move(made));
  return listener;
}

Listener::~Listener() {
  if (!sockets_.empty() && !path_.empty()) unlink(path_.c_str());
}

}  // namespace fathom::server
