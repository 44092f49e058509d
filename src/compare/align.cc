// Matches rows of two profiles, key by key.
#include "compare/align.h"

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "compare/fused.h"
#include "compare/key_ranks.h"
#include "compare/result_argument.h"
#include "compare/same_kernels.h"
#include "compare/siblings.h"

namespace fathom {
namespace {

constexpr std::array<std::string_view, kAlignments> kNames = {"module_operator_shapes",
                                                              "module_operator",
                                                              "operator",
                                                              "kernels",
                                                              "fused",
                                                              "siblings",
                                                              "replaced",
                                                              "base_only",
                                                              "new_only"};

/// Less than this share of the other side's time replaces nothing.
constexpr double kReplaces = 0.02;
/// Of the time inside of an operator: with less of it in other operators it is the same work.
constexpr double kInside = 0.1;
/// See same_program().
constexpr double kSameProgram = 0.5;

/// A range of torch.compile around a graph that runs.
bool is_graph(std::string_view op) {
  return op.starts_with("## Call CompiledFxGraph") || op.starts_with("Torch-Compiled Region") ||
         op.starts_with("CompiledFunction");
}

using Rows = std::vector<const ProfileRow*>;
/// What of a key must agree, by field; another field is as if it were empty.
using Fields = std::array<bool, kKeyFields>;

constexpr Fields without(Fields fields, std::initializer_list<KeyField> left_out) {
  for (const KeyField field : left_out) fields[static_cast<std::size_t>(field)] = false;
  return fields;
}
constexpr Fields whole() {
  Fields all{};
  for (bool& field : all) field = true;
  return all;
}
constexpr Fields kWhole = whole();
constexpr Fields kWithoutOuter = without(kWhole, {KeyField::outer});
constexpr Fields kWithoutShapes = without(kWhole, {KeyField::shapes, KeyField::types});
constexpr Fields kModuleAndOperator = without(kWithoutShapes, {KeyField::outer});
constexpr Fields kOperatorAlone = without(kModuleAndOperator, {KeyField::module});
/// Where one side's recording does not show the phase, or the work moved to another.
constexpr Fields without_phase(Fields fields) { return without(fields, {KeyField::phase}); }
constexpr Fields kOuterAlone = without(kWithoutShapes, {KeyField::op, KeyField::after_sync});
constexpr Fields kModuleAlone = without(kOuterAlone, {KeyField::outer});
constexpr Fields kPhaseAlone = without(kModuleAlone, {KeyField::module});
constexpr Fields kBucketAlone = without(kPhaseAlone, {KeyField::phase});

KeyRank only(KeyRank key, const Fields& fields) {
  for (std::size_t i = 0; i < kKeyFields; ++i)
    if (!fields[i]) key[i] = 0;
  return key;
}

/// Time per step.
double time_of(const Rows& rows, std::int64_t steps) {
  double sum = 0;
  for (const ProfileRow* const row : rows) sum += static_cast<double>(row->work.time_ns);
  return sum / static_cast<double>(steps);
}

class Aligner {
 public:
  Aligner(const Profile& base, const Profile& now)
      : base_steps_(base.steps()), new_steps_(now.steps()), base_rows_(base.rows) {
    std::vector<const WorkKey*> keys;
    keys.reserve(base.rows.size() + now.rows.size());
    const auto add = [&keys](const std::vector<ProfileRow>& rows, Rows& into) {
      into.reserve(rows.size());
      for (const ProfileRow& row : rows) {
        into.push_back(&row);
        keys.push_back(&row.key);
      }
    };
    add(base.rows, base_);
    add(now.rows, new_);
    ranks_ = key_ranks(keys);
    all_base_ = base_;
    all_new_ = new_;
    new_rows_ = now.rows;
  }

