// Reads Python stacks of a running process.
#include "sample/stack.h"

#include <algorithm>
#include <array>
#include <utility>

namespace fathom::sample {
namespace {

/// Readings that differ are repeated this often.
constexpr int kTries = 4;
/// Readings that found a new place to read are no tries, up to this number.
constexpr int kMostTakes = 12;
/// Records on the C stack that are looked into.
constexpr int kMostCframes = 2;
constexpr std::size_t kMostChunks = 1024;
constexpr std::size_t kMostChunkBytes = std::size_t{64} << 20;
/// Behind what was in use: the stack grows by this before the chunk's end has to be asked for.
constexpr std::size_t kRoom = 1024;
/// Places that were not looked at for so long are not read any more; on the heap each costs.
constexpr std::uint32_t kTakesKept = 64;
constexpr std::uint32_t kTakesKeptOnHeap = 2;
/// Of pointers to objects: 3.14 marks some by their lowest bits.
constexpr Address kTags = 7;

/// CPython's _PyStackChunk: previous, size, top, data.
constexpr std::size_t kChunkHead = 24;

constexpr std::uint8_t kOwnedByThread = 0;
constexpr std::uint8_t kOwnedByFrameObject = 2;

/// The outer frames that both have.
std::vector<Frame> common(std::span<const Frame> a, std::span<const Frame> b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t same = 0;
  while (same < most && a[a.size() - 1 - same] == b[b.size() - 1 - same]) ++same;
  return {b.end() - static_cast<std::ptrdiff_t>(same), b.end()};
}

}  // namespace

std::string_view to_string(StackState state) {
  constexpr std::array<std::string_view, 3> kNames = {"whole", "shortened", "unread"};
  return kNames[static_cast<std::size_t>(state)];
}

StackReader::StackReader(const Memory& memory, const Layout& layout, CodeTable& codes,
                         Address thread, Address interpreter)
    : memory_(memory),
      layout_(layout),
      codes_(codes),
      thread_(thread),
      interpreter_(interpreter),
      thread_bytes_(std::max({layout.thread_frame, layout.thread_interpreter + 0U,
                              layout.thread_chunk + 8U}) +
                    8),
      frame_size_(std::max({layout.frame_code, layout.frame_previous, layout.frame_instruction,
                            layout.frame_owner, layout.frame_running, layout.frame_bytecode,
                            layout.frame_entry, layout.frame_height}) +
                  8),
      snapshot_(memory) {}

/// Looks up what a snapshot has to hold; whether there is something new.
bool StackReader::prepare() {
  const std::size_t before = snapshot_.size();
  snapshot_.add(thread_, thread_bytes_);
  if (layout_.thread_chunk == 0) return snapshot_.size() > before;
  // A take that was read twice read it last.
  std::span<const std::byte> bytes = snapshot_.bytes(last_reading_, thread_, thread_bytes_);
  if (bytes.empty()) {
    single_.resize(thread_bytes_);
    bytes = memory_.read(thread_, single_) ? single_ : std::span<const std::byte>();
  }
  if (!bytes.empty()) {
    const auto chunk = number_at<Address>(bytes, layout_.thread_chunk);
    const auto top = number_at<Address>(bytes, layout_.thread_chunk + 8);
    const bool moved = chunks_.empty() || chunk != chunks_.front().begin;
    if (moved || top > chunk_top_) {
      if (!add_chunks(chunk, top)) chunks_.clear();
      return true;
    }
  }
  return snapshot_.size() > before;
}

/// The newest chunk is in use up to `top`, older ones as far as their heads say.
bool StackReader::add_chunks(Address newest, Address top) {
  chunks_.clear();
  std::size_t all = 0;
  Address at = newest;
  while (at != 0 && chunks_.size() < kMostChunks) {
    std::array<std::byte, kChunkHead> head{};
    if (!memory_.read(at, head)) return false;
    const auto size = number_at<std::uint64_t>(head, 8);
    std::uint64_t used = kChunkHead + 8 * number_at<std::uint64_t>(head, 16);
    if (at == newest) used = top - at + kRoom;
    used = std::min(used, size);
    all += used;
    if (size < kChunkHead || size > kMostChunkBytes || all > kMostChunkBytes) return false;
    if (at == newest) chunk_top_ = at + used;
    chunks_.push_back({.begin = at, .end = at + size});
    snapshot_.add(at, used);
    at = number_at<Address>(head, 0);
  }
  return at == 0;
}

const StackReader::Chunk* StackReader::chunk_of(Address at) const {
  for (const Chunk& chunk : chunks_) {
    if (at >= chunk.begin && at < chunk.end) return &chunk;
  }
  return nullptr;
}

/// Leaves out the newest `cframes` records on the C stack.
std::optional<Address> StackReader::innermost(int reading, int cframes, Walk& walk) {
  const auto thread = snapshot_.bytes(reading, thread_, thread_bytes_);
  if (thread.empty() || number_at<Address>(thread, layout_.thread_interpreter) != interpreter_)
    return std::nullopt;
  auto link = number_at<Address>(thread, layout_.thread_frame);
  if (layout_.link != FrameLink::cframe) return link;
  constexpr std::size_t kCframeBytes = 24;
  for (; link != 0; --cframes) {
    const auto cframe = bytes_at(reading, link, kCframeBytes, walk);
    if (cframe.empty()) return std::nullopt;
    if (cframes == 0) return number_at<Address>(cframe, layout_.cframe_frame);
    link = number_at<Address>(cframe, layout_.cframe_previous);
  }
  return std::nullopt;
}

/// Those of the snapshot, or where it lacks them those of now; the next snapshot has them.
std::span<const std::byte> StackReader::bytes_at(int reading, Address at, std::size_t size,
                                                 Walk& walk) {
  if (at % 8 != 0) return {};
  const auto taken = snapshot_.bytes(reading, at, size);
  if (!taken.empty()) return taken;
  walk.all_taken = false;
  single_.resize(size);
  if (!memory_.read(at, single_)) return {};
  // What lies in a chunk is read with it.
  if (chunk_of(at) == nullptr) snapshot_.add(at, size);
  return single_;
}

std::int64_t StackReader::instruction_of(std::span<const std::byte> bytes, const Code& code) {
  if (layout_.on_heap()) {
    const std::int64_t index = number_at<std::int32_t>(bytes, layout_.frame_instruction);
    return layout_.lines == LineTable::ranges ? 2 * index : index;
  }
  Address start = code.bytecode;
  if (layout_.code_copies != 0 && code.copies != 0) {
    const auto copy = number_at<std::int32_t>(bytes, layout_.frame_bytecode);
    const auto count = memory_.number<std::int64_t>(code.copies);
    if (copy > 0 && count && copy < *count) {
      const Address entry = code.copies + 8 + 8 * static_cast<std::uint64_t>(copy);
      start = memory_.pointer(entry).value_or(start);
    }
  }
  const auto instruction = number_at<Address>(bytes, layout_.frame_instruction);
  return static_cast<std::int64_t>(instruction - start);
}

/// Those in one chunk lie side by side: each ends where the next one further in begins.
bool StackReader::is_neighbour(Address outer, std::uint32_t bytes, Address inner) const {
  return outer + bytes == inner || chunk_of(outer) != chunk_of(inner);
}

/// The first frame of a thread lies at the bottom of its oldest chunk, which has a word before it.
bool StackReader::is_lowest(Address frame) const {
  return chunks_.empty() || frame == chunks_.back().begin + kChunkHead + 8;
}

/// In 3.11 to 3.13 a function writes down how high its stack of values is before a function of
/// Python begins that it calls, and removes that when it goes on.
bool StackReader::waits_inline(std::span<const std::byte> frame) const {
  return layout_.frame_height == 0 || number_at<std::int32_t>(frame, layout_.frame_height) >= 0;
}

/// Was it called without C code in between? Else a frame of the interpreter's lies there from 3.12
/// on.
bool StackReader::is_inline(std::span<const std::byte> frame) const {
  return layout_.frame_entry == 0 || number_at<std::uint8_t>(frame, layout_.frame_entry) == 0;
}

/// False where no frame that runs can look so.
bool StackReader::take_frame(std::span<const std::byte> bytes, Address at, Walk& walk) {
  const std::uint8_t owner = layout_.frame_owner != 0
                                 ? number_at<std::uint8_t>(bytes, layout_.frame_owner)
                                 : std::uint8_t{0};
  const bool called_inline = std::exchange(walk.called_inline, false);
  if (owner >= layout_.first_own_owner) {
    if (!walk.frames.empty()) walk.frames.back().entry = true;
    return true;
  }
  if (!layout_.on_heap() && owner >= kOwnedByFrameObject) return false;
  if (layout_.frame_running != 0) {
    // The innermost may just be entered or left; one that was left for good has no caller any more.
    const bool runs = number_at<std::uint8_t>(bytes, layout_.frame_running) == layout_.running;
    const bool called = number_at<Address>(bytes, layout_.frame_previous) != 0;
    if (!runs && (!walk.frames.empty() || !called)) return false;
  }
  const Code* code = codes_.find(number_at<Address>(bytes, layout_.frame_code) & ~kTags);
  if (code == nullptr) return false;
  const bool entry =
      layout_.on_heap() ||
      (layout_.frame_entry != 0 && number_at<std::uint8_t>(bytes, layout_.frame_entry) != 0);
  const Frame frame{
      .code = code, .instruction = instruction_of(bytes, *code), .address = at, .entry = entry};
  if (frame.instruction < -2 ||
      frame.instruction >= static_cast<std::int64_t>(code->bytecode_bytes))
    return false;
  walk.may_be_first = owner == kOwnedByThread;
  if (!layout_.on_heap() && owner == kOwnedByThread) {
    if (walk.inner != 0 && !is_neighbour(at, code->frame_bytes, walk.inner))
      walk.sure_from = walk.frames.size();
    walk.inner = at;
  }
  if (code->own) {
    if (entry && !walk.frames.empty()) walk.frames.back().entry = true;
    return true;
  }
  // It goes on by itself: what lies behind it has ended.
  if (called_inline && !waits_inline(bytes)) walk.sure_from = walk.frames.size();
  walk.called_inline = is_inline(bytes);
  walk.frames.push_back(frame);
  return true;
}

void StackReader::walk_from(int reading, Address at, Walk& into) {
  into.frames.clear();
  into.path.clear();
  into.sure_from = 0;
  into.inner = 0;
  into.called_inline = false;
  bool all_taken = into.all_taken;
  for (std::size_t count = 0; at != 0 && count < kMostFrames; ++count) {
    into.all_taken = true;
    const auto bytes = bytes_at(reading, at, frame_size_, into);
    if (bytes.empty() || !take_frame(bytes, at, into)) return;
    into.path.push_back(at);
    at = number_at<Address>(bytes, layout_.frame_previous);
    if (!into.all_taken) into.sure_from = into.frames.size();
    all_taken = all_taken && into.all_taken;
  }
  into.all_taken = all_taken;
  const bool first = into.inner == 0 || is_lowest(into.inner);
  into.reaches_end = at == 0 && (into.frames.empty() || (into.may_be_first && first));
  into.sound = into.reaches_end && into.sure_from == 0;
}

/// C code that enters Python has put its record on the list before there is a frame in it: then
/// what stood there before is where the thread still is.
void StackReader::walk(int reading, Walk& into) {
  into.frames.clear();
  into.reaches_end = into.sound = false;
  const int most = layout_.link == FrameLink::cframe ? kMostCframes : 1;
  for (int cframes = 0; cframes < most && !into.reaches_end; ++cframes) {
    into.all_taken = true;
    const std::optional<Address> at = innermost(reading, cframes, into);
    if (!at) return;
    walk_from(reading, *at, into);
  }
}

/// The innermost frame may go on to its next instruction; the others wait at their calls. On the
/// heap it may not: a loop that comes by again is met at another one.
bool StackReader::same_stack(const std::vector<Frame>& a, const std::vector<Frame>& b) const {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool same_place = (i == 0 && !layout_.on_heap()) || a[i].instruction == b[i].instruction;
    if (a[i].code != b[i].code || a[i].address != b[i].address || !same_place) return false;
  }
  return true;
}

