// A request whose client is gone ends what is computed for it; what was begun is computed anew for
// the next who asks.
#include <atomic>
#include <limits>
#include <string>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "analysis/timeline/area_sums.h"
#include "analysis/timeline/flame.h"
#include "analysis/timeline/name_search.h"
#include "base/parallel.h"
#include "base/stop.h"
#include "base/thread_pool.h"
#include "engine/diagnosis/diagnosis.h"
#include "engine/whatif/what_if.h"
#include "server/http/http_server.h"
#include "server/kept_answers.h"
#include "store/trace_builder.h"

namespace fathom::server {
namespace {

constexpr std::string_view kToken = "00112233445566778899aabbccddeeff";

Trace some_trace() {
  TraceBuilder builder;
  for (std::int64_t step = 0; step < 6; ++step) {
    builder.on_thread(1).step(step, step * 1000, 900);
    for (std::int64_t i = 0; i < 8; ++i) builder.op("aten::mm", step * 1000 + 100 * i, 90);
  }
  return builder.build();
}

/// Does this look at whether its answer is still wanted, and is it there for the next who asks?
template <typename Work>
void expect_stops(std::string_view what, const Work& work) {
  const std::atomic<bool> nobody_waits = true;
  {
    const StopScope scope(&nobody_waits);
    EXPECT_THROW(work(), Stopped) << what;
  }
  EXPECT_NO_THROW(work()) << what;
}

TEST(Stopping, EveryLongComputationLooksWhetherItIsWanted) {
  const Session session(some_trace(), "trace.json");
  const Trace& trace = session.trace();
  const LaneTracks lanes(trace);
  const std::vector<std::size_t> tracks = {0};
  const Interval all{time_ns(0), time_ns(10'000)};
  const Context context{trace, session.analyses(), {}, {}};
  expect_stops("search", [&] { search_names(trace, "mm", all, 10); });
  expect_stops("sums", [&] { area_sums(trace, lanes, tracks, all, SumBy::name); });
  expect_stops("flame graph", [&] { flame_of(context, lanes, tracks, all); });
  expect_stops("tracks", [&] { const LaneTracks again(trace); });
  expect_stops("report", [&] { EXPECT_TRUE(session.run(*find_report("ops"), {})); });
  expect_stops("diagnosis", [&] { EXPECT_TRUE(diagnose(session, {})); });
  expect_stops("what if",
               [&] { static_cast<void>(what_if(session, {.scale = {"op:aten::mm=0.5"}})); });
}

TEST(Stopping, AnswersThatAreKeptAreComputedAnewForTheNext) {
  KeptAnswers kept;
  const std::atomic<bool> nobody_waits = true;
  const auto compute = [] {
    stop_point();
    return Result<std::string>("answer");
  };
  {
    const StopScope scope(&nobody_waits);
    EXPECT_THROW(static_cast<void>(kept.get("question", compute)), Stopped);
  }
  EXPECT_EQ(*kept.get("question", compute), "answer");
}

/// A connection to the server that has asked for `path`.
int asking(std::uint16_t port, std::string_view path) {
  const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const std::string request = "GET /" + std::string(kToken) + "/" + std::string(path) +
                              " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
  EXPECT_EQ(send(client, request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  return client;
}

/// Work without an end: only that nobody waits ends it.
TEST(Stopping, WorkEndsWhenItsClientIsGone) {
  Result<Listener> listener = Listener::on_port(0);
  ASSERT_TRUE(listener.ok());
  std::atomic<bool> begun = false;
  std::atomic<bool> stopped = false;
  HttpServer* running = nullptr;
  HttpServer server(
      *listener, Guard{.token = std::string(kToken), .other_hosts = {}},
      [&](const GuardedRequest& request) {
        const ThreadPool pool(2);
        const StopScope scope(&request.dropped);
        begun = true;
        begun.notify_all();
        try {
          for_each_in_parallel(std::numeric_limits<std::size_t>::max() / 2, 0, [](std::size_t) {});
        } catch (const Stopped&) {
          stopped = true;
        }
        running->stop();
        return json_response("{}");
      },
      HttpOptions());
  running = &server;
  std::thread loop([&server] { EXPECT_TRUE(server.run()); });
  const int client = asking(listener->port(), "api/anything");
  begun.wait(false);
  EXPECT_FALSE(stopped);
  close(client);
  loop.join();
  EXPECT_TRUE(stopped);
}

}  // namespace
}  // namespace fathom::server
