// Reads blocks of a capture file, checks them, and hands on their records.
#include "wire/reader.h"

#include <array>
#include <concepts>
#include <cstring>

#include "base/crc32.h"

namespace fathom::wire {
namespace {

constexpr std::string_view kSyncBytes = "FBLK";
/// A hostile file may hold a header in every few bytes, each of a block as long as the rest. Once
/// so much was summed up in vain, relative to the file, such a block is skipped as a whole.
constexpr std::uint64_t kVainShare = 8;
constexpr std::uint64_t kVainFree = 4 * kMaxPayload;

/// Unpacks fields one after the other.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : at_(bytes.data()) {}
  template <typename T>
  T take() {
    T value{};
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  template <typename T>
  Unpacker& operator>>(T& field) {
    field = take<T>();
    return *this;
  }

 private:
  const char* at_;
};

struct Header {
  std::uint32_t sync = 0;
  std::uint32_t size = 0;
  std::uint32_t crc = 0;
  std::uint16_t type = 0;
  std::uint16_t reserved = 0;
  std::uint64_t number = 0;
};

/// By kind, what a record has at least.
constexpr std::array<std::size_t, kKinds> kBodyBytes = [] {
  std::array<std::size_t, kKinds> bytes{};
  const auto at = [&bytes](Kind kind) -> std::size_t& {
    return bytes[static_cast<std::size_t>(kind)];
  };
  at(Kind::string) = kStringBytes;
  at(Kind::begin) = at(Kind::instant) = body_bytes<MomentRecord>();
  const auto add = [&at]<typename... Records>(Records...) {
    ((at(Records::kKind) = body_bytes<Records>()), ...);
  };
  add(ClockRecord(), ProcessRecord(), ThreadRecord(), SliceRecord(), EndRecord(), CounterRecord(),
      SampleRecord(), FactRecord(), ExitRecord(), DroppedRecord(), FunctionRecord(), Argument(),
      DeviceActivity(), Launch(), Copy(), Wait(), Call(), MemoryOperation(), LineRecord(),
      FrameRecord(), StackRecord(), LineRunRecord(), FunctionPartRecord(), LinePartRecord(),
      FunctionCallsRecord());
  return bytes;
}();

Header header_of(std::string_view block) {
  Header header;
  Unpacker(block) >> header.sync >> header.size >> header.crc >> header.type >> header.reserved >>
      header.number;
  return header;
}

}  // namespace

std::string_view Reader::rest() const { return {pending_.data() + at_, pending_.size() - at_}; }

void Reader::feed(std::span<const std::byte> bytes) {
  const auto* const chars = reinterpret_cast<const char*>(bytes.data());
  pending_.insert(pending_.end(), chars, chars + bytes.size());
  parse(false);
  offset_ += at_;
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(at_));
  at_ = 0;
}

void Reader::finish() {
  parse(true);
  if (!rest().empty()) {
    damage_.cut_off.add(offset_ + at_);
    skip(rest().size());
  }
  end_of_damage();
}

void Reader::parse(bool last) {
  if (!magic_seen_) {
    if (rest().size() < kMagic.size()) return;
    magic_seen_ = true;
    if (rest().starts_with(kMagic)) at_ += kMagic.size();
  }
  while (take_block(last)) {
  }
}

/// Goes past one block, or past what is none. False when more bytes are needed.
bool Reader::take_block(bool last) {
  const std::string_view bytes = rest();
  if (bytes.size() < kHeaderBytes) {
    if (bytes.empty() || !last || skipping_ == 0) return false;
    skip(bytes.size());  // the end of damage, not a block that is cut off
    return false;
  }
  const Header header = header_of(bytes);
  if (header.sync != kSync || header.size > kMaxPayload) {
    skip_damage(last);
    return true;
  }
  const std::size_t size = kHeaderBytes + header.size;
  if (bytes.size() < size) {
    if (!last) return false;
    // Cut off, unless a sound block follows: then the size was damaged.
    if (bytes.find(kSyncBytes, 1) == std::string_view::npos) return false;
    skip_damage(last);
    return true;
  }
  const std::string_view block = bytes.substr(0, size);
  if (!sound(block)) {
    const bool exhausted = in_vain_ > kVainFree + kVainShare * (offset_ + pending_.size());
    if (exhausted) {
      skip(size);
    } else {
      skip_damage(last);
    }
    return true;
  }
  end_of_damage();
  count_number(header.number);
  ++blocks_;
  if (header.type == kRecordsBlock) {
    records(block.substr(kHeaderBytes), offset_ + at_ + kHeaderBytes);
  } else {
    damage_.unknown_blocks[header.type].add(offset_ + at_);
  }
  at_ += size;
  return true;
}

