// What runtime and driver calls do, recognised by the words that vendors put into their names.
#include <algorithm>
#include <array>

#include "analysis/structure/links.h"
#include "analysis/util/needle_set.h"

namespace fathom {
namespace {

struct Word {
  std::string_view text;
  CallKind kind;
};

// The first word that occurs in the name decides. CUDA runtime and driver, HIP, Level Zero (ze…),
// Unified Runtime (ur…), PI (pi…) and MTIA names share them; per-thread-stream and versioned
// suffixes do not matter.
constexpr auto kWords = std::to_array<Word>({
    {"GraphAdd", CallKind::other},  // cudaGraphAddKernelNode, …: building a graph starts nothing.
    {"GraphExec", CallKind::other},
    {"GraphMemcpyNode", CallKind::other},
    {"GraphMemsetNode", CallKind::other},
    {"GraphKernelNode", CallKind::other},
    {"GraphLaunch", CallKind::graph_launch},
    {"LaunchHostFunc", CallKind::other},
    {"LaunchKernel", CallKind::launch},
    {"KernelLaunch", CallKind::launch},
    {"LaunchCooperativeKernel", CallKind::launch},
    {"LaunchMultiKernel", CallKind::launch},
    {"LaunchGrid", CallKind::launch},
    {"MemcpyGetInfo", CallKind::other},
    {"Memcpy", CallKind::copy},
    {"AppendMemoryCopy", CallKind::copy},
    {"EnqueueMemBufferCopy", CallKind::copy},
    {"EnqueueMemBufferRead", CallKind::copy},
    {"EnqueueMemBufferWrite", CallKind::copy},
    {"Memset", CallKind::fill},
    {"AppendMemoryFill", CallKind::fill},
    {"EnqueueMemBufferFill", CallKind::fill},
    {"EnqueueUSMFill", CallKind::fill},
    {"Synchronize", CallKind::synchronize},
    {"synchronize", CallKind::synchronize},  // MTIA
    {"runFunction", CallKind::launch},       // MTIA
    {"urQueueFinish", CallKind::synchronize},
    {"piQueueFinish", CallKind::synchronize},
    {"urEventWait", CallKind::synchronize},
    {"piEventsWait", CallKind::synchronize},
    {"Malloc", CallKind::allocate},
    {"HostAlloc", CallKind::allocate},
    {"HostRegister", CallKind::allocate},
    {"HostUnregister", CallKind::allocate},
    {"cudaFree", CallKind::allocate},
    {"hipFree", CallKind::allocate},
    {"hipHostFree", CallKind::allocate},
    {"MemAlloc", CallKind::allocate},
    {"MemFree", CallKind::allocate},
    {"MemCreate", CallKind::allocate},
    {"MemRelease", CallKind::allocate},
    {"MemMap", CallKind::allocate},
    {"MemUnmap", CallKind::allocate},
    {"MemAddress", CallKind::allocate},
    {"USMHostAlloc", CallKind::allocate},
    {"USMDeviceAlloc", CallKind::allocate},
    {"USMSharedAlloc", CallKind::allocate},
    {"USMFree", CallKind::allocate},
});

bool contains(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

/// The call queues its work and returns: by its name, or because its interface has no other way.
/// hipMemcpyWithStream and plain cudaMemcpy, cudaMemset wait.
bool returns_at_once(std::string_view name) {
  return contains(name, "Async") || contains(name, "Batch") || contains(name, "Enqueue") ||
         contains(name, "Append");
}

/// The first of kWords that occurs in the name, or nullptr. NeedleSet finds all that may, whatever
/// their case.
const Word* first_word(std::string_view name) {
  static const NeedleSet needles = [] {
    std::array<std::string_view, kWords.size()> texts;
    std::ranges::transform(kWords, texts.begin(), &Word::text);
    return NeedleSet(texts);
  }();
  const Word* first = nullptr;
  needles.scan(name, [&](std::uint32_t index) {
    const Word* const word = &kWords[index];
    if ((first == nullptr || word < first) && contains(name, word->text)) first = word;
  });
  return first;
}

}  // namespace

CallKind classify_call(std::string_view name) {
  if (name == "cudaLaunch") return CallKind::launch;
  const Word* const word = first_word(name);
  if (word == nullptr) return CallKind::other;
  if (word->kind == CallKind::copy && !returns_at_once(name)) return CallKind::copy_blocking;
  if (word->kind == CallKind::fill && !returns_at_once(name)) return CallKind::fill_blocking;
  return word->kind;
}

}  // namespace fathom
