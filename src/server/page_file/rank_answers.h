// RankAnswers: what a page in a file carries of each of several recordings.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "engine/diagnosis/diagnosis.h"
#include "engine/diagnosis/typed_diagnosis.h"
#include "engine/inputs/inputs.h"
#include "engine/query/typed.h"
#include "engine/session.h"
#include "server/http/response.h"
#include "server/page_file/redactor.h"

namespace fathom::server {

/// Taken while a recording is in memory, so that none is read again for it: a diagnosis of each, as
/// bytes, and where the page is redacted all names.
class RankAnswers {
 public:
  /// As many ranks as ui/src/views/ranks/view.tsx shows the steps of.
  static constexpr std::size_t kMost = 64;

  /// `scope` is the page's.
  RankAnswers(const TypedOptions& scope, bool redact);

  /// `diagnosis` is what `request` gave of this recording.
  void add(const Session& session, const Inputs::File& file, const Diagnosis& diagnosis,
           const DiagnosisRequest& request);
  /// It could not be read.
  void add_failed(const Inputs::File& file, const Error& error);

  /// Was the recording, or that it cannot be read, added?
  [[nodiscard]] bool has(const Inputs::File& file) const { return seen_.contains(key_of(file)); }
  /// What a server answers to the question about the diagnosis of this rank; unset where that was
  /// not kept.
  [[nodiscard]] std::optional<Response> find(const Inputs::File& file) const;
  /// Knows the names of all that were added.
  [[nodiscard]] const Redactor& redactor() const { return redactor_; }

 private:
  using Key = std::pair<std::size_t, std::string>;  // argument and path

  static Key key_of(const Inputs::File& file) { return {file.argument, file.path}; }

  Result<TypedDiagnosis> asked_;
  bool redact_;
  std::size_t kept_ = 0;
  std::map<Key, std::optional<Response>> seen_;  // compressed
  Redactor redactor_;
};

}  // namespace fathom::server
