// Reads .eh_frame and runs its instructions.
#include "sample/native/call_frames.h"

#include <algorithm>
#include <string_view>

#include "sample/native/cursor.h"

namespace fathom::sample::native {
namespace {

/// How a pointer is written: DW_EH_PE_*.
constexpr std::uint8_t kOmitted = 0xff;
constexpr std::uint8_t kFormat = 0x0f;
constexpr std::uint8_t kRelation = 0x70;
constexpr std::uint8_t kToPlace = 0x10;
constexpr std::uint8_t kToHeader = 0x30;
constexpr std::uint8_t kHeaderTable = 0x3b;  // to the header, signed, 4 bytes
constexpr std::size_t kTableEntry = 8;

constexpr std::size_t kMostRemembered = 64;
constexpr std::size_t kMostInstructions = 100'000;
constexpr std::size_t kMostEntries = std::size_t{4} << 20;
constexpr std::size_t kLongestAugmentation = 64;

/// That may be too large to hold: it is of a file. Then its lowest bits.
std::int64_t product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

/// A pointer, `section` being where the bytes of the cursor lie.
std::optional<std::uint64_t> take_pointer(Cursor& from, std::uint8_t encoding,
                                          std::uint64_t section, std::uint64_t header) {
  const std::uint64_t place = section + from.at();
  std::uint64_t value = 0;
  switch (encoding & kFormat) {
    case 0x00:
    case 0x04:
    case 0x0c:
      value = from.take<std::uint64_t>();
      break;
    case 0x01:
      value = from.unsigned_leb();
      break;
    case 0x02:
      value = from.take<std::uint16_t>();
      break;
    case 0x03:
      value = from.take<std::uint32_t>();
      break;
    case 0x09:
      value = static_cast<std::uint64_t>(from.signed_leb());
      break;
    case 0x0a:
      value = static_cast<std::uint64_t>(std::int64_t{from.take<std::int16_t>()});
      break;
    case 0x0b:
      value = static_cast<std::uint64_t>(std::int64_t{from.take<std::int32_t>()});
      break;
    default:
      return std::nullopt;
  }
  if (!from.ok()) return std::nullopt;
  const unsigned relation = encoding & kRelation;
  if (relation == 0) return value;
  if (relation == kToPlace) return value + place;
  if (relation == kToHeader) return value + header;
  return std::nullopt;
}

/// The bytes of the entry that begins there, behind its length. Empty: the end, or none.
std::span<const std::byte> entry_at(const Section& frames, std::uint64_t offset,
                                    std::uint64_t& begin) {
  if (offset >= frames.bytes.size()) return {};
  Cursor cursor(frames.bytes, offset);
  std::uint64_t length = cursor.take<std::uint32_t>();
  if (length == 0xffffffffU) length = cursor.take<std::uint64_t>();
  begin = cursor.at();
  return cursor.take_bytes(length);
}

}  // namespace

/// What the entries of many functions have in common.
struct CallFrames::Cie {
  std::uint64_t code_factor = 1;
  std::int64_t data_factor = 1;
  std::uint64_t return_register = 0;
  std::uint8_t pointers = 0;
  bool sized = false;  ///< Its functions' entries have data of their own.
  bool signal = false;
  std::span<const std::byte> instructions;
};

/// The entry of a function.
struct CallFrames::Fde {
  Cie cie;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::span<const std::byte> instructions;
  std::uint64_t instructions_at = 0;
};

/// Runs instructions up to an address.
class CallFrames::Program {
 public:
  Program(const Cie& cie, std::uint64_t begin, std::uint64_t target)
      : cie_(cie), at_(begin), target_(target) {}

  /// False where they are none. `address` is where the instructions lie.
  bool run(std::span<const std::byte> instructions, std::uint64_t address) {
    Cursor cursor(instructions);
    for (std::size_t count = 0; sound_ && !done_ && !cursor.at_end(); ++count) {
      if (count == kMostInstructions) return false;
      const auto operation = cursor.take<std::uint8_t>();
      const std::uint64_t operand = operation & 0x3fU;
      if ((operation & 0xc0U) == 0x40)
        advance(operand);
      else if ((operation & 0xc0U) == 0x80)
        save(operand, scaled(cursor), cursor);
      else if ((operation & 0xc0U) == 0xc0)
        restore(operand);
      else if (!perform(operation, cursor, address))
        return false;
    }
    return sound_ && (done_ || cursor.ok());
  }

