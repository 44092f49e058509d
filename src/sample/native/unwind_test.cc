// The calls of this very program, as the compiler's own library tells them, too.
#include "sample/native/unwind.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <execinfo.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "sample/memory.h"
#include "sample/native/process_code.h"
#include "sample/native/thread_reader.h"

namespace fathom::sample::native {
namespace {

/// Both ways of telling the calls, at one place.
struct Both {
  std::vector<Address> ours;
  std::vector<Address> theirs;
  Stop stop = Stop::broken;
  std::vector<std::string> names;
};

#if defined(__x86_64__)
__attribute__((noinline)) void read_calls(Both& both) {
  ucontext_t context;
  getcontext(&context);
  std::array<void*, 100> addresses{};
  const int count = backtrace(addresses.data(), static_cast<int>(addresses.size()));
  for (const void* const address : std::span(addresses).first(static_cast<std::size_t>(count)))
    both.theirs.push_back(reinterpret_cast<Address>(address));
  Registers registers;
  const auto value = [&context](int name) {
    return static_cast<std::uint64_t>(context.uc_mcontext.gregs[name]);
  };
  registers.set(3, value(REG_RBX));
  registers.set(6, value(REG_RBP));
  registers.set(7, value(REG_RSP));
  registers.set(12, value(REG_R12));
  registers.set(13, value(REG_R13));
  registers.set(14, value(REG_R14));
  registers.set(15, value(REG_R15));
  registers.set(16, value(REG_RIP));
  const ProcessMemory memory(getpid());
  ImageCache images;
  ProcessCode code(getpid(), memory, images);
  const Mapping* const stack = code.mapping_at(value(REG_RSP));
  ASSERT_NE(stack, nullptr);
  std::vector<std::byte> bytes(stack->end - value(REG_RSP));
  ASSERT_TRUE(memory.read(value(REG_RSP), bytes));
  const Calls calls = unwind(registers, {value(REG_RSP), bytes}, code);
  both.ours = calls.addresses;
  both.stop = calls.stop;
  for (const Address address : calls.addresses)
    both.names.push_back(code.look_at(address).function);
}

__attribute__((noinline)) int deep(int depth, Both& both) {
  if (depth == 0)
    read_calls(both);
  else
    deep(depth - 1, both);
  return depth + static_cast<int>(both.ours.size());
}

TEST(Unwind, TellsTheCallsThatTheCompilersLibraryTells) {
  Both both;
  deep(5, both);
  EXPECT_EQ(both.stop, Stop::whole) << to_string(both.stop);
  // The innermost is at another place by now; of the others we have the byte before. A sanitizer
  // has a function of its own further in.
  ASSERT_GE(both.theirs.size(), both.ours.size());
  ASSERT_LE(both.theirs.size(), both.ours.size() + 1);
  const std::size_t more = both.theirs.size() - both.ours.size();
  for (std::size_t i = 1; i < both.ours.size(); ++i)
    EXPECT_EQ(both.ours[i] + 1, both.theirs[i + more]);
  const auto deep = std::ranges::count_if(both.names, [](const std::string& name) {
    return name.find("deep(int") != std::string::npos;
  });
  EXPECT_EQ(deep, 6) << ::testing::PrintToString(both.names);
  EXPECT_TRUE(std::ranges::find(both.names, "main") != both.names.end());
}
#endif

/// Code of which nothing is known but where it lies.
class Nothing final : public CodeLookup {
 public:
  bool is_code(Address address) override { return address >= 0x1000 && address < 0x2000; }
  const Row* rules_at(Address address) override { return row ? &*row : first_row(address); }
  bool calls(Address back, Address) override { return back == call; }
  CallBefore call_before(Address back, std::optional<Address>) override {
    return back == call ? CallBefore::function : before;
  }
  const Row* first_row(Address address) const {
    return first != 0 && address == first - 1 ? &start_row : nullptr;
  }
  std::optional<FunctionStart> start_of(Address place) override {
    return place >= start.at && place - start.at < bytes.size() ? std::optional(start)
                                                                : std::nullopt;
  }
  bool read_code(Address at, std::span<std::byte> to) override {
    std::ranges::fill(to, std::byte{0});
    for (std::size_t i = 0; i < to.size() && at + i - start.at < bytes.size(); ++i)
      to[i] = static_cast<std::byte>(bytes[at + i - start.at]);
    return true;
  }
  std::optional<Row> row;
  Address call = 0;
  CallBefore before = CallBefore::unknown;
  Address first = 0;  ///< Where the thread's first function has made its call.
  Row start_row;
  FunctionStart start;
  std::vector<unsigned char> bytes;
};

Registers at(Address stack, Address counter) {
  Registers registers;
  registers.set(kX8664.stack, stack);
  registers.set(kX8664.counter, counter);
  return registers;
}

TEST(Unwind, StopsWithAReason) {
  const std::array<std::uint64_t, 4> words = {0x1100, 0x1200, 0, 0};
  const StackCopy stack{.begin = 0x7000, .bytes = std::as_bytes(std::span(words))};
  Nothing code;
  EXPECT_EQ(unwind(at(0x7000, 0x5000), stack, code, kX8664).stop, Stop::no_code);
  EXPECT_EQ(unwind(at(0x7000, 0x1000), stack, code, kX8664).stop, Stop::no_rules);
  code.row.emplace();
  code.row->return_register = 16;
  code.row->frame = {.kind = Rule::Kind::offset, .number = 6, .offset = 16};
  code.row->registers[16] = {.kind = Rule::Kind::saved, .offset = -8};
  EXPECT_EQ(unwind(at(0x7000, 0x1000), stack, code, kX8664).stop, Stop::unknown_register);
  code.row->frame.number = 7;
  code.row->frame.offset = 8;
  const Calls calls = unwind(at(0x7000, 0x1000), stack, code, kX8664);
  EXPECT_EQ(calls.stop, Stop::whole);
  EXPECT_EQ(calls.addresses, (std::vector<Address>{0x1000, 0x10ff, 0x11ff}));
  code.row->frame.offset = 0x1000;
  EXPECT_EQ(unwind(at(0x7000, 0x1000), stack, code, kX8664).stop, Stop::stack_end);
  code.row->frame.offset = 0;
  code.row->registers[16].offset = 0;
  EXPECT_EQ(unwind(at(0x7000, 0x1000), stack, code, kX8664).stop, Stop::broken);
}

TEST(Unwind, LooksForTheFramePointerOfAThreadThatWaits) {
  // Two words of its own, the caller's frame pointer, the return address; the caller's, that of its
  // caller, which is the first.
  const std::array<std::uint64_t, 7> words = {0x1300, 0x7028, 0x7028, 0x1100, 0, 0, 0};
  const StackCopy stack{.begin = 0x7000, .bytes = std::as_bytes(std::span(words))};
  Nothing code;
  code.row.emplace();
  code.row->return_register = 16;
  code.row->frame = {.kind = Rule::Kind::offset, .number = 6, .offset = 16};
  code.row->registers[6] = {.kind = Rule::Kind::saved, .offset = -16};
  code.row->registers[16] = {.kind = Rule::Kind::saved, .offset = -8};
  EXPECT_EQ(unwind(at(0x7000, 0x1000), stack, code, kX8664).stop, Stop::unknown_register);
  code.call = 0x1100;
  const Calls calls = unwind(at(0x7000, 0x1000), stack, code, kX8664);
  EXPECT_EQ(calls.stop, Stop::whole);
  EXPECT_EQ(calls.addresses, (std::vector<Address>{0x1000, 0x10ff}));
}

TEST(Unwind, FollowsFramePointersWhereThereAreNoRules) {
  const std::array<std::uint64_t, 6> words = {1, 0x7020, 0x1200, 2, 0, 0};
  Nothing code;
  Registers registers = at(0x7000, 0x1000);
  registers.set(kX8664.frame, 0x7008);
  const Calls calls =
      unwind(registers, {.begin = 0x7000, .bytes = std::as_bytes(std::span(words))}, code, kX8664);
  EXPECT_EQ(calls.addresses, (std::vector<Address>{0x1000, 0x11ff}));
}

TEST(Unwind, FollowsNoFramePointerToWhereNoCallEnds) {
  const std::array<std::uint64_t, 6> words = {1, 0x7020, 0x1200, 2, 0, 0};
  Nothing code;
  code.before = CallBefore::none;
  Registers registers = at(0x7000, 0x1000);
  registers.set(kX8664.frame, 0x7008);
  const Calls calls =
      unwind(registers, {.begin = 0x7000, .bytes = std::as_bytes(std::span(words))}, code, kX8664);
  EXPECT_EQ(calls.addresses, (std::vector<Address>{0x1000}));
  EXPECT_EQ(calls.stop, Stop::no_rules);
}

/// Code without rules at 0x1000: push %rbx; sub $0x10,%rsp; mov %rbp,8(%rsp); nothing known;
/// add $0x10,%rsp; pop %rbx; ret.
class WithoutRules : public testing::Test {
 protected:
  WithoutRules() {
    code.start = {.at = 0x1000, .sure = true};
    code.start_row.return_register = 16;
    code.start_row.frame = {.kind = Rule::Kind::offset, .number = 7, .offset = 8};
    code.start_row.registers[16].kind = Rule::Kind::undefined;
    code.bytes = {0x53, 0x48, 0x83, 0xec, 0x10, 0x48, 0x89, 0x6c, 0x24,
                  0x08, 0x0f, 0x0b, 0x48, 0x83, 0xc4, 0x10, 0x5b, 0xc3};
  }
  Calls calls_at(Address place, Address stack) {
    Registers registers = at(stack, place);
    registers.set(kX8664.frame, 0x7018);
    return unwind(
        registers,
        {.begin = stack, .bytes = std::as_bytes(std::span(words_)).subspan(stack - 0x7000)}, code,
        kX8664);
  }
  Nothing code;

