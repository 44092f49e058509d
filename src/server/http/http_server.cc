// The loop over all connections: poll, read, hand out, write, and end what is overdue.
#include "server/http/http_server.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <list>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/out_of_memory.h"
#include "server/http/connection.h"
#include "server/http/workers.h"

namespace fathom::server {
namespace {

using Clock = std::chrono::steady_clock;
using State = Connection::State;
using std::chrono::milliseconds;

constexpr std::size_t kReadBytes = std::size_t{16} << 10;
/// A client that still sends when it is refused would else see a reset instead of the answer.
constexpr milliseconds kLinger{500};

bool wants_gzip(const HttpRequest& request) {
  const std::string_view accepted = request.field("accept-encoding");
  const std::size_t at = accepted.find("gzip");
  return at != std::string_view::npos && accepted.substr(at).find(";q=0") != 4;
}

/// A request and what became of it, between the loop and a worker.
struct Done {
  std::uint64_t serial = 0;
  Response response;
};

/// What `answer` makes of it, whatever goes wrong.
Response answered(const Answer& answer, const GuardedRequest& request, bool gzip) {
  try {
    Response response = answer(request);
    if (!request.dropped.load()) gzip ? compress(response) : expand(response);
    return response;
  } catch (const std::bad_alloc& error) {
    return error_response(500, "out_of_memory", out_of_memory_text(error, "answering"));
  } catch (const std::exception& error) {
    return error_response(500, "internal", error.what());
  }
}

}  // namespace

class HttpServer::Loop {
 public:
  Loop(const Listener& listener, Guard guard, Answer answer, const HttpOptions& options)
      : listener_(listener),
        guard_(std::move(guard)),
        answer_(std::move(answer)),
        options_(options),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        watched_(options.watched) {}

  Result<void> run();

  void stop() noexcept {
    stopped_.store(true);
    wake();
  }

 private:
  void wake() const noexcept {
    const std::uint64_t one = 1;
    // It fails only where it is awake already.
    [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof one);
  }
  [[nodiscard]] bool full() const { return connections_.size() >= options_.connections; }
  [[nodiscard]] int patience(Moment now) const;
  void fill_polls();
  void serve_polls();
  void look_at_watched();
  void accept_all();
  void make_way();
  [[nodiscard]] Connection* idle_longest();
  void serve(Connection& connection, short events);
  void read_from(Connection& connection);
  void go_on(Connection& connection, RequestReader::State state);
  void take_request(Connection& connection);
  void hand_out(Connection& connection, const HttpRequest& request, Target target);
  void reply(Connection& connection, Response response);
  void write_to(Connection& connection);
  void after_answer(Connection& connection);
  void linger(Connection& connection);
  void end(Connection& connection) {
    connection.dropped->store(true);
    connection.socket.reset();
  }
  void collect_done();
  void end_overdue(Moment now);

