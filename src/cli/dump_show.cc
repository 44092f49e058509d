// Writes what fathom dump found as text and as JSON.
#include "cli/dump_show.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <span>
#include <utility>

#include "base/json_writer.h"
#include "base/shell_word.h"
#include "cli/frame_show.h"
#include "cli/version.h"
#include "render/text_width.h"
#include "sample/rank_groups.h"

namespace fathom::cli {
namespace {

using sample::GilState;
using sample::ProcessLook;
using sample::StackState;
using sample::ThreadLook;
using sample::WaitKind;

constexpr std::string_view kThreadIndent = "  ";
constexpr std::string_view kFrameIndent = "      ";

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += between;
    text += word;
  }
  return text;
}

std::string wait_text(const sample::Wait& wait) {
  const std::string objects = joined(wait.objects, ", ");
  switch (wait.kind) {
    case WaitKind::none:
      return {};
    case WaitKind::gil:
      return "waits for the GIL";
    case WaitKind::lock:
      return "waits for " + (objects.empty() ? "a lock" : objects);
    case WaitKind::sleep:
      return "waits for a time (" + wait.call + ")";
    case WaitKind::child:
      return "waits for " + objects + " to end";
    case WaitKind::file:
    case WaitKind::poll:
    case WaitKind::call:
      return "waits in " + wait.call + (objects.empty() ? "" : " for " + objects);
  }
  return {};
}

/// "sleeping, waits for the GIL", "running, has the GIL".
std::string what_it_does(const ThreadLook& thread) {
  std::string text(sample::state_word(thread.task.state));
  if (thread.gil == GilState::holds) text += ", has the GIL";
  const std::string wait = wait_text(thread.wait);
  if (!wait.empty()) text += ", " + wait;
  return text;
}

std::string note_of(const ThreadLook& thread) {
  if (!thread.python) return {};
  if (thread.stack == StackState::unread)
    return "the stack changed while it was read, and is not shown";
  if (thread.stack == StackState::shortened)
    return "the innermost frames changed while they were read, and are left out";
  return thread.frames.empty() ? "no Python function" : "";
}

std::string frames_text(std::span<const sample::FrameLook> frames, const Style& style) {
  std::string out;
  for (const sample::FrameLook& frame : frames) {
    out += std::string(kFrameIndent) + printable(frame.function);
    const std::string place = place_text(frame);
    if (!place.empty()) out += style.dim(" (" + printable(place) + ")");
    out += "\n";
  }
  return out;
}

/// In the place of Python's functions alone, where they are among the native ones.
std::string native_text(const ThreadLook& thread, const Style& style) {
  const sample::NativeLook& native = *thread.native;
  const auto note = [&style](const std::string& text) {
    return std::string(kFrameIndent) + style.dim(text) + "\n";
  };
  std::string out;
  if (native.stack.join != sample::native::Join::joined) {
    out += frames_text(thread.frames, style);
    if (!thread.frames.empty() && !native.stack.frames.empty())
      out += note("native functions, which do not match those of Python:");
  }
  out += frames_text(native.stack.frames, style);
  if (!native.reason.empty()) {
    out += note((native.stack.frames.empty() ? "native stack " : "the native stack ends here: ") +
                printable(native.reason));
  }
  return out;
}

std::string thread_text(const ThreadLook& thread, const Style& style) {
  std::string head = thread.task.id == 0 ? std::string("a thread of unknown number")
                                         : "thread " + std::to_string(thread.task.id);
  if (!thread.task.name.empty()) head += " " + thread.task.name;
  std::string out(kThreadIndent);
  out += style.cyan(printable(head));
  if (thread.task.id != 0) out += ": " + printable(what_it_does(thread));
  out += "\n";
  const std::string note = note_of(thread);
  if (!note.empty()) out += std::string(kFrameIndent) + style.dim(note) + "\n";
  return out + (thread.native ? native_text(thread, style) : frames_text(thread.frames, style));
}

/// Threads without Python that do the same are one line.
std::string others_text(const std::vector<const ThreadLook*>& others, const Style& style) {
  std::map<std::string, std::vector<const ThreadLook*>> groups;
  for (const ThreadLook* thread : others) groups[what_it_does(*thread)].push_back(thread);
  std::string out;
  for (const auto& [what, threads] : groups) {
    constexpr std::size_t kMostNumbers = 6;
    std::vector<std::string> numbers;
    for (std::size_t i = 0; i < std::min(threads.size(), kMostNumbers); ++i)
      numbers.push_back(std::to_string(threads[i]->task.id));
    if (threads.size() > kMostNumbers)
      numbers.push_back("and " + std::to_string(threads.size() - kMostNumbers) + " more");
    out += std::string(kThreadIndent) +
           style.dim((threads.size() == 1 ? "thread " : "threads ") + joined(numbers, " ") +
                     " without Python: ") +
           printable(what) + "\n";
  }
  return out;
}

std::string process_text(const ProcessLook& process, const Style& style, bool all) {
  const std::string rank = process.rank ? ", rank " + std::to_string(*process.rank) : "";
  std::string out = style.bold("process " + std::to_string(process.pid) + rank + ": " +
                               command_line(process.command)) +
                    "\n";
  if (!process.python.empty())
    out += std::string(kThreadIndent) + "CPython " + process.python + "\n";
  if (!process.reason.empty())
    out += std::string(kThreadIndent) + "no Python stacks: " + printable(process.reason) + "\n";
  std::vector<const ThreadLook*> others;
  for (const ThreadLook& thread : process.threads) {
    if (thread.python || thread.native || all)
      out += thread_text(thread, style);
    else
      others.push_back(&thread);
  }
  return out + others_text(others, style);
}

