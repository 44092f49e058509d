// Recognises the files of other profilers by what is in them.
#include "formats/other_profilers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <vector>

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

constexpr std::string_view kMemory =
    "fathom run --with memory -- COMMAND records what memory each phase of a step takes";
constexpr std::string_view kNsysAnswer = "nsys stats FILE prints its tables";
constexpr std::string_view kNcu = "output of Nsight Compute (ncu), which has single kernels";
constexpr std::string_view kNoGaps = "it has no times between kernels";
constexpr std::string_view kSmi = "a log of nvidia-smi";
constexpr std::string_view kSmiAnswer =
    "it shows that a GPU is idle or hot, not why, and fathom run records the same counters beside "
    "the program's operators";

constexpr std::string_view kFolded =
    "it is a picture; folded stacks, speedscope files and perf script, from which it was made, are "
    "read (py-spy record --format raw or speedscope)";
constexpr std::string_view kRocprof = "a table of ROCm's profilers (rocprof)";

constexpr Kind kTexts[] = {
    {{"GPU Memory Timeline HTML", ""},
     "a memory timeline of torch.profiler (export_memory_timeline)",
     kMemory},
    {{"Flame graph stack visualization", ""}, "a flame graph (SVG)", kFolded},
    {{"<svg", "id=\"frames\""}, "a flame graph (SVG)", kFolded},
    {{":::MLLOG {", ""},
     "a log of MLPerf",
     "it has the times of runs and epochs, not of what they do"},
    {{"CMDLINE ", "\nMEM "},
     "a memory profile of mprof (memory_profiler)",
     "mprof plot FILE shows it"},
    {{"\"rocprofiler-sdk-tool\"", ""},
     "output of rocprofv3 (JSON)",
     "it has no operators of PyTorch"},
    {{"\"TotalDurationNs\"", "\"AverageNs\""}, kRocprof, kNoGaps},
    {{"\"Kernel_Name\"", "\"Start_Timestamp\""}, kRocprof, "it has no operators of PyTorch"},
    {{"KernelName", "BeginNs"}, kRocprof, "it has no operators of PyTorch"},
    {{"ROCm System Management Interface", ""},
     "a log of rocm-smi",
     "it shows that a GPU is idle or hot, not why"},
    {{"#Entity", "GPU "}, "a log of DCGM (dcgmi dmon)", kSmiAnswer},
    {{"\"Time(%)\"", "\"Calls\""}, "a table of nvprof", kNoGaps},
    {{"Time(%)", "Total Time"}, "a table of Nsight Systems (nsys stats)", kNoGaps},
    {{"\"stackTable\"", "\"libs\""},
     "a profile of the Firefox Profiler or samply",
     "samply load FILE or profiler.firefox.com shows it"},
    {{"\"timeDeltas\"", "\"nodes\""}, "a CPU profile of V8", "speedscope.app shows it"},
    {{"\"root_frame\"", "\"sample_count\""},
     "a profile of pyinstrument",
     "pyinstrument -r speedscope writes one that it reads"},
    {{"# callgrind format", ""}, "a profile of Callgrind", "callgrind_annotate FILE prints it"},
    {{"/* CTF ", ""}, "metadata of an LTTng trace (CTF)", "babeltrace2 DIRECTORY prints it"},
    {{"vtune: ", "result"}, "output of Intel VTune", "vtune -report prints tables of its result"},
    {{"Self CPU %", "CPU total"},
     "a printed table of torch.profiler",
     "it has sums, and not when anything happened; prof.export_chrome_trace(FILE) writes what is "
     "read"},
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

/// The numbers at the begin of a JSON list of lists; empty for any other text, or where it has
/// others than whole numbers.
std::vector<std::int64_t> nested_integers(std::string_view text, std::size_t most) {
  std::vector<std::int64_t> numbers;
  if (!text.starts_with("[[")) return numbers;
  text.remove_prefix(2);
  while (numbers.size() < most) {
    const std::size_t begin = text.find_first_not_of(" ,[]\n");
    if (begin == text.npos) break;
    text.remove_prefix(begin);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return {};
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.empty() && text.find_first_of(",] \n") != 0) return {};
    numbers.push_back(number);
  }
  return numbers;
}

