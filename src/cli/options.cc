// Parses the options of a subcommand.
#include "cli/options.h"

#include <algorithm>
#include <utility>

#include "engine/query/nearest.h"

namespace fathom::cli {
namespace {

/// "--output" of "-o,--output".
std::string_view long_name(std::string_view names) {
  const std::size_t comma = names.rfind(',');
  return comma == std::string_view::npos ? names : names.substr(comma + 1);
}

bool is_named(std::string_view names, std::string_view word) {
  return ("," + std::string(names) + ",").find("," + std::string(word) + ",") != std::string::npos;
}

bool is_option(std::string_view word) { return word.size() > 1 && word.starts_with('-'); }

Error usage(std::string message) { return {ErrorCode::invalid_argument, std::move(message)}; }

Error needs_value(const std::string& name, const std::string& value) {
  return usage(name + " needs a value: " + name + " " + value);
}

/// An option that there is not, or an operand too many.
Error unknown_argument(std::span<const std::string> left,
                       const std::vector<Options::Entry>& entries) {
  const auto option = std::ranges::find_if(left, is_option);
  if (option == left.end()) return usage("there is one argument too many: '" + left.front() + "'");
  // Without their dashes, which would make short words alike.
  std::vector<std::string_view> known = {"help"};
  for (const Options::Entry& entry : entries) {
    const std::string_view name = long_name(entry.names);
    if (name.starts_with("--")) known.push_back(name.substr(2));
  }
  const std::string name = option->substr(0, option->find('='));
  const std::string_view meant =
      name.starts_with("--") ? nearest(std::string_view(name).substr(2), known) : "";
  return usage("there is no option " + name +
               (meant.empty() ? std::string() : "; did you mean --" + std::string(meant) + "?"));
}

}  // namespace

void Options::add(std::string_view names, std::string_view value, std::string_view doc,
                  std::vector<std::string> choices, Take take) {
  entries_.push_back({.group = group_,
                      .names = std::string(names),
                      .value = std::string(value),
                      .doc = std::string(doc),
                      .choices = std::move(choices)});
  takes_.push_back(std::move(take));
}

void Options::flag(std::string_view names, bool& target, std::string_view doc) {
  add(names, "", doc, {}, [&target](const Given&) -> Result<void> {
    target = true;
    return {};
  });
}

// Of an option that has one value the last one counts, so that a shell alias can be overruled.

void Options::text(std::string_view names, std::string_view value, std::string& target,
                   std::string_view doc, std::vector<std::string> choices) {
  add(names, value, doc, std::move(choices), [&target](const Given& given) -> Result<void> {
    target = given.back();
    return {};
  });
}

void Options::list(std::string_view names, std::string_view value, std::vector<std::string>& target,
                   std::string_view doc, std::vector<std::string> choices) {
  add(names, value, doc, std::move(choices), [&target](const Given& given) -> Result<void> {
    target = given;
    return {};
  });
}

void Options::words(std::string_view names, std::string_view value,
                    std::vector<std::string>& target, std::string_view doc) {
  list(names, value, target, doc);
  entries_.back().several = true;
}

void Options::parsed(std::string_view names, std::string_view value, const Parse& parse,
                     std::string_view doc, std::vector<std::string> choices) {
  add(names, value, doc, std::move(choices),
      [name = std::string(long_name(names)), parse](const Given& given) -> Result<void> {
        Result<void> result = parse(given.back());
        if (!result) return std::move(result).error().in(name);
        return result;
      });
}

void Options::operands(std::string_view name, std::vector<std::string>& target,
                       std::size_t required) {
  operands_ = &target;
  operand_name_ = name;
  required_ = required;
}

void Options::rest(std::string_view name, std::vector<std::string>& target) {
  rest_ = &target;
  rest_name_ = name;
}

/// Where the command line of somebody else begins.
std::size_t Options::end_of_options(std::span<const std::string> arguments) const {
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const std::string& word = arguments[at];
    if (word == "--" || !word.starts_with('-')) return at;
    const std::size_t entry = find(word);
    if (entry < entries_.size() && !entries_[entry].value.empty()) ++at;
  }
  return arguments.size();
}

std::size_t Options::find(std::string_view name) const {
  const auto at = std::ranges::find_if(
      entries_, [name](const Entry& entry) { return is_named(entry.names, name); });
  return static_cast<std::size_t>(at - entries_.begin());
}

/// Takes the option at the front and its value. "--name value", "--name=value", "-n value",
/// "-nvalue"; short switches may be joined: "-ab".
Result<bool> Options::take(std::span<const std::string>& arguments,
                           std::vector<Given>& given) const {
  std::string word = arguments.front();
  arguments = arguments.subspan(1);
  while (true) {
    const bool is_long = word.starts_with("--");
    const std::size_t end = is_long ? std::min(word.find('='), word.size()) : 2;
    const std::size_t at = find(word.substr(0, end));
    if (at == entries_.size()) return false;
    const bool attached = end < word.size();
    const std::string name(long_name(entries_[at].names));
    if (entries_[at].value.empty()) {
      if (attached && is_long) return usage(name + " takes no value");
      given[at].emplace_back();
      if (!attached) return true;
      word = "-" + word.substr(end);
    } else if (attached) {
      given[at].push_back(word.substr(end + (is_long ? 1 : 0)));
      return true;
    } else if (arguments.empty()) {
      return needs_value(name, entries_[at].value);
    } else {
      do {
        given[at].push_back(arguments.front());
        arguments = arguments.subspan(1);
      } while (entries_[at].several && !arguments.empty() && !is_option(arguments.front()));
      return true;
    }
  }
}

Result<void> Options::parse_own(std::span<const std::string> arguments) {
  std::vector<Given> given(entries_.size());
  std::vector<std::string> operands;
  std::vector<std::string> unknown;
  bool only_operands = false;
  while (!arguments.empty()) {
    const std::string& word = arguments.front();
    if (only_operands || !is_option(word) || word == "--") {
      if (only_operands || word != "--") operands.push_back(word);
      only_operands = only_operands || word == "--";
      arguments = arguments.subspan(1);
      continue;
    }
    const Result<bool> known = take(arguments, given);
    if (!known) return known.error();
    if (!*known) unknown.push_back(word);
  }
  if (operands_ == nullptr) {
    unknown.insert(unknown.end(), operands.begin(), operands.end());
  } else {
    *operands_ = std::move(operands);
  }
  if (!unknown.empty()) return unknown_argument(unknown, entries_);
  for (std::size_t at = 0; at < given.size(); ++at) {
    if (given[at].empty()) continue;
    if (Result<void> taken = takes_[at](given[at]); !taken) return taken;
  }
  return {};
}

Result<void> Options::parse(std::span<const std::string> arguments) {
  if (rest_ != nullptr) {
    const std::size_t end = std::min(end_of_options(arguments), arguments.size());
    const bool marked = end < arguments.size() && arguments[end] == "--";
    const auto rest = arguments.subspan(end + (marked ? 1 : 0));
    rest_->assign(rest.begin(), rest.end());
    arguments = arguments.first(end);
  }
  if (Result<void> own = parse_own(arguments); !own) return own;
  if (rest_ != nullptr && rest_->empty()) return usage(rest_name_ + " is missing: it follows --");
  if (operands_ != nullptr && operands_->size() < required_)
    return usage(operand_name_ + " is missing");
  return {};
}

}  // namespace fathom::cli
