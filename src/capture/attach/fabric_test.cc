#include "capture/attach/fabric.h"

#include <cstring>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace fathom::capture {
namespace {

std::string request_body(std::int32_t kinds, const std::vector<std::int32_t>& pids) {
  const auto count = static_cast<std::int32_t>(pids.size());
  const std::int64_t job = 7;
  std::string body(16, '\0');
  std::memcpy(body.data(), &kinds, 4);
  std::memcpy(body.data() + 4, &count, 4);
  std::memcpy(body.data() + 8, &job, 8);
  body.append(reinterpret_cast<const char*>(pids.data()), 4 * pids.size());
  return body;
}

TEST(Fabric, AMessageIsLengthTypeAndBody) {
  const std::string datagram = pack({"req", "hello"});
  EXPECT_EQ(datagram.size(), 45U);
  EXPECT_EQ(datagram[0], 5);
  EXPECT_EQ(datagram.substr(8, 4), std::string("req\0", 4));
  const auto back = unpack(datagram);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->type, "req");
  EXPECT_EQ(back->body, "hello");
}

TEST(Fabric, DatagramsThatLieAboutTheirLengthAreRefused) {
  std::string datagram = pack({"req", "hello"});
  EXPECT_FALSE(unpack(datagram.substr(0, 20)));
  EXPECT_FALSE(unpack(datagram.substr(0, 43)));
  datagram[7] = '\x7f';
  EXPECT_FALSE(unpack(datagram));
}

TEST(Fabric, ARequestNamesTheProcessAndItsAncestors) {
  const auto request = parse_request(request_body(3, {10, 9, 1}));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->kinds & kActivities, kActivities);
  EXPECT_EQ(request->job, 7);
  EXPECT_EQ(request->pids, (std::vector<std::int32_t>{10, 9, 1}));
  EXPECT_FALSE(parse_request(request_body(3, {10, 9, 1}).substr(0, 20)));
  EXPECT_FALSE(parse_request("short"));
}

/// A client's socket in a folder, as with KINETO_IPC_SOCKET_DIR.
class Folder : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "fabricXXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    client_ = socket(AF_UNIX, SOCK_DGRAM, 0);
    const sockaddr_un own = address("client");
    ASSERT_EQ(bind(client_, reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
    const timeval limit{.tv_sec = 5, .tv_usec = 0};
    setsockopt(client_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  void TearDown() override {
    close(client_);
    unlink((folder_ + "/client").c_str());
    rmdir(folder_.c_str());
  }
  [[nodiscard]] sockaddr_un address(const std::string& name) const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (folder_ + "/" + name).copy(static_cast<char*>(address.sun_path), sizeof address.sun_path - 1);
    return address;
  }
  void send(const FabricMessage& message) const {
    const sockaddr_un daemon = address("dynolog");
    const std::string datagram = pack(message);
    ASSERT_EQ(sendto(client_, datagram.data(), datagram.size(), 0,
                     reinterpret_cast<const sockaddr*>(&daemon), sizeof daemon),
              static_cast<ssize_t>(datagram.size()));
  }
  [[nodiscard]] FabricMessage receive() const {
    std::string buffer(4096, '\0');
    const ssize_t got = recv(client_, buffer.data(), buffer.size(), 0);
    return unpack(std::string_view(buffer).substr(0, got < 0 ? 0 : static_cast<std::size_t>(got)))
        .value_or(FabricMessage{});
  }

  std::string folder_;
  int client_ = -1;
};

TEST_F(Folder, AClientRegistersAndGetsItsOrder) {
  auto server = FabricServer::open(folder_);
  ASSERT_TRUE(server);
  send({"ctxt", std::string(16, '\0')});
  send({"req", request_body(2, {5})});
  (*server)->serve(duration_ns(20'000'000), [](const FabricRequest& request) {
    return "for " + std::to_string(request.pids[0]);
  });
  const FabricMessage registered = receive();
  EXPECT_EQ(registered.type, "ctxt");
  EXPECT_EQ(registered.body, std::string("\x01\0\0\0", 4));
  EXPECT_EQ(receive().body, "for 5");
}

TEST_F(Folder, TwoDaemonsDoNotShareAnAddress) {
  auto first = FabricServer::open(folder_);
  ASSERT_TRUE(first);
  const auto second = FabricServer::open(folder_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::unsupported);
}

TEST_F(Folder, AnAddressLeftOverByADeadDaemonIsTaken) {
  const int dead = socket(AF_UNIX, SOCK_DGRAM, 0);
  const sockaddr_un left = address("dynolog");
  ASSERT_EQ(bind(dead, reinterpret_cast<const sockaddr*>(&left), sizeof left), 0);
  close(dead);
  EXPECT_TRUE(FabricServer::open(folder_));
}

}  // namespace
}  // namespace fathom::capture
