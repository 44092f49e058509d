// Parses the options of a subcommand.
#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <optional>

#include "engine/query/nearest.h"

namespace fathom::cli {
namespace {

/// "--output" of "-o,--output".
std::string_view long_name(std::string_view names) {
  const std::size_t comma = names.rfind(',');
  return comma == std::string_view::npos ? names : names.substr(comma + 1);
}

Error usage(std::string message) { return {ErrorCode::invalid_argument, std::move(message)}; }

/// What CLI11 could make nothing of: an option that there is not, or an operand too many.
Error unknown_argument(std::span<const std::string> left,
                       const std::vector<Options::Entry>& entries) {
  const auto option = std::ranges::find_if(
      left, [](const std::string& word) { return word.size() > 1 && word.starts_with('-'); });
  if (option == left.end()) {
    return usage("there is one argument too many" +
                 (left.empty() ? std::string() : ": '" + left.front() + "'"));
  }
  std::vector<std::string_view> known = {"--help"};
  for (const Options::Entry& entry : entries) known.push_back(long_name(entry.names));
  const std::string name = option->substr(0, option->find('='));
  const std::string_view meant = name.starts_with("--") ? nearest(name, known) : "";
  return usage("there is no option " + name +
               (meant.empty() ? std::string() : "; did you mean " + std::string(meant) + "?"));
}

/// A value too few or too many. CLI11's sentence begins with the option: "--limit: 1 required …",
/// "json was given …".
Error mismatch(std::string_view sentence, const std::vector<Options::Entry>& entries) {
  std::string name(sentence.substr(0, sentence.find_first_of(": ")));
  if (!name.starts_with('-')) name.insert(0, "--");
  const auto at = std::ranges::find(entries, name, [](const Options::Entry& entry) {
    return std::string(long_name(entry.names));
  });
  if (at == entries.end()) return usage(std::string(sentence));
  if (at->value.empty()) return usage(name + " takes no value");
  return usage(name + " needs a value: " + name + " " + at->value);
}

}  // namespace

struct Options::Parser {
  CLI::App app;
  std::optional<Error> error;  ///< The first refusal by a Parse function.
  std::vector<std::string>* operands = nullptr;
  std::string operand_name;
  std::size_t required = 0;
  std::vector<std::string>* rest = nullptr;
  std::string rest_name;
};

Options::Options() : parser_(std::make_unique<Parser>()) {
  // Help is ours: it is made from the same entries as the man page.
  parser_->app.set_help_flag();
}
Options::~Options() = default;

void Options::add(std::string_view names, std::string_view value, std::string_view doc,
                  std::vector<std::string> choices) {
  entries_.push_back(
      {group_, std::string(names), std::string(value), std::string(doc), std::move(choices)});
}

void Options::flag(std::string_view names, bool& target, std::string_view doc) {
  add(names, "", doc, {});
  parser_->app.add_flag(std::string(names), target)->disable_flag_override();
}

void Options::text(std::string_view names, std::string_view value, std::string& target,
                   std::string_view doc, std::vector<std::string> choices) {
  add(names, value, doc, std::move(choices));
  // The last one counts, so that a shell alias can be overruled.
  parser_->app.add_option(std::string(names), target)->take_last();
}

void Options::list(std::string_view names, std::string_view value, std::vector<std::string>& target,
                   std::string_view doc, std::vector<std::string> choices) {
  add(names, value, doc, std::move(choices));
  parser_->app.add_option(std::string(names), target)->allow_extra_args(false);
}

void Options::parsed(std::string_view names, std::string_view value, const Parse& parse,
                     std::string_view doc, std::vector<std::string> choices) {
  add(names, value, doc, std::move(choices));
  const std::string name(long_name(names));
  parser_->app
      .add_option_function<std::string>(std::string(names),
                                        [this, name, parse](const std::string& text) {
                                          Result<void> result = parse(text);
                                          if (!result && !parser_->error)
                                            parser_->error = std::move(result).error().in(name);
                                        })
      ->take_last();
}

void Options::operands(std::string_view name, std::vector<std::string>& target,
                       std::size_t required) {
  parser_->operands = &target;
  parser_->operand_name = name;
  parser_->required = required;
  parser_->app.add_option("operands", target);
}

void Options::rest(std::string_view name, std::vector<std::string>& target) {
  parser_->rest = &target;
  parser_->rest_name = name;
}

/// Where the command line of somebody else begins.
std::size_t Options::end_of_options(std::span<const std::string> arguments) const {
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const std::string& word = arguments[at];
    if (word == "--" || !word.starts_with('-')) return at;
    const auto entry = std::ranges::find_if(entries_, [&](const Entry& known) {
      return ("," + known.names + ",").find("," + word + ",") != std::string::npos;
    });
    if (entry != entries_.end() && !entry->value.empty()) ++at;
  }
  return arguments.size();
}

Result<void> Options::parse(std::span<const std::string> arguments) {
  if (parser_->rest != nullptr) {
    const std::size_t end = std::min(end_of_options(arguments), arguments.size());
    const bool marked = end < arguments.size() && arguments[end] == "--";
    const auto rest = arguments.subspan(end + (marked ? 1 : 0));
    parser_->rest->assign(rest.begin(), rest.end());
    arguments = arguments.first(end);
  }
  try {
    // CLI11 takes them from the back.
    parser_->app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ExtrasError&) {
    return unknown_argument(parser_->app.remaining(), entries_);
  } catch (const CLI::ArgumentMismatch& error) {
    return mismatch(error.what(), entries_);
  } catch (const CLI::ParseError& error) {
    return usage(error.what());
  }
  if (parser_->error) return *std::exchange(parser_->error, std::nullopt);
  if (parser_->rest != nullptr && parser_->rest->empty())
    return usage(parser_->rest_name + " is missing: it follows --");
  if (parser_->operands != nullptr && parser_->operands->size() < parser_->required) {
    return usage(parser_->operand_name + " is missing");
  }
  return {};
}

}  // namespace fathom::cli
