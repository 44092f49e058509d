// KeptScreen: the answers that a page asks for first, kept for the next time that its recording is
// opened.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/inputs/trace_cache.h"
#include "server/http/response.h"

namespace fathom::server {

/// Of one recording. Thread-safe.
class KeptScreen {
 public:
  /// `cache` outlives it; null: nothing is kept.
  explicit KeptScreen(const TraceCache* cache) : cache_(cache) {}

  [[nodiscard]] bool keeps() const { return cache_ != nullptr; }
  /// What was answered to this the last time.
  [[nodiscard]] std::optional<Response> find(std::string_view question) const;
  /// Keeps an answer that depends on nothing but the recording, the question and the build: at
  /// once, or while the first screen is being drawn, as soon as that is done. Only so many.
  void keep(std::string_view question, const Response& response);
  /// What was to be kept so far is written now, what comes later at once.
  void write();

 private:
  void write(std::string_view question, std::string_view answer) const;

  const TraceCache* cache_;
  std::mutex mutex_;
  bool writes_ = false;
  std::size_t kept_ = 0;
  std::size_t bytes_ = 0;
  std::vector<std::pair<std::string, std::string>> waiting_;
};

}  // namespace fathom::server
