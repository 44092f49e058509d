// Writes each part of a request with its length in front, so that no part can look like another.
#include "engine/diagnosis/diagnosis_question.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <utility>

namespace fathom {
namespace {

class Question {
 public:
  void add(std::string_view part) {
    text_.append(std::to_string(part.size())).append(":").append(part).append("\n");
  }
  void add(std::int64_t number) { add(std::string_view(std::to_string(number))); }
  void add(double number) {
    std::array<char, 40> digits{};
    std::snprintf(digits.data(), digits.size(), "%a", number);
    add(std::string_view(digits.data()));
  }
  /// Of what may be unset.
  void add_if(bool set, std::int64_t first, std::int64_t second) {
    add(static_cast<std::int64_t>(set));
    add(set ? first : 0);
    add(set ? second : 0);
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_ = "diagnosis\n";
};

}  // namespace

std::optional<std::string> diagnosis_question(std::string_view input,
                                              const DiagnosisRequest& request,
                                              std::string_view form) {
  if (request.peaks != nullptr || request.rank) return std::nullopt;
  const auto steps = request.steps.value_or(Selection::StepRange{});
  const WindowRequest window = request.window.value_or(WindowRequest{});
  Question question;
  question.add(form);
  question.add(input);
  question.add_if(request.steps.has_value(), steps.first, steps.last);
  question.add_if(request.device.has_value(), request.device.value_or(0), 0);
  question.add_if(request.window.has_value(), to_ns(window.begin), to_ns(window.end));
  question.add(static_cast<std::int64_t>(request.exclude_warmup));
  question.add(request.focus);
  question.add(request.price_per_kwh);
  question.add(request.carbon_g_per_kwh);
  return question.take();
}

}  // namespace fathom
