// The page as one file: it carries the answers that it needs, and no server is asked.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/diagnosis/diagnosis.h"
#include "server/page_file/rank_answers.h"
#include "server/viewed.h"

namespace fathom::server {

struct PageFileOptions {
  std::size_t most_bytes = 10'000'000;  ///< Of the file.
  bool redact = false;                  ///< No word of the recording is in it.
  /// What the page shows in the place of the diagnosis that it would make itself, and what that was
  /// asked with; both or neither. Borrowed. Slices of its findings are those of the first input.
  const Diagnosis* diagnosis = nullptr;
  const DiagnosisRequest* request = nullptr;
  /// With such a diagnosis of several recordings: what was taken of each. Borrowed.
  const RankAnswers* ranks = nullptr;
};

struct PageFile {
  std::string html;
  /// Why an input that the page should show is not in it, or not compared: one for each. Of ranks
  /// only where the page made the diagnosis itself.
  std::vector<Error> lacking;
};

/// Waits until the recording is read. Errors: those of reading the first input; invalid_argument
/// where not even the diagnosis fits.
Result<PageFile> make_page_file(Viewed& viewed, const PageFileOptions& options);

}  // namespace fathom::server
