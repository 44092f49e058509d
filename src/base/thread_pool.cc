// Runs jobs on a pool of helper threads.
#include "base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include <pthread.h>

#include "base/available_threads.h"
#include "base/stop.h"

namespace fathom {
namespace {

/// A helper's stack counts against a limit on address space, and 8 MiB are usual. The deepest that
/// analyses need is a tenth of this; sanitizers' frames are several times larger.
#if defined(FATHOM_SANITIZE_ADDRESS) || defined(FATHOM_SANITIZE_THREAD)
constexpr std::size_t kStackBytes = std::size_t{8} << 20;
#else
constexpr std::size_t kStackBytes = std::size_t{1} << 20;
#endif

/// The pool that this thread works for.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
thread_local Helpers* current = nullptr;

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<unsigned> last_pool = 1;

struct Job {
  const Job* const within;  ///< The job that handed it out in one of its pieces, or null.
  const std::size_t pieces;
  const unsigned wanted;  ///< Helpers that it can use.
  void (*const work)(const void* context, std::size_t piece);
  const void* const context;
  const std::atomic<bool>* const stop;  ///< As where it was handed out.

  std::atomic<std::size_t> next = 0;
  // Under the helpers' mutex:
  unsigned helping = 0;
  std::exception_ptr error;

  [[nodiscard]] bool wants_help() const {
    return helping < wanted && next.load(std::memory_order_relaxed) < pieces;
  }
  /// Those that hand out a job wait for it: all that it is within are there.
  [[nodiscard]] bool is_within(const Job& other) const {
    const Job* outer = within;
    while (outer != nullptr && outer != &other) outer = outer->within;
    return outer != nullptr;
  }
};

/// The job that this thread does a piece of.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
thread_local const Job* doing = nullptr;

}  // namespace

class Helpers {
 public:
  explicit Helpers(unsigned threads) : most_(std::max(threads, 1U) - 1) {}
  ~Helpers();
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

  [[nodiscard]] unsigned threads() const { return most_ + 1; }
  /// Takes part in the job until all its pieces are done.
  void run(Job& job);

 private:
  static void* serve(void* helpers);
  void serve();
  void start(std::size_t wanted);
  bool make_room(std::size_t wanted);
  void take_pieces(Job& job);
  /// Under the mutex, which it leaves meanwhile.
  void help(Job& job, std::unique_lock<std::mutex>& lock);
  [[nodiscard]] Job* find_job(const Job* within) const;

  const unsigned most_;
  std::mutex mutex_;
  std::condition_variable work_came_;
  std::condition_variable work_ended_;
  std::vector<pthread_t> threads_;
  std::vector<Job*> jobs_;  ///< That are being run, the newest last.
  bool ending_ = false;
  bool refused_ = false;  ///< The system starts no more threads.
};

Helpers::~Helpers() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  work_came_.notify_all();
  for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
}

void Helpers::run(Job& job) {
  {
    const std::scoped_lock lock(mutex_);
    jobs_.push_back(&job);
    std::size_t wanted = 0;
    for (const Job* other : jobs_) wanted += other->wanted;
    start(wanted);
  }
  work_came_.notify_all();
  work_ended_.notify_all();
  take_pieces(job);
  std::unique_lock lock(mutex_);
  std::erase(jobs_, &job);
  // What its pieces hand out is what it waits for. Other jobs are not: one of their pieces could
  // wait for what this thread has begun.
  while (job.helping > 0) {
    if (Job* const inner = find_job(&job))
      help(*inner, lock);
    else
      work_ended_.wait(lock);
  }
  if (job.error) std::rethrow_exception(job.error);
}

/// Until as many helpers run as jobs want and the pool may have, or the system refuses.
void Helpers::start(std::size_t wanted) {
  wanted = std::min<std::size_t>(wanted, most_);
  if (refused_ || threads_.size() >= wanted) return;
  pthread_attr_t attributes;
  if (!make_room(wanted) || pthread_attr_init(&attributes) != 0) {
    refused_ = true;
    return;
  }
  pthread_attr_setstacksize(&attributes, kStackBytes);
  while (threads_.size() < wanted && !refused_) {
    pthread_t thread{};
    refused_ = pthread_create(&thread, &attributes, serve, this) != 0;
    if (!refused_) threads_.push_back(thread);
  }
  pthread_attr_destroy(&attributes);
}

/// False: there is no memory even for that.
bool Helpers::make_room(std::size_t wanted) {
  try {
    threads_.reserve(wanted);
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

void* Helpers::serve(void* helpers) {
  current = static_cast<Helpers*>(helpers);
  current->serve();
  return nullptr;
}

void Helpers::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (Job* const job = find_job(nullptr)) {
      help(*job, lock);
    } else if (ending_) {
      return;
    } else {
      work_came_.wait(lock);
    }
  }
}

void Helpers::help(Job& job, std::unique_lock<std::mutex>& lock) {
  ++job.helping;
  lock.unlock();
  take_pieces(job);
  lock.lock();
  // Whoever waits for the job may take it away from here on.
  if (--job.helping == 0) work_ended_.notify_all();
}

/// The innermost of nested jobs first: others wait for it. Of those within a job, or of all.
Job* Helpers::find_job(const Job* within) const {
  for (auto job = jobs_.rbegin(); job != jobs_.rend(); ++job) {
    if ((*job)->wants_help() && (within == nullptr || (*job)->is_within(*within))) return *job;
  }
  return nullptr;
}

void Helpers::take_pieces(Job& job) {
  const StopScope stop(job.stop);
  const Job* const before = std::exchange(doing, &job);
  try {
    for (std::size_t i = job.next++; i < job.pieces; i = job.next++) {
      stop_point();
      job.work(job.context, i);
    }
  } catch (...) {
    job.next = job.pieces;
    const std::scoped_lock lock(mutex_);
    if (!job.error) job.error = std::current_exception();
  }
  doing = before;
}

ThreadPool::ThreadPool(unsigned threads) {
  if (current != nullptr) return;
  helpers_ = std::make_unique<Helpers>(threads > 0 ? threads : available_threads());
  current = helpers_.get();
  last_pool.store(current->threads(), std::memory_order_relaxed);
}

ThreadPool::~ThreadPool() {
  if (helpers_) current = nullptr;
}

unsigned parallel_threads() {
  return current == nullptr ? available_threads() : current->threads();
}

unsigned last_pool_threads() noexcept { return last_pool.load(std::memory_order_relaxed); }

void run_in_parallel(std::size_t pieces, unsigned threads,
                     void (*work)(const void* context, std::size_t piece), const void* context) {
  const ThreadPool pool(threads);
  const auto most = static_cast<unsigned>(std::min<std::size_t>(pieces, parallel_threads()));
  if (pieces == 0) return;
  Job job{.within = doing,
          .pieces = pieces,
          .wanted = (threads == 0 ? most : std::min(most, threads)) - 1,
          .work = work,
          .context = context,
          .stop = stop_flag()};
  current->run(job);
}

}  // namespace fathom