bool Reader::sound(std::string_view block) {
  if (crc32(block.substr(kCheckedFrom)) == header_of(block).crc) return true;
  in_vain_ += block.size();
  return false;
}

/// To the next place that may be the beginning of a block.
void Reader::skip_damage(bool last) {
  const std::string_view bytes = rest();
  std::size_t next = bytes.find(kSyncBytes, 1);
  // The last bytes may be the beginning of a sync.
  if (next == std::string_view::npos)
    next = last ? bytes.size() : bytes.size() - (kSyncBytes.size() - 1);
  skip(next);
}

void Reader::skip(std::size_t bytes) {
  if (skipping_ == 0) damage_.skipped.add(offset_ + at_);
  skipping_ += bytes;
  at_ += bytes;
}

void Reader::end_of_damage() {
  damage_.skipped_bytes += skipping_;
  skipping_ = 0;
}

void Reader::count_number(std::uint64_t number) {
  if (blocks_ == 0) damage_.first_number = number;
  if (blocks_ > 0 && number > next_number_)
    damage_.missing.add(offset_ + at_, number - next_number_);
  next_number_ = number + 1;
}

void Reader::records(std::string_view payload, std::uint64_t offset) {
  texts_.clear();
  counters_.clear();
  frames_.clear();
  argument_fits_ = false;
  detail_fits_ = false;
  std::size_t at = 0;
  while (at < payload.size()) {
    if (payload.size() - at < kRecordHeaderBytes) break;
    Unpacker header(payload.substr(at));
    const auto kind = header.take<std::uint16_t>();
    const auto size = header.take<std::uint16_t>();
    const std::size_t body = at + kRecordHeaderBytes;
    if (payload.size() - body < size) break;
    if (kind == 0 || kind >= kKinds) {
      damage_.unknown_kinds[kind].add(offset + at);
    } else if (size < kBodyBytes[kind]) {
      damage_.malformed.add(offset + at);
    } else {
      record({static_cast<Kind>(kind), payload.substr(body, size), offset + at});
    }
    at = body + size;
  }
  if (at < payload.size()) damage_.malformed.add(offset + at);
}

std::string_view Reader::text(std::uint32_t id, std::uint64_t offset) {
  if (id == 0) return {};
  const auto found = texts_.find(id);
  if (found != texts_.end()) return found->second;
  damage_.texts.add(offset);
  return {};
}

/// What the body says; a text that is not defined is counted and empty.
template <typename Fields>
Fields Reader::read(const Record& record) {
  Fields fields;
  Unpacker body(record.body);
  const auto take = [&]<typename Value>(Value& value) {
    if constexpr (std::same_as<Value, std::string_view>) {
      value = text(body.take<std::uint32_t>(), record.offset);
    } else {
      body >> value;
    }
  };
  Fields::fields([&](auto... field) { (take(fields.*field.member), ...); });
  return fields;
}

void Reader::define(const Record& record) {
  if (record.kind == Kind::string) {
    texts_[Unpacker(record.body).take<std::uint32_t>()] = record.body.substr(kStringBytes);
    return;
  }
  const auto counter = read<CounterRecord>(record);
  counters_[counter.id] = visitor_.counter(counter, record.offset);
}

void Reader::sample(const Record& record) {
  auto sample = read<SampleRecord>(record);
  const auto counter = counters_.find(sample.counter);
  if (counter == counters_.end()) {
    damage_.texts.add(record.offset);
    return;
  }
  sample.counter = counter->second;
  visitor_.sample(sample, record.offset);
}

