// Runs jobs in the order in which they came.
#include "server/http/workers.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace fathom::server {

Workers::Workers(unsigned threads, std::size_t waiting) : waiting_(waiting) {
  for (unsigned i = 0; i < std::max(threads, 1U); ++i) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      if (threads_.empty()) throw;
      break;  // those that run do the work
    }
  }
}

Workers::~Workers() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
    jobs_.clear();
  }
  wake_.notify_all();
}

bool Workers::add(std::function<void()> job) {
  {
    const std::scoped_lock lock(mutex_);
    if (ending_ || jobs_.size() >= waiting_) return false;
    jobs_.push_back(std::move(job));
  }
  wake_.notify_one();
  return true;
}

void Workers::work() {
  while (true) {
    std::function<void()> job;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
      if (ending_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job();
  }
}

}  // namespace fathom::server
