// A peer for the reader's benchmarks: simdjson reading the same file, and keeping nothing of it.
//
//   simdjson_walk [walk|raw|lean|top|stage1|dom] FILE
//
// walk    on demand, every key and value of the document: strings unescaped, numbers by
//         get_number(), the documented way to read a number of unknown type
// raw     the same, but strings stay as they stand in the file
// lean    raw, and numbers by get_int64() or get_double(): the fastest walk that we know
// top     on demand, the members of each trace event, without looking inside their values
// stage1  the structural index alone
// dom     a whole document tree

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include <simdjson.h>

namespace {

namespace ondemand = simdjson::ondemand;

/// What was seen. It is printed, so that no work can be optimised away.
struct Seen {
  std::uint64_t values = 0;
  std::uint64_t bytes = 0;    ///< Of keys and strings.
  std::uint64_t numbers = 0;  ///< Sum of all numbers, modulo 2^64.
};

enum class Mode { walk, raw, lean };

std::uint64_t to_bits(double number) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(number));
}

std::uint64_t any_number(ondemand::value value) {
  const ondemand::number number = value.get_number();
  switch (number.get_number_type()) {
    case ondemand::number_type::signed_integer:
      return static_cast<std::uint64_t>(number.get_int64());
    case ondemand::number_type::unsigned_integer:
      return number.get_uint64();
    default:
      return to_bits(number.get_double());
  }
}

/// get_number() of simdjson 3.0 does not move past the number, which then has to be skipped once
/// more, and takes decimals of 19 digits (Kineto's microseconds with three decimals) to the slow
/// conversion, whose result it loses. Asking for the type that the text has gives the right value,
/// and up to three times the speed.
std::uint64_t typed_number(ondemand::value value) {
  if (value.is_integer()) return static_cast<std::uint64_t>(value.get_int64().value());
  return to_bits(value.get_double());
}

template <Mode mode>
void walk(ondemand::value value, Seen& seen) {
  ++seen.values;
  switch (value.type()) {
    case ondemand::json_type::object:
      for (auto field : value.get_object()) {
        if constexpr (mode != Mode::walk) {
          seen.bytes += static_cast<unsigned char>(*field.key().value().raw());
        } else {
          seen.bytes += field.unescaped_key().value().size();
        }
        walk<mode>(field.value(), seen);
      }
      break;
    case ondemand::json_type::array:
      for (auto element : value.get_array()) walk<mode>(element.value(), seen);
      break;
    case ondemand::json_type::string:
      if constexpr (mode != Mode::walk) {
        seen.bytes += value.raw_json_token().size();
        value.get_raw_json_string().value();
      } else {
        seen.bytes += value.get_string().value().size();
      }
      break;
    case ondemand::json_type::number:
      seen.numbers += mode == Mode::lean ? typed_number(value) : any_number(value);
      break;
    case ondemand::json_type::boolean:
      seen.numbers += static_cast<std::uint64_t>(value.get_bool().value());
      break;
    case ondemand::json_type::null:
      value.is_null();
  }
}

template <Mode mode>
void walk_document(const simdjson::padded_string& text, Seen& seen) {
  ondemand::parser parser;
  ondemand::document document = parser.iterate(text);
  if (document.type() == ondemand::json_type::array) {
    for (auto element : document.get_array()) walk<mode>(element.value(), seen);
    return;
  }
  for (auto field : document.get_object()) {
    seen.bytes += field.unescaped_key().value().size();
    walk<mode>(field.value(), seen);
  }
}

void walk_top(const simdjson::padded_string& text, Seen& seen) {
  ondemand::parser parser;
  ondemand::document document = parser.iterate(text);
  const bool bare = document.type() == ondemand::json_type::array;
  ondemand::array events = bare ? document.get_array() : document["traceEvents"].get_array();
  for (auto event : events) {
    for (auto field : event.get_object()) {
      ++seen.values;
      seen.bytes += field.unescaped_key().value().size();
    }
  }
}

void index_only(const simdjson::padded_string& text, Seen& seen) {
  ondemand::parser parser;
  ondemand::document document = parser.iterate(text);
  seen.values += document.is_null() ? 1 : 0;
}

void build_tree(const simdjson::padded_string& text, Seen& seen) {
  simdjson::dom::parser parser;
  const simdjson::dom::element root = parser.parse(text);
  seen.values += root.is_null() ? 1 : 0;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int run(const std::string& mode, const std::string& path) {
  const auto start = std::chrono::steady_clock::now();
  const simdjson::padded_string text = simdjson::padded_string::load(path);
  const double load = seconds_since(start);
  Seen seen;
  if (mode == "walk") {
    walk_document<Mode::walk>(text, seen);
  } else if (mode == "raw") {
    walk_document<Mode::raw>(text, seen);
  } else if (mode == "lean") {
    walk_document<Mode::lean>(text, seen);
  } else if (mode == "top") {
    walk_top(text, seen);
  } else if (mode == "stage1") {
    index_only(text, seen);
  } else if (mode == "dom") {
    build_tree(text, seen);
  } else {
    std::fprintf(stderr, "simdjson_walk: unknown mode '%s'\n", mode.c_str());
    return 2;
  }
  const double total = seconds_since(start);
  const double megabytes = static_cast<double>(text.size()) / 1e6;
  std::printf("%s %s: %.1f MB, load %.3f s, parse %.3f s (%.0f MB/s), total %.3f s (%.0f MB/s)\n",
              simdjson::get_active_implementation()->name().c_str(), mode.c_str(), megabytes, load,
              total - load, megabytes / (total - load), total, megabytes / total);
  std::printf("%llu values, %llu bytes of strings, numbers %016llx\n",
              static_cast<unsigned long long>(seen.values),
              static_cast<unsigned long long>(seen.bytes),
              static_cast<unsigned long long>(seen.numbers));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: simdjson_walk [walk|raw|lean|top|stage1|dom] FILE\n");
    return 2;
  }
  try {
    return run(argc == 3 ? argv[1] : "walk", argv[argc - 1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "simdjson_walk: %s: %s\n", argv[argc - 1], error.what());
    return 3;
  }
}
