// Opening recordings, asking for reports and diagnoses. All that takes long is done without the
// interpreter's lock.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/thread_pool.h"
#include "base/utf8.h"
#include "engine/device_peaks.h"
#include "engine/diagnosis/diagnosis.h"
#include "engine/each_session.h"
#include "engine/inputs/inputs.h"
#include "engine/own_options.h"
#include "engine/query/nearest.h"
#include "engine/query/typed.h"
#include "engine/ranks/diagnose_ranks.h"
#include "engine/ranks/rank.h"
#include "python/bind.h"
#include "python/errors.h"
#include "render/column_arrays.h"
#include "render/diagnosis_html.h"
#include "render/diagnosis_json.h"
#include "render/diagnosis_text.h"
#include "server/page_file/page_file.h"

namespace fathom::python {
namespace {

namespace nb = nanobind;

using SessionPtr = std::shared_ptr<const fathom::Session>;

/// One recording in memory, as Python holds it.
struct Recording {
  SessionPtr session;
  unsigned threads = 0;  ///< To work with; 0: as many as this process can keep busy.
  Inputs::File file;     ///< What it was read from.
};

/// A diagnosis, and what its page is made from.
struct Diagnosed {
  SessionPtr session;
  unsigned threads = 0;                      ///< As of the recording.
  std::shared_ptr<const DevicePeaks> peaks;  ///< What the request borrows.
  DiagnosisRequest request;
  Diagnosis diagnosis;
  std::vector<Inputs::File> files;  ///< Of all recordings, that of the session in front.
};

/// Steps, device, window and peaks, as typed.
struct Arguments {
  std::optional<std::string> steps;
  std::optional<std::int32_t> device;
  std::optional<std::string> window;
  std::optional<std::string> peaks;
};

/// Calls `work` without the interpreter's lock, on that many threads.
template <typename Work>
auto unlocked(unsigned threads, const Work& work) {
  const nb::gil_scoped_release release;
  const ThreadPool pool(threads);
  return work();
}

template <typename T>
T named(const char* argument, Result<T> result) {
  if (!result) throw Failure(std::move(result).error().in(argument));
  return std::move(*result);
}

std::shared_ptr<const DevicePeaks> peaks_of(const Arguments& arguments) {
  if (!arguments.peaks) return nullptr;
  return std::make_shared<const DevicePeaks>(named("peaks", DevicePeaks::asked(*arguments.peaks)));
}

/// Fills what a report's request and a diagnosis' have in common.
template <typename Request>
void select_into(const Arguments& arguments, Request& request) {
  if (arguments.steps) request.steps = named("steps", parse_steps(*arguments.steps));
  request.device = arguments.device;
  if (arguments.window) request.window = named("window", parse_window(*arguments.window));
}

const Report& report_named(const std::string& id) {
  if (const Report* report = find_report(id)) return *report;
  std::vector<std::string_view> ids;
  for (const Report& report : all_reports()) ids.push_back(report.id);
  const std::string_view meant = nearest(id, ids);
  throw Failure({ErrorCode::invalid_argument,
                 "there is no report '" + id + "'" +
                     (meant.empty() ? std::string("; fathom.reports() lists them")
                                    : "; did you mean '" + std::string(meant) + "'?")});
}

Recording open_recording(const Inputs::File& file, unsigned threads) {
  Result<std::unique_ptr<fathom::Session>> session = unlocked(
      threads, [&] { return fathom::Session::open(file, ReadOptions{.threads = threads}); });
  return {.session = value_or_raise(std::move(session)), .threads = threads, .file = file};
}

/// What opens the same page from a server.
std::string view_command(const TypedOptions& scope, const std::vector<Inputs::File>& files) {
  std::vector<std::string> names;
  names.reserve(files.size());
  for (const Inputs::File& file : files) names.push_back(file.name());
  return server::view_command(scope, names);
}

/// Who asked for the page asked for all of its inputs.
Result<std::string> html_of(Result<server::PageFile> page) {
  if (!page) return std::move(page).error();
  if (!page->lacking.empty()) return page->lacking.front();
  return std::move(page->html);
}

nb::str page_file(std::vector<Inputs::File> files, std::size_t most_bytes, bool redact,
                  unsigned threads) {
  server::ViewRequest request;
  request.command = view_command({}, files);
  request.inputs.files = std::move(files);
  request.threads = threads;
  Result<std::string> page = unlocked(threads, [&]() -> Result<std::string> {
    // Read here, not by the page's own thread: too little memory is Python's MemoryError.
    Result<SharedSession> first =
        open_session(request.inputs.files.front(), ReadOptions{.threads = threads});
    if (!first) return std::move(first).error();
    server::Viewed viewed(std::move(request), *std::move(first));
    return html_of(server::make_page_file(viewed, {.most_bytes = most_bytes, .redact = redact}));
  });
  const std::string html = value_or_raise(std::move(page));
  return nb::str(html.data(), html.size());
}

std::string shown(const Inputs::File& file) { return valid_utf8(file.name()); }

Table run_report(const Recording& recording, const std::string& id, const Arguments& arguments,
                 Query query, std::string group_by, const OptionTexts& own) {
  const Report& report = report_named(id);
  Request request;
  select_into(arguments, request);
  request.query = std::move(query);
  request.options.group_by = std::move(group_by);
  request.own = value_or_raise(parse_options(report, own));
  Result<TablePtr> table = unlocked(recording.threads, [&]() -> Result<TablePtr> {
    Result<View> view = recording.session->run(report, request);
    if (!view) return std::move(view).error();
    return TablePtr(std::make_shared<const TableData>(TableData{.view = std::move(*view)}));
  });
  return {value_or_raise(std::move(table))};
}

constexpr ColumnSpec kInput = {"input", ColumnKind::name, "", "The recording that the row is of."};
constexpr ColumnSpec kRank = {"input_rank", ColumnKind::integer, "",
                              "Its rank in a distributed program, null where it has none."};

std::optional<std::int64_t> rank_number(const Recording& recording) {
  return rank_of(*recording.session).number;
}

/// The view without its rows.
View frame_of(const View& view) {
  View frame;
  frame.report = view.report;
  frame.input = view.input;
  frame.brief = view.brief;
  frame.notes = view.notes;
  frame.rows_total = view.rows_total;
  frame.columns_chosen = view.columns_chosen;
  frame.group_by = view.group_by;
  return frame;
}

/// The rows of all tables in one, which says of each whose it is. They are of one report.
Table join(const std::string& input, const std::vector<Table>& tables,
           const std::vector<Recording>& recordings) {
  if (tables.empty() || tables.size() != recordings.size())
    throw Failure({ErrorCode::invalid_argument, "a table of each recording is wanted"});
  const View& first = tables.front().data->view;
  std::vector<ColumnSpec> columns = {kInput, kRank};
  columns.insert(columns.end(), first.columns().begin(), first.columns().end());
  TableData joined{.view = frame_of(first)};
  View& view = joined.view;
  view.input = input;
  view.rows_total = 0;
  view.brief = {};
  view.notes.clear();
  view.table = fathom::Table(std::move(columns));
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const View& one = tables[i].data->view;
    const std::size_t begin = view.table.rows();
    const std::optional<std::int64_t> rank = rank_number(recordings[i]);
    for (std::size_t row = 0; row < one.table.rows(); ++row) {
      view.table.append(0, cell_of(std::string_view(one.input)));
      view.table.append(1, cell_of(rank));
    }
    view.table.append_rows(one.table, 0, one.table.rows(), kWhoseColumns);
    for (const std::string& note : one.notes)
      view.notes.push_back(valid_utf8(one.input) + ": " + note);
    view.rows_total += one.rows_total;
    joined.parts.push_back({frame_of(one), begin, view.table.rows()});
  }
  return {std::make_shared<const TableData>(std::move(joined))};
}

/// A request without its recording and diagnosis.
Diagnosed prepare(const Arguments& arguments, std::string focus, bool exclude_warmup) {
  Diagnosed out;
  out.peaks = peaks_of(arguments);
  select_into(arguments, out.request);
  out.request.focus = std::move(focus);
  out.request.exclude_warmup = exclude_warmup;
  out.request.peaks = out.peaks ? out.peaks->chosen() : nullptr;
  return out;
}

Diagnosed run_diagnosis(const Recording& recording, const Arguments& arguments, std::string focus,
                        bool exclude_warmup) {
  Diagnosed out = prepare(arguments, std::move(focus), exclude_warmup);
  out.session = recording.session;
  out.threads = recording.threads;
  out.files = {recording.file};
  out.diagnosis =
      value_or_raise(unlocked(out.threads, [&] { return diagnose(*out.session, out.request); }));
  return out;
}

Diagnosed run_rank_diagnosis(const std::string& input, const std::vector<Recording>& recordings,
                             const Arguments& arguments, std::string focus, bool exclude_warmup,
                             std::optional<std::int64_t> rank) {
  Diagnosed out = prepare(arguments, std::move(focus), exclude_warmup);
  out.request.rank = rank;
  std::vector<const fathom::Session*> sessions;
  sessions.reserve(recordings.size());
  for (const Recording& recording : recordings) sessions.push_back(recording.session.get());
  std::size_t at = 0;
  out.threads = recordings.empty() ? 0 : recordings.front().threads;
  out.diagnosis = value_or_raise(
      unlocked(out.threads, [&] { return diagnose_ranks(input, sessions, out.request, at); }));
  out.session = recordings[at].session;
  for (const Recording& recording : recordings) out.files.push_back(recording.file);
  const auto diagnosed = out.files.begin() + static_cast<std::ptrdiff_t>(at);
  std::rotate(out.files.begin(), diagnosed, diagnosed + 1);
  return out;
}

bool ranks_of_one_program(const std::vector<Recording>& recordings) {
  std::vector<Rank> ranks;
  ranks.reserve(recordings.size());
  for (const Recording& recording : recordings) ranks.push_back(rank_of(*recording.session));
  return are_ranks_of_one_program(ranks);
}

/// The page of the recordings with this diagnosis, as `fathom diagnose --html` writes it.
nb::str page_of(const Diagnosed& diagnosed, std::size_t most_bytes, bool redact) {
  const DiagnosisRequest& asked = diagnosed.request;
  server::ViewRequest request;
  request.scope = selection_options(asked.steps, asked.device, asked.window);
  request.command = view_command(request.scope, diagnosed.files);
  if (!asked.focus.empty()) request.scope.emplace_back("focus", asked.focus);
  request.inputs.files = diagnosed.files;
  request.threads = diagnosed.threads;
  Result<std::string> page = unlocked(diagnosed.threads, [&] {
    server::Viewed viewed(std::move(request), diagnosed.session);
    return html_of(server::make_page_file(viewed, {.most_bytes = most_bytes,
                                                   .redact = redact,
                                                   .diagnosis = &diagnosed.diagnosis,
                                                   .request = &asked}));
  });
  const std::string html = value_or_raise(std::move(page));
  return nb::str(html.data(), html.size());
}

std::string text_of(const Diagnosed& diagnosed, bool all) {
  const Style style = style_for(1, ColourChoice::never, false);
  return render_diagnosis_text(diagnosed.diagnosis, diagnosed.request, all, style);
}

void bind_diagnosis(nb::module_& module) {
  nb::class_<Diagnosed>(module, "Diagnosis", "A diagnosis, to be rendered.")
      .def("to_json",
           [](const Diagnosed& diagnosed) { return render_diagnosis_json(diagnosed.diagnosis); })
      .def("to_html",
           [](const Diagnosed& diagnosed) { return render_diagnosis_html(diagnosed.diagnosis); })
      .def("to_page", page_of, nb::arg("most_bytes"), nb::arg("redact"))
      .def("to_text", text_of, nb::arg("all"));
}

}  // namespace