  const Listener& listener_;
  const Guard guard_;
  const Answer answer_;
  const HttpOptions options_;
  Descriptor wake_;
  std::atomic<bool> stopped_ = false;
  int watched_;
  std::list<Connection> connections_;
  std::vector<pollfd> polls_;
  std::vector<Connection*> polled_;  // of each poll, or null
  std::uint64_t serial_ = 0;
  Moment asked_ = Clock::now();  // when somebody last asked
  std::mutex mutex_;
  std::vector<Done> done_;
  std::unique_ptr<Workers> workers_;  // last: its threads use the rest
};

/// Milliseconds until something is due, for poll().
int HttpServer::Loop::patience(Moment now) const {
  Moment due = now + milliseconds(60'000);
  for (const Connection& connection : connections_) {
    if (connection.state != State::answering) due = std::min(due, connection.deadline);
  }
  if (options_.end_when_idle) due = std::min(due, asked_ + *options_.end_when_idle);
  const auto left = std::chrono::ceil<milliseconds>(due - now).count();
  return static_cast<int>(std::max<std::int64_t>(left, 0));
}

void HttpServer::Loop::fill_polls() {
  polls_.clear();
  polled_.clear();
  const auto add = [this](int descriptor, short events, Connection* connection) {
    polls_.push_back({.fd = descriptor, .events = events, .revents = 0});
    polled_.push_back(connection);
  };
  add(wake_.get(), POLLIN, nullptr);
  add(watched_, POLLIN, nullptr);
  add(options_.signals, POLLIN, nullptr);
  const bool room = !full() || std::ranges::any_of(connections_, &Connection::idle);
  for (const Descriptor& socket : listener_.sockets()) {
    if (room) add(socket.get(), POLLIN, nullptr);
  }
  for (Connection& connection : connections_) {
    const int events = connection.state == State::writing     ? POLLOUT
                       : connection.state == State::answering ? POLLRDHUP
                                                              : POLLIN;
    add(connection.socket.get(), static_cast<short>(events), &connection);
  }
}

Result<void> HttpServer::Loop::run() {
  if (!wake_) return Error{ErrorCode::io, "the system gives no event descriptor"};
  workers_ = std::make_unique<Workers>(options_.threads, options_.waiting);
  asked_ = Clock::now();
  while (!stopped_.load()) {
    fill_polls();
    const int ready = poll(polls_.data(), polls_.size(), patience(Clock::now()));
    if (ready < 0 && errno != EINTR) {
      return Error{ErrorCode::io, "poll: " + std::generic_category().message(errno)};
    }
    if (ready > 0) serve_polls();
    collect_done();
    end_overdue(Clock::now());
    std::erase_if(connections_, [](const Connection& one) { return !one.socket; });
    const bool busy = std::ranges::any_of(
        connections_, [](const Connection& one) { return one.state == State::answering; });
    if (options_.end_when_idle && !busy && Clock::now() >= asked_ + *options_.end_when_idle) break;
  }
  // Answers under way go nowhere; their threads end with this object.
  for (Connection& connection : connections_) end(connection);
  connections_.clear();
  return {};
}

void HttpServer::Loop::serve_polls() {
  for (std::size_t i = 0; i < polls_.size(); ++i) {
    const short events = polls_[i].revents;
    if (events == 0) continue;
    if (i == 0) {
      std::uint64_t count = 0;
      [[maybe_unused]] const ssize_t got = read(wake_.get(), &count, sizeof count);
    } else if (i == 1) {
      look_at_watched();
    } else if (i == 2) {
      stopped_.store(true);
    } else if (polled_[i] == nullptr) {
      accept_all();
    } else {
      serve(*polled_[i], events);
    }
  }
}

void HttpServer::Loop::look_at_watched() {
  std::array<char, 512> thrown_away{};
  const ssize_t got = read(watched_, thrown_away.data(), thrown_away.size());
  if (got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN))) return;
  watched_ = -1;
  stopped_.store(true);
}

void HttpServer::Loop::accept_all() {
  for (const Descriptor& socket : listener_.sockets()) {
    while (true) {
      if (full()) make_way();
      if (full()) return;
      Descriptor accepted(accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!accepted) break;
      // From here on it has as long as for a request: who only connects gets no more.
      Connection& added = connections_.emplace_back(std::move(accepted), options_.request,
                                                    Clock::now() + options_.request_timeout);
      added.serial = ++serial_;
    }
  }
}

/// Ends the connection that was idle longest. One that has sent a request meanwhile, which was not
/// read yet, is none.
void HttpServer::Loop::make_way() {
  for (std::size_t tries = connections_.size(); tries > 0; --tries) {
    Connection* const oldest = idle_longest();
    if (oldest == nullptr) return;
    read_from(*oldest);
    if (oldest->socket && !oldest->idle()) continue;
    // Its poll of this round may still stand.
    end(*oldest);
    std::ranges::replace(polled_, oldest, nullptr);
    connections_.remove_if([oldest](const Connection& one) { return &one == oldest; });
    return;
  }
}

Connection* HttpServer::Loop::idle_longest() {
  Connection* oldest = nullptr;
  for (Connection& connection : connections_) {
    if (connection.socket && connection.idle() &&
        (oldest == nullptr || connection.deadline < oldest->deadline)) {
      oldest = &connection;
    }
  }
  return oldest;
}

void HttpServer::Loop::serve(Connection& connection, short events) {
  if (!connection.socket) return;
  if (connection.state == State::answering) {
    // Nobody waits any more.
    if ((events & (POLLRDHUP | POLLHUP | POLLERR)) != 0) end(connection);
  } else if (connection.state == State::writing) {
    write_to(connection);
  } else {
    read_from(connection);
  }
}

