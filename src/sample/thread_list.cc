// Reads the lists of interpreters and threads.
#include "sample/thread_list.h"

#include <algorithm>
#include <array>
#include <unordered_set>

namespace fathom::sample {
namespace {

constexpr std::size_t kMostInterpreters = 1024;
constexpr std::size_t kMostThreads = 65536;
constexpr int kTries = 3;

/// No thread library's struct is larger up to the number.
constexpr std::size_t kPthreadBytes = 2304;

/// A struct of the GIL with its locks; they are larger on some machines.
constexpr Address kGilBytes = 256;

bool read_interpreter(const Memory& memory, const Layout& layout, Address interpreter,
                      std::vector<PythonThread>& threads) {
  std::vector<std::byte> bytes(std::max({layout.thread_interpreter, layout.thread_pthread,
                                         layout.thread_native, layout.thread_next}) +
                               sizeof(Address));
  const auto first = memory.pointer(interpreter + layout.interpreter_threads);
  if (!first) return false;
  Address at = *first;
  while (at != 0 && threads.size() < kMostThreads) {
    if (!memory.read(at, bytes)) return false;
    if (number_at<Address>(bytes, layout.thread_interpreter) != interpreter) return false;
    PythonThread thread{.address = at,
                        .interpreter = interpreter,
                        .pthread = number_at<Address>(bytes, layout.thread_pthread)};
    if (layout.thread_native != 0)
      thread.native = number_at<std::int64_t>(bytes, layout.thread_native);
    threads.push_back(thread);
    at = number_at<Address>(bytes, layout.thread_next);
  }
  return at == 0;
}

std::optional<Gil> read_gil(const Memory& memory, const Runtime& runtime, Address interpreter) {
  const Layout& layout = runtime.layout;
  Gil gil{.interpreter = interpreter};
  gil.address = layout.runtime_gil != 0
                    ? runtime.address + layout.runtime_gil
                    : memory.pointer(interpreter + layout.interpreter_gil).value_or(0);
  if (gil.address == 0) return std::nullopt;
  const auto locked = memory.number<std::int32_t>(gil.address + layout.gil_locked);
  const auto holder = memory.pointer(gil.address + layout.gil_holder);
  if (!locked || !holder) return std::nullopt;
  if (*locked == 1) gil.holder = *holder;
  if (layout.gil_enabled != 0)
    gil.enabled =
        memory.number<std::int32_t>(gil.address + layout.gil_enabled - 1).value_or(0) != 0;
  return gil;
}

/// Where in the thread library's struct the thread's number stands: it is one of the process's
/// tasks in every thread, and another in each. After a fork that CPython does not know of, threads
/// are listed that the child does not have: then it is where each task is that of one thread.
void find_native_ids(const Memory& memory, const std::vector<std::int64_t>& tasks,
                     std::vector<PythonThread>& threads) {
  const std::unordered_set<std::int64_t> known(tasks.begin(), tasks.end());
  std::vector<std::array<std::byte, kPthreadBytes>> structs(threads.size());
  for (std::size_t i = 0; i < threads.size(); ++i) {
    // The main thread's may end before the page does.
    for (std::size_t at = 0; at < kPthreadBytes; at += 256) {
      if (!memory.read(threads[i].pthread + at, std::span(structs[i]).subspan(at, 256))) break;
    }
  }
  for (std::size_t offset = 0; offset + 4 <= kPthreadBytes; offset += 4) {
    std::unordered_set<std::int64_t> found;
    bool distinct = true;
    for (const auto& bytes : structs) {
      const auto number = number_at<std::int32_t>(bytes, offset);
      if (known.contains(number)) distinct = found.insert(number).second && distinct;
    }
    if (!distinct || found.empty() || found.size() != std::min(threads.size(), known.size()))
      continue;
    for (std::size_t i = 0; i < threads.size(); ++i) {
      const auto number = number_at<std::int32_t>(structs[i], offset);
      threads[i].native = known.contains(number) ? number : 0;
    }
    return;
  }
}

ThreadList read_once(const Memory& memory, const Runtime& runtime) {
  ThreadList list;
  const Layout& layout = runtime.layout;
  auto interpreter = memory.pointer(runtime.address + layout.interpreters);
  std::size_t count = 0;
  bool whole = true;
  while (interpreter && *interpreter != 0 && count++ < kMostInterpreters) {
    whole = read_interpreter(memory, layout, *interpreter, list.threads) && whole;
    if (const std::optional<Gil> gil = read_gil(memory, runtime, *interpreter))
      list.gils.push_back(*gil);
    interpreter = memory.pointer(*interpreter + layout.interpreter_next);
  }
  list.complete = whole && interpreter && *interpreter == 0;
  return list;
}

}  // namespace

bool Gil::holds(Address futex) const {
  return address != 0 && futex >= address && futex - address < kGilBytes;
}

ThreadList read_threads(const Memory& memory, const Runtime& runtime,
                        const std::vector<std::int64_t>& tasks) {
  ThreadList list;
  for (int attempt = 0; attempt < kTries && !list.complete; ++attempt)
    list = read_once(memory, runtime);
  // A child of a fork that CPython does not know of has the numbers of its parent's threads.
  const bool known = std::ranges::any_of(list.threads, [&](const PythonThread& thread) {
    return thread.native != 0 && std::ranges::find(tasks, thread.native) != tasks.end();
  });
  if (!known && !list.threads.empty()) find_native_ids(memory, tasks, list.threads);
  return list;
}

}  // namespace fathom::sample