  std::vector<AlignedWork> align() {
    const auto always = [](const AlignedWork&) { return true; };
    match(kWhole, Alignment::module_operator_shapes, always);
    match(kWithoutOuter, Alignment::module_operator_shapes, always);
    if (take_results_out()) match(kWithoutOuter, Alignment::module_operator_shapes, always);
    match(kWithoutShapes, Alignment::module_operator, always);
    match(kModuleAndOperator, Alignment::module_operator, always);
    match(kOperatorAlone, Alignment::operator_only, always);
    match(without_phase(kWithoutOuter), Alignment::module_operator_shapes, always);
    match(without_phase(kModuleAndOperator), Alignment::module_operator, always);
    match(without_phase(kOperatorAlone), Alignment::operator_only, always);
    if (without_operators(all_base_) != without_operators(all_new_))
      take(same_kernels(base_, new_));
    match_fused(kModuleAlone);
    match_fused(kPhaseAlone);
    match_graphs();
    merge_outer();
    match_siblings();
    match(kModuleAlone, Alignment::replaced, [this](const AlignedWork& work) {
      return !work.base.front()->key.module.empty() && alike(work);
    });
    const auto same_place = [this](const AlignedWork& work) {
      return same_program(work.bucket) && alike(work);
    };
    match(kPhaseAlone, Alignment::replaced, same_place);
    match(kBucketAlone, Alignment::replaced, same_place);
    for_each_group(kModuleAndOperator, [this](AlignedWork work) {
      work.alignment = work.now.empty() ? Alignment::base_only : Alignment::new_only;
      out_.push_back(std::move(work));
    });
    return std::move(out_);
  }

 private:
  /// The work of one outermost operator.
  struct Outer {
    double left = 0;  // time per step that is not matched
    double all = 0;
    AlignedWork work;
    std::vector<std::size_t> matched;  // rows of out_
  };

  void add_left(const Rows& rows, std::int64_t steps, Rows AlignedWork::*side,
                std::map<KeyRank, Outer>& outers) const {
    for (const ProfileRow* const row : rows) {
      if (row->key.outer.empty()) continue;
      Outer& outer = outers[key_of(row, kOuterAlone)];
      outer.left += time_of({row}, steps);
      outer.all += time_of({row}, steps);
      (outer.work.*side).push_back(row);
    }
  }

  /// Where an operator of both sides calls others inside than before, what it does inside is one
  /// thing: aten::conv2d by aten::_slow_conv2d_forward or by aten::mkldnn_convolution.
  void merge_outer() {
    std::map<KeyRank, Outer> outers;
    add_left(base_, base_steps_, &AlignedWork::base, outers);
    add_left(new_, new_steps_, &AlignedWork::now, outers);
    for (std::size_t i = 0; i < out_.size(); ++i) {
      const KeyRank key = key_of(out_[i].base.front(), kOuterAlone);
      const auto found = outers.find(key);
      const auto inside = [&](const ProfileRow* row) { return key_of(row, kOuterAlone) == key; };
      if (found == outers.end() || !std::ranges::all_of(out_[i].base, inside) ||
          !std::ranges::all_of(out_[i].now, inside))
        continue;
      found->second.all += time_of(out_[i].base, base_steps_) + time_of(out_[i].now, new_steps_);
      found->second.matched.push_back(i);
    }
    std::vector<bool> merged(out_.size());
    std::vector<AlignedWork> found;
    for (auto& [key, outer] : outers) {
      AlignedWork& work = outer.work;
      for (const std::size_t i : outer.matched) {
        work.base.insert(work.base.end(), out_[i].base.begin(), out_[i].base.end());
        work.now.insert(work.now.end(), out_[i].now.begin(), out_[i].now.end());
      }
      work.alignment = Alignment::replaced;
      work.bucket = bucket_of(work);
      if (outer.left < kInside * outer.all || !alike(work)) continue;
      for (const std::size_t i : outer.matched) merged[i] = true;
      found.push_back(std::move(work));
    }
    std::vector<AlignedWork> others;
    for (std::size_t i = 0; i < merged.size(); ++i)
      if (!merged[i]) others.push_back(std::move(out_[i]));
    out_ = std::move(others);
    take(std::move(found));
  }

  /// Takes work from what is left.
  void take(std::vector<AlignedWork> found) {
    if (found.empty()) return;
    std::vector<bool> taken(ranks_.size());
    for (AlignedWork& work : found) {
      for (const ProfileRow* const row : work.base) taken[place_of(row)] = true;
      for (const ProfileRow* const row : work.now) taken[place_of(row)] = true;
      out_.push_back(std::move(work));
    }
    const auto is_taken = [&](const ProfileRow* row) { return taken[place_of(row)]; };
    std::erase_if(base_, is_taken);
    std::erase_if(new_, is_taken);
  }

