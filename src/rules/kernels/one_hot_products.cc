// one-hot-products: rows are looked up by multiplying with one-hot vectors.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "analysis/util/json_list.h"
#include "rules/common/arguments.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/edits.h"
#include "rules/common/evidence.h"
#include "rules/common/names.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/common/user_ops.h"
#include "rules/rule.h"

namespace fathom {
namespace one_hot_products_rule {
namespace {

constexpr std::string_view kDoc =
    "A matrix multiplication with one-hot vectors reads the whole table, and multiplies nearly all "
    "of it by "
    "zero, to fetch one row for each vector: indexing fetches the rows. Found is aten::one_hot, or "
    "aten::scatter_ of ones into zeros with one index per row, followed by conversions and views "
    "only, then by a GEMM that takes a tensor of the same size with the classes as a dimension. "
    "Counted are making, converting and multiplying. Making and converting go; of a GEMM over C "
    "classes 64 / C is taken to be left, a fiftieth at least: with up to 64 classes it is as cheap "
    "as looking up. The GEMM's backward pass is not counted. Fires from 1 % of the step. Needs "
    "shapes. Source: "
    "PyTorch's documentation of torch.nn.Embedding, which is this multiplication as a look-up.";

constexpr double kLeastPercent = 1.0;
/// A GEMM over so few classes costs no more than looking up.
constexpr double kFewClasses = 64;
/// What looking up takes at least of a GEMM's time.
constexpr double kLeastLeft = 0.02;
/// Operators between making and multiplying that are looked at.
constexpr std::size_t kNearby = 8;

constexpr auto kBetween = std::to_array<std::string_view>(
    {"aten::to", "aten::_to_copy", "aten::type_as", "aten::view", "aten::reshape",
     "aten::unsqueeze", "aten::squeeze", "aten::t", "aten::transpose", "aten::permute",
     "aten::expand", "aten::contiguous", "aten::clone", "aten::flatten", "aten::detach"});
constexpr auto kMultiplying =
    std::to_array<std::string_view>({"aten::mm", "aten::bmm", "aten::addmm", "aten::matmul",
                                     "aten::linear", "aten::einsum", "aten::baddbmm"});

using Shape = std::vector<std::int64_t>;

std::int64_t elements(const Shape& shape) {
  std::int64_t product = 1;
  for (const std::int64_t dim : shape) product *= dim;
  return product;
}

/// All shapes among the arguments, those in lists of tensors, too.
std::vector<Shape> shapes_of(const Trace& trace, SliceId op) {
  std::vector<Shape> found;
  const Signature* const signature = signature_of(trace, op);
  if (signature == nullptr || !signature->shapes.valid()) return found;
  for (const std::string_view argument : json_elements(trace.text(signature->shapes))) {
    if (std::optional<Shape> shape = json_integers(argument)) {
      found.push_back(std::move(*shape));
      continue;
    }
    for (const std::string_view tensor : json_elements(argument))
      if (std::optional<Shape> shape = json_integers(tensor)) found.push_back(std::move(*shape));
  }
  return found;
}

/// Is a value of this operator, as recorded, a one?
bool writes_ones(const Trace& trace, SliceId scatter) {
  const Signature* const signature = signature_of(trace, scatter);
  if (signature == nullptr || !signature->concrete.valid()) return false;
  const std::vector<std::string_view> values = json_elements(trace.text(signature->concrete));
  if (values.size() < 4) return false;
  const std::string_view value = json_unquoted(values[3]);
  return value == "1" || value == "1." || value == "1.0";
}

/// What scatter_ fills where that makes one-hot vectors: one index per row; else nothing.
Shape filled_by(const Trace& trace, SliceId scatter) {
  const std::vector<Shape> shapes = shapes_of(trace, scatter);
  if (shapes.size() < 3 || shapes[0].size() < 2 || shapes[2].size() != shapes[0].size()) return {};
  return shapes[2].back() == 1 && shapes[0].back() > 1 ? shapes[0] : Shape{};
}

class Finder {
 public:
  explicit Finder(const RuleContext& rules)
      : rules_(rules),
        trace_(rules.trace()),
        between_(trace_, kBetween),
        multiplying_(trace_, kMultiplying) {}

  struct Found {
    std::vector<SliceId> ops;  // Outermost: made, converted, multiplied.
    std::vector<SliceId> gemms;
    std::vector<double> left;  // Of the GEMM's time, by operator: 0 for those before it.
  };

  [[nodiscard]] Found find() const {
    Found found;
    const UserOps user_ops(rules_);
    for (const Nesting::Thread& thread : rules_.context.nesting().work) {
      if (rules_.device < 0 && thread.track != rules_.accounting.main_thread) continue;
      const std::vector<UserOp> ops = user_ops.of(thread);
      for (std::size_t at = 0; at < ops.size(); ++at) {
        const Shape made = vectors(ops[at].op);
        const std::size_t gemm = made.empty() ? at : gemm_of(ops, at, made);
        if (gemm == at) continue;
        for (std::size_t i = at; i <= gemm; ++i) {
          found.ops.push_back(ops[i].op);
          found.left.push_back(i == gemm ? left_of(made.back()) : 0.0);
        }
        found.gemms.push_back(ops[gemm].op);
      }
    }
    return found;
  }