/// torch.profiler's memory timeline: [times, sizes], or with .raw.json rows of time, action (one of
/// four), bytes and category (one of eight); a time of -1 is before the recording. Times are µs
/// since 1970.
bool is_memory_timeline(std::string_view text) {
  constexpr std::size_t kLooked = 16;
  constexpr std::int64_t kYear2001 = 1'000'000'000'000'000;
  const std::vector<std::int64_t> numbers = nested_integers(text, kLooked);
  if (numbers.size() < kLooked) return false;
  if (std::ranges::is_sorted(numbers) && numbers.front() >= kYear2001) return true;
  for (std::size_t row = 0; row < kLooked; row += 4) {
    const std::int64_t time = numbers[row];
    const bool known = time == -1 || time >= kYear2001;
    if (!known || numbers[row + 1] < 0 || numbers[row + 1] > 3 || numbers[row + 2] < 0 ||
        numbers[row + 3] < 0 || numbers[row + 3] > 8)
      return false;
  }
  return true;
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
  if (contains(text, "rocpd_")) {
    return sentence("a database of ROCm's profilers (rocpd)", "sqlite3 FILE prints its tables");
  }
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

/// What a binary file is that begins so.
struct Beginning {
  std::string_view bytes;
  std::string_view what;
  std::string_view answer;
};

// Sources: the tools' own code.
constexpr Beginning kBeginnings[] = {
    {"PERFILE2", "Linux perf data", "perf script -i FILE prints it as text, which it reads"},
    {"memray\0"sv, "a recording of memray", "memray flamegraph FILE shows it"},
    {"MOJ", "samples of Austin (MOJO)", "mojo2austin FILE makes text of it, which it reads"},
    {"gmon\1"sv, "a profile of gprof (gmon.out)", "gprof PROGRAM FILE prints it"},
    {"\xc1\x1f\xfc\xc1", "an LTTng trace (CTF)", "babeltrace2 DIRECTORY prints it"},
    {"\x57\x1d\xd1\x75", "metadata of an LTTng trace (CTF)", "babeltrace2 DIRECTORY prints it"},
};

/// The first record of a log of Windows' event tracing: a buffer's size, a power of two, and
/// behind the buffer's header of 72 bytes a system header with its flag.
bool is_windows_log(std::string_view text) {
  constexpr std::size_t kFlag = 75;
  if (text.size() <= kFlag) return false;
  const auto byte = [text](std::size_t at) {
    return std::uint32_t{static_cast<unsigned char>(text[at])};
  };
  const std::uint32_t size = byte(0) | byte(1) << 8U | byte(2) << 16U | byte(3) << 24U;
  const bool plausible = std::has_single_bit(size) && size >= 1U << 12U && size <= 1U << 24U;
  return plausible && byte(kFlag) == 0xc0 && (byte(kFlag - 1) == 1 || byte(kFlag - 1) == 2);
}

/// XSpace: a message whose first field is a plane with a number and a name.
bool is_xplane(std::string_view text) {
  constexpr std::string_view kPlanes[] = {
      "/host:CPU", "/device:GPU:", "/device:TPU:", "/host:metadata", "Task Environment"};
  return text.starts_with('\x0a') && std::ranges::any_of(kPlanes, [text](std::string_view name) {
           return contains(text, name);
         });
}

}  // namespace

std::string binary_of_other_profiler(std::string_view head) {
  if (head.starts_with("SQLite format 3\0"sv)) return database_of(head);
  for (const Beginning& each : kBeginnings)
    if (head.starts_with(each.bytes)) return sentence(each.what, each.answer);
  if (contains(head.substr(0, 64), "brain.Event:")) {
    return sentence("a TensorBoard event file",
                    "it has curves of the training; torch.profiler's tensorboard_trace_handler "
                    "writes traces beside it, *.pt.trace.json, which it reads");
  }
  if (contains(head.substr(0, 64), "hotshot-version")) {
    return sentence("a profile of Python 2 (hotshot)", "hotshot.stats of Python 2 loads it");
  }
  if (is_xplane(head)) {
    return sentence("a profile of JAX or TensorFlow (.xplane.pb)",
                    "xprof and TensorBoard show it; the trace.json.gz that the profiler writes "
                    "beside it is read");
  }
  if (is_windows_log(head)) {
    return sentence("a log of Windows' event tracing (.etl)",
                    "Windows Performance Analyzer shows it");
  }
  if (head.size() > 2 && head[0] == '\x80' && head[1] >= '\x02' && head[1] <= '\x05')
    return pickle_of(head);
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
  if (is_memory_timeline(head)) {
    return sentence("a memory timeline of torch.profiler (export_memory_timeline)", kMemory);
  }
  if (is_smi_row(head)) return sentence(kSmi, kSmiAnswer);
  if (is_stack_dump(head))
    return sentence("stacks of py-spy dump", "they show one moment and no times");
  return {};
}

}  // namespace fathom
