// Writes columns behind each other, each behind its length, and checks every number when it reads
// them.
#include "engine/inputs/kept_structure.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/parallel.h"

namespace fathom {
namespace {

class Writer {
 public:
  template <typename T>
  void value(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <typename T>
  void column(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    value(std::uint64_t{values.size()});
    text_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  }
  void threads(const std::vector<Nesting::Thread>& threads) {
    value(std::uint64_t{threads.size()});
    for (const Nesting::Thread& thread : threads) {
      value(thread.track);
      column(std::span<const SliceId>(thread.slices));
    }
  }
  void reserve(std::size_t bytes) { text_.reserve(bytes); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  template <typename T>
  void value(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes(&value, sizeof value);
  }
  /// A column behind its length, of at most `most` rows.
  template <typename Rows>
  void column(Rows& rows, std::size_t most) {
    std::uint64_t count = 0;
    value(count);
    if (count > most || count > text_.size() / sizeof(*rows.data())) whole_ = false;
    if (!whole_) return;
    rows.resize(count);
    if (count > 0) bytes(rows.data(), count * sizeof(*rows.data()));
  }
  void threads(std::vector<Nesting::Thread>& threads, const Trace& trace) {
    std::uint64_t count = 0;
    value(count);
    if (count > trace.tracks.size()) whole_ = false;
    for (std::uint64_t i = 0; i < count && whole_; ++i) {
      value(threads.emplace_back().track);
      column(threads.back().slices, trace.slices.size());
    }
  }
  template <typename T>
  void by_rank(std::span<T> values) {
    std::uint64_t count = 0;
    value(count);
    if (count != values.size()) whole_ = false;
    bytes(values.data(), values.size_bytes());
  }
  /// False once something was missing.
  [[nodiscard]] bool whole() const { return whole_; }
  [[nodiscard]] bool at_end() const { return whole_ && text_.empty(); }

 private:
  void bytes(void* to, std::size_t count) {
    if (count > text_.size()) whole_ = false;
    if (!whole_ || count == 0) return;
    std::memcpy(to, text_.data(), count);
    text_.remove_prefix(count);
  }

  std::string_view text_;
  bool whole_ = true;
};

/// Visits each field that is written by itself; `fields` are of one Links, or of two.
template <typename Of, typename Visit>
void each_number(Of& nesting, auto& links, const Visit& visit) {
  visit(nesting.overlaps), visit(nesting.first_overlap);
  visit(links.kernel_launches), visit(links.without_launch);
  visit(links.launches_without_activity), visit(links.first_without_launch);
  visit(links.first_launch_without_activity), visit(links.external_agreement);
}

bool known_or_none(SliceId id, std::size_t rows) { return !id.valid() || id.row() < rows; }

bool all_known_or_none(std::span<const SliceId> ids, std::size_t rows) {
  bool known = true;
  for (const SliceId id : ids) known &= known_or_none(id, rows);
  return known;
}

/// Is each slice there once, on the thread's track, and behind its parent?
class Forests {
 public:
  Forests(const Trace& trace, const Nesting& nesting)
      : trace_(trace), nesting_(nesting), seen_(trace.slices.size()) {}

  [[nodiscard]] bool sound() {
    for (const auto* const forest : {&nesting_.work, &nesting_.frames, &nesting_.rest}) {
      for (const Nesting::Thread& thread : *forest) {
        if (!thread.track.valid() || thread.track.row() >= trace_.tracks.size()) return false;
        if (!std::ranges::all_of(thread.slices, [this](SliceId slice) { return comes(slice); }))
          return false;
      }
    }
    const auto with_parent = std::ranges::count_if(nesting_.parent, &SliceId::valid);
    return static_cast<std::size_t>(with_parent) == inside_;
  }

 private:
  bool comes(SliceId slice) {
    if (!slice.valid() || slice.row() >= seen_.size() || seen_[slice.row()]) return false;
    const SliceId parent = nesting_.parent[slice.row()];
    if (parent.valid() && (parent.row() >= seen_.size() || !seen_[parent.row()])) return false;
    inside_ += parent.valid() ? 1 : 0;
    seen_[slice.row()] = true;
    return true;
  }

  const Trace& trace_;
  const Nesting& nesting_;
  std::vector<bool> seen_;
  std::size_t inside_ = 0;
};

bool sound(const Trace& trace, const Links& links) {
  const std::size_t rows = trace.slices.size();
  const ActivityIndex& index = links.launch.index();
  if (links.activities.size() != index.size() || links.call_kinds.size() != trace.strings.size())
    return false;
  Time before = Time::min();
  for (const SliceId activity : links.activities) {
    if (!activity.valid() || activity.row() >= rows || !index.contains(activity.row()) ||
        trace.slices.start[activity.row()] < before)
      return false;
    before = trace.slices.start[activity.row()];
  }
  return all_known_or_none(links.launch.by_rank(), rows) &&
         all_known_or_none(links.op.by_rank(), rows) &&
         std::ranges::all_of(links.attribution.by_rank(),
                             [](Attribution each) { return each <= Attribution::unattributed; }) &&
         std::ranges::all_of(links.call_kinds,
                             [](CallKind kind) { return kind <= CallKind::allocate; }) &&
         known_or_none(links.first_without_launch, rows) &&
         known_or_none(links.first_launch_without_activity, rows);
}

}  // namespace

std::string write_structure(const Nesting& nesting, const Links& links) {
  Writer writer;
  writer.reserve(2 * nesting.parent.size() * sizeof(SliceId) +
                 links.activities.size() * (4 * sizeof(SliceId) + 1) + links.call_kinds.size() +
                 4096);
  each_number(nesting, links, [&writer](const auto& number) { writer.value(number); });
  writer.value(static_cast<std::uint8_t>(links.external_trusted ? 1 : 0));
  writer.column(nesting.parent.span());
  for (const auto* const forest : {&nesting.work, &nesting.frames, &nesting.rest})
    writer.threads(*forest);
  writer.column(links.launch.by_rank());
  writer.column(links.op.by_rank());
  writer.column(links.attribution.by_rank());
  writer.column(links.replay.by_rank());
  writer.column(std::span<const SliceId>(links.activities));
  writer.column(std::span<const CallKind>(links.call_kinds));
  return writer.take();
}

std::optional<Structure> read_structure(std::string_view content, const Trace& trace) {
  Structure made;
  Nesting& nesting = made.nesting;
  Links& links = made.links;
  const std::size_t rows = trace.slices.size();
  Reader reader(content);
  each_number(nesting, links, [&reader](auto& number) { reader.value(number); });
  std::uint8_t trusted = 0;
  reader.value(trusted);
  links.external_trusted = trusted == 1;
  reader.column(nesting.parent, rows);
  for (auto* const forest : {&nesting.work, &nesting.frames, &nesting.rest})
    reader.threads(*forest, trace);
  if (!reader.whole() || nesting.parent.size() != rows || trusted > 1) return std::nullopt;
  links.launch = ActivityColumn<SliceId>(std::make_shared<const ActivityIndex>(trace));
  links.op = links.launch.beside<SliceId>();
  links.attribution = links.launch.beside<Attribution>();
  links.replay = links.launch.beside<std::uint32_t>();
  reader.by_rank(links.launch.by_rank());
  reader.by_rank(links.op.by_rank());
  reader.by_rank(links.attribution.by_rank());
  reader.by_rank(links.replay.by_rank());
  reader.column(links.activities, rows);
  reader.column(links.call_kinds, trace.strings.size());
  if (!reader.at_end() || !known_or_none(nesting.first_overlap, rows)) return std::nullopt;
  bool forests = false;
  bool launches = false;
  both_in_parallel([&] { forests = Forests(trace, nesting).sound(); },
                   [&] { launches = sound(trace, links); });
  if (!forests || !launches) return std::nullopt;
  return made;
}

}  // namespace fathom
