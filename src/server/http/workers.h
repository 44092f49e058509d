// Threads that answer requests, and the queue before them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace fathom::server {

class Workers {
 public:
  /// At least one thread; `waiting` jobs may wait.
  Workers(unsigned threads, std::size_t waiting);
  /// Jobs that wait are dropped; those that run are waited for.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// False where the queue is full.
  bool add(std::function<void()> job);

 private:
  void work();

  std::size_t waiting_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  bool ending_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace fathom::server
