// Shares a processor with another thread for a moment.
#include "sample/alongside.h"

#include <charconv>
#include <string_view>

#include <sys/resource.h>

#include "sample/schedule.h"

namespace fathom::sample {
namespace {

/// Field `number` of words that blanks separate, counted from 0; 0 where it is none.
std::int64_t field(std::string_view text, int number) {
  for (; number > 0; --number) {
    const std::size_t blank = text.find(' ');
    if (blank == std::string_view::npos) return 0;
    text.remove_prefix(blank + 1);
  }
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::int64_t own_switches() {
  rusage use{};
  getrusage(RUSAGE_THREAD, &use);
  return use.ru_nvcsw + use.ru_nivcsw;
}

std::string folder_of(pid_t pid, pid_t tid) {
  return "/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid);
}

}  // namespace

Whereabouts parse_whereabouts(std::string_view stat, std::string_view schedule) {
  Whereabouts at;
  const std::size_t close = stat.rfind(')');
  if (close == std::string_view::npos || close + 2 >= stat.size()) return at;
  at.state = stat[close + 2];
  // The state is number 3 of the manual, the processor 39.
  at.processor = static_cast<int>(field(stat.substr(close + 2), 36));
  if (const std::optional<Schedule> counts = parse_schedule(schedule))
    at.switches = counts->switches;
  return at;
}

Alongside::Alongside(pid_t pid, pid_t tid)
    : stat_(folder_of(pid, tid) + "/stat"), schedule_(folder_of(pid, tid) + "/schedstat") {}

Whereabouts Alongside::look() const {
  std::string stat(stat_.read(buffer_));
  return parse_whereabouts(stat, schedule_.read(buffer_));
}

bool Alongside::begin() {
  at_begin_ = look();
  if (at_begin_.state == 'R' && at_begin_.processor >= 0 && at_begin_.processor < CPU_SETSIZE) {
    if (!moved_ && sched_getaffinity(0, sizeof before_, &before_) != 0) return false;
    cpu_set_t there;
    CPU_ZERO(&there);
    CPU_SET(static_cast<std::size_t>(at_begin_.processor), &there);
    if (sched_setaffinity(0, sizeof there, &there) != 0) return false;
    moved_ = true;
    at_begin_ = look();
  }
  own_switches_ = own_switches();
  return true;
}

bool Alongside::held() {
  const Whereabouts now = look();
  if (now.state != 'R') return now == at_begin_;
  const bool here = sched_getcpu() == now.processor;
  return here && now == at_begin_ && own_switches() == own_switches_;
}

void Alongside::end() {
  if (moved_) sched_setaffinity(0, sizeof before_, &before_);
  moved_ = false;
}

}  // namespace fathom::sample