  /// Calls visit(work) for what is left of both sides by each key, in the order of keys.
  template <typename Visit>
  void for_each_group(const Fields& fields, const Visit& visit) const {
    std::vector<KeyRank> keys;
    keys.reserve(base_.size() + new_.size());
    for (const ProfileRow* const row : base_) keys.push_back(key_of(row, fields));
    for (const ProfileRow* const row : new_) keys.push_back(key_of(row, fields));
    const std::vector<std::uint32_t> order = in_order(keys);
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      AlignedWork work;
      for (; end < order.size() && keys[order[end]] == keys[order[begin]]; ++end) {
        const bool of_base = order[end] < base_.size();
        (of_base ? work.base : work.now)
            .push_back(of_base ? base_[order[end]] : new_[order[end] - base_.size()]);
      }
      work.bucket = bucket_of(work);
      visit(std::move(work));
    }
  }

  /// What is left on both sides, by a key; what has no operator replaces none and is no part of it.
  [[nodiscard]] std::vector<AlignedWork> left_by(const Fields& fields) const {
    std::vector<AlignedWork> groups;
    const auto has_none = [](const ProfileRow* row) { return row->key.op.empty(); };
    for_each_group(fields, [&](AlignedWork work) {
      std::erase_if(work.base, has_none);
      std::erase_if(work.now, has_none);
      if (!work.base.empty() && !work.now.empty()) groups.push_back(std::move(work));
    });
    return groups;
  }

  void match_fused(const Fields& fields) {
    std::vector<AlignedWork> found;
    for (const AlignedWork& group : left_by(fields)) {
      for (AlignedWork& work : fused_work(group.base, group.now))
        if (alike(work)) found.push_back(std::move(work));
    }
    take(std::move(found));
  }

  /// What a compiled graph has taken in it does not tell. Where the other side has none, it is what
  /// that side alone has in the phase.
  void match_graphs() {
    const auto has_graph = [](const Rows& rows) {
      return std::ranges::any_of(rows, [](const ProfileRow* row) { return is_graph(row->key.op); });
    };
    if (has_graph(all_base_) == has_graph(all_new_)) return;
    std::vector<AlignedWork> found;
    for (AlignedWork& group : left_by(kPhaseAlone)) {
      if (!(has_graph(group.base) || has_graph(group.now)) || !alike(group)) continue;
      group.alignment = Alignment::fused;
      found.push_back(std::move(group));
    }
    take(std::move(found));
  }

  /// Numbers of what is left: an operator that is given its result has the arguments of one that is
  /// not. Was there any?
  bool take_results_out() {
    using Arguments = std::pair<std::string_view, std::string_view>;
    constexpr auto kShapes = static_cast<std::size_t>(KeyField::shapes);
    constexpr auto kTypes = static_cast<std::size_t>(KeyField::types);
    bool any = false;
    for_each_group(kModuleAndOperator, [&](const AlignedWork& work) {
      if (work.base.empty() || work.now.empty()) return;
      std::map<Arguments, const ProfileRow*> known;
      for (const Rows* const side : {&work.base, &work.now}) {
        for (const ProfileRow* const row : *side)
          known.try_emplace({row->key.shapes.view(), row->key.types.view()}, row);
      }
      for (const Rows* const side : {&work.base, &work.now}) {
        for (const ProfileRow* const row : *side) {
          if (!ends_with_tensor(row->key.shapes)) continue;
          const std::string shapes = without_last(row->key.shapes);
          const std::string types = without_last(row->key.types);
          const auto same = known.find({shapes, types});
          if (same == known.end()) continue;
          const KeyRank& inputs = ranks_[place_of(same->second)];
          KeyRank& rank = ranks_[place_of(row)];
          rank[kShapes] = inputs[kShapes];
          rank[kTypes] = inputs[kTypes];
          any = true;
        }
      }
    });
    return any;
  }

  /// Without a module the siblings are all of a phase, and must be those of the same program.
  void match_siblings() {
    const std::vector<AlignedWork> left = left_by(kModuleAlone);
    std::map<KeyRank, std::vector<AlignedWork>> matched;
    for (const AlignedWork& group : left) matched[key_of(group.base.front(), kModuleAlone)];
    for (const AlignedWork& work : out_) {
      const KeyRank key = key_of(work.base.front(), kModuleAlone);
      const auto at = matched.find(key);
      const auto here = [&](const ProfileRow* row) { return key_of(row, kModuleAlone) == key; };
      if (at != matched.end() && std::ranges::all_of(work.base, here) &&
          std::ranges::all_of(work.now, here))
        at->second.push_back(work);
    }
    std::vector<AlignedWork> found;
    for (const AlignedWork& group : left) {
      const WorkKey& key = group.base.front()->key;
      if (key.module.empty() && !same_program(key.bucket)) continue;
      const KeyRank rank = key_of(group.base.front(), kModuleAlone);
      for (AlignedWork& work : between_siblings(matched[rank], group.base, group.now))
        if (alike(work)) found.push_back(std::move(work));
    }
    take(std::move(found));
  }

