// Shortens names, keeping what distinguishes them.
#include "render/name_text.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "render/cpp_names.h"
#include "render/text_width.h"

namespace fathom {
namespace {

constexpr std::string_view kEllipsis = "…";
/// The function's name is cut rather than leave less than this for its template arguments.
constexpr std::size_t kLeastArguments = 8;
/// A difference is shown with this much of its word before it.
constexpr std::size_t kLeadIn = 8;
/// In less width than this, arguments say nothing.
constexpr std::size_t kLeastForArguments = 18;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Bytes are columns.
bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// "kernel<4, Functor<float>, Array<…>>" as "kernel<4, Functor<flo…>", and where not even the
/// function's name has room, as "ker…<4, Functor<…>"; ASCII.
std::string cut_arguments(const std::string& name, std::size_t width) {
  const std::size_t begin = name.find('<');
  if (begin == std::string::npos || width < kLeastForArguments) return shorten_middle(name, width);
  std::string head = name.substr(0, begin);
  if (begin + kLeastArguments > width) {
    head = name.substr(0, std::min(begin, width / 3)) + std::string(kEllipsis);
  }
  const std::size_t room = width - display_width(head);
  const std::string arguments = name.substr(begin);
  if (arguments.size() <= room) return head + arguments;
  return head + arguments.substr(0, room - 2) + std::string(kEllipsis) + '>';
}

/// Names that look the same in a column of some width.
class Alike {
 public:
  explicit Alike(std::size_t width) : width_(width) {}
  void add(const std::string& name, std::size_t row) { rows_[name].push_back(row); }

  /// Shows each with its part from where they differ on, as long as some still look the same.
  void tell_apart(std::vector<std::string>& shown) const {
    if (rows_.size() < 2) return;
    std::vector<Form> forms = forms_of();
    const bool ascii = std::ranges::all_of(forms, [](const Form& f) { return is_ascii(f.text); });
    if (ascii) show(forms.begin(), forms.end(), 0, shown);
  }

 private:
  struct Form {
    std::string text;
    const std::vector<std::size_t>* rows = nullptr;
    bool operator<(const Form& other) const { return text < other.text; }
  };
  using Forms = std::vector<Form>::iterator;

  /// Sorted: compact where those differ, else as recorded.
  [[nodiscard]] std::vector<Form> forms_of() const {
    std::vector<Form> forms;
    for (const auto& [name, rows] : rows_) {
      forms.push_back({is_cpp_function(name) ? compact_cpp_name(name) : name, &rows});
    }
    std::ranges::sort(forms, {}, &Form::text);
    const auto same = std::ranges::adjacent_find(forms, {}, &Form::text);
    if (same == forms.end()) return forms;
    forms.clear();
    for (const auto& [name, rows] : rows_) forms.push_back({name, &rows});
    return forms;
  }
  /// Those of sorted forms share what the first and the last share.
  static std::size_t shared(const std::string& first, const std::string& last) {
    const auto [at, other] = std::ranges::mismatch(first, last);
    auto begin = static_cast<std::size_t>(at - first.begin());
    for (std::size_t i = 0; i < kLeadIn && begin > 0 && is_word(first[begin - 1]); ++i) --begin;
    return begin;
  }
  void show(Forms begin, Forms end, std::size_t known, std::vector<std::string>& shown) const {
    const std::size_t common = shared(begin->text, std::prev(end)->text);
    // Further on in words of their own, but no further than that.
    if (known != 0 && common <= known) return;
    for (auto form = begin; form != end; ++form) {
      const std::string text = with_difference(form->text, common);
      for (const std::size_t row : *form->rows) shown[row] = text;
    }
    for (auto first = begin; first != end;) {
      const std::string& look = shown[first->rows->front()];
      const auto after = std::find_if(
          first, end, [&](const Form& form) { return shown[form.rows->front()] != look; });
      if (after - first > 1) show(first, after, common + 1, shown);
      first = after;
    }
  }
  /// "head…difference…": a third of the width for the head, more where the difference is short.
  [[nodiscard]] std::string with_difference(const std::string& text, std::size_t common) const {
    if (text.size() <= width_) return text;
    const std::size_t rest = text.size() - common;
    const std::size_t most = width_ - std::min(width_, rest + 1);
    const std::size_t head = std::min(common, std::max(width_ / 3, most));
    std::string out = text.substr(0, head);
    if (head < common) out += kEllipsis;
    const std::size_t room = width_ - std::min(width_, display_width(out));
    if (rest <= room) return out + text.substr(common);
    return out + text.substr(common, room == 0 ? 0 : room - 1) + std::string(kEllipsis);
  }

  std::size_t width_;
  std::map<std::string, std::vector<std::size_t>> rows_;
};

}  // namespace

std::string shorten_name(std::string_view name, std::size_t width) {
  if (display_width(name) <= width || !is_cpp_function(name)) return shorten_middle(name, width);
  std::string plain = without_signature(name);
  if (display_width(plain) <= width) return plain;
  std::string compact = compact_cpp_name(name);
  if (display_width(compact) <= width) return compact;
  return is_ascii(compact) ? cut_arguments(compact, width) : shorten_middle(compact, width);
}

void shorten_names(std::vector<std::string>& names, std::size_t width) {
  std::map<std::string, Alike> looks;
  std::vector<std::string> shown;
  shown.reserve(names.size());
  for (std::size_t row = 0; row < names.size(); ++row) {
    shown.push_back(shorten_name(names[row], width));
    looks.try_emplace(shown.back(), width).first->second.add(names[row], row);
  }
  for (const auto& [look, alike] : looks) alike.tell_apart(shown);
  names = std::move(shown);
}

}  // namespace fathom
