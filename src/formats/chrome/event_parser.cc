// Reading one event object: keys by guess or by table. Values are read in event_values.cc; what an
// event means is in event_emit.cc.
#include "formats/chrome/event_parser.h"

#include <cstring>

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
ParseStatus EventParser::parse_members(const char*& p, Event& event, std::uint8_t first,
                                       const KeyTable& keys, Visit visit) {
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
      const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(entry->key);
      if ((event.seen & bit) != 0) note(Repair::duplicate_key, key, entry->text());
      event.seen |= bit;
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
  return parse_members(p, event, 0, event_keys_,
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
  event.args = p;
  event.said = EventArgs();
  ++p;
  return parse_members(p, event, static_cast<std::uint8_t>(kKeyIndexes - 1), args_keys_,
                       [this, &event](const KeyEntry& entry, const char*& at) {
                         return parse_args_value(entry, at, event);
                       });
}

ParseStatus EventParser::parse_args_value(const KeyEntry& entry, const char*& p, Event& event) {
  switch (entry.key) {
    case Key::external_id:
      return parse_integer(p, event.said.external_id);
    case Key::correlation:
      return parse_integer(p, event.said.correlation);
    case Key::sequence:
      event.said.has_op_args = true;
      return parse_integer(p, event.said.sequence);
    case Key::forward_thread:
      event.said.has_op_args = true;
      return parse_integer(p, event.said.forward_thread);
    case Key::input_dims:
      event.said.has_op_args = true;
      return parse_json(p, event.said.signature.shapes);
    case Key::input_type:
      event.said.has_op_args = true;
      return parse_json(p, event.said.signature.types);
    case Key::input_strides:
      event.said.has_op_args = true;
      return parse_json(p, event.said.signature.strides);
    case Key::concrete_inputs:
      event.said.has_op_args = true;
      return parse_json(p, event.said.signature.concrete);
    case Key::flops:
      event.said.has_op_args = true;
      return parse_integer(p, event.said.flops);
    case Key::call_stack:
      event.said.has_op_args = true;
      return parse_string(p, event.said.stack);
    case Key::module_hierarchy:
      event.said.has_op_args = true;
      return parse_string(p, event.said.module);
    case Key::device:
      return parse_integer(p, event.said.device);
    case Key::stream:
      return parse_integer(p, event.said.stream);
    case Key::grid:
      return parse_dimensions(p, event.said.config.grid);
    case Key::block:
      return parse_dimensions(p, event.said.config.block);
    case Key::registers: {
      std::int64_t registers = kAbsent;
      const ParseStatus status = parse_integer(p, registers);
      if (registers >= 0 && registers <= INT32_MAX)
        event.said.config.registers = static_cast<std::int32_t>(registers);
      return status;
    }
    case Key::shared_memory:
      return parse_integer(p, event.said.config.shared_memory);
    case Key::blocks_per_sm:
      return parse_real(p, event.said.config.blocks_per_sm);
    case Key::warps_per_sm:
      return parse_real(p, event.said.config.warps_per_sm);
    case Key::occupancy:
      return parse_real(p, event.said.config.occupancy_percent);
    case Key::graph_node:
      return parse_integer(p, event.said.graph_node);
    case Key::bytes:
      return parse_integer(p, event.said.bytes);
    case Key::python_id:
      return parse_integer(p, event.said.python_id);
    case Key::python_parent:
      return parse_integer(p, event.said.python_parent);
    case Key::python_module:
      return parse_integer(p, event.said.python_module);
    case Key::collective_name:
      return parse_string(p, event.said.collective.name);
    case Key::dtype:
      return parse_string(p, event.said.collective.dtype);
    case Key::in_elements:
      return parse_integer(p, event.said.collective.in_elements);
    case Key::out_elements:
      return parse_integer(p, event.said.collective.out_elements);
    case Key::group_size:
      return parse_integer(p, event.said.collective.group_size);
    case Key::group_name:
      return parse_string(p, event.said.collective.group_name);
    case Key::group_description:
      return parse_string(p, event.said.collective.group_description);
    case Key::group_ranks:
      return *p == '"' ? parse_string(p, event.said.collective.ranks)
                       : parse_json(p, event.said.collective.ranks);
    case Key::collective_sequence:
      return parse_integer(p, event.said.collective.sequence);
    case Key::sync_kind:
      return parse_string(p, event.said.sync_kind);
    case Key::wait_stream:
      return parse_integer(p, event.said.wait_stream);
    case Key::wait_event:
      return parse_integer(p, event.said.wait_event);
    case Key::wait_correlation:
      return parse_integer(p, event.said.wait_correlation);
    case Key::memory_address:
      return parse_integer(p, event.said.memory_address);
    case Key::memory_bytes:
      return parse_integer(p, event.said.memory_bytes);
    case Key::memory_allocated:
      return parse_integer(p, event.said.memory_allocated);
    case Key::memory_reserved:
      return parse_integer(p, event.said.memory_reserved);
    case Key::memory_device_type:
      return parse_integer(p, event.said.memory_device_type);
    case Key::memory_device:
      return parse_integer(p, event.said.memory_device);
    case Key::meta_name:
      return *p == '"' ? parse_string(p, event.said.meta_name) : skip_value(p);
    case Key::meta_labels:
      return *p == '"' ? parse_string(p, event.said.meta_labels) : skip_value(p);
    case Key::meta_sort_index:
      return parse_integer(p, event.said.meta_sort_index);
    default:
      return skip_value(p);
  }
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