 private:
  // Its own word, the caller's rbp and rbx, where it returns to; a word that is no such thing.
  std::array<std::uint64_t, 8> words_ = {0x1300, 0, 0, 0x1200, 0x1400, 0, 0, 0};
};

TEST_F(WithoutRules, TheFunctionsStartTellsWhereItsFrameIs) {
  code.call = 0x1200;
  const Calls calls = calls_at(0x100a, 0x7000);
  ASSERT_GE(calls.addresses.size(), 2U);
  EXPECT_EQ(calls.addresses[1], 0x11ffU);
  EXPECT_TRUE(calls.by_code);
}

TEST_F(WithoutRules, ItsEndTellsWhereThatIsOver) {
  code.call = 0x1200;
  // Before pop, and before ret.
  EXPECT_EQ(calls_at(0x1010, 0x7010).addresses[1], 0x11ffU);
  EXPECT_EQ(calls_at(0x1011, 0x7018).addresses[1], 0x11ffU);
}

TEST_F(WithoutRules, WhereNoCallEndsIsNoCaller) {
  code.before = CallBefore::none;
  EXPECT_EQ(calls_at(0x100a, 0x7000).addresses, (std::vector<Address>{0x100a}));
  code.before = CallBefore::another;
  EXPECT_EQ(calls_at(0x100a, 0x7000).addresses, (std::vector<Address>{0x100a}));
}

TEST_F(WithoutRules, NorWhereItMayHaveMovedItsStack) {
  // sub $8,%rsp behind what is not known: only a call of just this function counts.
  code.bytes = {0x53, 0x48, 0x83, 0xec, 0x10, 0x0f, 0x0b, 0x48, 0x83, 0xec, 0x08, 0x0f, 0x0b};
  code.first = 0x1200;
  EXPECT_EQ(calls_at(0x1005, 0x7000).addresses, (std::vector<Address>{0x1005, 0x11ff}));
  EXPECT_EQ(calls_at(0x100b, 0x7000).addresses, (std::vector<Address>{0x100b}));
}

TEST_F(WithoutRules, ACallThatMayBeAnothersCountsOnlyWhereTheFirstFunctionIsReached) {
  // Of the caller nothing is known either, and its frame pointer leads nowhere.
  code.before = CallBefore::unknown;
  const Calls calls = calls_at(0x100a, 0x7000);
  EXPECT_EQ(calls.addresses, (std::vector<Address>{0x100a}));
  EXPECT_EQ(calls.stop, Stop::no_rules);
}

#if defined(__x86_64__)
// A function without rules that calls what it is given, with what it is given.
asm(R"(
  .pushsection .text
  .type without_rules, @function
without_rules:
  push %rbp
  push %rbx
  sub $0x48, %rsp
  mov %r12, 0x10(%rsp)
  mov %rsi, %rax
  xor %ebx, %ebx
  xor %ebp, %ebp
  xor %r12d, %r12d
  call *%rax
  mov 0x10(%rsp), %r12
  add $0x48, %rsp
  pop %rbx
  pop %rbp
  ret
  .size without_rules, .-without_rules
  .popsection
)");
extern "C" void without_rules(Both* both, void (*work)(Both*));

TEST(Unwind, GoesOnThroughAFunctionOfThisProgramWithoutRules) {
  Both both;
  without_rules(&both, [](Both* to) { read_calls(*to); });
  EXPECT_EQ(both.stop, Stop::whole) << to_string(both.stop);
  EXPECT_TRUE(std::ranges::find(both.names, "without_rules") != both.names.end())
      << ::testing::PrintToString(both.names);
  EXPECT_TRUE(std::ranges::find(both.names, "main") != both.names.end());
}

// As without_rules, but its stack is aligned after other instructions, and by its frame pointer it
// finds only its own.
asm(R"(
  .pushsection .text
  .type aligned_without_rules, @function
aligned_without_rules:
  push %rbp
  push %rbx
  mov %rsi, %rax
  vzeroupper
  mov %rsp, %rbp
  sub $0x1040, %rsp
  and $-64, %rsp
  xor %ebx, %ebx
  call *%rax
  mov %rbp, %rsp
  pop %rbx
  pop %rbp
  ret
  .size aligned_without_rules, .-aligned_without_rules
  .popsection
)");
extern "C" void aligned_without_rules(Both* both, void (*work)(Both*));

TEST(Unwind, GoesOnThroughOneThatAlignsItsStackLater) {
  Both both;
  aligned_without_rules(&both, [](Both* to) { read_calls(*to); });
  EXPECT_EQ(both.stop, Stop::whole) << to_string(both.stop);
  EXPECT_TRUE(std::ranges::find(both.names, "main") != both.names.end())
      << ::testing::PrintToString(both.names);
}

TEST(Unwind, GoesOnThroughCodeThatWasMadeMeanwhile) {
  // What aligned_without_rules does, in the second of three pages that are one mapping.
  constexpr std::array<unsigned char, 29> kCode = {
      0x55, 0x53, 0x48, 0x89, 0xf0, 0x48, 0x89, 0xe5, 0x48, 0x81, 0xec, 0x40, 0x10, 0,   0,
      0x48, 0x83, 0xe4, 0xc0, 0x31, 0xdb, 0xff, 0xd0, 0x48, 0x89, 0xec, 0x5b, 0x5d, 0xc3};
  constexpr std::size_t kPage = 4096;
  void* const pages = ::mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE | PROT_EXEC,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) GTEST_SKIP() << "no memory may be written and executed here";
  std::memset(pages, 0xc3, kPage);
  auto* const second = static_cast<unsigned char*>(pages) + kPage;
  std::memcpy(second, kCode.data(), kCode.size());
  Both both;
  const auto made = reinterpret_cast<void (*)(Both*, void (*)(Both*))>(second);
  made(&both, [](Both* to) { read_calls(*to); });
  ::munmap(pages, 3 * kPage);
  EXPECT_EQ(both.stop, Stop::whole) << to_string(both.stop);
  EXPECT_TRUE(std::ranges::find(both.names, "main") != both.names.end())
      << ::testing::PrintToString(both.names);
}
#endif

TEST(ThreadReader, ReadsWhereTheKernelSaysThatAThreadWaits) {
  const auto at = parse_blocked(
      "0 0x0 0x7ffe77ae149f 0x1 0x7efe0e22db60 0x0 0x7ffe77ae13c7 0x7ffe77ae1460 0x7efe0e3162ec\n");
  ASSERT_TRUE(at);
  EXPECT_EQ(at->stack, 0x7ffe77ae1460U);
  EXPECT_EQ(at->counter, 0x7efe0e3162ecU);
  EXPECT_EQ(parse_blocked("-1 0x7ffe77ae1460 0x7efe0e3162ec\n")->stack, 0x7ffe77ae1460U);
  EXPECT_FALSE(parse_blocked("running\n"));
  EXPECT_FALSE(parse_blocked(""));
  EXPECT_FALSE(parse_blocked("0 0x0 zz\n"));
  EXPECT_FALSE(parse_blocked("-1 0x0 0x0\n"));
}

TEST(ProcessCode, NamesFunctionsOfGeneratedCode) {
  const GeneratedCode code("3ef414c0 398 one two\nbroken\n3ef41900 10\n3ef42000 20 three\n");
  ASSERT_NE(code.name_at(0x3ef414c0), nullptr);
  EXPECT_EQ(*code.name_at(0x3ef41857), "one two");
  EXPECT_EQ(code.name_at(0x3ef41858), nullptr);
  EXPECT_EQ(code.name_at(0x1), nullptr);
  EXPECT_EQ(*code.name_at(0x3ef4201f), "three");
}

/// A page of this process that a compiler might have written, and the file with its names.
class GeneratedPage : public testing::Test {
 protected:
  ~GeneratedPage() override {
    std::filesystem::remove(path);
    if (page_ != MAP_FAILED) ::munmap(page_, kSize);
  }
  void SetUp() override { ASSERT_NE(page_, MAP_FAILED); }

