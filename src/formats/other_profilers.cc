// Recognises the files of Nsight, nvidia-smi, torch's allocator, cProfile, perf and others.
#include "formats/other_profilers.h"

#include <algorithm>
#include <array>

namespace fathom {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kAnew =
    "; for a diagnosis record the program anew with fathom run -- COMMAND";

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// What a file that holds all of these texts is.
struct Kind {
  std::array<std::string_view, 2> texts;  ///< The second may be empty.
  std::string_view what;
  std::string_view answer;
};

constexpr std::string_view kNsysAnswer = "nsys stats FILE prints its tables";
constexpr std::string_view kNcu = "output of Nsight Compute (ncu), which has single kernels";
constexpr std::string_view kNoGaps = "it has no times between kernels";
constexpr std::string_view kSmi = "a log of nvidia-smi";
constexpr std::string_view kSmiAnswer =
    "it shows that a GPU is idle or hot, not why, and fathom run records the same counters beside "
    "the program's operators";

constexpr Kind kTexts[] = {
    {{"Time (%)", "Total Time (ns)"}, "a table of Nsight Systems (nsys stats)", kNoGaps},
    {{"cuda_gpu_kern_sum", ""}, "a table of Nsight Systems (nsys stats)", kNoGaps},
    {{"Start (ns)", "Duration (ns)"},
     "a table of Nsight Systems (nsys stats)",
     "it has no calls of the host"},
    {{"==PROF==", ""}, kNcu, kNoGaps},
    {{"\"Kernel Name\"", "\"Metric Value\""}, kNcu, kNoGaps},
    {{"\"Kernel Name\"", "\"Section Name\""}, kNcu, kNoGaps},
    {{"NVPROF is profiling", ""}, "output of nvprof", kNoGaps},
    {{"| NVIDIA-SMI ", ""}, kSmi, kSmiAnswer},
    {{"NVSMI LOG", ""}, kSmi, kSmiAnswer},
    {{"nvidia_smi_log", ""}, kSmi, kSmiAnswer},
    {{"# gpu ", "# Idx "}, "a log of nvidia-smi (dmon or pmon)", kSmiAnswer},
    {{"utilization.gpu", ""}, kSmi, kSmiAnswer},
    {{"utilization_gpu", ""}, kSmi, kSmiAnswer},
    {{"memory.used [MiB]", ""}, kSmi, kSmiAnswer},
    {{"power.draw", ""}, kSmi, kSmiAnswer},
    {{"\"alloc_samples\"", "\"elapsed_time_sec\""},
     "a profile of Scalene",
     "scalene view FILE shows it"},
    {{" function calls ", "cumtime"},
     "a printed cProfile profile",
     "fathom run --with functions -- COMMAND records functions, and steps beside them"},
};

/// "0 %, 2 MiB, 11.64 W": what nvidia-smi --query-gpu prints without a header.
bool is_smi_row(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  return contains(line, " %,") && contains(line, " MiB");
}

/// py-spy dump.
bool is_stack_dump(std::string_view text) {
  return text.starts_with("Process ") && contains(text, "\nPython v") &&
         contains(text, "\nThread ");
}

std::string sentence(std::string_view what, std::string_view answer) {
  std::string text(what);
  text.append(", which this version does not read: ").append(answer);
  return answer.starts_with("fathom run") ? text : text.append(kAnew);
}

/// A pickle is a program for Python's own reader: it is recognised by its words and never run.
std::string pickle_of(std::string_view text) {
  constexpr std::string_view kWords[] = {"segments", "device_traces", "allocated_size"};
  const bool snapshot =
      std::ranges::any_of(kWords, [text](std::string_view word) { return contains(text, word); });
  if (snapshot) {
    return "a memory snapshot of PyTorch's allocator (a Python pickle), which this version does "
           "not read: docs.pytorch.org/memory_viz shows it; fathom run --with memory -- COMMAND "
           "records what memory each phase of a step takes";
  }
  return "a Python pickle, which is never loaded, since that could run code: it is no recording of "
         "a run; record the program with fathom run -- COMMAND";
}

/// Python's marshal of a dictionary whose keys are tuples: what cProfile writes. 0x80 flags a
/// shared object.
bool is_pstats(std::string_view text) {
  if (text.size() < 2) return false;
  const auto plain = [text](std::size_t i) { return static_cast<unsigned char>(text[i]) & 0x7fU; };
  return plain(0) == '{' && (plain(1) == ')' || plain(1) == '(');
}

std::string database_of(std::string_view text) {
  constexpr std::string_view kTables[] = {
      "DIAGNOSTIC_EVENT", "ANALYSIS_DETAILS",       "CUPTI_ACTIVITY_KIND", "TARGET_INFO",
      "NVTX_EVENTS",      "CREATE TABLE PROCESSES", "StringIds",           "EXPORT_META_DATA"};
  const bool nsight =
      std::ranges::any_of(kTables, [text](std::string_view name) { return contains(text, name); });
  return sentence(nsight ? "an export of Nsight Systems (an SQLite database)"
                         : "an SQLite database, perhaps an export of Nsight Systems",
                  kNsysAnswer);
}

/// Protocol buffers of NVIDIA's tools hold a name near their start.
std::string report_of_nvidia(std::string_view text) {
  if (text.starts_with("NVR\0"sv)) {
    return sentence("a report of Nsight Compute (.ncu-rep)", "ncu --import FILE prints it");
  }
  if (!contains(text, "\0"sv)) return {};  // people write about these tools, too
  if (contains(text, "QDSTRM") || contains(text, "QuadDAnalysis") ||
      contains(text, "Nsight Systems")) {
    return sentence("a report of Nsight Systems (.nsys-rep)", kNsysAnswer);
  }
  return {};
}

}  // namespace

std::string binary_of_other_profiler(std::string_view head) {
  if (head.starts_with("SQLite format 3\0"sv)) return database_of(head);
  if (head.size() > 2 && head[0] == '\x80' && head[1] >= '\x02' && head[1] <= '\x05')
    return pickle_of(head);
  if (head.starts_with("PERFILE2")) {
    return sentence("Linux perf data", "perf script -i FILE prints it as text, which it reads");
  }
  std::string report = report_of_nvidia(head);
  if (!report.empty()) return report;
  if (!is_pstats(head)) return {};
  return "a Python cProfile file (.pstats, .prof), empty or cut; record the program with fathom "
         "run "
         "--with functions -- COMMAND";
}

std::string named_of_other_profiler(std::string_view path) {
  if (path.ends_with(".ncu-rep")) return report_of_nvidia("NVR\0"sv);
  if (path.ends_with(".nsys-rep") || path.ends_with(".qdrep") || path.ends_with(".qdstrm"))
    return report_of_nvidia("QDSTRM\0"sv);
  return {};
}

std::string text_of_other_profiler(std::string_view head) {
  for (const Kind& kind : kTexts) {
    const bool all = std::ranges::all_of(
        kind.texts, [head](std::string_view text) { return contains(head, text); });
    if (all) return sentence(kind.what, kind.answer);
  }
  if (is_smi_row(head)) return sentence(kSmi, kSmiAnswer);
  if (is_stack_dump(head))
    return sentence("stacks of py-spy dump", "they show one moment and no times");
  return {};
}

}  // namespace fathom
