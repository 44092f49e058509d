// Checks Host, Origin, Sec-Fetch-Site and the token.
#include "server/http/guard.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>

#include <sys/random.h>

namespace fathom::server {
namespace {

constexpr unsigned kForbidden = 403;
constexpr unsigned kBadRequest = 400;
constexpr std::array<std::string_view, 3> kLoopback = {"127.0.0.1", "[::1]", "localhost"};

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// The name of "name:port", or "" where it is neither that nor a name.
std::string_view name_of(std::string_view host) {
  const std::size_t bracket = host.starts_with('[') ? host.find(']') : 0;
  if (bracket == std::string_view::npos) return {};
  const std::size_t colon = host.find(':', bracket);
  if (colon == std::string_view::npos) return host;
  return is_port(host.substr(colon + 1)) ? host.substr(0, colon) : std::string_view();
}

bool same(char a, char b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return lower(a) == lower(b);
}

bool same(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return same(x, y); });
}

}  // namespace

unsigned Guard::refuses(const HttpRequest& request) const {
  if (request.count("host") != 1) return kBadRequest;
  const std::string_view host = request.field("host");
  const std::string_view name = name_of(host);
  const auto is_it = [name](std::string_view ours) { return same(name, ours); };
  if (std::ranges::none_of(kLoopback, is_it) && std::ranges::none_of(other_hosts, is_it))
    return kForbidden;
  for (const auto& [key, value] : request.fields) {
    // Another port of this machine is another origin.
    if (key == "origin" && !same(value, "http://" + std::string(host))) return kForbidden;
    if (key == "sec-fetch-site" && value != "same-origin" && value != "none") return kForbidden;
  }
  return 0;
}

std::optional<std::string_view> Guard::inside(std::string_view path) const {
  if (token.empty() || path.size() < token.size() + 2 || path.front() != '/') return std::nullopt;
  unsigned different = path[token.size() + 1] == '/' ? 0 : 1;
  for (std::size_t i = 0; i < token.size(); ++i) {
    different |= static_cast<unsigned>(static_cast<unsigned char>(path[i + 1]) ^
                                       static_cast<unsigned char>(token[i]));
  }
  if (different != 0) return std::nullopt;
  return path.substr(token.size() + 2);
}

Result<std::string> random_token() {
  std::array<unsigned char, 16> bytes{};
  ssize_t got = 0;
  do {
    got = getrandom(bytes.data(), bytes.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(bytes.size()))
    return Error{ErrorCode::io, "the system gives no random numbers"};
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string token;
  for (const unsigned byte : bytes) {
    token += kHex[byte >> 4U];
    token += kHex[byte & 15U];
  }
  return token;
}

}  // namespace fathom::server