/// A parent that is not defined is counted, and the frame is taken as an outermost one.
void Reader::frame(const Record& record) {
  auto frame = read<FrameRecord>(record);
  const auto parent = frames_.find(frame.parent);
  if (parent == frames_.end() && frame.parent != 0) damage_.texts.add(record.offset);
  frame.parent = parent == frames_.end() ? 0 : parent->second;
  if (frame.id != 0) frames_[frame.id] = visitor_.frame(frame, record.offset);
}

void Reader::stack(const Record& record) {
  auto stack = read<StackRecord>(record);
  const auto frame = frames_.find(stack.frame);
  if (frame == frames_.end() && stack.frame != 0) damage_.texts.add(record.offset);
  stack.frame = frame == frames_.end() ? 0 : frame->second;
  visitor_.stack(stack, record.offset);
}

/// Of a device activity; without one it is damage.
void Reader::detail(const Record& record) {
  if (!detail_fits_) {
    damage_.malformed.add(record.offset);
  } else if (record.kind == Kind::launch) {
    visitor_.launch(read<Launch>(record), record.offset);
  } else if (record.kind == Kind::copy) {
    visitor_.copy(read<Copy>(record), record.offset);
  } else {
    visitor_.wait(read<Wait>(record), record.offset);
  }
}

void Reader::record(const Record& record) {
  const std::uint64_t offset = record.offset;
  const bool has_arguments = record.kind == Kind::slice || record.kind == Kind::begin ||
                             record.kind == Kind::instant || record.kind == Kind::device ||
                             record.kind == Kind::call;
  argument_fits_ = argument_fits_ || has_arguments;
  switch (record.kind) {
    case Kind::string:
    case Kind::counter:
      return define(record);
    case Kind::clock:
      return visitor_.clock(read<ClockRecord>(record), offset);
    case Kind::process:
      return visitor_.process(read<ProcessRecord>(record), offset);
    case Kind::thread:
      return visitor_.thread(read<ThreadRecord>(record), offset);
    case Kind::slice:
      return visitor_.slice(read<SliceRecord>(record), offset);
    case Kind::begin:
      return visitor_.begin(read<MomentRecord>(record), offset);
    case Kind::end:
      return visitor_.end(read<EndRecord>(record), offset);
    case Kind::instant:
      return visitor_.instant(read<MomentRecord>(record), offset);
    case Kind::sample:
      return sample(record);
    case Kind::fact:
      return visitor_.fact(read<FactRecord>(record), offset);
    case Kind::exit:
      return visitor_.exit(read<ExitRecord>(record), offset);
    case Kind::dropped:
      return visitor_.dropped(read<DroppedRecord>(record), offset);
    case Kind::function:
      return visitor_.function(read<FunctionRecord>(record), offset);
    case Kind::line:
      return visitor_.line(read<LineRecord>(record), offset);
    case Kind::line_run:
      return visitor_.line_run(read<LineRunRecord>(record), offset);
    case Kind::function_part:
      return visitor_.function_part(read<FunctionPartRecord>(record), offset);
    case Kind::line_part:
      return visitor_.line_part(read<LinePartRecord>(record), offset);
    case Kind::function_calls:
      return visitor_.function_calls(read<FunctionCallsRecord>(record), offset);
    case Kind::argument:
      if (argument_fits_) return visitor_.argument(read<ArgumentRecord>(record), offset);
      return damage_.malformed.add(offset);
    case Kind::device:
      detail_fits_ = true;
      return visitor_.device(read<DeviceActivity>(record), offset);
    case Kind::launch:
    case Kind::copy:
    case Kind::wait:
      return detail(record);
    case Kind::call:
      detail_fits_ = false;
      return visitor_.call(read<Call>(record), offset);
    case Kind::memory:
      return visitor_.memory(read<MemoryOperation>(record), offset);
    case Kind::frame:
      return frame(record);
    case Kind::stack:
      return stack(record);
  }
}

}  // namespace fathom::wire
