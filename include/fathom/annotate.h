// fathom::annotate: names what the program does from here to the end of the scope.
#pragma once

#include <cstddef>
#include <string_view>

#include "fathom/record.h"

namespace fathom {

/// A named range on the calling thread, from here to the end of the scope:
///
///     fathom::annotate scope("forward");
///
/// It ends on the thread where it began, innermost first. A name in quotes is kept as a pointer and
/// must stay loaded for half a second (it does, unless its library is unloaded); others are copied,
/// at some 20 ns. Costs below 1 ns while nothing is recorded. Safe everywhere but in
/// signal handlers: static initialisers, destructors and ending threads included.
// Named like a function: it reads like one where it is used.
class [[nodiscard]] annotate {  // NOLINT(readability-identifier-naming)
 public:
  template <std::size_t N>
  explicit annotate(const char (&name)[N]) noexcept {
    const std::uint32_t mode = detail::mode.load(std::memory_order_relaxed);
    if (__builtin_expect((mode & detail::kRecording) != 0, 0))
      begin_ = detail::begin(mode, detail::name_bits(name));
  }
  /// A buffer is no literal: say std::string_view(name).
  template <std::size_t N>
  explicit annotate(char (&name)[N]) = delete;
  explicit annotate(std::string_view name) noexcept {
    const std::uint32_t mode = detail::mode.load(std::memory_order_relaxed);
    if (__builtin_expect((mode & detail::kRecording) != 0, 0))
      begin_ = detail::begin(mode, detail::name_bits(detail::intern(name)));
  }
  ~annotate() {
    if (__builtin_expect(begin_ != 0, 0)) detail::end(begin_);
  }
  annotate(const annotate&) = delete;
  annotate& operator=(const annotate&) = delete;

 private:
  std::uint64_t begin_ = 0;  // as of detail::begin()
};

/// A moment on the calling thread. Names as of annotate.
template <std::size_t N>
void instant(const char (&name)[N]) noexcept {
  if (__builtin_expect(detail::recording(), 0))
    detail::note(detail::EventKind::instant, detail::name_bits(name));
}
template <std::size_t N>
void instant(char (&name)[N]) = delete;
inline void instant(std::string_view name) noexcept {
  if (__builtin_expect(detail::recording(), 0))
    detail::note(detail::EventKind::instant, detail::name_bits(detail::intern(name)));
}

}  // namespace fathom
