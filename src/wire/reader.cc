// Blocks are looked for, their sums checked, and their records handed on.
#include "wire/reader.h"

#include <algorithm>
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
    } else if (size < body_bytes(static_cast<Kind>(kind))) {
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

void Reader::define(const Record& record) {
  Unpacker body(record.body);
  const auto id = body.take<std::uint32_t>();
  if (record.kind == Kind::string) {
    texts_[id] = record.body.substr(sizeof id);
    return;
  }
  CounterRecord counter;
  body >> counter.pid >> counter.device;
  counter.name = text(body.take<std::uint32_t>(), record.offset);
  counter.unit = text(body.take<std::uint32_t>(), record.offset);
  counters_[id] = visitor_.counter(counter, record.offset);
}

void Reader::record(const Record& record) {
  Unpacker body(record.body);
  const bool has_arguments = record.kind == Kind::slice || record.kind == Kind::begin ||
                             record.kind == Kind::instant || record.kind == Kind::device ||
                             record.kind == Kind::call;
  argument_fits_ = argument_fits_ || has_arguments;
  const auto next_text = [&] { return text(body.take<std::uint32_t>(), record.offset); };
  switch (record.kind) {
    case Kind::string:
    case Kind::counter:
      define(record);
      return;
    case Kind::clock: {
      ClockRecord clock;
      body >> clock.monotonic >> clock.unix >> clock.error;
      visitor_.clock(clock, record.offset);
      return;
    }
    case Kind::process: {
      ProcessRecord process;
      body >> process.time >> process.pid >> process.parent >> process.rank;
      process.name = next_text();
      process.role = next_text();
      visitor_.process(process, record.offset);
      return;
    }
    case Kind::thread: {
      ThreadRecord thread;
      body >> thread.pid >> thread.tid;
      thread.name = next_text();
      visitor_.thread(thread, record.offset);
      return;
    }
    case Kind::slice: {
      SliceRecord slice;
      body >> slice.start >> slice.duration >> slice.pid >> slice.tid;
      slice.name = next_text();
      slice.category = next_text();
      body >> slice.value;
      visitor_.slice(slice, record.offset);
      return;
    }
    case Kind::begin:
    case Kind::end:
    case Kind::instant: {
      MomentRecord moment;
      body >> moment.time >> moment.pid >> moment.tid;
      if (record.kind == Kind::end) {
        visitor_.end(moment, record.offset);
        return;
      }
      moment.name = next_text();
      moment.category = next_text();
      if (record.kind == Kind::begin) {
        visitor_.begin(moment, record.offset);
      } else {
        visitor_.instant(moment, record.offset);
      }
      return;
    }
    case Kind::sample: {
      SampleRecord sample;
      body >> sample.time;
      const auto counter = counters_.find(body.take<std::uint32_t>());
      body >> sample.value;
      if (counter == counters_.end()) {
        damage_.texts.add(record.offset);
        return;
      }
      sample.counter = counter->second;
      visitor_.sample(sample, record.offset);
      return;
    }
    case Kind::fact: {
      FactRecord fact;
      body >> fact.pid;
      fact.key = next_text();
      fact.value = next_text();
      visitor_.fact(fact, record.offset);
      return;
    }
    case Kind::exit: {
      ExitRecord exit;
      body >> exit.time >> exit.pid >> exit.status >> exit.user >> exit.system >> exit.peak >>
          exit.wall >> exit.read >> exit.written;
      visitor_.exit(exit, record.offset);
      return;
    }
    case Kind::dropped: {
      DroppedRecord dropped;
      dropped.what = next_text();
      body >> dropped.count;
      visitor_.dropped(dropped, record.offset);
      return;
    }
    case Kind::function: {
      FunctionRecord function;
      body >> function.pid;
      function.file = next_text();
      body >> function.line;
      function.name = next_text();
      body >> function.calls >> function.total >> function.self;
      visitor_.function(function, record.offset);
      return;
    }
    case Kind::argument: {
      if (!argument_fits_) {
        damage_.malformed.add(record.offset);
        return;
      }
      ArgumentRecord argument;
      argument.key = next_text();
      argument.value = next_text();
      visitor_.argument(argument, record.offset);
      return;
    }
    case Kind::device:
    case Kind::launch:
    case Kind::copy:
    case Kind::wait:
    case Kind::call:
    case Kind::memory:
      device_record(record);
      return;
  }
}

/// What devices did. A detail without its activity is damage.
void Reader::device_record(const Record& record) {
  Unpacker body(record.body);
  const auto next_text = [&] { return text(body.take<std::uint32_t>(), record.offset); };
  if (record.kind == Kind::device) {
    DeviceActivity activity;
    body >> activity.start >> activity.duration >> activity.pid >> activity.device >>
        activity.context >> activity.stream;
    activity.name = next_text();
    activity.category = next_text();
    body >> activity.correlation >> activity.graph >> activity.node;
    detail_fits_ = true;
    return visitor_.device(activity, record.offset);
  }
  if (record.kind == Kind::call) {
    detail_fits_ = false;
    Call call;
    body >> call.start >> call.duration >> call.pid >> call.tid;
    call.name = next_text();
    call.category = next_text();
    body >> call.correlation >> call.external;
    return visitor_.call(call, record.offset);
  }
  if (record.kind == Kind::memory) {
    MemoryOperation operation;
    body >> operation.time >> operation.pid >> operation.correlation >> operation.device >>
        operation.address >> operation.bytes >> operation.reserved;
    operation.kind = next_text();
    return visitor_.memory(operation, record.offset);
  }
  if (!detail_fits_) {
    damage_.malformed.add(record.offset);
    return;
  }
  if (record.kind == Kind::launch) {
    Launch launch;
    for (Dimensions* const sizes : {&launch.grid, &launch.block, &launch.cluster}) {
      for (std::int32_t& size : *sizes) body >> size;
    }
    body >> launch.registers >> launch.static_shared >> launch.dynamic_shared >> launch.local_bytes;
    visitor_.launch(launch, record.offset);
  } else if (record.kind == Kind::copy) {
    Copy copy;
    body >> copy.bytes;
    copy.kind = next_text();
    copy.source = next_text();
    copy.destination = next_text();
    visitor_.copy(copy, record.offset);
  } else {
    Wait wait;
    wait.kind = next_text();
    body >> wait.stream >> wait.event >> wait.correlation;
    visitor_.wait(wait, record.offset);
  }
}

}  // namespace fathom::wire
