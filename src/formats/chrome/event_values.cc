// Values of an event's members: strings, numbers, times, nested JSON.
#include <charconv>
#include <cstring>

#include "formats/chrome/event_parser.h"
#include "formats/chrome/json_scan.h"

namespace fathom::chrome {
namespace {

constexpr std::array<double, 16> kPowersOfTen = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

/// An id that is no number: FNV-1a, 64 bits.
std::uint64_t text_id(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

}  // namespace

const char* EventParser::string_end(const char* p) const {
  for (;;) {
    const char* const close = json::find_string_end(p, end_);
    if (close == nullptr || !lenient_quotes_) return close;
    // A name with a stray quote is text; what holds a zero byte is a hole in the file.
    if (std::memchr(p, '\0', static_cast<std::size_t>(close - p)) != nullptr) return nullptr;
    const char* const next = json::skip_space(close + 1);
    if (next >= end_) return nullptr;
    if (*next == ',' || *next == '}' || *next == ']' || *next == ':') return close;
    p = close + 1;
  }
}

ParseStatus EventParser::skip_value(const char*& p) {
  if (lenient_quotes_ && *p == '"') {
    const char* const close = string_end(p + 1);
    if (close == nullptr) return ParseStatus::incomplete;
    p = close + 1;
    return ParseStatus::ok;
  }
  const char* const after = json::find_value_end(p, end_);
  if (after == nullptr) return ParseStatus::incomplete;
  if (after == p) return stopped_at(p);
  p = after;
  return ParseStatus::ok;
}

ParseStatus EventParser::parse_string(const char*& p, StringId& out) {
  const char* const begin = p;
  if (*p != '"') {
    const ParseStatus status = skip_value(p);
    if (status != ParseStatus::ok) return status;
    const std::string_view raw(begin, static_cast<std::size_t>(p - begin));
    if (raw != "null") {
      note(Repair::wrong_type, begin, raw.substr(0, 40));
      out = strings_.intern_json(raw);
    }
    return ParseStatus::ok;
  }
  const char* const special = json::find_string_special(p + 1);
  if (*special == '"' && valid_utf8_ && !lenient_quotes_) {
    out = strings_.intern({p + 1, static_cast<std::size_t>(special - p - 1)});
    p = special + 1;
    return ParseStatus::ok;
  }
  const char* const close = string_end(p + 1);
  if (close == nullptr) return ParseStatus::incomplete;
  const std::string_view inside(p + 1, static_cast<std::size_t>(close - p - 1));
  const StringDamage damage = decode_string(inside, scratch_);
  if (damage.invalid_escape) note(Repair::invalid_escape, begin, inside.substr(0, 80));
  if (damage.control_character) note(Repair::control_character, begin, inside.substr(0, 80));
  if (damage.invalid_utf8) note(Repair::invalid_utf8, begin, inside.substr(0, 80));
  out = strings_.intern(scratch_);
  p = close + 1;
  return ParseStatus::ok;
}

/// Names are what a trace has most of: the plain ones are looked up in two halves.
ParseStatus EventParser::parse_name(const char*& p, Event& event) {
  event.requested_name = {};
  const char* const special = *p == '"' ? json::find_string_special(p + 1) : p;
  if (special == p || *special != '"' || !valid_utf8_ || lenient_quotes_)
    return parse_string(p, event.name);
  event.requested_name = strings_.start({p + 1, static_cast<std::size_t>(special - p - 1)});
  p = special + 1;
  return ParseStatus::ok;
}

ParseStatus EventParser::parse_token(const char*& p, Token& out) {
  const char* const begin = p;
  const json::Digits digits = json::read_digits(p);
  if (digits.count > 0 && p[digits.count] == ',') {
    out = {p, digits.count};
    p += digits.count;
    return ParseStatus::ok;
  }
  const ParseStatus status = skip_value(p);
  if (status != ParseStatus::ok) return status;
  const bool quoted = *begin == '"';
  out = {begin + (quoted ? 1 : 0), static_cast<std::uint32_t>(p - begin - (quoted ? 2 : 0))};
  if (quoted && (!valid_utf8_ || out.view().find('\\') != std::string_view::npos)) {
    decode_string(out.view(), scratch_);
    const std::string_view kept = tables_.strings.view(strings_.intern(scratch_));
    out = {kept.data(), static_cast<std::uint32_t>(kept.size())};
  }
  return ParseStatus::ok;
}

ParseStatus EventParser::parse_integer(const char*& p, std::int64_t& out) {
  const bool negative = *p == '-';
  const json::Digits digits = json::read_digits(p + (negative ? 1 : 0));
  const char* const after = p + (negative ? 1 : 0) + digits.count;
  if (digits.count == 0 || digits.count > 15 ||
      (*after != ',' && *after != '}' && *after != ']' && !json::is_space(*after))) {
    return parse_integer_slowly(p, out);
  }
  out =
      negative ? -static_cast<std::int64_t>(digits.value) : static_cast<std::int64_t>(digits.value);
  p = after;
  return ParseStatus::ok;
}

/// Quoted, hexadecimal, fractional, null, or too long.
ParseStatus EventParser::parse_integer_slowly(const char*& p, std::int64_t& out) {
  const char* const begin = p;
  const ParseStatus status = skip_value(p);
  if (status != ParseStatus::ok) return status;
  std::string_view text(begin, static_cast<std::size_t>(p - begin));
  if (text == "null" || text == "\"\"") return ParseStatus::ok;
  if (text.size() >= 2 && text.front() == '"') text = text.substr(1, text.size() - 2);
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  std::int64_t value = 0;
  const auto [rest, error] =
      std::from_chars(text.data() + (hex ? 2 : 0), text.data() + text.size(), value, hex ? 16 : 10);
  if (error == std::errc() && rest == text.data() + text.size()) {
    out = value;
    return ParseStatus::ok;
  }
  double real = 0;
  const auto [real_rest, real_error] =
      std::from_chars(text.data(), text.data() + text.size(), real);
  const bool number = real_error == std::errc() && real_rest == text.data() + text.size();
  if (number && real == real && real > -9.2e18 && real < 9.2e18 &&
      error != std::errc::result_out_of_range) {
    out = static_cast<std::int64_t>(real);
  } else if (number && (real != real || real - real != 0)) {
    note(Repair::not_a_number, begin, text.substr(0, 40));
  } else if (number || error == std::errc::result_out_of_range) {
    note(Repair::number_out_of_range, begin, text.substr(0, 40));
  } else {
    note(text == "NaN" || text.ends_with("Infinity") ? Repair::not_a_number : Repair::wrong_type,
         begin, text.substr(0, 40));
  }
  return ParseStatus::ok;
}

ParseStatus EventParser::parse_real(const char*& p, double& out) {
  const char* const begin = p;
  // At most 15 digits: digits and power of ten are exact doubles, so their quotient is rounded
  // correctly.
  const json::Digits whole = json::read_digits(p);
  const bool point = p[whole.count] == '.';
  const json::Digits decimals = point ? json::read_digits(p + whole.count + 1) : json::Digits{0, 0};
  const char* const after = p + whole.count + (point ? 1 : 0) + decimals.count;
  if (whole.count > 0 && whole.count + decimals.count <= 15 && point == (decimals.count > 0) &&
      (*after == ',' || *after == '}' || json::is_space(*after))) {
    const double scale = kPowersOfTen[decimals.count];
    out = (static_cast<double>(whole.value) * scale + static_cast<double>(decimals.value)) / scale;
    p = after;
    return ParseStatus::ok;
  }
  const ParseStatus status = skip_value(p);
  if (status != ParseStatus::ok) return status;
  const bool quoted = *begin == '"';
  double value = 0;
  const char* const last = p - (quoted ? 1 : 0);
  const auto [rest, error] = std::from_chars(begin + (quoted ? 1 : 0), last, value);
  if (error == std::errc() && rest == last && value - value == 0) {
    out = value;
  } else if (std::string_view(begin, static_cast<std::size_t>(p - begin)) != "null") {
    const bool number_like =
        *begin == 'N' || *begin == 'I' || *begin == '-' || *begin == 'n' || *begin == 'i';
    note(number_like ? Repair::not_a_number : Repair::wrong_type, begin);
  }
  return ParseStatus::ok;
}

ParseStatus EventParser::parse_dimensions(const char*& p, std::array<std::int32_t, 3>& out) {
  const char* const begin = p;
  if (*p != '[') return skip_value(p);
  ++p;
  for (std::size_t i = 0; i < out.size(); ++i) {
    p = json::skip_space(p);
    const json::Digits digits = json::read_digits(p);
    if (digits.count == 0 || digits.count > 10 || digits.value > INT32_MAX) break;
    out[i] = static_cast<std::int32_t>(digits.value);
    p = json::skip_space(p + digits.count);
    if (*p == ']') {
      ++p;
      return ParseStatus::ok;
    }
    if (*p != ',') break;
    ++p;
  }
  p = begin;
  const ParseStatus status = skip_value(p);
  if (status == ParseStatus::ok) note(Repair::wrong_type, begin);
  return status;
}

ParseStatus EventParser::parse_json(const char*& p, StringId& out) {
  const char* const begin = p;
  const ParseStatus status = skip_value(p);
  if (status == ParseStatus::ok)
    out = strings_.intern_json({begin, static_cast<std::size_t>(p - begin)});
  return status;
}

ParseStatus EventParser::parse_time(const char*& p, ExactTime& out, TimeField& state) {
  const char* const begin = p;
  state = TimeField::unusable;
  switch (read_microseconds(p, end_, out)) {
    case TimeStatus::ok:
      state = TimeField::present;
      return ParseStatus::ok;
    case TimeStatus::incomplete:
      return ParseStatus::incomplete;
    case TimeStatus::not_finite:
      note(Repair::not_a_number, begin);
      return ParseStatus::ok;
    case TimeStatus::out_of_range:
      note(Repair::number_out_of_range, begin);
      return ParseStatus::ok;
    case TimeStatus::malformed:
      break;
  }
  if (p == begin) return stopped_at(p);
  if (std::string_view(begin, static_cast<std::size_t>(p - begin)) == "null") {
    state = TimeField::absent;
  } else {
    note(Repair::wrong_type, begin);
  }
  return ParseStatus::ok;
}

ParseStatus EventParser::parse_id(const char*& p, std::int64_t& out) {
  const char* const begin = p;
  const ParseStatus status = skip_value(p);
  if (status != ParseStatus::ok) return status;
  std::string_view text(begin, static_cast<std::size_t>(p - begin));
  if (text.front() == '{') {  // id2: {"local": ID}
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return ParseStatus::ok;
    text = text.substr(colon + 1, text.size() - colon - 2);
    while (!text.empty() && json::is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && json::is_space(text.back())) text.remove_suffix(1);
  }
  if (text.size() >= 2 && text.front() == '"') text = text.substr(1, text.size() - 2);
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  std::uint64_t value = 0;
  const auto [rest, error] =
      std::from_chars(text.data() + (hex ? 2 : 0), text.data() + text.size(), value, hex ? 16 : 10);
  const bool number = error == std::errc() && rest == text.data() + text.size();
  out = static_cast<std::int64_t>(number ? value : text_id(text));
  return ParseStatus::ok;
}

}  // namespace fathom::chrome
