// Sends and receives the datagrams of libkineto's protocol.
#include "capture/attach/fabric.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/folder.h"
#include "capture/system/files.h"
#include "capture/system/proc.h"
#include "wire/writer.h"

namespace fathom::capture {
namespace {

constexpr std::string_view kName = "dynolog";
constexpr std::size_t kTypeBytes = 32;
constexpr std::size_t kHeaderBytes = sizeof(std::uint64_t) + kTypeBytes;
constexpr std::size_t kMostPids = 4096;

template <typename Number>
Number number_at(std::string_view bytes, std::size_t at) {
  Number number{};
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

struct Address {
  sockaddr_un name{};
  socklen_t length = 0;
};

/// Abstract names begin with a zero byte; the client counts the one at the end as part of the name.
Address address_in(const std::string& folder) {
  Address address;
  address.name.sun_family = AF_UNIX;
  const std::string text = folder.empty() ? std::string(1, '\0') + std::string(kName)
                                          : folder + "/" + std::string(kName);
  const std::size_t size = std::min(text.size(), sizeof address.name.sun_path - 1);
  text.copy(static_cast<char*>(address.name.sun_path), size);
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + size + 1);
  return address;
}

const sockaddr* generic(const sockaddr_un& name) {
  return reinterpret_cast<const sockaddr*>(&name);  // As the sockets API has it.
}

/// True where somebody answers at the address: a file may be left over from a daemon that is gone.
bool is_served(const Address& address) {
  const int probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const bool served = connect(probe, generic(address.name), address.length) == 0;
  ::close(probe);
  return served;
}

}  // namespace

std::string pack(const FabricMessage& message) {
  std::string datagram(kHeaderBytes, '\0');
  const std::uint64_t size = message.body.size();
  std::memcpy(datagram.data(), &size, sizeof size);
  message.type.copy(datagram.data() + sizeof size, kTypeBytes - 1);
  return datagram + message.body;
}

std::optional<FabricMessage> unpack(std::string_view datagram) {
  if (datagram.size() < kHeaderBytes) return std::nullopt;
  const auto size = number_at<std::uint64_t>(datagram, 0);
  if (size > datagram.size() - kHeaderBytes) return std::nullopt;
  const std::string_view type = datagram.substr(sizeof size, kTypeBytes);
  return FabricMessage{std::string(type.substr(0, type.find('\0'))),
                       std::string(datagram.substr(kHeaderBytes, size))};
}

std::optional<FabricRequest> parse_request(std::string_view body) {
  constexpr std::size_t kFixed = 16;  // int32 kinds, int32 count, int64 job
  if (body.size() < kFixed) return std::nullopt;
  FabricRequest request;
  request.kinds = number_at<std::int32_t>(body, 0);
  request.job = number_at<std::int64_t>(body, 8);
  const auto count = number_at<std::int32_t>(body, 4);
  if (count < 0 || static_cast<std::size_t>(count) > kMostPids ||
      body.size() - kFixed < sizeof(std::int32_t) * static_cast<std::size_t>(count))
    return std::nullopt;
  for (std::size_t at = 0; at < static_cast<std::size_t>(count); ++at)
    request.pids.push_back(number_at<std::int32_t>(body, kFixed + at * sizeof(std::int32_t)));
  return request;
}

Result<std::unique_ptr<FabricServer>> FabricServer::open(const std::string& folder) {
  const Address address = address_in(folder);
  if (is_served(address)) {
    return Error{ErrorCode::unsupported, "another daemon answers at the address 'dynolog'"};
  }
  const std::string path = folder.empty() ? "" : folder + "/" + std::string(kName);
  if (!path.empty()) ::unlink(path.c_str());
  const int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0 || bind(descriptor, generic(address.name), address.length) != 0) {
    const int reason = errno;
    if (descriptor >= 0) ::close(descriptor);
    if (reason == EADDRINUSE)
      return Error{ErrorCode::unsupported, "another daemon has the address 'dynolog'"};
    return Error{ErrorCode::io,
                 "the address 'dynolog' cannot be taken: " + std::string(std::strerror(reason))};
  }
  // A program of another user may ask, too.
  if (!path.empty()) ::chmod(path.c_str(), 0666);
  return std::unique_ptr<FabricServer>(new FabricServer(descriptor, path));
}

FabricServer::~FabricServer() {
  ::close(descriptor_);
  if (!path_.empty()) ::unlink(path_.c_str());
}

void FabricServer::serve(Duration limit, const Answer& answer) {
  const std::int64_t until = wire::monotonic_ns() + to_ns(limit);
  while (true) {
    const std::int64_t left = until - wire::monotonic_ns();
    if (left <= 0) return;
    pollfd waited{.fd = descriptor_, .events = POLLIN, .revents = 0};
    if (poll(&waited, 1, static_cast<int>(left / 1'000'000 + 1)) > 0) serve_one(answer);
  }
}

void FabricServer::serve_one(const Answer& answer) {
  std::array<char, kHeaderBytes + 16 + sizeof(std::int32_t) * kMostPids> buffer{};
  Address sender;
  sender.length = sizeof sender.name;
  const ssize_t got = recvfrom(descriptor_, buffer.data(), buffer.size(), 0,
                               reinterpret_cast<sockaddr*>(&sender.name), &sender.length);
  if (got <= 0 || sender.length == 0) return;
  const auto message = unpack({buffer.data(), static_cast<std::size_t>(got)});
  if (!message) return;
  FabricMessage reply{.type = message->type, .body = {}};
  if (message->type == "ctxt") {
    ++registered_;
    reply.body.assign(reinterpret_cast<const char*>(&registered_), sizeof registered_);
  } else if (message->type == "req") {
    const auto request = parse_request(message->body);
    if (!request || request->pids.empty()) return;
    reply.body = answer(*request);
  } else {
    return;
  }
  const std::string datagram = pack(reply);
  // The client waits for 50 ms; who does not read its replies is not waited for.
  sendto(descriptor_, datagram.data(), datagram.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
         generic(sender.name), sender.length);
}

std::int32_t owner_of_fabric() {
  const std::string sockets = read_small("/proc/net/unix").value_or("");
  const std::size_t at = sockets.find("@dynolog");
  if (at == std::string::npos) return 0;
  const std::size_t line = sockets.rfind('\n', at);
  const std::string_view fields =
      trimmed(std::string_view(sockets).substr(line + 1, at - line - 1));
  const std::string target = "socket:[" + std::string(fields.substr(fields.rfind(' ') + 1)) + "]";
  for (const pid_t pid : all_pids()) {
    std::error_code failure;
    const std::filesystem::path folder = "/proc/" + std::to_string(pid) + "/fd";
    for (const std::string& name : names_in(folder)) {
      if (std::filesystem::read_symlink(folder / name, failure) == target) return pid;
    }
  }
  return 0;
}

}  // namespace fathom::capture
