// The socket protocol by which a running PyTorch asks a daemon whether to profile (dynolog's).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace fathom::capture {

/// A message: a type ("ctxt", "req") and bytes.
struct FabricMessage {
  std::string type;
  std::string body;
};

/// 8 bytes of length, 32 of type, then the body.
std::string pack(const FabricMessage& message);
/// Nothing for what is cut off, or whose length does not fit.
std::optional<FabricMessage> unpack(std::string_view datagram);

/// A process that asks for work. Sent every few seconds by a program with KINETO_USE_DAEMON=1.
struct FabricRequest {
  std::int32_t kinds = 0;  ///< Bits: 1 events, 2 activities.
  std::int64_t job = 0;
  std::vector<std::int32_t> pids;  ///< The process, then its ancestors.
};
inline constexpr std::int32_t kActivities = 2;
std::optional<FabricRequest> parse_request(std::string_view body);

/// The daemon's end of the socket.
class FabricServer {
 public:
  /// Takes the address "dynolog": in the abstract namespace, or as a file in `folder`
  /// (KINETO_IPC_SOCKET_DIR). Errors: unsupported where another daemon has it, io.
  static Result<std::unique_ptr<FabricServer>> open(const std::string& folder);
  ~FabricServer();
  FabricServer(const FabricServer&) = delete;
  FabricServer& operator=(const FabricServer&) = delete;

  /// What to answer a request with: a configuration, or "" for nothing to do.
  using Answer = std::function<std::string(const FabricRequest&)>;
  /// Serves what arrives within `limit`.
  void serve(Duration limit, const Answer& answer);
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  FabricServer(int descriptor, std::string path)
      : descriptor_(descriptor), path_(std::move(path)) {}
  void serve_one(const Answer& answer);

  int descriptor_;
  std::string path_;  ///< Of the socket, where it is a file.
  std::int32_t registered_ = 0;
};

/// The process that has the daemon's address open, or 0 where it cannot be known.
std::int32_t owner_of_fabric();

}  // namespace fathom::capture
