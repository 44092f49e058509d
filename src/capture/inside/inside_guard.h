// Inside: this thread is in the recorder. What that calls may be replaced by the program and
// annotated, such as operator new.
#pragma once

#include <pthread.h>

namespace fathom::inside {

/// While it lives the thread is not cancelled: that would unwind it through functions that let
/// nothing through, and end the program.
class Inside {
 public:
  Inside() : was_(within) {
    within = true;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_);
  }
  ~Inside() {
    pthread_setcancelstate(cancel_, nullptr);
    within = was_;
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  /// It was so already.
  [[nodiscard]] bool again() const { return was_; }

 private:
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): each thread's own
  static inline __thread bool within = false;
  bool was_;
  int cancel_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace fathom::inside
