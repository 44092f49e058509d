// Inside: this thread is in the recorder. What that calls may be replaced by the program and
// annotated, such as operator new.
#pragma once

namespace fathom::inside {

class Inside {
 public:
  Inside() : was_(within) { within = true; }
  ~Inside() { within = was_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  /// It was so already.
  [[nodiscard]] bool again() const { return was_; }

 private:
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): each thread's own
  static inline __thread bool within = false;
  bool was_;
};

}  // namespace fathom::inside
