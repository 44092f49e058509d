// Keeps the bytes of an answer with one that says what they are.
#include "server/kept_screen.h"

namespace fathom::server {
namespace {

/// Of one recording, and opened once: what comes after the first screen is no longer of it.
constexpr std::size_t kMostKept = 48;
constexpr std::size_t kMostBytes = std::size_t{16} << 20;  // all together

constexpr char kJson = 'j';
constexpr char kTiles = 't';

std::string asked_by_page(std::string_view question) {
  return std::string("page\n").append(question);
}

}  // namespace

std::optional<Response> KeptScreen::find(std::string_view question) const {
  if (cache_ == nullptr) return std::nullopt;
  std::optional<std::string> kept = cache_->find_answer(asked_by_page(question));
  if (!kept || kept->empty()) return std::nullopt;
  const char kind = kept->front();
  kept->erase(0, 1);
  if (kind == kJson) return json_response(*std::move(kept));
  return kind == kTiles ? std::optional(tiles_response(*std::move(kept))) : std::nullopt;
}

void KeptScreen::keep(std::string_view question, const Response& response) {
  const bool whole = response.status == 200 && !response.gzipped && response.fixed.empty();
  if (cache_ == nullptr || !whole) return;
  std::string answer(1, response.immutable ? kTiles : kJson);
  answer += response.body;
  {
    const std::scoped_lock lock(mutex_);
    if (kept_ == kMostKept || answer.size() > kMostBytes - bytes_) return;
    ++kept_;
    bytes_ += answer.size();
    if (!writes_) {
      waiting_.emplace_back(question, std::move(answer));
      return;
    }
  }
  write(question, answer);
}

void KeptScreen::write() {
  std::vector<std::pair<std::string, std::string>> waiting;
  {
    const std::scoped_lock lock(mutex_);
    writes_ = true;
    waiting.swap(waiting_);
  }
  for (const auto& [question, answer] : waiting) write(question, answer);
}

void KeptScreen::write(std::string_view question, std::string_view answer) const {
  if (cache_ != nullptr) cache_->keep_answer(asked_by_page(question), answer);
}

}  // namespace fathom::server
