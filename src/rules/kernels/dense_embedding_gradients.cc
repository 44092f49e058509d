// dense-embedding-gradients: all rows of a table are updated, though few were looked up.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/util/json_list.h"
#include "base/quantity_text.h"
#include "rules/common/arguments.h"
#include "rules/common/claims.h"
#include "rules/common/counted.h"
#include "rules/common/evidence.h"
#include "rules/common/host_work.h"
#include "rules/common/names.h"
#include "rules/common/program.h"
#include "rules/common/recorded.h"
#include "rules/rule.h"

namespace fathom {
namespace dense_embedding_gradients_rule {
namespace {

constexpr std::string_view kDoc =
    "An embedding's gradient has a row for each row of the table, nearly all of them zeros where a "
    "step looks few of them up: it is filled with zeros, and the optimizer then reads and writes "
    "all of the table and of its own state. With sparse=True only the rows that were looked up are "
    "touched. Found are aten::embedding_dense_backward and aten::_embedding_bag_dense_backward "
    "whose indices are at most an eighth of the table's rows. Counted are these, and the operators "
    "that change a tensor of the table's size; where an optimizer joins all parameters in one "
    "kernel, that is not counted. Tables that a matrix multiplication takes, too (weights tied to "
    "the output), are left out, and programs of several processes, whose collectives want dense "
    "gradients. Fires from 5 % of the step. Needs shapes and values. Source: PyTorch's "
    "documentation of torch.nn.Embedding (sparse) and torch.optim.SparseAdam.";

constexpr double kLeastPercent = 5.0;
/// Indices that lie in a row of the table each, at most this part of its rows.
constexpr std::int64_t kRowsPerIndex = 8;
/// What sparse updates take for each row that they touch, in rows of a dense one.
constexpr double kSparseRow = 4;
constexpr double kLeastLeft = 0.1;

/// Rows and columns.
using Table = std::pair<std::int64_t, std::int64_t>;

/// Where the values of the two operators stand: the number of rows is an integer among them.
constexpr std::string_view kPlain = "aten::embedding_dense_backward";
constexpr std::string_view kBag = "aten::_embedding_bag_dense_backward";
constexpr std::size_t kRowsOfPlain = 2;
constexpr std::size_t kRowsOfBag = 5;

bool is_backward(std::string_view name) { return name == kPlain || name == kBag; }

/// Does it look rows up, which costs no more where the table is large?
bool looks_up(std::string_view name) {
  return name.starts_with("aten::embedding") || name.starts_with("aten::_embedding_bag") ||
         name == "aten::index_select" || name == "aten::index";
}

/// A table as a backward pass was given it.
struct Call {
  Table table;
  std::int64_t indices = 0;
};

std::optional<Call> call_of(const Trace& trace, SliceId op) {
  const Signature* const signature = signature_of(trace, op);
  if (signature == nullptr || !signature->shapes.valid() || !signature->types.valid() ||
      !signature->concrete.valid())
    return {};
  const OpArguments arguments(trace.text(signature->shapes), trace.text(signature->types),
                              trace.text(signature->concrete));
  const auto rows = arguments.integers(trace.name(op) == kPlain ? kRowsOfPlain : kRowsOfBag);
  const TensorArgument* const gradient = arguments.tensor(0);
  const TensorArgument* const indices = arguments.tensor(1);
  if (!rows || rows->size() != 1 || gradient == nullptr || indices == nullptr) return {};
  if (gradient->dims.empty() || rows->front() <= 0) return {};
  return Call{.table = {rows->front(), gradient->dims.back()},
              .indices = static_cast<std::int64_t>(indices->elements())};
}

/// By table, the most indices of one backward pass.
using Tables = std::map<Table, std::int64_t>;

/// Does a matrix multiplication take a tensor of the table's size, or its transpose?
bool takes(const OpArguments& arguments, const Table& table) {
  return std::ranges::any_of(arguments.tensors(), [&](const TensorArgument& tensor) {
    if (tensor.dims.size() != 2) return false;
    const Table size{tensor.dims[0], tensor.dims[1]};
    return size == table || size == Table{table.second, table.first};
  });
}

/// The tables in which few rows are looked up, and which nothing else needs whole.
Tables tables_of(const RuleContext& rules, const std::vector<SliceId>& backwards) {
  const Trace& trace = rules.trace();
  Tables tables;
  for (const SliceId op : backwards) {
    const std::optional<Call> call = call_of(trace, op);
    if (!call) continue;
    std::int64_t& most = tables[call->table];
    most = std::max(most, call->indices);
  }
  std::erase_if(tables,
                [](const auto& each) { return each.second > each.first.first / kRowsPerIndex; });
  if (tables.empty()) return tables;
  for (const SliceId product : host_slices(rules, NameSet(trace, is_product))) {
    const std::optional<OpArguments> arguments = arguments_of(trace, product);
    if (!arguments) continue;
    std::erase_if(tables, [&](const auto& each) { return takes(*arguments, each.first); });
  }
  return tables;
}

/// Per row of Trace::signatures: the table whose size its first tensor has.
class BySignature {
 public:
  BySignature(const Trace& trace, const Tables& tables) : of_(trace.signatures.size()) {
    for (std::size_t row = 0; row < of_.size(); ++row) {
      const Signature& signature = trace.signatures[row];
      if (!signature.shapes.valid()) continue;
      const std::vector<std::string_view> shapes = json_elements(trace.text(signature.shapes));
      if (shapes.empty()) continue;
      const auto dims = json_integers(shapes.front());
      if (!dims || dims->size() != 2) continue;
      const auto found = tables.find({dims->front(), dims->back()});
      if (found != tables.end()) of_[row] = &found->first;
    }
  }
  [[nodiscard]] const Table* of(const Trace& trace, SliceId op) const {
    const Signature* const signature = signature_of(trace, op);
    if (signature == nullptr) return nullptr;
    return of_[static_cast<std::size_t>(signature - trace.signatures.data())];
  }

