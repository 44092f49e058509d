// Files of other profilers are named for what they are, with a way to an answer.
#include "formats/other_profilers.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "formats/looks_like.h"

namespace fathom {
namespace {

using namespace std::string_view_literals;

std::string looks(std::string_view text) { return looks_like(std::as_bytes(std::span(text))); }

/// Names the kind, and a command that leads on.
void expect_kind(std::string_view text, std::string_view kind) {
  const std::string said = looks(text);
  EXPECT_TRUE(said.starts_with(kind)) << said;
  EXPECT_NE(said.find("fathom run"), std::string::npos) << said;
}

TEST(OtherProfilers, NsightSystemsIsKnownByItsTablesAndItsDatabase) {
  const std::string database("SQLite format 3\0\x10\0\1tableDIAGNOSTIC_EVENT CREATE TABLE"sv);
  expect_kind(database, "an export of Nsight Systems");
  EXPECT_NE(looks(database).find("nsys stats"), std::string::npos);
  expect_kind("SQLite format 3\0\x10\0"sv, "an SQLite database, perhaps an export of Nsight");
  expect_kind("Time (%),Total Time (ns),Instances,Avg (ns),Name\n24.7,162\n",
              "a table of Nsight Systems");
  expect_kind("\n ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):\n", "a table of Nsight Systems");
}

TEST(OtherProfilers, NsightComputeIsKnownByItsReportAndItsText) {
  expect_kind("NVR\0\1\2\3"sv, "a report of Nsight Compute");
  expect_kind("==PROF== Connected to process 206651 (/home/me/kmer)\n", "output of Nsight Compute");
  expect_kind("\"ID\",\"Process ID\",\"Kernel Name\",\"Section Name\",\"Metric Value\"\n",
              "output of Nsight Compute");
}

TEST(OtherProfilers, ReportsAreKnownByTheirNames) {
  EXPECT_TRUE(named_of_other_profiler("a/b.nsys-rep").starts_with("a report of Nsight Systems"));
  EXPECT_TRUE(named_of_other_profiler("a/b.ncu-rep").starts_with("a report of Nsight Compute"));
  EXPECT_EQ(named_of_other_profiler("a/b.json"), "");
}

TEST(OtherProfilers, LogsOfNvidiaSmiAreKnownInAllTheirForms) {
  expect_kind("Sat Jan 24 21:52:14 2026\n+------+\n| NVIDIA-SMI 580.95.05   Driver Version",
              "a log of nvidia-smi");
  expect_kind("# gpu    pwr  gtemp\n# Idx      W      C\n    0     71     31\n",
              "a log of nvidia-smi");
  expect_kind("2026/04/25 16:06:06.780, 0 %, 0 %, 2 MiB, 20146 MiB, 27, 11.64 W\n",
              "a log of nvidia-smi");
  expect_kind("timestamp, utilization.gpu [%], power.draw [W]\n", "a log of nvidia-smi");
}

TEST(OtherProfilers, PicklesAreNamedAndNeverLoaded) {
  expect_kind("\x80\4\x95\2\0\1\0}\x94(\x8c\x08segments\x94]"sv, "a memory snapshot of PyTorch");
  expect_kind("\x80\4\x95\x10\0}\x94."sv, "a Python pickle, which is never loaded");
  expect_kind("PK\3\4\0\0archive/data.pkl"sv, "a file of torch.save");
}

TEST(OtherProfilers, ProfilesOfPythonAreKnown) {
  // One that can be read is read before it is asked about.
  expect_kind("\xfb\x29\x03\xfa\x15pstats_reader_test.py"sv, "a Python cProfile file");
  expect_kind("PERFILE2\0\1"sv, "Linux perf data");
  expect_kind("Process 7: python\nPython v3.12.3\n\nThread 7 (idle): \"MainThread\"\n",
              "stacks of py-spy dump");
}

TEST(OtherProfilers, MemoryTimelinesOfTorchAreKnownInAllTheirForms) {
  constexpr std::string_view kKind = "a memory timeline of torch.profiler";
  expect_kind(
      "[[1726077563878112, 1726077563878112, 1726077563891027, 1726077563891064, "
      "1726077563891140, 1726077563891501, 1726077563896583, 1726077563896815, "
      "1726077563896824, 1726077563896917, 1726077563897263, 1726077563897270, "
      "1726077563897271, 1726077563897272, 1726077563897273, 1726077563897274]",
      kKind);
  expect_kind(
      "[[-1, 1, 37888, 7], [-1, 1, 512, 7], [1726077563878112, 2, 512, 0], "
      "[1726077563878119, 3, 16384, 6], [1726077563878120, 3, 16384, 6]]",
      kKind);
  expect_kind("<html>\n<head><meta charset=\"utf-8\" /><title>GPU Memory Timeline HTML</title>",
              kKind);
  EXPECT_EQ(looks("[[1, 2], [3, 4]]"), "JSON, a list without trace events");
  EXPECT_EQ(looks("[[5, 1, 512, 7], [5, 1, 512, 7], [5, 1, 512, 7], [5, 1, 512, 7]]"),
            "JSON, a list without trace events");
}

TEST(OtherProfilers, PicturesLeadToWhatTheyWereMadeFrom) {
  const std::string_view head = "<?xml version=\"1.0\" standalone=\"no\"?>\n<svg version=\"1.1\">";
  expect_kind(std::string(head) + "<!--Flame graph stack visualization. See",
              "a flame graph (SVG)");
  expect_kind(std::string(head) + "<g id=\"frames\">", "a flame graph (SVG)");
  EXPECT_EQ(looks(head), "an XML document");
}

TEST(OtherProfilers, TrainersAndTheirLogsAreKnown) {
  expect_kind(
      "\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22\x09\0\0\xc0\x1d\x8e\x1a\xda\x41\x1a\x0d"
      "brain.Event:2\xec\xa5"sv,
      "a TensorBoard event file");
  expect_kind("\x0a\x9b\x01\x08\x02\x12\x09/host:CPU\x1a\x10\0\0\0"sv,
              "a profile of JAX or TensorFlow");
  expect_kind(":::MLLOG {\"namespace\": \"\", \"time_ms\": 1592516838111}\n", "a log of MLPerf");
  expect_kind(
      "-----------  ------------  ------------\n       Name    Self CPU %      Self CPU   "
      "CPU total %     CPU total\n",
      "a printed table of torch.profiler");
}

TEST(OtherProfilers, SamplersAndMemoryProfilersAreKnown) {
  expect_kind("CMDLINE python train.py\nMEM 12.343750 1710000000.0001\n",
              "a memory profile of mprof");
  expect_kind("memray\0\x0c\0\0\0"sv, "a recording of memray");
  expect_kind("MOJ\x03\x01mode\0wall\0"sv, "samples of Austin");
  expect_kind("gmon\1\0\0\0\0\0\0"sv, "a profile of gprof");
  expect_kind("# callgrind format\nversion: 1\nevents: Ir\n", "a profile of Callgrind");
  expect_kind(
      "\x01\x0fhotshot-version\x04"
      "2.7"sv,
      "a profile of Python 2");
  expect_kind("{\"meta\":{\"interval\":1},\"libs\":[],\"threads\":[{\"stackTable\":{}}]}",
              "a profile of the Firefox Profiler");
  expect_kind("{\"nodes\":[],\"samples\":[2],\"timeDeltas\":[0]}", "a CPU profile of V8");
  expect_kind("{\"start_time\":1,\"sample_count\":9,\"root_frame\":{}}",
              "a profile of pyinstrument");
}

TEST(OtherProfilers, SystemTracersAreKnown) {
  expect_kind("\xc1\x1f\xfc\xc1\x2a\x64\x22\xd0"sv, "an LTTng trace");
  expect_kind("/* CTF 1.8 */\n\ntypealias integer { size = 8; }", "metadata of an LTTng trace");
  std::string log(128, '\0');
  log[2] = '\x01';  // buffers of 64 KiB
  log[74] = '\x02';
  log[75] = '\xc0';
  expect_kind(log, "a log of Windows' event tracing");
  log[2] = '\x03';
  EXPECT_EQ(looks(log).find("Windows"), std::string::npos);
  expect_kind("vtune: Using result path `/tmp/r000hs'\n", "output of Intel VTune");
}

TEST(OtherProfilers, ToolsOfAmdAreKnown) {
  expect_kind(
      "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n\"k\",1,2,3,4\n",
      "a table of ROCm's profilers");
  expect_kind("\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Name\",\"Start_Timestamp\"\n",
              "a table of ROCm's profilers");
  expect_kind("Index,KernelName,gpu-id,queue-id,BeginNs,EndNs\n", "a table of ROCm's profilers");
  expect_kind("{\"rocprofiler-sdk-tool\": [{\"metadata\": {}}]}", "output of rocprofv3");
  expect_kind("SQLite format 3\0\x10\0CREATE TABLE \"rocpd_string\""sv, "a database of ROCm's");
  expect_kind("====== ROCm System Management Interface ======\n", "a log of rocm-smi");
  expect_kind("#Entity   GPUTL  MCUTL\nID\nGPU 0     97     41\n", "a log of DCGM");
}

TEST(OtherProfilers, TextAboutThemIsText) {
  EXPECT_EQ(looks("We compared Nsight Systems with Fathom.\n"), "plain text");
}

}  // namespace
}  // namespace fathom
