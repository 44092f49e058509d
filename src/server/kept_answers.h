// KeptAnswers: the last answers that took long, by what was asked.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/once.h"
#include "base/result.h"

namespace fathom::server {

/// Thread-safe. Who asks for what is being computed waits for it; errors are kept, too.
class KeptAnswers {
 public:
  explicit KeptAnswers(std::size_t most = 16) : most_(most) {}

  Result<std::string> get(const std::string& key,
                          const std::function<Result<std::string>()>& compute) {
    const std::shared_ptr<Kept> kept = find(key);
    kept->once.call([&] { kept->answer = compute(); });
    return *kept->answer;
  }

 private:
  struct Kept {
    std::string key;
    Once once;
    std::optional<Result<std::string>> answer;
  };

  /// Moves it to the front, where the newest are.
  std::shared_ptr<Kept> find(const std::string& key) {
    const std::scoped_lock lock(mutex_);
    for (auto at = kept_.begin(); at != kept_.end(); ++at) {
      if ((*at)->key != key) continue;
      kept_.splice(kept_.begin(), kept_, at);
      return kept_.front();
    }
    kept_.push_front(std::make_shared<Kept>());
    kept_.front()->key = key;
    if (kept_.size() > most_) kept_.pop_back();
    return kept_.front();
  }

  std::size_t most_;
  std::mutex mutex_;
  std::list<std::shared_ptr<Kept>> kept_;
};

}  // namespace fathom::server
