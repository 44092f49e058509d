// Frames that begin and end, and the rare cases of a profile of lines.
#include "capture/python/line_profile.h"

#include <cstdlib>
#include <new>

#include "capture/python/frames.h"
#include "capture/python/memory_limit.h"

namespace fathom::python {

ThreadCode* LineProfile::code_of(const LineTable& table) {
  ThreadCode*& latest = depth_ == 0 ? latest_ : stack_[depth_ - 1].code->latest;
  if (latest != nullptr && latest->key == table.code) return latest;
  ThreadCode*& head = codes_[mixed(table.code) % kHeads];
  for (ThreadCode* each = head; each != nullptr; each = each->next)
    if (each->key == table.code) return latest = each;
  const std::size_t sums = std::size_t{table.statements} + 1;
  const std::size_t bytes =
      sizeof(ThreadCode) + sums * (sizeof(StatementSums) + sizeof(FoldedSums));
  if (!MemoryLimit::take(bytes)) return nullptr;
  void* const memory = std::calloc(1, bytes);
  if (memory == nullptr) return nullptr;
  auto* const made = new (memory) ThreadCode;
  made->key = table.code;
  made->table = &table;
  made->sums = reinterpret_cast<StatementSums*>(made + 1);
  for (std::size_t at = 0; at < sums; ++at)
    new (&made->sums[at]) StatementSums{0, 0, 0, 0, table.is_long[at]};
  made->folded = reinterpret_cast<FoldedSums*>(made->sums + sums);
  for (std::size_t at = 0; at < sums; ++at) new (&made->folded[at]) FoldedSums;
  made->next = head;
  head = made;
  return latest = made;
}

void LineProfile::enter(const LineTable& table, Statement goes_on, std::uint64_t now) {
  ThreadCode* const code = unpushed_ > 0 ? nullptr : code_of(table);
  if (code == nullptr || (depth_ == room_ && !grow_stack())) {
    ++unpushed_;
    return;
  }
  Frame& frame = *new (&stack_[depth_++]) Frame;
  frame.code = code;
  frame.entered = now;
  open(frame, code->sums[goes_on], now);
  // Until its first line begins, a call is its caller's.
  if (goes_on != 0) show_innermost(now);
}

void LineProfile::show_innermost(std::uint64_t now) {
  if (!LineTimeline::is_on()) return;
  if (depth_ == 0) return timeline_.change(nullptr, 0, now);
  const Frame& frame = stack_[depth_ - 1];
  timeline_.change(frame.code->table, static_cast<Statement>(frame.open - frame.code->sums), now);
}

void LineProfile::begin_timeline(std::uint64_t now) {
  timeline_.clear();
  if (depth_ > 0) show_innermost(now);
}

void LineProfile::pop(std::uint64_t now) {
  Frame& frame = stack_[--depth_];
  close(frame, now);
  if (depth_ > 0) stack_[depth_ - 1].callees += between(frame.entered, now);
  show_innermost(now);
}

void LineProfile::leave(const void* key, std::uint64_t now) {
  if (unpushed_ > 0) {
    --unpushed_;
    return;
  }
  if (depth_ == 0) return;  // it began before the recording
  if (stack_[depth_ - 1].code->key != key && !unwind_to(key, now)) return;
  pop(now);
}

bool LineProfile::find_frame(const void* key, std::uint64_t now) {
  if (unpushed_ > 0) {
    ++lost_;
    return false;
  }
  if (depth_ > 0 && unwind_to(key, now)) return true;
  // Hits stay right where frames switch without a word.
  const LineTable* const table = find_line_table(key);
  if (table == nullptr) {
    ++lost_;
    return false;
  }
  enter(*table, 0, now);
  if (unpushed_ == 0) return true;
  unpushed_ = 0;
  ++lost_;
  return false;
}

bool LineProfile::unwind_to(const void* key, std::uint64_t now) {
  const std::size_t depth =
      depth_of_call(depth_, [this, key](std::size_t at) { return stack_[at].code->key == key; });
  if (depth == 0) {
    ++unmatched_;
    return false;
  }
  for (; depth_ > depth; pop(now)) ++unmatched_;
  return true;
}

bool LineProfile::grow_stack() {
  constexpr std::size_t kFirst = 64;
  return grow_frames(stack_, room_, kFirst);
}

void LineProfile::settle(std::uint64_t now) {
  for (std::size_t at = 0; at < depth_; ++at) {
    const Frame& frame = stack_[at];
    const std::int64_t spent = between(frame.begin, now);
    const std::int64_t inside =
        at + 1 < depth_ ? between(stack_[at + 1].entered, now) : std::int64_t{0};
    frame.open->self += spent - frame.callees - inside;
    if (frame.outer) frame.open->total += spent;
  }
  for (std::size_t at = 0; at < depth_; ++at) {
    stack_[at].begin = stack_[at].entered = now;
    stack_[at].callees = 0;
  }
}

void LineProfile::forget_folded() {
  visit([](const ThreadCode& code) {
    for (std::size_t at = 0; at <= code.table->statements; ++at) code.folded[at] = {};
  });
  lost_ = unmatched_ = 0;
}

void LineProfile::clear(std::uint64_t now) {
  forget_folded();
  visit([](const ThreadCode& code) {
    for (std::size_t at = 0; at <= code.table->statements; ++at) {
      StatementSums& sums = code.sums[at];
      sums.hits = 0;
      sums.self = sums.total = 0;
    }
  });
  for (std::size_t at = 0; at < depth_; ++at) {
    stack_[at].begin = stack_[at].entered = now;
    stack_[at].callees = 0;
  }
}

void LineProfile::abandon() {
  while (depth_ > 0) --stack_[--depth_].open->depth;
  timeline_.abandon();
  unpushed_ = 0;
}

}  // namespace fathom::python