/// "ranks 0-2, 4".
std::string ranks_text(const std::vector<std::int64_t>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
    if (last > i) text += (last == i + 1 ? ", " : "-") + std::to_string(ranks[last]);
    i = last + 1;
  }
  return text;
}

/// The ranks side by side; empty where there are not several.
std::string rank_groups_text(const record::TreeLooks& dump, const Style& style) {
  std::string out;
  for (const sample::RankGroup& group : sample::rank_groups(dump.processes)) {
    std::string what(sample::state_word(group.state));
    // Each has its own child.
    if (group.wait.kind == WaitKind::child)
      what += ", waits for a child to end";
    else if (const std::string wait = wait_text(group.wait); !wait.empty())
      what += ", " + wait;
    const std::string ranks = ranks_text(group.ranks);
    out += (group.odd ? style.red(ranks) : style.bold(ranks)) + ": ";
    if (group.place) {
      const std::string place = place_text(*group.place);
      out += printable(group.place->function + (place.empty() ? "" : " (" + place + ")"));
    } else {
      out += "the innermost function is not known";
    }
    out += ", " + printable(what);
    if (group.odd) {
      const std::string mark = group.ranks.size() == 1 ? "the odd one" : "the odd ones";
      out += " <- " + style.red(mark);
    }
    out += "\n";
  }
  return out;
}

std::string_view gil_word(GilState state) { return state == GilState::holds ? "holds" : "waits"; }

void write_wait(JsonWriter& json, const ThreadLook& thread) {
  json.key("waits");
  if (thread.wait.kind == WaitKind::none) {
    json.null();
    return;
  }
  json.object(kJsonInline)
      .member("kind", sample::to_string(thread.wait.kind))
      .member("call", thread.wait.call)
      .key("objects")
      .texts(thread.wait.objects)
      .end();
}

void write_native(JsonWriter& json, const sample::NativeLook& native) {
  json.key("native").object(kJsonLines);
  json.member("join", sample::native::to_string(native.stack.join));
  json.key("reason");
  if (native.reason.empty())
    json.null();
  else
    json.text(native.reason);
  write_frames(json, native.stack.frames, kJsonLines);
  json.end();
}

void write_thread(JsonWriter& json, const ThreadLook& thread) {
  json.object(kJsonLines);
  json.key("tid");
  if (thread.task.id != 0)
    json.integer(thread.task.id);
  else
    json.null();
  json.member("name", thread.task.name)
      .member("state", sample::state_word(thread.task.state))
      .member("python", thread.python);
  json.key("gil");
  if (thread.gil == GilState::none)
    json.null();
  else
    json.text(gil_word(thread.gil));
  write_wait(json, thread);
  json.member("channel", thread.task.channel)
      .member("on_cpu_ns", thread.task.on_cpu)
      .member("queued_ns", thread.task.queued);
  json.key("stack");
  if (thread.python) {
    json.text(sample::to_string(thread.stack));
    write_frames(json, thread.frames, kJsonLines);
  } else {
    json.null();
  }
  if (thread.native) write_native(json, *thread.native);
  json.end();
}

void write_ranks(JsonWriter& json, const sample::RankGroup& group) {
  json.object(kJsonLines);
  json.key("ranks").array(kJsonInline);
  for (const std::int64_t rank : group.ranks) json.integer(rank);
  json.end();
  json.key("pids").array(kJsonInline);
  for (const pid_t pid : group.pids) json.integer(pid);
  json.end();
  json.key("function");
  if (group.place)
    json.text(group.place->function);
  else
    json.null();
  json.member("file", group.place ? group.place->file : std::string());
  json.member("line", group.place ? group.place->line : std::nullopt);
  json.member("state", sample::state_word(group.state));
  json.key("waits");
  if (group.wait.kind == WaitKind::none)
    json.null();
  else
    json.text(sample::to_string(group.wait.kind));
  json.member("odd", group.odd).end();
}

void write_process(JsonWriter& json, const ProcessLook& process) {
  json.object(kJsonLines).member("pid", process.pid).member("parent", process.parent);
  json.key("command").array(kJsonInline);
  for (const std::string& word : process.command) json.text(word);
  json.end();
  json.key("python");
  if (process.python.empty())
    json.null();
  else
    json.text(process.python);
  json.key("reason");
  if (process.reason.empty())
    json.null();
  else
    json.text(process.reason);
  json.member("rank", process.rank).member("local_rank", process.local_rank);
  json.key("threads").array(kJsonLines);
  for (const ThreadLook& thread : process.threads) write_thread(json, thread);
  json.end().end();
}

}  // namespace

std::string dump_text(const record::TreeLooks& dump, const Style& style, bool all) {
  std::string out = rank_groups_text(dump, style);
  for (const ProcessLook& process : dump.processes) {
    if (!out.empty()) out += "\n";
    out += process_text(process, style, all);
  }
  return out;
}

std::string dump_json(const record::TreeLooks& dump) {
  std::string out;
  JsonWriter json(out, kJsonLines);
  json.object().member("schema", "fathom.dump/1").member("fathom", version());
  json.key("milliseconds").rounded(dump.milliseconds);
  json.key("processes").array(kJsonLines);
  for (const ProcessLook& process : dump.processes) write_process(json, process);
  json.end().key("ranks").array(kJsonLines);
  for (const sample::RankGroup& group : sample::rank_groups(dump.processes))
    write_ranks(json, group);
  json.end().end();
  return out + "\n";
}

}  // namespace fathom::cli
