// The key tables, and a small hash table over each.
#include "formats/chrome/keys.h"

#include <array>
#include <cstring>
#include <span>

#include "formats/chrome/attributes.h"

namespace fathom::chrome {
namespace {

using Spelling = KeyTable::Spelling;

constexpr Spelling kEventKeys[] = {
    {"ph", Key::ph},
    {"cat", Key::cat},
    {"name", Key::name},
    {"pid", Key::pid},
    {"tid", Key::tid},
    {"ts", Key::ts},
    {"dur", Key::dur},
    {"args", Key::args},
    {"id", Key::id},
    {"id2", Key::id},
    {"bind_id", Key::ignored},
    {"s", Key::ignored},
    {"bp", Key::ignored},
    {"tts", Key::ignored},
    {"tdur", Key::ignored},
    {"cname", Key::ignored},
    {"scope", Key::ignored},
    {"flow_in", Key::ignored},
    {"flow_out", Key::ignored},
    {"sf", Key::ignored},
    {"esf", Key::ignored},
};

constexpr std::size_t kArgsSpellings =
    kAttributeCount + kOtherSpellings.size() + kAttributesNotRead.size();

/// Attributes first, so that their number is their row.
constexpr std::array<Spelling, kArgsSpellings> args_spellings() {
  std::array<Spelling, kArgsSpellings> all{};
  std::size_t row = 0;
  std::apply(
      [&](const auto&... attribute) {
        ((all[row] = {attribute.key, Key::attribute, static_cast<std::uint8_t>(row)}, ++row), ...);
      },
      kAttributes);
  for (const OtherSpelling& other : kOtherSpellings) {
    std::size_t same = 0;
    while (all[same].text != other.key) ++same;
    all[row++] = {other.text, Key::attribute, all[same].attribute};
  }
  for (const std::string_view text : kAttributesNotRead) all[row++] = {text, Key::ignored};
  return all;
}

constexpr std::array<Spelling, kArgsSpellings> kArgsKeys = args_spellings();

constexpr bool all_differ() {
  for (std::size_t a = 0; a < kArgsKeys.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (kArgsKeys[a].text == kArgsKeys[b].text) return false;
    }
  }
  return true;
}

static_assert(all_differ(), "an attribute stands in attributes.h once");
static_assert(1 + std::size(kEventKeys) + std::size(kArgsKeys) < kKeyIndexes);

}  // namespace

KeyTable::KeyTable(std::span<const Spelling> spellings, std::size_t first_index) {
  std::size_t row = 1;
  for (const Spelling& spelling : spellings) {
    KeyEntry& entry = entries_[row];
    entry.key = spelling.key;
    entry.attribute = spelling.attribute;
    entry.index = static_cast<std::uint8_t>(first_index + row - 1);
    entry.quoted_size = static_cast<std::uint8_t>(spelling.text.size() + 3);
    entry.quoted[0] = '"';
    std::memcpy(entry.quoted.data() + 1, spelling.text.data(), spelling.text.size());
    entry.quoted[spelling.text.size() + 1] = '"';
    entry.quoted[spelling.text.size() + 2] = ':';
    std::size_t at = slot_of(spelling.text);
    while (slots_[at] != 0) at = (at + 1) % kSlots;
    slots_[at] = static_cast<std::uint8_t>(row++);
  }
}

/// The length and four characters distinguish nearly all keys.
std::size_t KeyTable::slot_of(std::string_view text) {
  const std::size_t size = text.size();
  if (size == 0) return 0;
  const auto byte = [text](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(text[i]));
  };
  return (size * 89 + byte(0) * 5 + byte(size / 2) * 37 + byte(size - 1) * 17 +
          byte(size / 4) * 3) %
         kSlots;
}

const KeyEntry& KeyTable::find(std::string_view text) const {
  for (std::size_t at = slot_of(text); slots_[at] != 0; at = (at + 1) % kSlots) {
    const KeyEntry& entry = entries_[slots_[at]];
    if (entry.text() == text) return entry;
  }
  return entries_[0];
}

const KeyTable& event_keys() {
  static const KeyTable table(kEventKeys, 1);
  return table;
}

const KeyTable& args_keys() {
  static const KeyTable table(kArgsKeys, 1 + std::size(kEventKeys));
  return table;
}

}  // namespace fathom::chrome
