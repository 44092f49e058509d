// Puts the pieces of a document together again, in order.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "formats/chrome/batch.h"
#include "formats/chrome/event_list.h"
#include "formats/chrome/event_parser.h"
#include "formats/chrome/outline.h"
#include "formats/chrome/pieces.h"

namespace fathom::chrome {

/// What a parsing thread made of a piece, under the guess that it lies inside the list of events
/// and begins between two of them.
struct Guess {
  bool made = false;
  ListResult result;
  Batch batch;
};

/// Takes the pieces in the order of the input. A guess is used when the text before it ended where
/// the guess began; otherwise the piece is read again, here, from where the text before it really
/// ended. So a wrong cut costs time, never truth.
class Document {
 public:
  explicit Document(SharedTables& tables) : parser_(tables) {}

  void add(const Piece& piece, const Guess& guess);

  /// After the last piece: counts what is missing. An error when nothing here was a trace.
  Result<void> finish(bool source_damaged);

  [[nodiscard]] Batch& rows() { return rows_; }
  [[nodiscard]] Outline& outline() { return outline_; }
  [[nodiscard]] EventParser& parser() { return parser_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  void read(const char* begin, const char* end, std::uint64_t offset, bool last);
  /// Handles the end of a stretch of events; returns where reading goes on, or `end`.
  const char* follow(const ListResult& result, const char* end);

  EventParser parser_;
  Outline outline_;
  Batch rows_;
  Batch scratch_;
  std::string carry_;  // an event that the pieces so far did not end
  std::uint64_t bytes_ = 0;
};

}  // namespace fathom::chrome