 private:
  static double left_of(std::int64_t classes) {
    return std::clamp(kFewClasses / static_cast<double>(classes), kLeastLeft, 1.0);
  }

  /// The shape of the one-hot vectors that the operator makes, or nothing.
  [[nodiscard]] Shape vectors(SliceId op) const {
    const std::string_view name = trace_.name(op);
    if (name == "aten::scatter_" || name == "aten::scatter")
      return writes_ones(trace_, op) ? filled_by(trace_, op) : Shape{};
    if (name != "aten::one_hot") return {};
    for (const SliceId inside : tree(rules_, op)) {
      const std::string_view called = trace_.name(inside);
      if (called != "aten::scatter_" && called != "aten::scatter") continue;
      if (Shape shape = filled_by(trace_, inside); !shape.empty()) return shape;
    }
    return {};
  }

  /// The GEMM that takes the vectors made at `at`, or `at`.
  [[nodiscard]] std::size_t gemm_of(const std::vector<UserOp>& ops, std::size_t at,
                                    const Shape& made) const {
    for (std::size_t next = at + 1; next < std::min(ops.size(), at + 1 + kNearby); ++next) {
      const StringId name = trace_.slices.name[ops[next].op.row()];
      if (ops[next].step != ops[at].step) return at;
      if (multiplying_.contains(name)) return takes(ops[next].op, made) ? next : at;
      if (!between_.contains(name)) return at;
    }
    return at;
  }

  [[nodiscard]] bool takes(SliceId gemm, const Shape& made) const {
    return std::ranges::any_of(shapes_of(trace_, gemm), [&](const Shape& shape) {
      return elements(shape) == elements(made) &&
             std::ranges::find(shape, made.back()) != shape.end();
    });
  }

  const RuleContext& rules_;
  const Trace& trace_;
  NameSet between_;
  NameSet multiplying_;
};

/// Claims what goes of what the operators run on the device, or without one take; returns the time
/// of all of it.
Duration claim_all(const RuleContext& rules, const Finder::Found& found, Finding& finding) {
  std::vector<float> left(rules.trace().slices.size(), -1.0F);
  for (std::size_t i = 0; i < found.ops.size(); ++i)
    for (const SliceId each : tree(rules, found.ops[i]))
      left[each.row()] = static_cast<float>(found.left[i]);
  Duration all{};
  for_each_work(rules, [&](SliceId work, SliceId op) {
    if (!op.valid() || left[op.row()] < 0) return;
    finding.claims.push_back(claim(rules, work, 1.0 - static_cast<double>(left[op.row()])));
    finding.edits.scale.emplace_back(work, left[op.row()]);
    all += finding.claims.back().whole;
  });
  return all;
}

Outcome check(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  if (device_unrecorded(rules)) return Abstention{"no device activity was recorded"};
  const NameSet making(trace, [](std::string_view name) {
    return name == "aten::one_hot" || name == "aten::scatter_" || name == "aten::scatter";
  });
  if (!making.any()) return std::vector<Finding>{};
  if (!has_shapes(trace)) {
    return not_recorded(rules, "shapes were not recorded", "record_shapes=True");
  }
  const Finder::Found found = Finder(rules).find();
  if (found.gemms.empty()) return std::vector<Finding>{};
  Finding finding;
  const Duration all = claim_all(rules, found, finding);
  if (rules.percent(total(finding.claims)) < kLeastPercent) return std::vector<Finding>{};
  finding.title =
      "Rows are looked up by multiplications with one-hot vectors: " + per_step(rules, all);
  finding.family = Family::compute;
  finding.weight = weight_of(rules, all, 5, 15);
  finding.confidence = Confidence::medium;
  finding.effort = Effort::line;
  finding.evidence.push_back(evidence_of(
      rules, found.gemms,
      counted_noun(found.gemms.size(), "multiplication") +
          " right behind one-hot vectors of the same size; making, converting and multiplying "
          "them are counted"));
  finding.counter_evidence =
      "That the GEMM takes these vectors is known by their size and by what lies between, not "
      "by the tensor itself.";
  finding.fix = {
      .text =
          "Index the table, or use an embedding: the same rows without multiplying; masks of a "
          "mixture of experts become index_select and index_add_. Caveats: the gradient of the "
          "table is then added up by index, in another order, so that last digits may differ; "
          "classes out of range fail there, too.",
      .before = "y = F.one_hot(ids, classes).float() @ table",
      .after = "y = F.embedding(ids, table)   # or table[ids]"};
  finding.verify = "fathom ops TRACE --filter 'name~one_hot|scatter|mm' --group-by shape";
  claim_callers(rules, found.ops, 1.0, finding);
  finding.assumption = "of a multiplication with C classes, looking up takes 64 / C";
  finding.pessimism = 0.5;
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace one_hot_products_rule

Rule one_hot_products() {
  return {.id = "one-hot-products",
          .title = "Multiplications with one-hot vectors",
          .doc = one_hot_products_rule::kDoc,
          .check = one_hot_products_rule::check};
}

}  // namespace fathom