  /// What holds at the start of each function, from the entry that they have in common.
  void begin_function() { initial_ = row_; }
  [[nodiscard]] const Row& row() const { return row_; }

 private:
  [[nodiscard]] std::int64_t scaled(Cursor& from) const {
    return product(static_cast<std::int64_t>(from.unsigned_leb()), cie_.data_factor);
  }
  [[nodiscard]] std::int64_t scaled_signed(Cursor& from) const {
    return product(from.signed_leb(), cie_.data_factor);
  }
  void advance(std::uint64_t by) { go_to(at_ + by * cie_.code_factor); }
  void go_to(std::uint64_t to) {
    if (to > target_)
      done_ = true;
    else
      at_ = to;
  }
  void set(std::uint64_t number, const Rule& rule) {
    // Those of vectors and flags are in nobody's way.
    if (number < kRegisters) row_.registers[number] = rule;
  }
  void save(std::uint64_t number, std::int64_t offset, const Cursor& from) {
    if (from.ok()) set(number, {.kind = Rule::Kind::saved, .offset = offset});
  }
  void restore(std::uint64_t number) {
    if (number < kRegisters) row_.registers[number] = initial_.registers[number];
  }
  void remember() {
    sound_ = sound_ && remembered_.size() < kMostRemembered;
    if (sound_) remembered_.push_back(row_);
  }
  void recall() {
    sound_ = sound_ && !remembered_.empty();
    if (!sound_) return;
    row_ = remembered_.back();
    remembered_.pop_back();
  }

  /// Those whose first two bits are 0: DW_CFA_*.
  bool perform(std::uint8_t operation, Cursor& from, std::uint64_t address) {
    using Kind = Rule::Kind;
    const auto number = [&] { return from.unsigned_leb(); };
    const auto block = [&] { return from.take_bytes(from.unsigned_leb()); };
    switch (operation) {
      case 0x00:  // nop
        break;
      case 0x01: {  // set_loc
        const auto to = take_pointer(from, cie_.pointers, address, 0);
        if (!to) return false;
        go_to(*to);
        break;
      }
      case 0x02:
        advance(from.take<std::uint8_t>());
        break;
      case 0x03:
        advance(from.take<std::uint16_t>());
        break;
      case 0x04:
        advance(from.take<std::uint32_t>());
        break;
      case 0x1d:  // MIPS_advance_loc8
        advance(from.take<std::uint64_t>());
        break;
      case 0x05: {  // offset_extended
        const std::uint64_t one = number();
        save(one, scaled(from), from);
        break;
      }
      case 0x11: {  // offset_extended_sf
        const std::uint64_t one = number();
        save(one, scaled_signed(from), from);
        break;
      }
      case 0x2f: {  // GNU_negative_offset_extended
        const std::uint64_t one = number();
        save(one, product(-1, scaled(from)), from);
        break;
      }
      case 0x06:  // restore_extended
        restore(number());
        break;
      case 0x07:
        set(number(), {.kind = Kind::undefined});
        break;
      case 0x08:
        set(number(), {.kind = Kind::same});
        break;
      case 0x09: {  // register
        const std::uint64_t one = number();
        set(one, {.kind = Kind::in_register, .number = number()});
        break;
      }
      case 0x0a:
        remember();
        break;
      case 0x0b:
        recall();
        break;
      case 0x0c: {  // def_cfa
        const std::uint64_t one = number();
        row_.frame = {.kind = Kind::offset,
                      .number = one,
                      .offset = static_cast<std::int64_t>(from.unsigned_leb())};
        break;
      }
      case 0x12: {  // def_cfa_sf
        const std::uint64_t one = number();
        row_.frame = {.kind = Kind::offset, .number = one, .offset = scaled_signed(from)};
        break;
      }
      case 0x0d:  // def_cfa_register
        row_.frame.kind = Kind::offset;
        row_.frame.number = number();
        break;
      case 0x0e:  // def_cfa_offset
        row_.frame.offset = static_cast<std::int64_t>(from.unsigned_leb());
        break;
      case 0x13:  // def_cfa_offset_sf
        row_.frame.offset = scaled_signed(from);
        break;
      case 0x0f:  // def_cfa_expression
        row_.frame = {.kind = Kind::expression, .bytes = block()};
        break;
      case 0x10: {  // expression
        const std::uint64_t one = number();
        set(one, {.kind = Kind::saved_expression, .bytes = block()});
        break;
      }
      case 0x16: {  // val_expression
        const std::uint64_t one = number();
        set(one, {.kind = Kind::expression, .bytes = block()});
        break;
      }
      case 0x14: {  // val_offset
        const std::uint64_t one = number();
        set(one, {.kind = Kind::offset, .offset = scaled(from)});
        break;
      }
      case 0x15: {  // val_offset_sf
        const std::uint64_t one = number();
        set(one, {.kind = Kind::offset, .offset = scaled_signed(from)});
        break;
      }
      case 0x2d:  // aarch64: the return address is signed from here on, or no more
        break;
      case 0x2e:  // GNU_args_size
        number();
        break;
      default:
        return false;
    }
    return from.ok();
  }

