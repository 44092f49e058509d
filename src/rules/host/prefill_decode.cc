// prefill-decode: generation whose prompts and single tokens share a recording.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>

#include "analysis/structure/stretches.h"
#include "analysis/util/json_list.h"
#include "rules/common/arguments.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/host_steps.h"
#include "rules/common/names.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/common/serving_pass.h"
#include "rules/rule.h"

namespace fathom {
namespace prefill_decode_rule {
namespace {

constexpr std::string_view kDoc =
    "Generating text has two kinds of passes: prefill reads all tokens of a prompt at once and is "
    "bound by computing; decode makes one token per sequence and is bound by reading the weights, "
    "or by launches. What helps one does not help the other, so that averages over both mislead. "
    "Recognised by annotations of serving frameworks (prefill, decode, context_N…generation_M), "
    "else by shapes: the same weights multiplied with at least 8 times as many rows here as there, "
    "in runs of at least ten matrix multiplications each. Fires when both kinds are in the counted "
    "steps of a program without backward pass, and reports the device time of each. Source: the "
    "usage of vLLM, SGLang and TensorRT-LLM.";

constexpr std::size_t kPasses = static_cast<std::size_t>(Pass::mixed) + 1;

constexpr std::int64_t kManyRows = 8;
constexpr std::size_t kShortestRun = 10;

/// A stretch of the host's program, what it launched included.
struct Part {
  Time begin{};
  Pass pass = Pass::unknown;
};

/// From annotations, one part per change.
std::vector<Part> by_annotations(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const NameSet names(
      trace, [](std::string_view name) { return pass_of_annotation(name) != Pass::unknown; });
  std::vector<Part> parts;
  if (!names.any()) return parts;
  for (const Nesting::Thread& thread : rules.context.nesting().work) {
    Time covered = Time::min();
    for (const SliceId slice : thread.slices) {
      const Time start = trace.slices.start[slice.row()];
      if (trace.kind(slice) != SliceKind::user_annotation || start < covered) continue;
      if (!names.contains(trace.slices.name[slice.row()])) continue;
      if (rules.counted(interval_of(trace, slice)) == Duration{}) continue;
      covered = trace.slices.end(slice);
      parts.push_back({start, pass_of_annotation(trace.name(slice))});
      parts.push_back({covered, Pass::unknown});
    }
  }
  std::ranges::stable_sort(parts, {}, &Part::begin);
  return parts;
}

struct Product {
  Time time{};
  std::int64_t rows = 0;
  std::array<std::int64_t, 2> weights{};
};

/// Rows and weights of mm(x, w) and addmm(b, x, w), each signature looked at once.
class Products {
 public:
  explicit Products(const Trace& trace)
      : trace_(trace), known_(trace.signatures.size()), looked_(trace.signatures.size()) {}
  std::optional<Product> of(SliceId op, std::size_t first) {
    const Signature* const signature = signature_of(trace_, op);
    if (signature == nullptr || !signature->shapes.valid()) return {};
    const auto row = static_cast<std::size_t>(signature - trace_.signatures.data());
    if (!looked_[row]) known_[row] = read(trace_.text(signature->shapes), first);
    looked_[row] = true;
    if (known_[row].rows == 0) return {};
    Product product = known_[row];
    product.time = trace_.slices.start[op.row()];
    return product;
  }

