// The SDK's functions, on top of the recorder.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <mutex>
#include <new>
#include <vector>

#include <fathom/fathom.h>

#include "capture/inside/converter.h"
#include "capture/inside/never_freed.h"
#include "capture/inside/recorder.h"
#include "capture/inside/spans.h"
#include "capture/inside/texts.h"

namespace fathom {
namespace {

using inside::Recorder;

/// Something that the program marks again and again: its steps, or a rhythm of its own.
struct Rhythm {
  const char* name = "";
  std::atomic<std::uint64_t> last{0};
  std::atomic<std::int64_t> number{0};
};

/// Things that are made once and never freed: handles of them are all over the program.
template <typename T>
class Kept {
 public:
  Kept() { Recorder::get().hold_in_fork(mutex_); }
  template <typename Match, typename Make>
  T* find(Match match, Make make) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(all_, match);
    if (found != all_.end()) return *found;
    T* const made = make();
    if (made != nullptr) all_.push_back(made);
    return made;
  }

 private:
  std::mutex mutex_;
  std::vector<T*> all_;
};

Rhythm* rhythm_of(std::string_view name) {
  const char* const kept = inside::permanent(name);
  return inside::never_freed<Kept<Rhythm>>().find(
      [&](const Rhythm* rhythm) { return rhythm->name == kept; },
      [&]() -> Rhythm* {
        auto* const made = new (std::nothrow) Rhythm;
        if (made != nullptr) made->name = kept;
        return made;
      });
}

const inside::Series* series_of(std::string_view name, std::string_view unit) {
  const char* const kept = inside::permanent(name);
  const char* const kept_unit = inside::permanent(unit);
  return inside::never_freed<Kept<const inside::Series>>().find(
      [&](const inside::Series* one) { return one->name == kept && one->unit == kept_unit; },
      [&] {
        return new (std::nothrow) const inside::Series{kept, kept_unit};
      });
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
}

}  // namespace fathom
