// Parses and evaluates conditions.
#include "engine/query/filter.h"

#include <algorithm>
#include <optional>
#include <string>

#include "engine/query/columns.h"
#include "engine/query/name_pattern.h"
#include "engine/query/quantity.h"

namespace fathom {
namespace {

enum class Operator : std::uint8_t {
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  match,
  no_match
};

struct Token {
  std::string_view text;
  Operator op;
};
// Longer ones first: "!=" must not be read as an unknown "!".
constexpr Token kOperators[] = {
    {"!=", Operator::not_equal},     {"!~", Operator::no_match}, {"<=", Operator::less_equal},
    {">=", Operator::greater_equal}, {"==", Operator::equal},    {"=", Operator::equal},
    {"<", Operator::less},           {">", Operator::greater},   {"~", Operator::match},
};

QuantityKind quantity_kind(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::duration_ns:
    case ColumnKind::time_ns:
      return QuantityKind::duration;
    case ColumnKind::bytes:
      return QuantityKind::bytes;
    case ColumnKind::percent:
      return QuantityKind::percent;
    default:
      return QuantityKind::plain;
  }
}

std::optional<double> number_of(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1.0 : 0.0;
  return std::nullopt;
}

template <typename T>
bool compare(const T& left, Operator op, const T& right) {
  switch (op) {
    case Operator::equal:
      return left == right;
    case Operator::not_equal:
      return left != right;
    case Operator::less:
      return left < right;
    case Operator::less_equal:
      return left <= right;
    case Operator::greater:
      return left > right;
    case Operator::greater_equal:
      return left >= right;
    default:
      return false;
  }
}

/// Flags as JSON has them, and as the text of a table does.
std::optional<double> parse_flag(std::string_view text) {
  if (text == "true" || text == "yes") return 1.0;
  if (text == "false" || text == "no") return 0.0;
  return std::nullopt;
}

std::string_view trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

bool is_match(Operator op) { return op == Operator::match || op == Operator::no_match; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool contains_ignoring_case(std::string_view text, std::string_view part) {
  const auto same = [](char a, char b) { return lower(a) == lower(b); };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end() ||
         part.empty();
}

bool is_regular_expression(std::string_view pattern) {
  return pattern.find_first_of("\\^$.|?*+()[]{}") != std::string_view::npos;
}

}  // namespace

struct Filter::State {
  std::size_t column = 0;
  Operator op = Operator::equal;
  bool null = false;                   ///< Compares with a missing value.
  std::string text;                    ///< The operand as written.
  std::optional<double> number;        ///< The operand as a number, when it is one.
  std::optional<NamePattern> pattern;  ///< Unset for plain text.

  [[nodiscard]] bool found_in(std::string_view value) const {
    return pattern ? pattern->matches(value) : contains_ignoring_case(value, text);
  }
};

Filter::Filter(std::unique_ptr<State> state) : state_(std::move(state)) {}
Filter::Filter(Filter&&) noexcept = default;
Filter& Filter::operator=(Filter&&) noexcept = default;
Filter::~Filter() = default;

Result<Filter> Filter::parse(std::string_view expression, std::span<const ColumnSpec> columns) {
  const auto refuse = [&expression](const std::string& why) {
    return Error{ErrorCode::invalid_argument, "--filter '" + std::string(expression) + "': " + why};
  };
  const std::size_t at = expression.find_first_of("=<>~!");
  const std::string_view rest =
      at == std::string_view::npos ? std::string_view() : expression.substr(at);
  const auto* token =
      std::ranges::find_if(kOperators, [rest](const Token& t) { return rest.starts_with(t.text); });
  if (token == std::end(kOperators))
    return refuse("write a column, a comparison and a value, e.g. 'name~gemm'");
  Result<std::size_t> column = find_column(columns, trim(expression.substr(0, at)));
  if (!column) return refuse(column.error().message);

  auto state = std::make_unique<State>();
  state->column = *column;
  state->op = token->op;
  state->text = trim(rest.substr(token->text.size()));
  state->null = state->text == "null";
  const ColumnKind kind = columns[*column].kind;
  if (is_match(state->op)) {
    if (!is_regular_expression(state->text)) return Filter(std::move(state));
    Result<NamePattern> pattern = NamePattern::parse(state->text);
    if (!pattern) return refuse(pattern.error().message);
    state->pattern = std::move(*pattern);
    return Filter(std::move(state));
  }
  if (kind == ColumnKind::flag) state->number = parse_flag(state->text);
  if (!state->number && !state->null) {
    const Result<double> number = parse_quantity(state->text, quantity_kind(kind));
    if (number) state->number = *number;
    if (!number && kind == ColumnKind::flag)
      return refuse("'" + state->text + "' is neither yes nor no");
    if (!number && !is_text(kind)) return refuse(number.error().message);
  }
  return Filter(std::move(state));
}

std::size_t Filter::column() const { return state_->column; }

bool Filter::matches(const Value& value) const {
  const bool missing = is_null(value);
  if (state_->null && !is_match(state_->op)) {
    return state_->op == Operator::not_equal ? !missing : missing && state_->op == Operator::equal;
  }
  if (missing) return state_->op == Operator::not_equal || state_->op == Operator::no_match;
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    if (is_match(state_->op)) return state_->found_in(*text) == (state_->op == Operator::match);
    return compare<std::string_view>(*text, state_->op, state_->text);
  }
  if (is_match(state_->op)) return state_->op == Operator::no_match;
  const std::optional<double> number = number_of(value);
  if (!number || !state_->number) return state_->op == Operator::not_equal;
  return compare(*number, state_->op, *state_->number);
}

}  // namespace fathom
