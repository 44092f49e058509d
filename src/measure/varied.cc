// Reads what is to be varied, and puts its values into commands.
#include "measure/varied.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <optional>

namespace fathom::measure {
namespace {

Error refused(std::string message) { return {ErrorCode::invalid_argument, std::move(message)}; }

bool is_name(std::string_view text) {
  const auto fits = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::ranges::all_of(text, fits);
}

Result<std::string> name_of(std::string_view text, std::string_view example) {
  const std::string_view name = text.substr(0, text.find('='));
  // Placeholders may also bear a dash: --batch-size={batch-size}.
  std::string plain(name);
  std::ranges::replace(plain, '-', '_');
  if (is_name(plain)) return std::string(name);
  return refused("'" + std::string(text) + "' names nothing to vary, as " + std::string(example) +
                 " does");
}

std::vector<std::string> workers_up_to(std::size_t cores) {
  std::vector<std::string> values = {"0"};
  for (std::size_t workers = 1; workers < cores; workers *= 2)
    values.push_back(std::to_string(workers));
  values.push_back(std::to_string(std::max<std::size_t>(1, cores)));
  return values;
}

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1) return std::nullopt;
  return number;
}

/// Of one word; `any`: was there a place?
std::string replaced(const std::string& word, const std::string& place, const std::string& value,
                     bool& any) {
  std::string out = word;
  for (std::size_t at = out.find(place); at != std::string::npos;
       at = out.find(place, at + value.size())) {
    out.replace(at, place.size(), value);
    any = true;
  }
  return out;
}

}  // namespace

Result<Varied> parse_sweep(std::string_view text, std::size_t cores) {
  const Result<std::string> name = name_of(text, "batch=8,16,32");
  if (!name) return name.error();
  Varied varied{.name = *name, .values = {}};
  std::string_view rest =
      text.size() > name->size() ? text.substr(name->size() + 1) : std::string_view();
  if (rest == "auto") {
    if (!name->ends_with("workers")) {
      return refused("'" + std::string(text) +
                     "': auto is for num_workers; other values are listed, as batch=8,16,32");
    }
    varied.values = workers_up_to(cores);
    return varied;
  }
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    std::string value(rest.substr(0, comma));
    if (value.empty() || std::ranges::find(varied.values, value) != varied.values.end())
      return refused("'" + std::string(text) + "' has a value twice, or an empty one");
    varied.values.push_back(std::move(value));
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  }
  if (varied.values.size() < 2)
    return refused("'" + std::string(text) + "': a sweep needs two values, as batch=8,16,32");
  return varied;
}

Result<VariedRange> parse_range(std::string_view text) {
  const Result<std::string> name = name_of(text, "n=1000..1000000");
  if (!name) return name.error();
  VariedRange range{.name = *name};
  if (text.size() == name->size()) return range;
  const std::string_view bounds = text.substr(name->size() + 1);
  const std::size_t dots = bounds.find("..");
  const std::optional<std::int64_t> first = whole(bounds.substr(0, dots));
  const std::optional<std::int64_t> last = dots == std::string_view::npos
                                               ? std::optional<std::int64_t>(0)
                                               : whole(bounds.substr(dots + 2));
  if (!first || !last || (*last != 0 && *last < *first)) {
    return refused("'" + std::string(text) +
                   "': bounds are whole numbers from 1 on, the first no more than the last, as "
                   "n=1000..1000000");
  }
  range.first = *first;
  range.last = *last;
  return range;
}

bool has_placeholder(const std::vector<std::string>& words, std::string_view name) {
  const std::string place = "{" + std::string(name) + "}";
  return std::ranges::any_of(
      words, [&](const std::string& word) { return word.find(place) != std::string::npos; });
}

Result<Commanded> with_value(const std::vector<std::string>& words, const std::string& name,
                             const std::string& value, const std::string& prepare) {
  const std::string place = "{" + name + "}";
  Commanded command{.words = {}, .environment = {}, .name = name + "=" + value};
  bool any = false;
  command.prepare = replaced(prepare, place, value, any);
  if (is_name(name)) command.prepare_environment.push_back(command.name);
  any = false;
  for (const std::string& word : words) command.words.push_back(replaced(word, place, value, any));
  if (any) return command;
  if (!is_name(name)) {
    return refused("no word of the command says {" + name + "}, and it is no name of a variable");
  }
  command.environment.push_back(command.name);
  return command;
}

}  // namespace fathom::measure
