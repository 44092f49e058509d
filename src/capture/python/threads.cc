// Hands a profile to each thread and takes it back at its end.
#include "capture/python/threads.h"

#include <cstdlib>
#include <new>

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/python/ticks.h"

namespace fathom::python {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): one list of the process
ThreadProfile* first = nullptr;
std::uint64_t without_profile = 0;
pthread_key_t key;
bool has_key = false;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

std::int64_t thread_number() { return static_cast<std::int64_t>(syscall(SYS_gettid)); }

/// Of a thread that ends, maybe without the interpreter's lock.
void give_back(void* profile) {
  this_thread = nullptr;
  static_cast<ThreadProfile*>(profile)->taken.store(false, std::memory_order_release);
}

ThreadProfile* find_free() {
  for (ThreadProfile* each = first; each != nullptr; each = each->next) {
    if (each->taken.load(std::memory_order_acquire)) continue;
    each->abandon();
    each->taken.store(true, std::memory_order_relaxed);
    return each;
  }
  return nullptr;
}

ThreadProfile* make() {
  if (!MemoryLimit::take(sizeof(ThreadProfile))) return nullptr;
  void* const memory = std::malloc(sizeof(ThreadProfile));
  if (memory == nullptr) return nullptr;
  auto* const made = new (memory) ThreadProfile;
  made->next = first;
  first = made;
  return made;
}

}  // namespace

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): one of each thread
thread_local constinit ThreadProfile* this_thread = nullptr;

ThreadProfile* profile_new_thread() {
  if (!has_key) has_key = pthread_key_create(&key, give_back) == 0;
  ThreadProfile* found = find_free();
  if (found == nullptr) found = make();
  if (found == nullptr) {
    ++without_profile;
    return nullptr;
  }
  this_thread = found;
  const std::int64_t number = thread_number();
  found->lines.belongs_to(number);
  found->profile.calls().belongs_to(number);
  // Where this fails, the profile is its thread's for ever, and nothing of it is lost.
  if (has_key) pthread_setspecific(key, found);
  return found;
}

void ignore_this_thread() {
  // Not in the list, so that nobody asks for its sums.
  static ThreadProfile ignored;
  if (this_thread != nullptr && this_thread != &ignored)
    this_thread->taken.store(false, std::memory_order_relaxed);
  if (has_key) pthread_setspecific(key, nullptr);
  this_thread = &ignored;
}

ThreadProfile* all_profiles() { return first; }

std::uint64_t calls_without_profile() { return without_profile; }

void forget_calls() {
  without_profile = 0;
  for (ThreadProfile* each = first; each != nullptr; each = each->next) {
    each->profile.abandon();
    each->profile.clear(Ticks::now());
    each->profile.calls().clear();
  }
}

void forget_lines() {
  without_profile = 0;
  for (ThreadProfile* each = first; each != nullptr; each = each->next) {
    each->lines.abandon();
    each->lines.clear(Ticks::now());
  }
}

void forget_other_threads() {
  without_profile = 0;
  for (ThreadProfile* each = first; each != nullptr; each = each->next) {
    if (each != this_thread) {
      each->abandon();
      each->taken.store(false, std::memory_order_relaxed);
    }
    each->profile.clear(Ticks::now());
    each->lines.clear(Ticks::now());
    each->lines.timeline().clear();
    each->profile.calls().clear();
  }
  LineTimeline::turn(false);
  if (this_thread == nullptr) return;
  this_thread->lines.belongs_to(thread_number());
  this_thread->profile.calls().belongs_to(thread_number());
}

}  // namespace fathom::python