  const Cie& cie_;
  std::uint64_t at_;
  std::uint64_t target_;
  Row row_;
  Row initial_;
  std::vector<Row> remembered_;
  bool done_ = false;
  bool sound_ = true;
};

CallFrames::CallFrames(const Section& header, const Section& frames) : frames_(frames) {
  if (!read_header(header)) read_all();
}

bool CallFrames::read_header(const Section& header) {
  Cursor cursor(header.bytes);
  const auto version = cursor.take<std::uint8_t>();
  const auto frames_encoding = cursor.take<std::uint8_t>();
  const auto count_encoding = cursor.take<std::uint8_t>();
  const auto table_encoding = cursor.take<std::uint8_t>();
  if (!cursor.ok() || version != 1 || count_encoding == kOmitted || table_encoding != kHeaderTable)
    return false;
  if (!take_pointer(cursor, frames_encoding, header.address, header.address)) return false;
  const auto count = take_pointer(cursor, count_encoding, header.address, header.address);
  if (!count) return false;
  const std::uint64_t room = (header.bytes.size() - cursor.at()) / kTableEntry;
  table_ = cursor.take_bytes(std::min(*count, room) * kTableEntry);
  table_base_ = header.address;
  return !table_.empty();
}

void CallFrames::read_all() {
  std::uint64_t offset = 0;
  while (all_.size() < kMostEntries) {
    std::uint64_t begin = 0;
    const auto entry = entry_at(frames_, offset, begin);
    if (entry.size() < 4) break;
    if (number_at<std::uint32_t>(entry, 0) != 0) {
      if (const std::optional<Fde> fde = read_fde(offset)) all_.emplace_back(fde->begin, offset);
    }
    offset = begin + entry.size();
  }
  std::ranges::sort(all_);
}

/// The offset of the entry of the function that may hold the address.
std::optional<std::uint64_t> CallFrames::entry_of(std::uint64_t address) const {
  if (table_.empty()) {
    const auto after =
        std::ranges::upper_bound(all_, address, {}, [](auto& one) { return one.first; });
    if (after == all_.begin()) return std::nullopt;
    return std::prev(after)->second;
  }
  const auto at = [this](std::size_t index, std::size_t field) {
    const auto value = number_at<std::int32_t>(table_, index * kTableEntry + field);
    return table_base_ + static_cast<std::uint64_t>(std::int64_t{value});
  };
  std::size_t low = 0;
  std::size_t high = table_.size() / kTableEntry;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (at(middle, 0) <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0) return std::nullopt;
  return at(low - 1, 4) - frames_.address;
}

std::optional<CallFrames::Cie> CallFrames::read_cie(std::uint64_t offset) const {
  std::uint64_t begin = 0;
  const auto entry = entry_at(frames_, offset, begin);
  Cursor cursor(entry);
  if (cursor.take<std::uint32_t>() != 0 || !cursor.ok()) return std::nullopt;
  const auto version = cursor.take<std::uint8_t>();
  if (version != 1 && version != 3) return std::nullopt;
  auto rest = entry.subspan(cursor.at());
  rest = rest.first(std::min(rest.size(), kLongestAugmentation));
  const auto end = std::ranges::find(rest, std::byte{0});
  if (end == rest.end()) return std::nullopt;
  const std::string_view augmentation(reinterpret_cast<const char*>(rest.data()),
                                      static_cast<std::size_t>(end - rest.begin()));
  cursor.take_bytes(augmentation.size() + 1);
  Cie cie;
  cie.code_factor = cursor.unsigned_leb();
  cie.data_factor = cursor.signed_leb();
  cie.return_register = version == 1 ? cursor.take<std::uint8_t>() : cursor.unsigned_leb();
  if (!augmentation.empty() && augmentation[0] != 'z') return std::nullopt;
  if (!augmentation.empty()) {
    cie.sized = true;
    const std::uint64_t size = cursor.unsigned_leb();
    const std::uint64_t data_at = begin + cursor.at();
    Cursor data(cursor.take_bytes(size));
    for (const char letter : augmentation.substr(1)) {
      if (letter == 'R') cie.pointers = data.take<std::uint8_t>();
      if (letter == 'L') data.take<std::uint8_t>();
      if (letter == 'S') cie.signal = true;
      if (letter == 'P') {
        const auto encoding = data.take<std::uint8_t>();
        if (!take_pointer(data, encoding & 0x7fU, frames_.address + data_at, 0))
          return std::nullopt;
      }
      if (std::string_view("RLSPBG").find(letter) == std::string_view::npos) break;
    }
    if (!data.ok()) return std::nullopt;
  }
  if (!cursor.ok() || cie.return_register >= kRegisters) return std::nullopt;
  cie.instructions = entry.subspan(cursor.at());
  return cie;
}

std::optional<CallFrames::Fde> CallFrames::read_fde(std::uint64_t offset) const {
  std::uint64_t begin = 0;
  const auto entry = entry_at(frames_, offset, begin);
  Cursor cursor(entry);
  const auto back = cursor.take<std::uint32_t>();
  if (!cursor.ok() || back == 0 || back > begin) return std::nullopt;
  std::optional<Cie> cie = read_cie(begin - back);
  if (!cie) return std::nullopt;
  const std::uint64_t here = frames_.address + begin;
  const auto first = take_pointer(cursor, cie->pointers, here, table_base_);
  const auto size = take_pointer(cursor, cie->pointers & kFormat, here, 0);
  if (!first || !size || *size > ~*first) return std::nullopt;
  if (cie->sized) cursor.take_bytes(cursor.unsigned_leb());
  if (!cursor.ok()) return std::nullopt;
  Fde fde;
  fde.cie = *cie;
  fde.begin = *first;
  fde.end = *first + *size;
  fde.instructions = entry.subspan(cursor.at());
  fde.instructions_at = here + cursor.at();
  return fde;
}

std::optional<Row> CallFrames::find(std::uint64_t address) const {
  const std::optional<std::uint64_t> offset = entry_of(address);
  const std::optional<Fde> fde = offset ? read_fde(*offset) : std::nullopt;
  if (!fde || address < fde->begin || address >= fde->end) return std::nullopt;
  Program program(fde->cie, fde->begin, address);
  if (!program.run(fde->cie.instructions, 0)) return std::nullopt;
  program.begin_function();
  if (!program.run(fde->instructions, fde->instructions_at)) return std::nullopt;
  Row row = program.row();
  if (row.frame.kind == Rule::Kind::unspecified) return std::nullopt;
  row.return_register = fde->cie.return_register;
  row.signal = fde->cie.signal;
  row.begin = fde->begin;
  row.end = fde->end;
  return row;
}

}  // namespace fathom::sample::native
