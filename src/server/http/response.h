// An answer, and its head as HTTP has it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::server {

struct Response {
  unsigned status = 200;
  std::string_view type = "application/json";  ///< Lives as long as the program.
  std::string body;
  /// Instead of `body`: bytes that live as long as the program.
  std::string_view fixed;
  std::optional<Error> error;  ///< What the body says, where there is no answer.
  bool gzipped = false;        ///< The bytes are compressed.
  bool immutable = false;      ///< The same address always has the same answer.

  [[nodiscard]] std::string_view bytes() const {
    return fixed.data() != nullptr ? fixed : std::string_view(body);
  }
};

Response json_response(std::string body);
/// Bytes of tiles, which the same address always has.
Response tiles_response(std::string body);
/// {"error": {"code", "message"}}.
Response error_response(unsigned status, std::string_view code, std::string_view message);
/// By the error's code.
Response error_response(const Error& error);

/// Compresses the body where that is worth it.
void compress(Response& response);

/// The bytes uncompressed, for a client that takes no others.
void expand(Response& response);

/// Everything before the body, with the fields that every answer has: nothing may be stored,
/// framed, sniffed or asked for from elsewhere.
std::string head_of(const Response& response, bool keep_alive);

}  // namespace fathom::server
