// What a sampled wait for a lock is for, as recordings name it.
#pragma once

#include <string_view>

namespace fathom {

/// Taken by glibc's pthread_mutex_lock: nobody waits so for work or for the end of a thread.
inline constexpr std::string_view kMutexObject = "a mutex";
/// One in memory that processes share, as Python's multiprocessing.Lock.
inline constexpr std::string_view kSharedSemaphoreObject = "a semaphore between processes";

}  // namespace fathom
