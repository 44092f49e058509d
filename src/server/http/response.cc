// Writes the heads of answers, and the JSON of errors.
#include "server/http/response.h"

#include <array>
#include <span>

#include "base/byte_source.h"
#include "base/json_writer.h"
#include "base/memory_sink.h"

namespace fathom::server {
namespace {

/// Below, the fields that say so weigh as much as is saved.
constexpr std::size_t kWorthCompressing = 1024;

std::string_view reason(unsigned status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 417:
      return "Expectation Failed";
    case 422:
      return "Unprocessable Content";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    default:
      return "Error";
  }
}

/// The page runs its own script and style, and asks its own server; nothing else, nowhere else.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' "
    "data:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

struct Kind {
  std::string_view code;
  unsigned status;
};

Kind kind_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return {"invalid_argument", 400};
    case ErrorCode::not_found:
      return {"not_found", 404};
    case ErrorCode::unsupported:
      return {"unsupported", 422};
    case ErrorCode::corrupt:
      return {"corrupt", 422};
    case ErrorCode::io:
      return {"io", 500};
    case ErrorCode::internal:
      break;
  }
  return {"internal", 500};
}

}  // namespace

Response json_response(std::string body) {
  Response response;
  response.body = std::move(body);
  return response;
}

Response tiles_response(std::string body) {
  Response response;
  response.type = "application/octet-stream";
  response.body = std::move(body);
  response.immutable = true;
  return response;
}

Response error_response(unsigned status, std::string_view code, std::string_view message) {
  Response response;
  response.status = status;
  JsonWriter json(response.body, kJsonCompact);
  json.object().key("error").object().member("code", code).member("message", message).end().end();
  return response;
}

Response error_response(const Error& error) {
  const Kind kind = kind_of(error.code);
  Response response = error_response(kind.status, kind.code, error.message);
  response.error = error;
  return response;
}

void compress(Response& response) {
  if (response.gzipped || response.fixed.data() != nullptr ||
      response.body.size() < kWorthCompressing) {
    return;
  }
  MemorySink packed;
  const std::unique_ptr<ByteSink> sink = gzip_sink(packed);
  // What fails here is answered as it is.
  if (!sink->write(response.body) || !sink->finish() || packed.text.size() >= response.body.size())
    return;
  response.body = std::move(packed.text);
  response.gzipped = true;
}

void expand(Response& response) {
  if (!response.gzipped) return;
  const std::string_view packed = response.bytes();
  Result<std::unique_ptr<ByteSource>> source =
      open_bytes(std::as_bytes(std::span(packed.data(), packed.size())));
  std::string plain;
  std::array<std::byte, std::size_t{16} << 10> block{};
  while (source) {
    const Result<std::size_t> got = (*source)->read(block);
    if (!got || *got == 0) break;
    plain.append(reinterpret_cast<const char*>(block.data()), *got);
  }
  response.body = std::move(plain);
  response.fixed = {};
  response.gzipped = false;
}

std::string head_of(const Response& response, bool keep_alive) {
  std::string head = "HTTP/1.1 " + std::to_string(response.status) + " ";
  head += reason(response.status);
  head += "\r\nContent-Type: ";
  head += response.type;
  head += "\r\nContent-Length: " + std::to_string(response.bytes().size());
  if (response.gzipped) head += "\r\nContent-Encoding: gzip";
  head += "\r\nVary: Accept-Encoding\r\nCache-Control: ";
  head += response.immutable ? "private, max-age=31536000, immutable" : "no-store";
  head += "\r\nContent-Security-Policy: ";
  head += kPolicy;
  head +=
      "\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer"
      "\r\nCross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Resource-Policy: same-origin"
      "\r\nX-Frame-Options: DENY\r\nConnection: ";
  head += keep_alive ? "keep-alive" : "close";
  if (response.status == 503) head += "\r\nRetry-After: 1";
  return head + "\r\n\r\n";
}

}  // namespace fathom::server