StackReader::Seen StackReader::look_at_both() {
  walk(0, walks_[0]);
  walk(1, walks_[1]);
  const Walk& a = walks_[0];
  const Walk& b = walks_[1];
  if (a.sound && b.sound && a.all_taken && b.all_taken && same_stack(a.frames, b.frames))
    return {.frames = b.frames, .whole = true};
  // On the heap nothing says whether outer frames are still those of the same stack.
  if (layout_.on_heap()) return {};
  Seen seen;
  if (a.reaches_end && b.reaches_end)
    seen.frames =
        common(std::span(a.frames).subspan(a.sure_from), std::span(b.frames).subspan(b.sure_from));
  std::vector<Frame> known = still_known();
  if (known.size() > seen.frames.size()) seen.frames = std::move(known);
  return seen;
}

/// A frame runs while it lies below the top of its chunk.
bool StackReader::is_live(Address at, Address top) const {
  const Chunk* const chunk = chunk_of(at);
  return chunk == nullptr || chunk->begin != chunks_.front().begin || at < top;
}

/// The frame at this place, where both readings have the same there.
std::optional<StackReader::Same> StackReader::same_in_both(Address at, Address previous,
                                                           const std::array<Address, 2>& tops) {
  std::array<Frame, 2> frames;
  Same same{.frame = {}, .own = false, .waits = true, .called_inline = true};
  for (std::size_t reading = 0; reading < 2; ++reading) {
    const auto bytes = snapshot_.bytes(static_cast<int>(reading), at, frame_size_);
    if (bytes.empty() || number_at<Address>(bytes, layout_.frame_previous) != previous ||
        !is_live(at, tops[reading]))
      return std::nullopt;
    Walk walk;
    if (!take_frame(bytes, at, walk)) return std::nullopt;
    same.own = walk.frames.empty();
    if (!same.own) frames[reading] = walk.frames.front();
    same.waits = same.waits && layout_.frame_height != 0 && waits_inline(bytes);
    same.called_inline = same.called_inline && !same.own && is_inline(bytes);
  }
  if (!(frames[0] == frames[1])) return std::nullopt;
  same.frame = frames[0];
  return same;
}

