// Reads requests with the parser of Boost.Beast, and refuses what we never answer.
// Of Beast 1.74 only the parser of plain requests is used: chunked bodies, trailers and upgrades,
// whose later fixes it lacks, are refused as soon as the header is read.
#include "server/http/request_reader.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cctype>
#include <optional>
#include <string>

namespace fathom::server {
namespace {

namespace http = boost::beast::http;
using Parser = http::request_parser<http::string_body>;
using boost::system::error_code;

constexpr unsigned kBadRequest = 400;
constexpr unsigned kBodyTooLarge = 413;
constexpr unsigned kExpectationFailed = 417;
constexpr unsigned kHeaderTooLarge = 431;
constexpr unsigned kNotImplemented = 501;

unsigned status_of(const error_code& error) {
  if (error == http::error::header_limit) return kHeaderTooLarge;
  if (error == http::error::body_limit) return kBodyTooLarge;
  return kBadRequest;
}

/// Why a header is refused, or 0.
unsigned refusal(const Parser::value_type& message) {
  if (message.count(http::field::transfer_encoding) > 0) return kNotImplemented;
  if (message.count(http::field::upgrade) > 0) return kNotImplemented;
  if (message.count(http::field::expect) > 0) return kExpectationFailed;
  if (message.count(http::field::content_length) > 1) return kBadRequest;
  return 0;
}

std::string lower(boost::beast::string_view text) {
  std::string out(text.data(), text.size());
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::string copy(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

struct RequestReader::Impl {
  RequestLimits limits;
  std::optional<Parser> parser;
  std::string kept;  // came, and is not parsed yet
  unsigned status = 0;

  explicit Impl(const RequestLimits& given) : limits(given) { begin(); }

  void begin() {
    parser.emplace();
    parser->header_limit(static_cast<std::uint32_t>(limits.header_bytes));
    parser->body_limit(limits.body_bytes);
    parser->eager(false);
  }

  State refuse(unsigned why) {
    status = why;
    kept.clear();
    return State::refused;
  }

  /// Parses what is kept, up to the end of the header or of the request.
  State parse() {
    if (status != 0) return State::refused;
    while (!parser->is_done()) {
      const bool in_header = !parser->is_header_done();
      error_code error;
      const std::size_t used =
          parser->put(boost::asio::const_buffer(kept.data(), kept.size()), error);
      kept.erase(0, used);
      if (error == http::error::need_more) {
        // What the parser does not take yet grows only within the header.
        return kept.size() > limits.header_bytes ? refuse(kHeaderTooLarge) : State::incomplete;
      }
      if (error) return refuse(status_of(error));
      if (in_header && parser->is_header_done()) {
        if (const unsigned why = refusal(parser->get()); why != 0) return refuse(why);
        parser->eager(true);
      } else if (used == 0) {
        return State::incomplete;
      }
    }
    return State::complete;
  }
};

RequestReader::RequestReader(const RequestLimits& limits) : impl_(std::make_unique<Impl>(limits)) {}
RequestReader::~RequestReader() = default;

RequestReader::State RequestReader::read(std::string_view bytes) {
  if (impl_->status != 0) return State::refused;
  impl_->kept.append(bytes);
  return impl_->parse();
}

HttpRequest RequestReader::take() {
  Parser::value_type message = impl_->parser->release();
  HttpRequest request;
  request.method = copy(message.method_string());
  request.target = copy(message.target());
  request.keep_alive = message.keep_alive();
  for (const auto& field : message)
    request.fields.emplace_back(lower(field.name_string()), copy(field.value()));
  request.body = std::move(message.body());
  impl_->begin();
  return request;
}

bool RequestReader::empty() const { return impl_->kept.empty() && !impl_->parser->got_some(); }

unsigned RequestReader::status() const { return impl_->status; }

}  // namespace fathom::server