 private:
  std::vector<const Table*> of_;
};

/// What is done with each table, or its gradient, as a whole.
std::map<Table, Blamed> look(const RuleContext& rules, const Tables& tables) {
  const Trace& trace = rules.trace();
  const NameSet backwards(trace, is_backward);
  const NameSet lookups(trace, looks_up);
  const BySignature sizes(trace, tables);
  std::map<Table, Blamed> found;
  for_each_work(rules, [&](SliceId work, SliceId op) {
    if (!op.valid()) return;
    const SliceId backward = enclosing(rules, op, backwards);
    if (backward.valid()) {
      const std::optional<Call> call = call_of(trace, backward);
      if (call && tables.contains(call->table)) found[call->table].add(rules, work, op);
      return;
    }
    const Table* const table = sizes.of(trace, op);
    if (table == nullptr || lookups.contains(trace.slices.name[op.row()])) return;
    found[*table].add(rules, work, op);
  });
  return found;
}

std::string table_text(const Table& table) {
  return count_text(table.first) + " × " + count_text(table.second);
}

/// "Adam" of "Optimizer.step#Adam.step", where one such name was recorded; else "".
std::string optimizer_of(const Trace& trace) {
  constexpr std::string_view kBegin = "Optimizer.step#";
  std::string found;
  for (std::size_t row = 0; row < trace.strings.size(); ++row) {
    std::string_view name = trace.strings.view(StringId(row));
    if (!name.starts_with(kBegin)) continue;
    name.remove_prefix(kBegin.size());
    name = name.substr(0, name.find('.'));
    if (!found.empty() && found != name) return "";
    found = name;
  }
  return found;
}

Fix fix_of(const Trace& trace) {
  const std::string optimizer = optimizer_of(trace);
  Fix fix{.text = "Let the table have sparse gradients, and give it an optimizer that takes them. ",
          .before = "table = nn.Embedding(rows, columns)",
          .after = "table = nn.Embedding(rows, columns, sparse=True)"};
  if (optimizer == "SGD" || optimizer == "Adagrad") {
    fix.text += optimizer +
                " takes them; results stay the same without momentum and weight decay, which move "
                "all rows.";
    return fix;
  }
  fix.text +=
      "SparseAdam, Adagrad and plain SGD take them. Caveat: they move only rows that were looked "
      "up, so that results differ from those of an optimizer with momentum or weight decay, which "
      "moves all: check the model's quality.";
  fix.after +=
      "\nof_table = torch.optim.SparseAdam(table.parameters())   # the other parameters keep "
      "theirs";
  return fix;
}

Outcome check(const RuleContext& rules) {
  const Trace& trace = rules.trace();
  if (device_unrecorded(rules)) return Abstention{"no device activity was recorded"};
  const NameSet names(trace, is_backward);
  if (!names.any() || !trace.collectives.empty()) return std::vector<Finding>{};
  if (!has_shapes(trace)) {
    return not_recorded(rules, "shapes were not recorded", "record_shapes=True");
  }
  const Tables tables = tables_of(rules, host_slices(rules, names));
  if (tables.empty()) return std::vector<Finding>{};
  Finding finding;
  Duration time{};
  for (const auto& [table, blamed] : look(rules, tables)) {
    const std::int64_t indices = tables.at(table);
    const double left = std::max(
        kLeastLeft, kSparseRow * static_cast<double>(indices) / static_cast<double>(table.first));
    claim_blamed(rules, blamed, 1.0 - left, finding);
    time += blamed.time;
    finding.evidence.push_back(
        evidence_of(rules, blamed,
                    "a table of " + table_text(table) + " with at most " +
                        counted_noun(static_cast<std::size_t>(indices), "look-up") +
                        " at a time: its gradient is made, and all of it updated, in " +
                        per_step(rules, blamed.time)));
  }
  if (rules.percent(time) < kLeastPercent) return std::vector<Finding>{};
  finding.title =
      "All rows of an embedding are updated, few were looked up: " + per_step(rules, time);
  finding.family = Family::memory_bandwidth;
  finding.weight = weight_of(rules, time, 10, 30);
  finding.confidence = Confidence::medium;
  finding.effort = Effort::line;
  finding.counter_evidence =
      "What else is done with tensors of the table's size counts, too, such as a norm of it.";
  finding.fix = fix_of(trace);
  finding.verify = "fathom ops TRACE --group-by shape";
  finding.assumption = "each index costs as much as four rows; a tenth is left at least";
  finding.pessimism = 0.7;
  return std::vector<Finding>{std::move(finding)};
}

}  // namespace
}  // namespace dense_embedding_gradients_rule

Rule dense_embedding_gradients() {
  return {.id = "dense-embedding-gradients",
          .title = "Embeddings of which all rows are updated",
          .doc = dense_embedding_gradients_rule::kDoc,
          .check = dense_embedding_gradients_rule::check};
}

}  // namespace fathom
