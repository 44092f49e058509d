// Carries the tables as the page asks for them: many rows of each, in each grouping.
#include <string>
#include <tuple>

#include "engine/session.h"
#include "server/page_file/parts.h"
#include "server/page_file/question.h"

namespace fathom::server {
namespace {

/// As many rows as ui/src/views/tables/view.tsx asks for.
constexpr std::string_view kRows = "5000";
/// Of a table that would fill the file.
constexpr std::string_view kFewRows = "1000";
constexpr std::size_t kMostBytes = std::size_t{2} << 20;
/// Tables leave the rest to the timeline.
constexpr double kShare = 0.35;

class Tables {
 public:
  explicit Tables(Carrier& carrier) : carrier_(carrier) {}

  void carry(const Report& report) {
    const std::string path = "api/reports/" + std::string(report.id);
    keep(report, path, {{"limit", std::string(kRows)}});
    for (const std::string_view group : report.group_by)
      keep(report, path, {{"limit", std::string(kRows)}, {"group-by", std::string(group)}});
  }

  /// What single views ask for beside.
  void carry_those_of_views() {
    for (const auto& [report, group, limit] :
         {std::tuple("accounting", "phase", "40"), std::tuple("modules", "", "40"),
          std::tuple("kernels", "", "5"), std::tuple("ops", "", "")}) {
      keep(*find_report(report), "api/reports/" + std::string(report),
           {{"group-by", group}, {"limit", limit}});
    }
  }

  void say_what_is_left_out() {
    if (!shortened_.empty()) {
      carrier_.leave_out("Of these tables only the first 1,000 rows are here: " + shortened_ + ".");
    }
    if (!left_out_.empty())
      carrier_.leave_out("For these tables there was no room: " + left_out_ + ".");
    carrier_.leave_out(
        "Tables cannot be filtered here, nor looked at for other steps, devices or stretches.");
  }

 private:
  void keep(const Report& report, const std::string& path, Parameters options) {
    const Parameters scope = carrier_.scope();
    options.insert(options.end(), scope.begin(), scope.end());
    const std::string question_of_page = question(path, options);
    if (carrier_.has(question_of_page)) return;
    if (!carrier_.room(kShare)) {
      note(left_out_, report);
      return;
    }
    Response response = carrier_.ask(question_of_page);
    if (response.bytes().size() > kMostBytes) {
      std::erase_if(options, [](const auto& option) { return option.first == "limit"; });
      options.emplace_back("limit", kFewRows);
      response = carrier_.ask(question(path, options));
      note(shortened_, report);
    }
    carrier_.keep_as(question_of_page, response);
  }

  static void note(std::string& list, const Report& report) {
    if (list.find(report.id) != std::string::npos) return;
    list += (list.empty() ? "" : ", ") + std::string(report.id);
  }

  Carrier& carrier_;
  std::string shortened_;
  std::string left_out_;
};

}  // namespace

void carry_tables(Carrier& carrier) {
  Tables tables(carrier);
  tables.carry_those_of_views();
  for (const Report& report : all_reports()) tables.carry(report);
  tables.say_what_is_left_out();
}

}  // namespace fathom::server
