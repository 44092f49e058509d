#include "monitor/proc_text.h"

#include <gtest/gtest.h>

namespace fathom::monitor {
namespace {

constexpr std::string_view kStat =
    "2708 (bash) S 2706 2708 2700 0 -1 4194560 4476 172891 1 131 1 3 174 47 20 0 5 0 3762628 "
    "5255168 952 18446744073709551615 93859346731008 93859347520413 140730420855680 0 0 0 65536 4 "
    "1132560123 1 0 0 17 1 0 0 9 0 0 93859347753712 93859347801956 93859355160576 140730420861791 "
    "140730420861806 140730420861806 140730420862954 0\n";

TEST(ProcessStat, IsReadFromALineOfTheKernel) {
  const auto stat = parse_process_stat(kStat);
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->pid, 2708);
  EXPECT_EQ(stat->name, "bash");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 2706);
  EXPECT_EQ(stat->session, 2700);
  EXPECT_EQ(stat->minor_faults, 4476);
  EXPECT_EQ(stat->major_faults, 1);
  EXPECT_EQ(stat->user_ticks, 1);
  EXPECT_EQ(stat->system_ticks, 3);
  EXPECT_EQ(stat->threads, 5);
  EXPECT_EQ(stat->start_ticks, 3762628);
  EXPECT_EQ(stat->resident_pages, 952);
  EXPECT_EQ(stat->io_wait_ticks, 9);
}

TEST(ProcessStat, TakesAnyNameThatAProcessGivesItself) {
  for (const std::string name : {"a b", "a) S 1 2 3", "(((", ")))", "", "x\ny", "\xff\xfe"}) {
    std::string text(kStat);
    text.replace(text.find("bash"), 4, name);
    const auto stat = parse_process_stat(text);
    ASSERT_TRUE(stat.has_value()) << name;
    EXPECT_EQ(stat->name, name);
    EXPECT_EQ(stat->parent, 2706);
  }
}

TEST(ProcessStat, IsNotThereInAnythingElse) {
  for (const std::string_view text :
       {"", "1", "1 (a", "1 a) S 1", "(a) S 1 2", "x (a) S 1", "1 (a) S 1 2 3", "1 )a( S 1 2"}) {
    EXPECT_FALSE(parse_process_stat(text).has_value()) << text;
  }
}

TEST(ProcessStat, NeverReadsPastWhatIsCutOff) {
  for (std::size_t size = 0; size < kStat.size(); ++size) parse_process_stat(kStat.substr(0, size));
}

TEST(ProcessIo, IsReadFromTheKernelsText) {
  const auto io = parse_process_io(
      "rchar: 6976\nwchar: 12\nsyscr: 10\nsyscw: 0\nread_bytes: 4096\nwrite_bytes: "
      "8192\ncancelled_write_bytes: 0\n");
  ASSERT_TRUE(io.has_value());
  EXPECT_EQ(io->read_calls, 6976);
  EXPECT_EQ(io->read, 4096);
  EXPECT_EQ(io->written, 8192);
  EXPECT_FALSE(parse_process_io("rchar: 1\n").has_value());
}

TEST(ProcessSwitches, TellsVoluntaryFromInvoluntary) {
  const auto switches = parse_process_switches(
      "Name:\tcat\nThreads:\t1\nvoluntary_ctxt_switches:\t17\nnonvoluntary_ctxt_switches:\t4\n");
  ASSERT_TRUE(switches.has_value());
  EXPECT_EQ(switches->voluntary, 17);
  EXPECT_EQ(switches->involuntary, 4);
}

TEST(MachineStat, SumsWhatIsBusyAndKeepsEachProcessor) {
  const auto stat = parse_machine_stat(
      "cpu  2706726 1617636 653918 2549609 6813 5 1721 5693 0 0\n"
      "cpu0 10 20 30 40 50 1 2 3 4 5\ncpu7 1 2 3 4\nintr 5 6\n");
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->all.busy, 2706726 + 1617636 + 653918 + 5 + 1721);
  EXPECT_EQ(stat->all.io_wait, 6813);
  EXPECT_EQ(stat->all.stolen, 5693);
  ASSERT_EQ(stat->each.size(), 2U);
  EXPECT_EQ(stat->each[0].second.busy, 63);
  EXPECT_EQ(stat->each[1].first, 7);
  EXPECT_EQ(stat->each[1].second.busy, 6);
}

TEST(MachineStat, IsNotThereInAnythingElse) {
  EXPECT_FALSE(parse_machine_stat("").has_value());
  EXPECT_FALSE(parse_machine_stat("cpu\n").has_value());
  EXPECT_FALSE(parse_machine_stat("cpu  a b c d\n").has_value());
  EXPECT_FALSE(parse_machine_stat("intr 1 2 3\ncpu  1 2 3 4\n").has_value());
}

