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

TEST(OtherProfilers, TextAboutThemIsText) {
  EXPECT_EQ(looks("We compared Nsight Systems with Fathom.\n"), "plain text");
}

}  // namespace
}  // namespace fathom
