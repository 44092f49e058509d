// Any bytes may come over a connection: nothing crashes, how they are cut does not matter, and what
// passes the guard is a path of plain characters.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/guard.h"
#include "server/http/request_reader.h"
#include "server/http/target.h"
#include "tests/fuzz/fail.h"

namespace fathom::server {
namespace {

const std::string kToken = "0123456789abcdef0123456789abcdef";

void check_target(const HttpRequest& request) {
  const Result<Target> target = parse_target(request.target);
  if (!target) return;
  if (target->path.find("/.") != std::string::npos) fail("a path leads upwards: " + target->path);
  if (target->path.find_first_of(std::string_view("\0%\\:", 4)) != std::string::npos)
    fail("a path has other than plain characters");
  for (const auto& [name, value] : target->parameters) {
    if (name.find('\0') != std::string::npos || value.find('\0') != std::string::npos)
      fail("a parameter has a NUL");
  }
  const Guard guard{.token = kToken, .other_hosts = {}};
  const auto inside = guard.inside(target->path);
  if (inside && target->path != "/" + kToken + "/" + std::string(*inside))
    fail("a path is inside without the token");
}

/// What came of the bytes: each request as text, with what the guard says of it.
std::vector<std::string> read(std::string_view bytes, std::size_t piece) {
  // Beyond what is fed: just at the limit, the parser counts pieces otherwise than a whole.
  const RequestLimits limits{.header_bytes = std::size_t{1} << 20, .body_bytes = 64};
  RequestReader reader(limits);
  const Guard guard{.token = kToken, .other_hosts = {}};
  std::vector<std::string> seen;
  while (true) {
    RequestReader::State state = reader.read(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (state == RequestReader::State::complete) {
      const HttpRequest request = reader.take();
      if (request.count("transfer-encoding") + request.count("upgrade") > 0)
        fail("what is refused was read");
      check_target(request);
      std::string text = request.method + " " + request.target + " " + request.body;
      for (const auto& [name, value] : request.fields)
        text.append("\n").append(name).append(": ").append(value);
      seen.push_back(text + "\n" + std::to_string(guard.refuses(request)));
      state = reader.read({});
    }
    if (state == RequestReader::State::refused) {
      if (reader.status() < 400) fail("refused without a reason");
      // In one piece a fault may show earlier than where more bytes are waited for.
      break;
    }
    if (bytes.empty()) break;
  }
  return seen;
}

void check(std::string_view bytes) {
  const std::vector<std::string> whole = read(bytes, SIZE_MAX);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}}) {
    if (read(bytes, piece) != whole) fail("it matters how the bytes are cut");
  }
}

}  // namespace
}  // namespace fathom::server

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fathom::server::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
