// Matches rows of two profiles, key by key.
#include "compare/align.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "compare/fused.h"
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

using Rows = std::vector<const ProfileRow*>;
using KeyOf = WorkKey (*)(const WorkKey&);

WorkKey whole(const WorkKey& key) { return key; }
WorkKey without_outer(const WorkKey& key) {
  WorkKey out = key;
  out.outer.clear();
  return out;
}
WorkKey without_shapes(const WorkKey& key) {
  WorkKey out = key;
  out.shapes.clear();
  out.types.clear();
  return out;
}
WorkKey module_and_operator(const WorkKey& key) { return without_outer(without_shapes(key)); }
WorkKey operator_alone(const WorkKey& key) {
  WorkKey out = module_and_operator(key);
  out.module.clear();
  return out;
}
/// Where one side's recording does not show the phase, or the work moved to another.
template <KeyOf kKeyOf>
WorkKey without_phase(const WorkKey& key) {
  WorkKey out = kKeyOf(key);
  out.phase.clear();
  return out;
}
WorkKey outer_alone(const WorkKey& key) {
  return {.bucket = key.bucket,
          .phase = key.phase,
          .module = key.module,
          .outer = key.outer,
          .compiling = key.compiling};
}
WorkKey module_alone(const WorkKey& key) {
  return {
      .bucket = key.bucket, .phase = key.phase, .module = key.module, .compiling = key.compiling};
}
WorkKey phase_alone(const WorkKey& key) {
  return {.bucket = key.bucket, .phase = key.phase, .compiling = key.compiling};
}
WorkKey bucket_alone(const WorkKey& key) {
  return {.bucket = key.bucket, .compiling = key.compiling};
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
      : base_steps_(base.steps()), new_steps_(now.steps()) {
    for (const ProfileRow& row : base.rows) base_.push_back(&row);
    for (const ProfileRow& row : now.rows) new_.push_back(&row);
    all_base_ = base_;
    all_new_ = new_;
  }

  std::vector<AlignedWork> align() {
    const auto always = [](const AlignedWork&) { return true; };
    match(whole, Alignment::module_operator_shapes, always);
    match(without_outer, Alignment::module_operator_shapes, always);
    match(without_shapes, Alignment::module_operator, always);
    match(module_and_operator, Alignment::module_operator, always);
    match(operator_alone, Alignment::operator_only, always);
    match(without_phase<without_outer>, Alignment::module_operator_shapes, always);
    match(without_phase<module_and_operator>, Alignment::module_operator, always);
    match(without_phase<operator_alone>, Alignment::operator_only, always);
    if (without_operators(all_base_) != without_operators(all_new_))
      take(same_kernels(base_, new_));
    match_fused(module_alone);
    match_fused(phase_alone);
    merge_outer();
    match_siblings();
    match(module_alone, Alignment::replaced, [this](const AlignedWork& work) {
      return !work.base.front()->key.module.empty() && alike(work);
    });
    const auto same_place = [this](const AlignedWork& work) {
      return same_program(work.bucket) && alike(work);
    };
    match(phase_alone, Alignment::replaced, same_place);
    match(bucket_alone, Alignment::replaced, same_place);
    match(module_and_operator, Alignment::base_only, [](const AlignedWork&) { return false; });
    for (auto& [key, work] : last_) {
      work.alignment = work.now.empty() ? Alignment::base_only : Alignment::new_only;
      out_.push_back(std::move(work));
    }
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
                std::map<WorkKey, Outer>& outers) const {
    for (const ProfileRow* const row : rows) {
      if (row->key.outer.empty()) continue;
      Outer& outer = outers[outer_alone(row->key)];
      outer.left += time_of({row}, steps);
      outer.all += time_of({row}, steps);
      (outer.work.*side).push_back(row);
    }
  }

  /// Where an operator of both sides calls others inside than before, what it does inside is one
  /// thing: aten::conv2d by aten::_slow_conv2d_forward or by aten::mkldnn_convolution.
  void merge_outer() {
    std::map<WorkKey, Outer> outers;
    add_left(base_, base_steps_, &AlignedWork::base, outers);
    add_left(new_, new_steps_, &AlignedWork::now, outers);
    for (std::size_t i = 0; i < out_.size(); ++i) {
      const WorkKey key = outer_alone(out_[i].base.front()->key);
      const auto found = outers.find(key);
      const auto inside = [&key](const ProfileRow* row) { return outer_alone(row->key) == key; };
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
      work.bucket = key.bucket;
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
    std::set<const ProfileRow*> taken;
    for (AlignedWork& work : found) {
      taken.insert(work.base.begin(), work.base.end());
      taken.insert(work.now.begin(), work.now.end());
      out_.push_back(std::move(work));
    }
    const auto is_taken = [&taken](const ProfileRow* row) { return taken.contains(row); };
    std::erase_if(base_, is_taken);
    std::erase_if(new_, is_taken);
  }

  /// What is left, by a key; what has no operator replaces none and is no part of it.
  [[nodiscard]] std::map<WorkKey, AlignedWork> left_by(KeyOf key_of) const {
    std::map<WorkKey, AlignedWork> groups;
    const auto add = [&](const Rows& rows, Rows AlignedWork::*side) {
      for (const ProfileRow* const row : rows) {
        if (row->key.op.empty()) continue;
        AlignedWork& group = groups[key_of(row->key)];
        group.bucket = row->key.bucket;
        (group.*side).push_back(row);
      }
    };
    add(base_, &AlignedWork::base);
    add(new_, &AlignedWork::now);
    std::erase_if(groups, [](const auto& each) {
      return each.second.base.empty() || each.second.now.empty();
    });
    return groups;
  }

  void match_fused(KeyOf key_of) {
    std::vector<AlignedWork> found;
    for (const auto& [key, group] : left_by(key_of)) {
      for (AlignedWork& work : fused_work(group.base, group.now))
        if (alike(work)) found.push_back(std::move(work));
    }
    take(std::move(found));
  }

  /// Without a module the siblings are all of a phase, and must be those of the same program.
  void match_siblings() {
    std::map<WorkKey, std::vector<AlignedWork>> matched;
    for (const AlignedWork& work : out_) {
      const WorkKey key = module_alone(work.base.front()->key);
      const auto here = [&key](const ProfileRow* row) { return module_alone(row->key) == key; };
      if (std::ranges::all_of(work.base, here) && std::ranges::all_of(work.now, here))
        matched[key].push_back(work);
    }
    std::vector<AlignedWork> found;
    for (const auto& [key, group] : left_by(module_alone)) {
      if (key.module.empty() && !same_program(key.bucket)) continue;
      for (AlignedWork& work : between_siblings(matched[key], group.base, group.now))
        if (alike(work)) found.push_back(std::move(work));
    }
    take(std::move(found));
  }

  /// May what is left on one side stand for what is left on the other?
  [[nodiscard]] bool alike(const AlignedWork& work) const {
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
  void match(KeyOf key_of, Alignment alignment,
             const std::function<bool(const AlignedWork&)>& same) {
    last_.clear();
    for (const ProfileRow* const row : base_) last_[key_of(row->key)].base.push_back(row);
    for (const ProfileRow* const row : new_) last_[key_of(row->key)].now.push_back(row);
    base_.clear();
    new_.clear();
    for (auto& [key, work] : last_) {
      work.alignment = alignment;
      work.bucket = key.bucket;
      if (!work.base.empty() && !work.now.empty() && same(work)) {
        out_.push_back(std::move(work));
        continue;
      }
      base_.insert(base_.end(), work.base.begin(), work.base.end());
      new_.insert(new_.end(), work.now.begin(), work.now.end());
    }
  }

  std::int64_t base_steps_;
  std::int64_t new_steps_;
  Rows base_;  // not matched yet
  Rows new_;
  Rows all_base_;
  Rows all_new_;
  std::map<WorkKey, AlignedWork> last_;
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
