// A program that asks for work, played by the test: the answers it gets, and where its trace goes.
#include "record/kineto_recording.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace fathom::record {
namespace {

namespace fs = std::filesystem;
using capture::FabricMessage;

constexpr std::int32_t kEvents = 1;

class RecordKineto : public testing::Test {
 public:
  RecordKineto() {
    program_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    const sockaddr_un own = address("program");
    EXPECT_EQ(bind(program_, reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
    Result<std::unique_ptr<capture::FabricServer>> server =
        capture::FabricServer::open(folder_.string());
    EXPECT_TRUE(server);
    server_ = std::move(*server);
  }
  ~RecordKineto() override {
    close(program_);
    fs::remove_all(folder_);
  }
  RecordKineto(const RecordKineto&) = delete;
  RecordKineto& operator=(const RecordKineto&) = delete;

 protected:
  [[nodiscard]] sockaddr_un address(const std::string& name) const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (folder_ / name).string().copy(address.sun_path, sizeof address.sun_path - 1);
    return address;
  }
  /// As libkineto does in these processes, every few seconds.
  void ask(std::int32_t kinds, std::vector<std::int32_t> pids) const {
    const auto count = static_cast<std::int32_t>(pids.size());
    std::string body(16, '\0');
    std::memcpy(body.data(), &kinds, sizeof kinds);
    std::memcpy(body.data() + 4, &count, sizeof count);
    body.append(reinterpret_cast<const char*>(pids.data()), sizeof(std::int32_t) * pids.size());
    const std::string datagram = capture::pack({"req", body});
    const sockaddr_un daemon = address("dynolog");
    ASSERT_EQ(sendto(program_, datagram.data(), datagram.size(), 0,
                     reinterpret_cast<const sockaddr*>(&daemon), sizeof daemon),
              static_cast<ssize_t>(datagram.size()));
  }
  /// The answer to the last request; "" where there is none.
  [[nodiscard]] std::string answer() const {
    std::string buffer(4096, '\0');
    const ssize_t got = recv(program_, buffer.data(), buffer.size(), 0);
    if (got <= 0) return "";
    const auto message =
        capture::unpack(std::string_view(buffer).substr(0, static_cast<std::size_t>(got)));
    return message ? message->body : "";
  }
  static std::string value_of(const std::string& configuration, const std::string& key) {
    const std::size_t at = configuration.find(key + "=");
    if (at == std::string::npos) return "";
    const std::size_t begin = at + key.size() + 1;
    return configuration.substr(begin, configuration.find('\n', begin) - begin);
  }
  Result<std::vector<pid_t>> record() {
    return record_kineto(
        request_, *server_,
        {.progress =
             [this](const std::string& text) {
               progress_.push_back(text);
               if (text.find("being recorded for") != std::string::npos && on_recording_)
                 on_recording_();
             },
         .warning = [](const std::string&) {},
         .error = [](const std::string&) {}});
  }

  static fs::path make_folder() {
    std::string pattern = (fs::temp_directory_path() / "fathom_attach_XXXXXX").string();
    return mkdtemp(pattern.data());
  }

  fs::path folder_ = make_folder();
  int program_ = -1;
  std::unique_ptr<capture::FabricServer> server_;
  KinetoRequest request_{.pids = {getpid()},
                         .duration = std::chrono::milliseconds(1500),
                         .timeout = {},
                         .with = {"shapes"},
                         .folder = folder_.string()};
  std::vector<std::string> progress_;
  std::function<void()> on_recording_;
};

TEST_F(RecordKineto, AProcessThatAsksIsToldWhatToRecordAndItsTraceIsGathered) {
  ask(capture::kActivities, {getpid(), getppid()});
  std::string configuration;
  on_recording_ = [&] {
    configuration = answer();
    std::ofstream(value_of(configuration, "ACTIVITIES_LOG_FILE")) << R"({"traceEvents": []})";
  };
  const Result<std::vector<pid_t>> recorded = record();
  ASSERT_TRUE(recorded) << recorded.error().message;
  EXPECT_EQ(*recorded, std::vector<pid_t>{getpid()});
  EXPECT_EQ(value_of(configuration, "ACTIVITIES_DURATION_MSECS"), "1500");
  EXPECT_EQ(value_of(configuration, "PROFILE_START_TIME"), "0");
  EXPECT_EQ(value_of(configuration, "PROFILE_REPORT_INPUT_SHAPES"), "true");
  EXPECT_TRUE(fs::exists(folder_ / ("torch-" + std::to_string(getpid()) + "-1.pt.trace.json")));
  EXPECT_TRUE(progress_.back().ends_with("is being recorded for 1.50 s"));
}

TEST_F(RecordKineto, WithoutAnybodyWhoAsksItSaysWhy) {
  const Result<std::vector<pid_t>> recorded = record();
  ASSERT_FALSE(recorded);
  EXPECT_EQ(recorded.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(recorded.error().message.find(" did not ask for work: "), std::string::npos);
}

TEST_F(RecordKineto, OfOthersThatAskOnlyTheNumbersAreNamed) {
  ask(capture::kActivities, {1});
  const Result<std::vector<pid_t>> recorded = record();
  ASSERT_FALSE(recorded);
  EXPECT_TRUE(recorded.error().message.ends_with("; processes that did ask: 1"));
  EXPECT_EQ(answer(), "");
}

TEST_F(RecordKineto, AProcessThatIsProfiledAlreadyIsLeftAlone) {
  ask(kEvents, {getpid()});
  const Result<std::vector<pid_t>> recorded = record();
  ASSERT_FALSE(recorded);
  EXPECT_TRUE(recorded.error().message.ends_with(" is being profiled by another tool"));
}

TEST_F(RecordKineto, AProcessIsCalledByItsCommand) {
  const std::string title = process_title(getpid());
  EXPECT_TRUE(title.starts_with("process " + std::to_string(getpid()) + " ("));
  EXPECT_NE(title.find("record_test"), std::string::npos);
  EXPECT_EQ(process_title(-1), "process -1");
}

}  // namespace
}  // namespace fathom::record
