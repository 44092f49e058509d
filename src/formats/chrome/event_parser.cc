// Reading one event object: keys by guess or by table. Values are read in event_values.cc; what an
// event means is in event_emit.cc.
#include "formats/chrome/event_parser.h"

#include <array>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include <simdjson.h>

#include "formats/chrome/json_scan.h"

namespace fathom::chrome {
namespace {

const KeyEntry kNoGuess{};

Phase phase_of(char ph) {
  switch (ph) {
    case 'X':
      return Phase::complete;
    case 'B':
      return Phase::begin;
    case 'E':
      return Phase::end;
    case 'b':
    case 'S':
      return Phase::async_begin;
    case 'e':
    case 'F':
      return Phase::async_end;
    case 's':
      return Phase::flow_start;
    case 't':
      return Phase::flow_step;
    case 'f':
      return Phase::flow_finish;
    case 'i':
    case 'I':
    case 'R':
    case 'n':
      return Phase::instant;
    case 'C':
      return Phase::counter;
    case 'M':
      return Phase::metadata;
    case 'T':
    case 'p':
    case 'P':
    case 'N':
    case 'O':
    case 'D':
    case 'v':
    case 'V':
    case 'c':
    case '(':
    case ')':
      return Phase::not_read;
    default:
      return Phase::unknown;
  }
}

/// Guesses are kept apart for the phases that differ in their keys.
std::uint8_t context_of(Phase phase) {
  switch (phase) {
    case Phase::complete:
      return 1;
    case Phase::flow_start:
      return 2;
    case Phase::flow_step:
    case Phase::flow_finish:
      return 3;
    case Phase::instant:
      return 4;
    case Phase::metadata:
      return 5;
    case Phase::counter:
      return 6;
    default:
      return 7;
  }
}

}  // namespace

EventParser::EventParser(SharedTables& tables)
    : tables_(tables),
      event_keys_(event_keys()),
      args_keys_(args_keys()),
      strings_(tables.strings) {
  for (auto& keys : successor_) keys.fill(&kNoGuess);
  memory_name_ = tables.strings.intern("[memory]");
}

void EventParser::set_text(const char* begin, const char* end, std::uint64_t offset) {
  begin_ = begin;
  end_ = end;
  offset_ = offset;
  valid_utf8_ = simdjson::validate_utf8(begin, static_cast<std::size_t>(end - begin));
  ++text_serial_;
}

ParseStatus EventParser::parse(const char*& p, Batch& batch) {
  Event event;
  const char* q = p;
  ParseStatus status = parse_event(q, event);
  if (status == ParseStatus::malformed) {  // perhaps a quote inside a string
    lenient_quotes_ = true;
    event = Event();
    q = p;
    status = parse_event(q, event);
    lenient_quotes_ = false;
    if (status != ParseStatus::ok) return ParseStatus::malformed;
    note(Repair::unescaped_quote, p,
         {p, static_cast<std::size_t>(std::min<std::ptrdiff_t>(80, q - p))});
  }
  if (status != ParseStatus::ok) return status;
  for (const Note& entry : notes_) batch.log.add(entry.repair, entry.offset, entry.example);
  notes_.clear();
  if (event.requested_name.text.data() != nullptr)
    event.name = strings_.finish(event.requested_name);
  emit(event, batch);
  ++batch.events;
  p = q;
  return ParseStatus::ok;
}

void EventParser::take_unknown(ImportLog& log) {
  for (const auto& [what, count] : unknown_) log.add_unknown(what, count);
  unknown_.clear();
}

void EventParser::note(Repair repair, const char* at, std::string_view example) {
  notes_.push_back({repair, offset_of(at), std::string(example)});
}

template <typename Visit>
ParseStatus EventParser::parse_members(const char*& p, const Event& event, std::uint64_t& seen,
                                       std::uint8_t first, const KeyTable& keys, Visit visit) {
  p = json::skip_space(p);
  if (*p == '}') {
    ++p;
    return ParseStatus::ok;
  }
  for (std::uint8_t last = first;;) {
    const KeyEntry*& guess = successor_[event.context][last];
    const KeyEntry* entry = guess;
    const char* const key = p;
    if (matches(p, *entry)) {
      p += entry->quoted_size;
    } else {
      if (*p != '"') return stopped_at(p);
      const char* close = json::find_string_special(p + 1);
      if (*close != '"') close = json::find_string_end(p + 1, end_);  // keys hold no stray quotes
      if (close == nullptr) return ParseStatus::incomplete;
      const std::string_view text(p + 1, static_cast<std::size_t>(close - p - 1));
      entry = &keys.find(text);
      if (entry->key == Key::unknown) {
        unknown_keys_.push_back(text);
      } else {
        guess = entry;
      }
      p = json::skip_space(close + 1);
      if (*p != ':') return stopped_at(p);
      ++p;
    }
    last = entry->index;
    if (entry->key > Key::ignored) {
      if ((seen & entry->bit()) != 0) note(Repair::duplicate_key, key, entry->text());
      seen |= entry->bit();
    }
    p = json::skip_space(p);
    const ParseStatus status = visit(*entry, p);
    if (status != ParseStatus::ok) return status;
    p = json::skip_space(p);
    if (*p == '}') break;
    if (*p != ',') return stopped_at(p);
    p = json::skip_space(p + 1);
    if (*p == '}') {
      note(Repair::trailing_comma, p);
      break;
    }
  }
  ++p;
  return ParseStatus::ok;
}

ParseStatus EventParser::parse_event(const char*& p, Event& event) {
  notes_.clear();
  unknown_keys_.clear();
  event.begin = p;
  ++p;
  return parse_members(p, event, event.seen, 0, event_keys_,
                       [this, &event](const KeyEntry& entry, const char*& at) {
                         return parse_event_value(entry, at, event);
                       });
}

ParseStatus EventParser::parse_event_value(const KeyEntry& entry, const char*& p, Event& event) {
  switch (entry.key) {
    case Key::ph:
      return parse_phase(p, event);
    case Key::cat:
      return parse_category(p, event);
    case Key::name:
      return parse_name(p, event);
    case Key::pid:
      return parse_token(p, event.pid);
    case Key::tid:
      return parse_token(p, event.tid);
    case Key::ts:
      return parse_time(p, event.start, event.start_state);
    case Key::dur:
      return parse_time(p, event.duration, event.duration_state);
    case Key::id:
      event.has_id = true;
      return parse_id(p, event.id);
    case Key::args:
      return parse_args(p, event);
    default:
      return skip_value(p);
  }
}

ParseStatus EventParser::parse_args(const char*& p, Event& event) {
  if (*p != '{') return skip_value(p);
  if (event.args != nullptr) event.said = EventArgs();  // a second "args" counts alone
  event.args = p;
  ++p;
  return parse_members(p, event, event.seen_args, static_cast<std::uint8_t>(kKeyIndexes - 1),
                       args_keys_, [this, &event](const KeyEntry& entry, const char*& at) {
                         return parse_args_value(entry, at, event);
                       });
}

template <std::size_t At>
ParseStatus EventParser::parse_attribute(EventParser& parser, const char*& p, EventArgs& said) {
  constexpr auto kAttribute = std::get<At>(kAttributes);
  auto& part = said.*kAttribute.part;
  using Part = std::remove_reference_t<decltype(part)>;
  if constexpr (std::is_same_v<Part, Ops::Row> || std::is_same_v<Part, Signature>)
    said.has_op = true;
  if constexpr (kAttribute.key == "Collective name") said.has_collective = true;
  auto& value = part.*kAttribute.field;
  using Value = std::remove_reference_t<decltype(value)>;
  if constexpr (std::is_same_v<Value, std::int64_t>) {
    return parser.parse_integer(p, value);
  } else if constexpr (std::is_integral_v<Value>) {
    return parser.parse_small_integer(p, value);
  } else if constexpr (std::is_same_v<Value, double>) {
    return parser.parse_real(p, value);
  } else if constexpr (std::is_same_v<Value, StringId>) {
    if (kAttribute.form == Form::text || (kAttribute.form != Form::json && *p == '"'))
      return parser.parse_string(p, value);
    return kAttribute.form == Form::text_only ? parser.skip_value(p) : parser.parse_json(p, value);
  } else {
    return parser.parse_dimensions(p, value);
  }
}

ParseStatus EventParser::parse_args_value(const KeyEntry& entry, const char*& p, Event& event) {
  using Parse = ParseStatus (*)(EventParser&, const char*&, EventArgs&);
  static constexpr auto kParse = []<std::size_t... At>(std::index_sequence<At...>) {
    return std::array<Parse, sizeof...(At)>{&EventParser::parse_attribute<At>...};
  }
  (std::make_index_sequence<kAttributeCount>());
  if (entry.key != Key::attribute) return skip_value(p);
  return kParse[entry.attribute](*this, p, event.said);
}

ParseStatus EventParser::parse_phase(const char*& p, Event& event) {
  if (*p == '"' && p[1] != '\\' && p[2] == '"') {
    event.phase_text = p[1];
    p += 3;
  } else {
    const ParseStatus status = skip_value(p);
    if (status != ParseStatus::ok) return status;
    event.phase_text = '?';
  }
  event.phase = phase_of(event.phase_text);
  if (event.has_category && event.phase == Phase::complete) return ParseStatus::ok;
  event.context = context_of(event.phase);
  return ParseStatus::ok;
}

ParseStatus EventParser::parse_category(const char*& p, Event& event) {
  if (*p != '"') return skip_value(p);
  const char* const close = json::find_string_special(p + 1);
  CachedCategory found;
  if (*close == '"' && valid_utf8_) {
    const std::string_view text(p + 1, static_cast<std::size_t>(close - p - 1));
    const std::size_t slot = text.empty() ? 0
                                          : (text.size() * 7 + static_cast<unsigned char>(text[0]) +
                                             static_cast<unsigned char>(text[text.size() / 2])) %
                                                categories_.size();
    CachedCategory& cached = categories_[slot];
    if (cached.size != text.size() ||
        std::memcmp(cached.text.data(), text.data(), text.size()) != 0) {
      found = read_category(strings_.intern(text), text);
      if (found.size == text.size()) cached = found;
    } else {
      found = cached;
    }
    p = close + 1;
  } else {
    StringId name;
    const ParseStatus status = parse_string(p, name);
    if (status != ParseStatus::ok) return status;
    found = read_category(name, tables_.strings.view(name));
  }
  event.category = found.row;
  event.kind = found.kind;
  event.category_name = found.name;
  event.has_category = true;
  if (event.phase == Phase::complete || event.phase == Phase::missing) {
    event.context = static_cast<std::uint8_t>(8 + static_cast<unsigned>(found.kind));
  }
  return ParseStatus::ok;
}

}  // namespace fathom::chrome
