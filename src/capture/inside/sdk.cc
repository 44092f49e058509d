// The SDK's functions, on top of the recorder.
#include <atomic>
#include <charconv>
#include <mutex>
#include <new>
#include <utility>

#include <fathom/fathom.h>

#include "capture/inside/attempt.h"
#include "capture/inside/converter.h"
#include "capture/inside/never_freed.h"
#include "capture/inside/recorder.h"
#include "capture/inside/spans.h"
#include "capture/inside/text_table.h"

namespace fathom {
namespace {

using inside::Recorder;

/// Something that the program marks again and again: its steps, or a rhythm of its own.
struct Rhythm {
  const char* name = "";
  Rhythm* next = nullptr;  ///< In the list of all.
  std::atomic<std::uint64_t> last{0};
  std::atomic<std::int64_t> number{0};
};

/// Things that are made once and never freed: handles of them are all over the program.
template <typename T>
class Kept {
 public:
  Kept() { Recorder::get().hold_in_fork(lock_); }
  /// The one that matches, else a new one that was made to. Null where there is no memory for it.
  template <typename Match, typename Make>
  T* find(Match match, Make make) {
    const std::lock_guard lock(lock_.mutex);
    for (T* one = first_; one != nullptr; one = one->next)
      if (match(*one)) return one;
    T* const made = new (std::nothrow) T;
    if (made == nullptr) {
      inside::count_failure();
      return nullptr;
    }
    make(*made);
    made->next = std::exchange(first_, made);
    return made;
  }

 private:
  inside::HeldInFork lock_;
  T* first_ = nullptr;
};

Rhythm* rhythm_of(std::string_view name) {
  const char* const kept = inside::permanent(name);
  return inside::never_freed<Kept<Rhythm>>().find(
      [&](const Rhythm& one) { return one.name == kept; }, [&](Rhythm& made) { made.name = kept; });
}

const inside::Series* series_of(std::string_view name, std::string_view unit) {
  const char* const kept = inside::permanent(name);
  const char* const kept_unit = inside::permanent(unit);
  static constinit const inside::Series other{inside::kOtherText.data(), "", nullptr};
  const inside::Series* const found = inside::never_freed<Kept<inside::Series>>().find(
      [&](const inside::Series& one) { return one.name == kept && one.unit == kept_unit; },
      [&](inside::Series& made) {
        made.name = kept;
        made.unit = kept_unit;
      });
  return found == nullptr ? &other : found;
}

/// True if something is recorded; decides it where that has not happened yet, and chooses the
/// clock.
bool ready() { return detail::recording() && detail::room(1) != nullptr && detail::recording(); }

}  // namespace

bool start(std::string_view folder) noexcept { return Recorder::get().start(folder); }
void stop() noexcept { Recorder::get().stop(); }
bool recording() noexcept { return ready(); }
bool flush() noexcept { return Recorder::get().flush(); }
void keep_signals() noexcept { Recorder::get().keep_signals(); }

void name_thread(std::string_view name) noexcept { Recorder::get().name_thread(name); }

void name_stream(const void* stream, std::string_view name) noexcept {
  constexpr int kHex = 16;
  char key[64] = "stream.";
  char* const at = key + std::string_view(key).size();
  const auto done =
      std::to_chars(at, key + sizeof key, reinterpret_cast<std::uintptr_t>(stream), kHex);
  Recorder::get().fact({key, static_cast<std::size_t>(done.ptr - key)}, name);
}

counter::counter(std::string_view name, std::string_view unit) noexcept
    : series_(series_of(name, unit)) {}

void step() noexcept {
  static_cast<void>(ready());
  const std::uint64_t now = detail::ticks();
  inside::mark_step(now);
  Recorder::get().step_ended(now);
}

void frame(std::string_view name) noexcept {
  Rhythm* const rhythm = rhythm_of(name);
  if (rhythm == nullptr) return;
  static_cast<void>(ready());
  const std::uint64_t now = detail::ticks();
  const std::uint64_t last = rhythm->last.exchange(now);
  if (last != 0) inside::note({last, now, rhythm->name, "frame", rhythm->number.fetch_add(1)});
}

void inside::mark_step(std::uint64_t now) noexcept {
  static constinit Rhythm steps;
  std::uint64_t last = steps.last.exchange(now);
  if (last == 0) last = Recorder::get().began();
  note({last == 0 ? now : last, now, "step", "step", steps.number.fetch_add(1)});
  Recorder::get().time_steps();
}

}  // namespace fathom