void bind_sessions(nb::module_& module) {
  bind_diagnosis(module);
  nb::class_<Recording>(module, "Recording", "One recording in memory.")
      .def_prop_ro(
          "input",
          [](const Recording& recording) { return valid_utf8(recording.session->input()); })
      .def_ro("threads", &Recording::threads, "To work with; 0: one per usable core.")
      .def_prop_ro("format",
                   [](const Recording& recording) { return recording.session->trace().format; })
      .def_prop_ro("rank", rank_number, "Its rank in a distributed program.")
      .def_prop_ro("span_ns",
                   [](const Recording& recording) {
                     return to_ns(recording.session->trace().span.length());
                   })
      .def(
          "report",
          [](const Recording& recording, const std::string& id, std::optional<std::string> steps,
             std::optional<std::int32_t> device, std::optional<std::string> window,
             std::vector<std::string> filters, std::string sort, std::vector<std::string> columns,
             std::optional<std::uint64_t> limit, std::string group_by, const OptionTexts& options) {
            return run_report(recording, id,
                              {.steps = std::move(steps),
                               .device = device,
                               .window = std::move(window),
                               .peaks = {}},
                              {.filters = std::move(filters),
                               .sort = std::move(sort),
                               .columns = std::move(columns),
                               .limit = limit},
                              std::move(group_by), options);
          },
          nb::arg("id"), nb::kw_only(), nb::arg("steps").none(), nb::arg("device").none(),
          nb::arg("window").none(), nb::arg("filters"), nb::arg("sort"), nb::arg("columns"),
          nb::arg("limit").none(), nb::arg("group_by"), nb::arg("options"))
      .def(
          "diagnose",
          [](const Recording& recording, std::optional<std::string> steps,
             std::optional<std::int32_t> device, std::optional<std::string> window,
             std::optional<std::string> peaks, std::string focus, bool exclude_warmup) {
            return run_diagnosis(recording,
                                 {.steps = std::move(steps),
                                  .device = device,
                                  .window = std::move(window),
                                  .peaks = std::move(peaks)},
                                 std::move(focus), exclude_warmup);
          },
          nb::kw_only(), nb::arg("steps").none(), nb::arg("device").none(),
          nb::arg("window").none(), nb::arg("peaks").none(), nb::arg("focus"),
          nb::arg("exclude_warmup"));
  nb::class_<Inputs::File>(module, "InputFile", "What one recording is read from.")
      .def_prop_ro("shown", shown)
      .def_ro("found", &Inputs::File::found)
      .def_prop_ro(
          "folder", [](const Inputs::File& file) { return valid_utf8(file.recording.folder); },
          "The session folder that it is a recording of, or ''.")
      .def_prop_ro(
          "program", [](const Inputs::File& file) { return valid_utf8(file.recording.program); },
          "Of several programs in that folder, the one that it is a recording of.");
  module.def("open", open_recording, nb::arg("file"), nb::arg("threads"),
             "Reads one of the inputs that expand() found, to its end.");
  module.def("join", join, nb::arg("input"), nb::arg("tables"), nb::arg("recordings"),
             "The tables of several recordings as one, with the columns input and input_rank.");
  module.def(
      "diagnose_ranks",
      [](const std::string& input, const std::vector<Recording>& recordings,
         std::optional<std::string> steps, std::optional<std::int32_t> device,
         std::optional<std::string> window, std::optional<std::string> peaks, std::string focus,
         bool exclude_warmup, std::optional<std::int64_t> rank) {
        return run_rank_diagnosis(input, recordings,
                                  {.steps = std::move(steps),
                                   .device = device,
                                   .window = std::move(window),
                                   .peaks = std::move(peaks)},
                                  std::move(focus), exclude_warmup, rank);
      },
      nb::arg("input"), nb::arg("recordings"), nb::kw_only(), nb::arg("steps").none(),
      nb::arg("device").none(), nb::arg("window").none(), nb::arg("peaks").none(), nb::arg("focus"),
      nb::arg("exclude_warmup"), nb::arg("rank").none(),
      "The diagnosis of the ranks of one program, compared.");
  module.def("are_ranks_of_one_program", ranks_of_one_program, nb::arg("recordings"),
             "Do these recordings say that they are different ranks of one program?");
  module.def(
      "are_of_one_session",
      [](const std::vector<Inputs::File>& files) { return are_of_one_session(files); },
      nb::arg("files"), "Are these the recordings of one program in one session folder?");
  module.def(
      "expand",
      [](const std::vector<std::string>& inputs) {
        return value_or_raise(expand_inputs(inputs)).files;
      },
      nb::arg("inputs"), "What files, '-', folders and patterns stand for.");
  module.def("page_file", page_file, nb::arg("files"), nb::arg("most_bytes"), nb::arg("redact"),
             nb::arg("threads"),
             "The page of these inputs as one HTML file, which carries what it shows.");
}

}  // namespace fathom::python