/// Where the way from the innermost frame is not to be seen, the outer frames of the last stack may
/// still be there. One that has ended looks no different from one that runs. So each must be called
/// by one that waits for it. Where that is not to be seen, by one that is at the very call at which
/// the last stack had it.
std::vector<Frame> StackReader::still_known() {
  std::array<Address, 2> tops{};
  for (std::size_t reading = 0; reading < 2; ++reading) {
    const auto thread = snapshot_.bytes(static_cast<int>(reading), thread_, thread_bytes_);
    if (thread.empty() || number_at<Address>(thread, layout_.thread_interpreter) != interpreter_)
      return {};
    tops[reading] = number_at<Address>(thread, layout_.thread_chunk + 8);
  }
  std::vector<Frame> outer;
  Address previous = 0;
  bool waits = false;
  bool own = true;
  bool as_known = true;
  for (auto known = known_.rbegin(); known != known_.rend(); ++known) {
    const std::optional<Same> same = same_in_both(known->at, previous, tops);
    if (!same || same->own != (known->frame.code == nullptr)) break;
    const bool seen = layout_.frame_height != 0 && same->called_inline && !own;
    if (seen ? !waits : !as_known || same->frame.code != known->frame.code) break;
    if (!same->own) outer.push_back(same->frame);
    // What it calls from here on is known where it is the same function at the same call.
    as_known = (same->own && as_known) || (!same->own && same->frame == known->frame);
    waits = !same->own && same->waits;
    own = same->own;
    previous = known->at;
  }
  std::reverse(outer.begin(), outer.end());
  return outer;
}

