// Connection: one client; what it does next depends on what came and what is due.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/descriptor.h"
#include "server/http/request_reader.h"
#include "server/http/response.h"

namespace fathom::server {

using Moment = std::chrono::steady_clock::time_point;

struct Connection {
  enum class State : std::uint8_t {
    reading,    ///< Waits for the rest of a request, or for the next.
    answering,  ///< A thread works for it.
    writing,
    lingering,  ///< Refused: the end was sent; what still comes is thrown away for a moment.
  };

  Connection(Descriptor descriptor, const RequestLimits& limits, Moment due)
      : socket(std::move(descriptor)), reader(limits), deadline(due) {}

  Descriptor socket;
  RequestReader reader;
  State state = State::reading;
  Moment deadline;
  bool begun = false;      ///< Bytes of a request came.
  bool keep_alive = true;  ///< After the answer.
  Response response;
  std::string head;
  std::size_t written = 0;  ///< Of the head and the bytes behind it.
  bool with_body = true;    ///< Not for HEAD.
  std::shared_ptr<std::atomic<bool>> dropped = std::make_shared<std::atomic<bool>>(false);
  std::uint64_t serial = 0;  ///< Unlike that of any other.

  [[nodiscard]] bool idle() const { return state == State::reading && !begun; }
  [[nodiscard]] std::size_t bytes_left() const {
    return head.size() + (with_body ? response.bytes().size() : 0) - written;
  }
};

}  // namespace fathom::server