void HttpServer::Loop::read_from(Connection& connection) {
  std::array<char, kReadBytes> bytes{};
  const ssize_t got = recv(connection.socket.get(), bytes.data(), bytes.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return end(connection);
  if (connection.state == State::lingering) return;
  if (!connection.begun) {
    connection.begun = true;
    connection.deadline = Clock::now() + options_.request_timeout;
  }
  go_on(connection, connection.reader.read({bytes.data(), static_cast<std::size_t>(got)}));
}

void HttpServer::Loop::go_on(Connection& connection, RequestReader::State state) {
  if (state == RequestReader::State::incomplete) return;
  connection.keep_alive = false;
  connection.with_body = true;
  if (state == RequestReader::State::refused)
    return reply(connection, error_response(connection.reader.status(), "bad_request",
                                            "this is no request that is answered here"));
  take_request(connection);
}

void HttpServer::Loop::take_request(Connection& connection) {
  const HttpRequest request = connection.reader.take();
  connection.with_body = request.method != "HEAD";
  if (const unsigned status = guard_.refuses(request); status != 0)
    return reply(connection, error_response(status, "forbidden", "not from there"));
  Result<Target> target = parse_target(request.target);
  if (!target) return reply(connection, error_response(target.error()));
  if (!guard_.inside(target->path))
    return reply(connection, error_response(404, "not_found", "there is nothing here"));
  if (request.method != "GET" && request.method != "HEAD")
    return reply(connection, error_response(405, "method", "only GET and HEAD are answered"));
  connection.keep_alive = request.keep_alive;
  asked_ = Clock::now();
  hand_out(connection, request, *std::move(target));
}

void HttpServer::Loop::hand_out(Connection& connection, const HttpRequest& request, Target target) {
  connection.state = State::answering;
  connection.dropped->store(false);
  const bool taken = workers_->add([this, target = std::move(target), gzip = wants_gzip(request),
                                    serial = connection.serial, dropped = connection.dropped] {
    if (dropped->load()) return;
    const GuardedRequest guarded{*guard_.inside(target.path), target, *dropped};
    try {
      Done done{serial, answered(answer_, guarded, gzip)};
      const std::scoped_lock lock(mutex_);
      done_.push_back(std::move(done));
    } catch (const std::bad_alloc&) {  // not even for a refusal
      dropped->store(true);
    }
    wake();
  });
  if (!taken) reply(connection, error_response(503, "busy", "too many requests wait; try again"));
}

void HttpServer::Loop::collect_done() {
  std::vector<Done> done;
  {
    const std::scoped_lock lock(mutex_);
    done.swap(done_);
  }
  for (Done& one : done) {
    asked_ = Clock::now();
    const auto to = std::ranges::find(connections_, one.serial, &Connection::serial);
    if (to != connections_.end() && to->socket) reply(*to, std::move(one.response));
  }
  for (Connection& each : connections_)
    if (each.state == State::answering && each.dropped->load()) end(each);
}

void HttpServer::Loop::reply(Connection& connection, Response response) {
  connection.response = std::move(response);
  connection.head = head_of(connection.response, connection.keep_alive);
  connection.written = 0;
  connection.state = State::writing;
  connection.deadline = Clock::now() + options_.write_timeout;
  write_to(connection);
}

void HttpServer::Loop::write_to(Connection& connection) {
  while (connection.bytes_left() > 0) {
    const std::size_t of_head = std::min(connection.written, connection.head.size());
    const std::string_view body =
        connection.with_body ? connection.response.bytes().substr(connection.written - of_head)
                             : std::string_view();
    // The calls take what they write as mutable, and leave it as it is.
    std::array<iovec, 2> parts{
        iovec{connection.head.data() + of_head, connection.head.size() - of_head},
        iovec{const_cast<char*>(body.data()), body.size()}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t sent = sendmsg(connection.socket.get(), &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent <= 0) return end(connection);
    connection.written += static_cast<std::size_t>(sent);
    connection.deadline = Clock::now() + options_.write_timeout;
  }
  after_answer(connection);
}

void HttpServer::Loop::after_answer(Connection& connection) {
  connection.response = {};
  if (!connection.keep_alive) return linger(connection);
  connection.state = State::reading;
  connection.begun = !connection.reader.empty();
  connection.deadline =
      Clock::now() + (connection.begun ? options_.request_timeout : options_.idle_timeout);
  // The next request may have come together with the one before.
  if (connection.begun) go_on(connection, connection.reader.read({}));
}

void HttpServer::Loop::linger(Connection& connection) {
  if (shutdown(connection.socket.get(), SHUT_WR) != 0) return end(connection);
  connection.state = State::lingering;
  connection.deadline = Clock::now() + kLinger;
}

void HttpServer::Loop::end_overdue(Moment now) {
  for (Connection& connection : connections_) {
    if (!connection.socket || connection.state == State::answering || connection.deadline > now)
      continue;
    if (connection.state == State::reading && connection.begun) {
      connection.keep_alive = false;
      connection.with_body = true;
      reply(connection, error_response(408, "timeout", "the request did not come to its end"));
    } else {
      end(connection);
    }
  }
}

HttpServer::HttpServer(const Listener& listener, Guard guard, Answer answer,
                       const HttpOptions& options)
    : loop_(std::make_unique<Loop>(listener, std::move(guard), std::move(answer), options)) {}
HttpServer::~HttpServer() = default;

Result<void> HttpServer::run() { return loop_->run(); }
void HttpServer::stop() noexcept { loop_->stop(); }

}  // namespace fathom::server
