// Flags of a subcommand: declared once, parsed, described to help, man page and completion.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/session.h"

namespace fathom::cli {

/// The flags of one subcommand. Targets must outlive parse().
class Options {
 public:
  /// A flag as help and man page describe it.
  struct Entry {
    std::string group;  ///< Heading in the help.
    std::string names;  ///< "--sort", "-o,--output".
    std::string value;  ///< What its value is called, e.g. "COLUMN"; empty for a switch.
    std::string doc;
    std::vector<std::string> choices;  ///< Values worth completing; may be incomplete.
    bool several = false;              ///< It takes all words up to the next option.
  };
  using Parse = std::function<Result<void>(const std::string&)>;

  Options() = default;
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  /// Entries that follow stand under this heading.
  void group(std::string_view heading) { group_ = heading; }

  void flag(std::string_view names, bool& target, std::string_view doc);
  void text(std::string_view names, std::string_view value, std::string& target,
            std::string_view doc, std::vector<std::string> choices = {});
  /// May be given several times.
  void list(std::string_view names, std::string_view value, std::vector<std::string>& target,
            std::string_view doc, std::vector<std::string> choices = {});
  /// Likewise, and each time takes all words up to the next option: for commands that need no
  /// operands beside it.
  void words(std::string_view names, std::string_view value, std::vector<std::string>& target,
             std::string_view doc);
  /// `parse` turns the text into something, or says why not.
  void parsed(std::string_view names, std::string_view value, const Parse& parse,
              std::string_view doc, std::vector<std::string> choices = {});
  /// What is left: at least `required` operands called `name`.
  void operands(std::string_view name, std::vector<std::string>& target, std::size_t required);

  /// A command line of its own, not ours to parse: what follows "--", or begins with the first word
  /// that is neither an option nor its value. It must not be empty.
  void rest(std::string_view name, std::vector<std::string>& target);

  /// Parses the arguments after the subcommand's name. Errors are for the user.
  Result<void> parse(std::span<const std::string> arguments);

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

 private:
  /// The values of one option as they were given, in their order; an empty one for a switch.
  using Given = std::vector<std::string>;
  using Take = std::function<Result<void>(const Given&)>;

  void add(std::string_view names, std::string_view value, std::string_view doc,
           std::vector<std::string> choices, Take take);
  /// The entry of "--sort" or "-o"; as many as there are for none.
  [[nodiscard]] std::size_t find(std::string_view name) const;
  [[nodiscard]] std::size_t end_of_options(std::span<const std::string> arguments) const;
  /// False where there is no such option.
  Result<bool> take(std::span<const std::string>& arguments, std::vector<Given>& given) const;
  Result<void> parse_own(std::span<const std::string> arguments);

  std::vector<Entry> entries_;
  std::vector<Take> takes_;  // of each entry
  std::vector<std::string>* operands_ = nullptr;
  std::string operand_name_;
  std::size_t required_ = 0;
  std::vector<std::string>* rest_ = nullptr;
  std::string rest_name_;
  std::string group_ = "Options";
};

}  // namespace fathom::cli