  /// May what is left on one side stand for what is left on the other?
  [[nodiscard]] bool alike(const AlignedWork& work) const {
    if (work.base.empty() || work.now.empty()) return false;  // even where no time is spent
    const double base = time_of(work.base, base_steps_);
    const double now = time_of(work.now, new_steps_);
    return std::min(base, now) >= kReplaces * std::max(base, now) && named(work);
  }

  /// Does at least half of a side's work in a bucket, counted by operators with their shapes (where
  /// both recorded any) and not by time, occur on the other side? Then what is left there on both
  /// sides is part of the same program.
  [[nodiscard]] bool same_program(AnyBucket bucket) const {
    const auto has_shapes = [](const ProfileRow* row) { return !row->key.shapes.empty(); };
    const bool shapes =
        std::ranges::any_of(all_base_, has_shapes) && std::ranges::any_of(all_new_, has_shapes);
    const auto count = [bucket, shapes](const Rows& rows) {
      return std::ranges::count_if(rows, [bucket, shapes](const ProfileRow* row) {
        return row->key.bucket == bucket && !(shapes ? row->key.shapes : row->key.op).empty();
      });
    };
    Rows matched_base;
    Rows matched_new;
    for (const AlignedWork& work : out_) {
      if (work.alignment != Alignment::module_operator_shapes) continue;
      matched_base.insert(matched_base.end(), work.base.begin(), work.base.end());
      matched_new.insert(matched_new.end(), work.now.begin(), work.now.end());
    }
    const auto base = static_cast<double>(count(matched_base));
    const auto now = static_cast<double>(count(matched_new));
    return (base > 0 && base >= kSameProgram * static_cast<double>(count(all_base_))) ||
           (now > 0 && now >= kSameProgram * static_cast<double>(count(all_new_)));
  }

  /// Do all rows have an operator that does the work? Python between operators replaces none, and
  /// what a device waits for does none of its work.
  static bool named(const AlignedWork& work) {
    if (work.bucket.idle() || work.bucket.is(HostBucket::python)) return false;
    const auto has_name = [](const ProfileRow* row) { return !row->key.op.empty(); };
    return std::ranges::all_of(work.base, has_name) && std::ranges::all_of(work.now, has_name);
  }

  /// Takes what both sides have of a key from what is left, where `same` agrees.
  void match(const Fields& fields, Alignment alignment,
             const std::function<bool(const AlignedWork&)>& same) {
    Rows base_left;
    Rows new_left;
    for_each_group(fields, [&](AlignedWork work) {
      work.alignment = alignment;
      if (!work.base.empty() && !work.now.empty() && same(work)) {
        out_.push_back(std::move(work));
        return;
      }
      base_left.insert(base_left.end(), work.base.begin(), work.base.end());
      new_left.insert(new_left.end(), work.now.begin(), work.now.end());
    });
    base_ = std::move(base_left);
    new_ = std::move(new_left);
  }

  /// Among the rows of both sides.
  [[nodiscard]] std::size_t place_of(const ProfileRow* row) const {
    const std::less<> before;
    const ProfileRow* const begin = base_rows_.data();
    if (!before(row, begin) && before(row, begin + base_rows_.size()))
      return static_cast<std::size_t>(row - begin);
    return base_rows_.size() + static_cast<std::size_t>(row - new_rows_.data());
  }
  [[nodiscard]] KeyRank key_of(const ProfileRow* row, const Fields& fields) const {
    return only(ranks_[place_of(row)], fields);
  }
  /// Of all of its rows: no two buckets are one work.
  static AnyBucket bucket_of(const AlignedWork& work) {
    return (work.base.empty() ? work.now : work.base).front()->key.bucket;
  }

  std::int64_t base_steps_;
  std::int64_t new_steps_;
  std::span<const ProfileRow> base_rows_;
  std::span<const ProfileRow> new_rows_;
  std::vector<KeyRank> ranks_;  // of both sides
  Rows base_;                   // not matched yet
  Rows new_;
  Rows all_base_;
  Rows all_new_;
  std::vector<AlignedWork> out_;
};

}  // namespace

std::string_view to_string(Alignment alignment) {
  return kNames[static_cast<std::size_t>(alignment)];
}

std::vector<AlignedWork> align(const Profile& base, const Profile& now) {
  return Aligner(base, now).align();
}

}  // namespace fathom