void StackReader::remember(const Walk& walk) {
  known_.clear();
  auto frame = stack_.frames.begin();
  for (const Address at : walk.path) {
    const bool own = frame == stack_.frames.end() || frame->address != at;
    known_.push_back({.at = at, .frame = own ? Frame{} : *frame});
    if (!own) ++frame;
  }
}

/// Keeps what the take before had, too; true where that is all.
bool StackReader::confirm(Seen now) {
  const bool whole = before_.whole && now.whole && same_stack(before_.frames, now.frames);
  if (whole) {
    stack_.frames = std::move(now.frames);
    stack_.state = StackState::whole;
    remember(walks_[1]);
    return true;
  }
  if (!layout_.on_heap()) {
    std::vector<Frame> outer = common(before_.frames, now.frames);
    if (outer.size() > stack_.frames.size()) stack_.frames = std::move(outer);
  }
  before_ = std::move(now);
  return false;
}

void StackReader::begin_reading() {
  stack_.frames.clear();
  stack_.state = StackState::unread;
  stack_.takes = 0;
  before_ = {};
  if (snapshot_.size() == 0) prepare();
}

/// With the first take of a look comes what shows that the code objects are still the same.
bool StackReader::take(bool once) {
  last_reading_ = once ? 0 : 1;
  const std::span<const Piece> codes = codes_.to_compare();
  const bool all = once ? snapshot_.take_once(codes) : snapshot_.take(codes);
  if (all && !codes.empty()) codes_.compare(snapshot_.others_read());
  return all;
}

const Stack* StackReader::read_resting() {
  begin_reading();
  int tries = 0;
  while (tries < kTries && stack_.takes < kMostTakes) {
    ++stack_.takes;
    const std::size_t places = snapshot_.size();
    Walk& seen = walks_[0];
    if (take(true)) {
      walk(0, seen);
      if (seen.sound && seen.all_taken) {
        stack_.frames = seen.frames;
        stack_.state = StackState::whole;
        remember(seen);
        break;
      }
    }
    const bool grown = snapshot_.size() > places;
    if (!prepare() && !grown) ++tries;
  }
  snapshot_.remove_unused(layout_.on_heap() ? kTakesKeptOnHeap : kTakesKept);
  return stack_.state == StackState::whole ? &stack_ : nullptr;
}

const Stack& StackReader::read() {
  begin_reading();
  int tries = 0;
  while (tries < kTries && stack_.takes < kMostTakes) {
    ++stack_.takes;
    const std::size_t places = snapshot_.size();
    const bool was_whole = before_.whole;
    if (take(false)) {
      if (confirm(look_at_both())) break;
      if (before_.whole && !was_whole) continue;  // One more take is to confirm it.
    }
    const bool grown = snapshot_.size() > places;
    if (!prepare() && !grown) ++tries;
  }
  if (stack_.state != StackState::whole && !stack_.frames.empty())
    stack_.state = StackState::shortened;
  snapshot_.remove_unused(layout_.on_heap() ? kTakesKeptOnHeap : kTakesKept);
  return stack_;
}

}  // namespace fathom::sample