 private:
  static constexpr std::size_t kSize = 4096;
  void* page_ = ::mmap(nullptr, kSize, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

 protected:
  const Address address = reinterpret_cast<Address>(page_);
  const std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
};

TEST_F(GeneratedPage, WaitsForNoPipeInThePlaceOfItsNames) {
  const ProcessMemory memory(getpid());
  ImageCache images;
  const auto name = [&] { return ProcessCode(getpid(), memory, images).look_at(address).function; };
  // More than a read at once: all of it counts.
  std::ofstream file(path);
  for (int i = 0; i < 100'000; ++i) file << "1000 10 some function\n";
  file << std::hex << address << " 1000 made\n";
  file.close();
  EXPECT_EQ(name(), "made");
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(name(), "(generated code)");
}

TEST_F(GeneratedPage, HasTheNamesThatWereWrittenLast) {
  const auto write = [&](const char* name) {
    std::ofstream file(path, std::ios::app);
    file << std::hex << address << " 1000 " << name << "\n";
  };
  write("first");
  const ProcessMemory memory(getpid());
  ImageCache images;
  ProcessCode code(getpid(), memory, images);
  constexpr std::int64_t kSecond = 1'000'000'000;
  code.refresh(10 * kSecond);
  EXPECT_EQ(code.look_at(address).function, "first");
  // The compiler has put another function in its place.
  write("another");
  code.refresh(10 * kSecond);
  EXPECT_EQ(code.look_at(address).function, "first") << "files are not read at each look";
  code.refresh(20 * kSecond);
  EXPECT_EQ(code.look_at(address).function, "another");
}

TEST_F(GeneratedPage, CodeThatWasMappedSinceIsFoundWhereCallsEndInIt) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const ProcessMemory memory(getpid());
  ImageCache images;
  ProcessCode code(getpid(), memory, images);
  EXPECT_FALSE(code.find_more(10 * kSecond)) << "nothing has changed";
  void* const later =
      ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(later, MAP_FAILED);
  const auto place = reinterpret_cast<Address>(later);
  EXPECT_FALSE(code.find_more(10 * kSecond)) << "it was in vain a short while ago";
  EXPECT_FALSE(code.is_code(place));
  EXPECT_TRUE(code.find_more(11 * kSecond));
  EXPECT_TRUE(code.is_code(place));
  ::munmap(later, 4096);
}

TEST(ProcessCode, AnotherLibraryInThePlaceOfOneHasItsOwnName) {
  constexpr std::size_t kSize = 4096;
  const std::string folder = testing::TempDir() + "replaced-" + std::to_string(getpid());
  std::filesystem::create_directories(folder);
  const auto map = [&](const std::string& name, void* where) {
    std::ofstream(folder + "/" + name) << std::string(kSize, '\0');
    const Descriptor file(::open((folder + "/" + name).c_str(), O_RDONLY | O_CLOEXEC));
    return ::mmap(where, kSize, PROT_READ | PROT_EXEC,
                  MAP_PRIVATE | (where == nullptr ? 0 : MAP_FIXED), file.get(), 0);
  };
  void* const place = map("first.so", nullptr);
  if (place == MAP_FAILED) GTEST_SKIP() << "no code may lie in " << folder;
  const auto address = reinterpret_cast<Address>(place);
  const ProcessMemory memory(getpid());
  ImageCache images;
  ProcessCode code(getpid(), memory, images);
  constexpr std::int64_t kSecond = 1'000'000'000;
  code.refresh(10 * kSecond);
  EXPECT_EQ(code.look_at(address).function, "first.so");
  ASSERT_EQ(map("second.so", place), place);
  code.refresh(20 * kSecond);
  EXPECT_EQ(code.look_at(address).function, "second.so");
  EXPECT_TRUE(code.look_at(address).file.ends_with("second.so"));
  ::munmap(place, kSize);
  code.refresh(30 * kSecond);
  EXPECT_EQ(code.look_at(address).function, "(not known)");
  std::filesystem::remove_all(folder);
}

TEST(ProcessCode, WritesNamesAsTheSourceDoes) {
  EXPECT_EQ(readable_name("_ZN6Worker4spinEv"), "Worker::spin()");
  EXPECT_EQ(readable_name("_ZN6Worker7computeEi.isra.0"), "Worker::compute(int)");
  EXPECT_EQ(readable_name("pause"), "pause");
  EXPECT_EQ(readable_name("_Znonsense"), "_Znonsense");
  EXPECT_LT(readable_name(std::string(100'000, 'x')).size(), 1000U);
  // Each part is twice the part before: written down, it has more than a gigabyte.
  std::string doubling = "_Z1f1A1BIS_S_E";
  for (const char* const digit : {"1", "2", "3", "4", "5", "6", "7", "8", "9", "A", "B", "C", "D",
                                  "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P", "Q"})
    doubling += std::string("S0_IS") + digit + "_S" + digit + "_E";
  EXPECT_EQ(readable_name(doubling), doubling);
  EXPECT_EQ(readable_name("_Z1f1A1BIS_S_ES0_IS1_S1_E"), "f(A, B<A, A>, B<B<A, A>, B<A, A> >)");
}

}  // namespace
}  // namespace fathom::sample::native
