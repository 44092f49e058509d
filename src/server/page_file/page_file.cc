// Decides what a page in a file carries, in the order of what one looks for first.
#include "server/page_file/page_file.h"

#include <algorithm>
#include <optional>

#include "engine/diagnosis/diagnosis.h"
#include "engine/diagnosis/typed_diagnosis.h"
#include "engine/each_session.h"
#include "engine/explain.h"
#include "engine/glossary.h"
#include "render/diagnosis_json.h"
#include "server/page_file/frame.h"
#include "server/page_file/parts.h"
#include "server/page_file/question.h"
#include "server/view_diagnosis.h"

namespace fathom::server {
namespace {

/// Where two timelines share the file.
constexpr TimelineShares kFirstShares = {.whole = 0.45, .steps = 0.55, .findings = 0.60};
constexpr TimelineShares kSecondShares = {.whole = 0.78, .steps = 0.86, .findings = 0.88};
/// As ui/src/api/urls.ts asks for the diagnosis.
constexpr std::string_view kDiagnosisScope = "device focus steps window";

/// What the page is given, or the diagnosis of the scope.
std::optional<Diagnosis> diagnosis_of(const Carrier& carrier, const OpenInput& input,
                                      const PageFileOptions& options) {
  if (options.diagnosis != nullptr) return *options.diagnosis;
  TypedOptions typed_options;
  for (const auto& [name, value] : carrier.scope(kDiagnosisScope))
    typed_options.emplace_back(name, value);
  const Result<TypedDiagnosis> typed = typed_diagnosis(typed_options);
  if (!typed) return std::nullopt;
  Result<Diagnosis> made = diagnose(input.session(), typed->request);
  if (!made) return std::nullopt;
  return *std::move(made);
}

Places places_of(const OpenInput& input, const std::optional<Diagnosis>& diagnosis) {
  Places places;
  const Steps& steps = input.session().analyses().steps();
  std::vector<const Step*> counted = steps.counted();
  std::ranges::stable_sort(counted, {}, [](const Step* step) { return step->window.length(); });
  if (!counted.empty()) places.steps = {counted[(counted.size() - 1) / 2], counted.back()};
  if (!diagnosis) return places;
  for (const CostlyOperator& each : diagnosis->baseline.operators)
    places.targets.push_back(each.name);
  for (const RankedFinding& finding : diagnosis->findings) {
    if (finding.gain) places.findings.push_back(finding.id);
    for (const RankedFinding& other : finding.alternatives) {
      if (other.gain) places.findings.push_back(other.id);
    }
    for (const Evidence& evidence : finding.finding.evidence) {
      places.slices.insert(places.slices.end(), evidence.slices.begin(), evidence.slices.end());
      if (evidence.where) places.stretches.push_back(*evidence.where);
    }
  }
  return places;
}

void carry_definitions(Carrier& carrier) {
  carrier.keep_plain("api/reports");
  carrier.keep_plain("api/glossary");
  for (const Term& term : all_terms())
    carrier.keep_plain(question("api/explain", {{"id", std::string(term.id)}}));
  for (const Rule& rule : all_rules())
    carrier.keep_plain(question("api/explain", {{"id", std::string(rule.id)}}));
}

/// Options of a diagnosis that are no part of a scope, as they were typed, or "".
std::string further_options(const DiagnosisRequest& request) {
  std::string options;
  const auto add = [&options](bool given, std::string_view name) {
    if (given) options.append(options.empty() ? "--" : ", --").append(name);
  };
  add(request.exclude_warmup, "exclude-warmup");
  add(request.peaks != nullptr, "peaks");
  add(request.rank.has_value(), "rank");
  add(request.price_per_kwh >= 0, "price");
  add(request.carbon_g_per_kwh >= 0, "carbon");
  return options;
}

/// A scope as the page names it.
Parameters with_shown_focus(const Carrier& carrier, Parameters scope) {
  for (auto& [name, value] : scope) {
    if (name == "focus") value = carrier.shown(value);
  }
  return scope;
}

/// What is known before anything is carried: all recordings were gone through for it.
struct Known {
  const Response& diagnosis;
  const RankAnswers& ranks;
  bool told;  ///< Who asks for the page has told of ranks that cannot be read.
};

/// The diagnosis under the question that the page asks.
void carry_diagnosis(Carrier& carrier, const PageFileOptions& options, const Known& known) {
  Parameters shown = with_shown_focus(carrier, carrier.scope(kDiagnosisScope));
  carrier.keep_as(question("api/diagnosis", std::move(shown)), known.diagnosis);
  const std::string further =
      options.request == nullptr ? std::string() : further_options(*options.request);
  if (!further.empty()) {
    carrier.leave_out("The diagnosis was made with " + further +
                      ". Tables, timeline and what if were made without.");
  }
}

/// The steps of one of several ranks, as the page asks for them: devices have other numbers there.
void carry_rank(Carrier& carrier, const Known& known, std::size_t input) {
  Parameters asked = carrier.scope("focus steps window");
  Parameters shown = with_shown_focus(carrier, asked);
  for (Parameters* const some : {&asked, &shown})
    some->emplace_back("input", std::to_string(input));
  const Inputs::File& file = carrier.viewed().request().inputs.files[input];
  const std::optional<Response> taken = known.ranks.find(file);
  const Response answer = taken ? *taken : carrier.ask(question("api/diagnosis", std::move(asked)));
  if (answer.error && !known.told && !is_other_file(file, *answer.error))
    carrier.lack(*answer.error);
  carrier.keep_as(question("api/diagnosis", std::move(shown)), answer);
}

/// Of several inputs: what they have in common, or what changed from one to the other. True where
/// two are compared.
bool carry_several(Carrier& carrier, const Known& known) {
  const Inputs& inputs = carrier.viewed().request().inputs;
  if (inputs.files.size() < 2) return false;
  const std::string first = carrier.shown(inputs.files.front().name());
  if (known.diagnosis.bytes().find("\"ranks\": null") == std::string_view::npos) {
    const std::size_t ranks = std::min(inputs.files.size(), RankAnswers::kMost);
    for (std::size_t input = 0; input < ranks; ++input) carry_rank(carrier, known, input);
  } else {
    const Response compared = carrier.ask("api/compare");
    carrier.keep_as("api/compare", compared);
    // Only two arguments are compared, not two files of one folder.
    if (inputs.arguments.size() == 2 && compared.error) carrier.lack(*compared.error);
    if (inputs.files.size() == 2 && compared.status == 200) {
      carrier.leave_out("All but Compare is about " + first +
                        ", which the other is compared with.");
      return true;
    }
  }
  carrier.leave_out("Timeline and tables are those of " + first + ", not of the other recordings.");
  return false;
}

/// The calls from the first step that counts to the last, which Compare sums up.
void carry_counted_calls(Carrier& carrier, const OpenInput& input) {
  const std::vector<const Step*> counted = input.session().analyses().steps().counted();
  if (counted.empty()) return;
  carrier.keep(
      question("api/flame", {{"begin", std::to_string(to_ns(counted.front()->window.begin))},
                             {"end", std::to_string(to_ns(counted.back()->window.end))}}));
}

/// What the view Compare shows of the recording that the first is compared with.
void carry_second(Carrier& carrier, Viewed& viewed) {
  const Result<std::shared_ptr<OpenInput>> second = viewed.open(1);
  const std::string name = carrier.shown(viewed.request().inputs.files[1].name());
  if (!second) {
    carrier.leave_out("The timeline of " + name + " is not here: it could not be read.");
    carrier.lack(second.error());
    return;
  }
  carrier.about("1");
  carrier.keep("api/session");
  carry_counted_calls(carrier, **second);
  carry_timeline(carrier, **second, places_of(**second, std::nullopt), kSecondShares, "of " + name);
  carrier.about({});
}

/// Knows the names of all recordings: a comparison and ranks show each. What cannot be read has
/// none.
Redactor redactor_of(Viewed& viewed, const RankAnswers& ranks) {
  Redactor redactor = ranks.redactor();
  for (const Inputs::File& file : viewed.request().inputs.files) {
    if (ranks.has(file)) continue;
    const Result<SharedSession> session = viewed.session(file);
    if (session) redactor.add((**session).trace().strings);
  }
  return redactor;
}

/// Goes through the inputs where they are ranks, and takes of each what the page carries.
Response ask_diagnosis(Viewed& viewed, const OpenInput& input, RankAnswers& ranks) {
  TypedOptions options;
  for (const auto& [name, value] : viewed.request().scope) {
    if (kDiagnosisScope.find(name) != std::string_view::npos) options.emplace_back(name, value);
  }
  const Result<TypedDiagnosis> typed = typed_diagnosis(options);
  if (!typed) return error_response(typed.error());
  const BesideRanks beside = {
      .each = [&](const Session& session, const Inputs::File& file,
                  const Diagnosis& made) { ranks.add(session, file, made, typed->request); },
      .failed = [&](const Inputs::File& file,
                    const Error& error) { ranks.add_failed(file, error); }};
  Result<std::string> json = view_diagnosis(viewed, input, typed->request, beside);
  return json ? json_response(*std::move(json)) : error_response(json.error());
}

std::string bytes_in_words(std::size_t bytes) {
  return std::to_string((bytes + 999) / 1'000) + "kB";
}

/// The page, with as much as is expected to fit into `room` bytes, packed. A redactor, unless all
/// is to be shown, that has seen no text yet.
Result<PageFile> page_of(Viewed& viewed, OpenInput& input, const Frame& frame,
                         const PageFileOptions& options, const Known& known,
                         std::optional<Redactor> redactor, std::size_t room) {
  Archive archive;
  Carrier carrier(viewed, archive, redactor ? &*redactor : nullptr, room);

  carrier.keep("api/session");
  carry_definitions(carrier);
  carry_diagnosis(carrier, options, known);
  const bool compared = carry_several(carrier, known);
  const Places places = places_of(input, diagnosis_of(carrier, input, options));
  carry_tables(carrier);
  carry_what_if(carrier, input, places);
  if (compared) {
    carry_counted_calls(carrier, input);
    carry_timeline(carrier, input, places, kFirstShares,
                   "of " + carrier.shown(viewed.request().inputs.files.front().name()));
    carry_second(carrier, viewed);
  } else {
    carry_timeline(carrier, input, places, {}, {});
  }
  carrier.leave_out("Search, sums over a selected area and its flame graph are not here.");
  carry_slices(carrier, input, places);
  if (redactor) {
    carrier.leave_out(
        "Names, paths, machines and commands are numbers: the same word has the same number.");
  }
  Result<std::string> packed = archive.finish(carrier.left_out());
  if (!packed) return std::move(packed).error();
  return PageFile{.html = frame.with(*packed), .lacking = carrier.take_lacking()};
}

}  // namespace

Result<PageFile> make_page_file(Viewed& viewed, const PageFileOptions& options) {
  viewed.wait();
  Result<std::shared_ptr<OpenInput>> opened = viewed.open(0);
  if (!opened) return std::move(opened).error();
  const Result<Frame> frame = Frame::make();
  if (!frame) return frame.error();
  RankAnswers own(viewed.request().scope, options.redact);
  const Response diagnosis = options.diagnosis == nullptr
                                 ? ask_diagnosis(viewed, **opened, own)
                                 : json_response(render_diagnosis_json(*options.diagnosis) + "\n");
  const RankAnswers& ranks = options.ranks == nullptr ? own : *options.ranks;
  const Known known{diagnosis, ranks, options.ranks != nullptr};
  std::optional<Redactor> redactor;
  if (options.redact) redactor = redactor_of(viewed, ranks);
  // What a level of the timeline takes is known when it is packed: what was too much is left out.
  for (std::size_t room = frame->room(options.most_bytes);;) {
    Result<PageFile> page = page_of(viewed, **opened, *frame, options, known, redactor, room);
    if (!page || page->html.size() <= options.most_bytes) return page;
    if (room == 0) {
      return Error{ErrorCode::invalid_argument,
                   "the page takes at least " + bytes_in_words(page->html.size()) + ": --size"};
    }
    room -= std::min(room, 2 * (page->html.size() - options.most_bytes) + room / 8);
  }
}

}  // namespace fathom::server
