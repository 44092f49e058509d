// PerThread: an object that each thread makes when it first needs it.
#pragma once

#include <new>
#include <optional>

#include <pthread.h>

#include "capture/inside/attempt.h"

namespace fathom::nvtx {

/// One T for each thread, freed after the thread's own C++ objects. Only a pointer to it is thread-
/// local: for more the loader would allocate memory at a thread's first use, and end the program
/// where there is none.
template <typename T>
class PerThread {
 public:
  /// Of the calling thread; null where there is no memory for it, which is counted.
  static T* get() noexcept { return mine != nullptr ? mine : make(); }

 private:
  static T* make() noexcept {
    static const std::optional<pthread_key_t> key = [] {
      pthread_key_t made{};
      return pthread_key_create(&made, forget) == 0 ? std::optional(made) : std::nullopt;
    }();
    mine = new (std::nothrow) T;
    if (mine == nullptr) inside::count_failure();
    // Of a thread whose end is not reported to us, it stays.
    if (mine != nullptr && key) pthread_setspecific(*key, mine);
    return mine;
  }
  static void forget(void* object) {
    mine = nullptr;
    delete static_cast<T*>(object);
  }

  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): each thread's own
  static inline __thread T* mine = nullptr;
};

}  // namespace fathom::nvtx