TEST(MachineStat, DoesNotOverflow) {
  const auto stat = parse_machine_stat(
      "cpu  9223372036854775807 9223372036854775807 99999999999999999999 4 5 6 7 8\n");
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->all.busy, INT64_MAX);
}

TEST(MemoryInfo, IsInBytes) {
  const auto info = parse_memory_info(
      "MemTotal:       24684084 kB\nMemFree:        18911408 kB\nMemAvailable:   23534468 kB\n"
      "SwapTotal:           100 kB\nSwapFree:             40 kB\n");
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->total, 24684084LL * 1024);
  EXPECT_EQ(info->available, 23534468LL * 1024);
  EXPECT_EQ(info->swap_total - info->swap_free, 60 * 1024);
  EXPECT_FALSE(parse_memory_info("MemTotal: 5 kB\n").has_value());
  EXPECT_EQ(parse_memory_info("MemTotal: 9223372036854775807 kB\nMemAvailable: 1 kB\n")->total, 0);
}

TEST(Paging, IsReadFromVmstat) {
  const auto paging = parse_paging("nr_free_pages 1\npswpin 3\npswpout 4\npgmajfault 38567\n");
  ASSERT_TRUE(paging.has_value());
  EXPECT_EQ(paging->swapped_in, 3);
  EXPECT_EQ(paging->swapped_out, 4);
  EXPECT_EQ(paging->major_faults, 38567);
}

TEST(Load, IsReadWithItsNewestTask) {
  const auto load = parse_load("0.20 0.18 0.12 3/80 11206\n");
  ASSERT_TRUE(load.has_value());
  EXPECT_EQ(load->minute, 0.20);
  EXPECT_EQ(load->running, 3);
  EXPECT_EQ(load->tasks, 80);
  EXPECT_EQ(load->last_pid, 11206);
  for (const std::string_view text : {"", "0.2", "0.2 0.1 0.1", "0.2 0.1 0.1 3 80 1", "a b c d/e"})
    EXPECT_FALSE(parse_load(text).has_value()) << text;
}

TEST(PressureText, TellsSomeFromFull) {
  const auto pressure = parse_pressure(
      "some avg10=83.59 avg60=43.16 avg300=18.46 total=14228325080\n"
      "full avg10=0.00 avg60=0.00 avg300=0.00 total=17\n");
  ASSERT_TRUE(pressure.has_value());
  EXPECT_EQ(pressure->some, 14228325080);
  EXPECT_EQ(pressure->full, 17);
  EXPECT_EQ(parse_pressure("some avg10=1 total=5\n")->full, -1);
  EXPECT_FALSE(parse_pressure("full total=5\n").has_value());
  EXPECT_FALSE(parse_pressure("some total=\n").has_value());
}

TEST(Interfaces, AreReadFromTheirTable) {
  const auto interfaces = parse_interfaces(
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs\n"
      "    lo: 7604614863  237881    0    0    0     0          0         0 7604614863  237881    "
      "0    0    0     0       0          0\n"
      "eth0:20133832181  377254 0 0 0 0 0 0 17952879 261283 0 0 0 0 0 0\nbroken: 1 2\n: 1 2 3\n");
  ASSERT_EQ(interfaces.size(), 2U);
  EXPECT_EQ(interfaces[1].name, "eth0");
  EXPECT_EQ(interfaces[1].received, 20133832181);
  EXPECT_EQ(interfaces[1].sent, 17952879);
}

TEST(Disks, AreWholeOnesThatDidSomething) {
  const auto disks = parse_disks(
      "   7       0 loop0 5 0 9 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
      " 254       0 vda 1191729 77837 78846314 3932765 519504 496604 215257304 749261 0 237904 "
      "4743562 256491 82 166080008 54392 53067 7142\n"
      " 254       1 vda1 5 0 9 0 0 0 0 0 0 0 0\n 259 0 nvme0n1 5 0 10 0 1 0 20 0 0 30 0\n"
      " 259 1 nvme0n1p1 5 0 9 0 0 0 0 0 0 0 0\n 8 0 sdb 0 0 0 0 0 0 0 0 0 0 0\n 253 0 zram0 1 1 1 "
      "1 "
      "1 1 1 1 1 1 1\nbroken\n");
  ASSERT_EQ(disks.size(), 2U);
  EXPECT_EQ(disks[0].name, "vda");
  EXPECT_EQ(disks[0].read_sectors, 78846314);
  EXPECT_EQ(disks[0].written_sectors, 215257304);
  EXPECT_EQ(disks[0].busy_ms, 237904);
  EXPECT_EQ(disks[1].name, "nvme0n1");
}

TEST(List, CountsItsNumbers) {
  EXPECT_EQ(count_list("0-3,8\n"), 5);
  EXPECT_EQ(count_list("0"), 1);
  EXPECT_EQ(count_list(""), 0);
  EXPECT_EQ(count_list("3-1"), 0);
  EXPECT_EQ(count_list("0-"), 0);
}

}  // namespace
}  // namespace fathom::monitor
