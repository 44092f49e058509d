// Which operator of the forward pass a node of the backward pass belongs to.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>

#include "store/trace.h"

namespace fathom {

/// Host threads by torch's own thread numbers, which a file has only as "Fwd thread id" of backward
/// operators: the thread on which most of the forward operators of their sequence numbers ran.
std::map<std::int64_t, TrackId> torch_threads(const Trace& trace);

/// Sequence number and forward thread of an operator; absent where they were not recorded. A
/// backward operator has both.
struct SequenceOf {
  std::int64_t sequence = kAbsent;
  std::int64_t forward_thread = kAbsent;
  [[nodiscard]] bool is_forward() const {
    return sequence != kAbsent && sequence >= 0 &&
           (forward_thread == kAbsent || forward_thread == 0);
  }
  [[nodiscard]] bool is_backward() const {
    return sequence != kAbsent && sequence >= 0 && !is_forward();
  }
};
SequenceOf sequence_of(const Trace& trace, SliceId slice);

/// Looks up the forward operators of a trace.
class ForwardOps {
 public:
  explicit ForwardOps(const Trace& trace);
  /// The forward operator that made the node which `backward` runs: of those with its sequence
  /// number on its forward thread, the one that started last. Invalid when there is none.
  [[nodiscard]] SliceId of(SliceId backward) const;

 private:
  struct Key {
    std::int64_t sequence;
    TrackId thread;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return std::hash<std::int64_t>()(key.sequence) * 31 + key.thread.value;
    }
  };
  const Trace& trace_;
  std::map<std::int64_t, TrackId> threads_;
  std::unordered_map<Key, SliceId, Hash> ops_;
};

}  // namespace fathom