 private:
  static Product read(std::string_view shapes, std::size_t first) {
    const std::vector<std::string_view> all = json_elements(shapes);
    Product product;
    if (all.size() < first + 2) return product;
    const auto left = json_integers(all[first]);
    const auto right = json_integers(all[first + 1]);
    if (!left || !right || left->size() != 2 || right->size() != 2) return product;
    product.rows = left->front();
    product.weights = {right->front(), right->back()};
    return product;
  }
  const Trace& trace_;
  std::vector<Product> known_;
  std::vector<bool> looked_;
};

std::vector<Product> products_of(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  const NameSet mm(trace, [](std::string_view name) { return name == "aten::mm"; });
  const NameSet addmm(trace, [](std::string_view name) { return name == "aten::addmm"; });
  std::vector<Product> found;
  if (!mm.any() && !addmm.any()) return found;
  Products products(trace);
  for (std::size_t row = 0; row < trace.slices.size(); ++row) {
    const StringId name = trace.slices.name[row];
    const bool with_bias = addmm.contains(name);
    if (!with_bias && !mm.contains(name)) continue;
    if (!counts_on_host(rules, trace.slices.start[row])) continue;
    if (const auto product = products.of(SliceId(row), with_bias ? 1 : 0))
      found.push_back(*product);
  }
  std::ranges::stable_sort(found, {}, &Product::time);
  return found;
}

/// From shapes: runs of GEMMs with many and with few rows for the same weights.
std::vector<Part> by_shapes(const RuleContext& rules) {
  const std::vector<Product> products = products_of(rules);
  std::map<std::array<std::int64_t, 2>, std::pair<std::int64_t, std::int64_t>> rows;
  for (const Product& product : products) {
    auto& [fewest, most] =
        rows.try_emplace(product.weights, product.rows, product.rows).first->second;
    fewest = std::min(fewest, product.rows);
    most = std::max(most, product.rows);
  }
  std::vector<Part> parts;
  std::size_t run = 0;
  Part current;
  for (const Product& product : products) {
    const auto& [fewest, most] = rows[product.weights];
    if (most < kManyRows * fewest) continue;
    const Pass pass = product.rows >= kManyRows * fewest ? Pass::prefill
                      : product.rows == fewest           ? Pass::decode
                                                         : Pass::unknown;
    if (pass == Pass::unknown) continue;
    if (pass != current.pass) {
      current = {product.time, pass};
      run = 0;
    }
    if (++run == kShortestRun && (parts.empty() || parts.back().pass != pass)) {
      parts.push_back(current);
    }
  }
  return parts;
}

/// Device time (without a device: time of the main thread's operators) by kind of pass.
struct Shares {
  std::array<Duration, kPasses> time{};
  std::array<std::size_t, kPasses> count{};
  [[nodiscard]] Duration operator[](Pass pass) const {
    return time[static_cast<std::size_t>(pass)];
  }
};

Shares shares_of(const RuleContext& rules, const std::vector<Part>& parts) {
  Shares shares;
  const Trace& trace = rules.trace();
  const auto pass_at = [&parts](Time time) {
    const auto after = std::ranges::upper_bound(parts, time, {}, &Part::begin);
    return static_cast<std::size_t>(after == parts.begin() ? Pass::unknown
                                                           : std::prev(after)->pass);
  };
  for (const Part& part : parts) ++shares.count[static_cast<std::size_t>(part.pass)];
  for_each_activity(rules, [&](SliceId activity, SliceId) {
    const SliceId launch = rules.context.links().launch[activity.row()];
    const SliceId by = launch.valid() ? launch : activity;
    shares.time[pass_at(trace.slices.start[by.row()])] += rules.accounting.credited[activity.row()];
  });
  for (const HostPiece& piece : rules.accounting.host) {
    if (piece.op.valid()) {
      shares.time[pass_at(piece.interval.begin)] += rules.counted(piece.interval);
    }
  }
  return shares;
}

std::string share_text(const RuleContext& rules, const Shares& shares, Pass pass,
                       std::string_view name) {
  const std::size_t count = shares.count[static_cast<std::size_t>(pass)];
  if (count == 0) return {};
  return std::string(name) + " " + per_step(rules, shares[pass]) + " in " +
         counted_noun(count, "part") + "; ";
}

Outcome check(const RuleContext& rules) {
  if (rules.context.nesting().work.empty()) return Abstention{"no operators were recorded"};
  if (is_training(rules)) return std::vector<Finding>{};
  std::vector<Part> parts = by_annotations(rules);
  const bool annotated = !parts.empty();
  if (!annotated && !has_shapes(rules.trace())) {
    return not_recorded(rules, "neither annotations nor shapes were recorded",
                        "record_shapes=True");
  }
  if (!annotated) parts = by_shapes(rules);
  const Shares shares = shares_of(rules, parts);
  const auto has = [&shares](Pass pass) {
    return shares.count[static_cast<std::size_t>(pass)] > 0;
  };
  if (!has(Pass::mixed) && (!has(Pass::prefill) || !has(Pass::decode))) {
    return std::vector<Finding>{};
  }
  Finding finding;
  finding.title = has(Pass::mixed)
                      ? "Prefill and decode share passes: " + per_step(rules, shares[Pass::mixed])
                      : "Prefill takes " + per_step(rules, shares[Pass::prefill]) + ", decode " +
                            per_step(rules, shares[Pass::decode]);
  finding.family = Family::compute;
  finding.weight = Weight::note;
  finding.confidence = annotated ? Confidence::high : Confidence::medium;
  finding.effort = Effort::redesign;
  Evidence evidence;
  evidence.text =
      "device time by kind of pass: " + share_text(rules, shares, Pass::prefill, "prefill") +
      share_text(rules, shares, Pass::decode, "decode") +
      share_text(rules, shares, Pass::mixed, "mixed") +
      (annotated ? "recognised by annotations"
                 : "recognised by the rows of equal matrix multiplications");
  evidence.where = Interval{parts.front().begin, parts.back().begin};
  finding.evidence.push_back(std::move(evidence));
  finding.counter_evidence = "One recording need not hold prompts and answers of usual lengths.";
  const bool vllm = frameworks_of(rules.trace()).vllm;
  finding.fix = {
      .text =
          "Judge the two apart (--window). Decode: launches from graphs, larger batches, quantised "
          "weights, grouped-query attention, speculative decoding. Prefill: fused attention, "
          "chunks that fill up decode batches, caching of common prefixes. Serving both: "
          "chunked prefill bounds the pauses of decode, separate devices avoid them.",
      .before = vllm ? "llm = LLM(model)" : "",
      .after =
          vllm ? "llm = LLM(model, enable_chunked_prefill=True, enable_prefix_caching=True)" : ""};
  finding.verify = "fathom roofline TRACE";
  std::vector<Finding> findings;
  findings.push_back(std::move(finding));
  return findings;
}

}  // namespace
}  // namespace prefill_decode_rule

Rule prefill_decode() {
  return {.id = "prefill-decode",
          .title = "Prefill and decode in one recording",
          .doc = prefill_decode_rule::kDoc,
          .check = prefill_decode_rule::check};
}

}  // namespace fathom
