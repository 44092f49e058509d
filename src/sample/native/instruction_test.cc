// Instructions as assemblers write them.
#include "sample/native/instruction.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace fathom::sample::native {
namespace {

using Kind = MachineInstruction::Kind;

std::vector<std::byte> bytes_of(std::initializer_list<unsigned> numbers) {
  std::vector<std::byte> bytes;
  for (const unsigned number : numbers) bytes.push_back(static_cast<std::byte>(number));
  return bytes;
}

/// The instruction, which takes all of the bytes.
MachineInstruction whole(std::initializer_list<unsigned> numbers) {
  const std::vector<std::byte> bytes = bytes_of(numbers);
  const auto found = read_instruction(bytes);
  EXPECT_TRUE(found);
  EXPECT_EQ(found ? found->size : 0, bytes.size());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(read_instruction(std::span(bytes).first(size))) << "cut after " << size;
  return found.value_or(MachineInstruction{});
}

bool writes(const MachineInstruction& instruction, MachineRegister number) {
  return (instruction.written >> number & 1U) != 0;
}

TEST(MachineInstruction, HaveTheirLength) {
  whole({0x0f, 0x1f, 0x84, 0x00, 0, 0, 0, 0});        // nopl 0x0(%rax,%rax,1)
  whole({0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8});        // movabs $…,%rax
  whole({0x66, 0xb8, 1, 2});                          // mov $0x201,%ax
  whole({0xf6, 0x43, 0x08, 0x01});                    // testb $1,8(%rbx)
  whole({0xf7, 0xd8});                                // neg %eax
  whole({0xc5, 0xfc, 0x10, 0x44, 0x24, 0x20});        // vmovups 0x20(%rsp),%ymm0
  whole({0xc4, 0xe2, 0x7d, 0xb8, 0x05, 1, 2, 3, 4});  // vfmadd231ps …(%rip),%ymm0,%ymm0
  whole({0xc4, 0xe3, 0x7d, 0x19, 0xc1, 0x01});        // vextractf128 $1,%ymm0,%xmm1
  whole({0x62, 0xf2, 0x7d, 0x48, 0x18, 0x42, 0x01});  // vbroadcastss 4(%rdx),%zmm0
  whole({0x62, 0xf1, 0x7c, 0x48, 0x11, 0x84, 0x24, 1, 2, 3, 4});  // vmovups %zmm0,…(%rsp)
  whole({0x4c, 0x8b, 0x04, 0x25, 1, 2, 3, 4});                    // mov …,%r8
}

/// Of a line as "  e0f3:\t48 89 e5 \tmov %rsp,%rbp".
std::vector<std::byte> bytes_of_line(std::string_view line) {
  std::vector<std::byte> bytes;
  const std::size_t begin = line.find(":\t");
  if (begin == std::string_view::npos) return bytes;
  const std::string_view rest = line.substr(begin + 2);
  const std::string digits(rest.substr(0, rest.find('\t')));
  for (std::size_t at = 0; at < digits.size() && digits[at] != ' '; at += 3)
    bytes.push_back(static_cast<std::byte>(std::stoul(digits.substr(at, 2), nullptr, 16)));
  return bytes;
}

TEST(MachineInstruction, OfALibraryHaveTheLengthThatObjdumpSays) {
  const std::filesystem::path library = "/lib/x86_64-linux-gnu/libm.so.6";
  if (!std::filesystem::exists(library) || !std::filesystem::exists("/usr/bin/objdump"))
    GTEST_SKIP() << "no " << library << " or no objdump";
  const std::string command = "objdump -d -w " + library.string();
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> text(popen(command.c_str(), "r"), pclose);
  ASSERT_TRUE(text);
  std::size_t read = 0;
  for (std::array<char, 512> line; std::fgets(line.data(), line.size(), text.get()) != nullptr;) {
    const std::string_view shown = line.data();
    std::vector<std::byte> bytes = bytes_of_line(shown);
    // objdump shows fwait as part of what follows it.
    if (bytes.size() > 1 && bytes.front() == std::byte{0x9b}) bytes.erase(bytes.begin());
    if (bytes.empty() || shown.find("(bad)") != std::string_view::npos) continue;
    const auto found = read_instruction(bytes);
    ASSERT_TRUE(found) << shown;
    ASSERT_EQ(found->size, bytes.size()) << shown;
    ++read;
  }
  EXPECT_GT(read, 50'000U);
}

TEST(MachineInstruction, SayWhatTheyDoToTheStack) {
  EXPECT_EQ(whole({0x41, 0x54}).number, 12U);  // push %r12
  EXPECT_EQ(whole({0x41, 0x54}).kind, Kind::push);
  EXPECT_EQ(whole({0x6a, 0x01}).kind, Kind::push_other);
  EXPECT_EQ(whole({0xff, 0x75, 0x10}).kind, Kind::push_other);
  const MachineInstruction sub = whole({0x48, 0x81, 0xec, 0x00, 0x10, 0, 0});
  EXPECT_EQ(sub.kind, Kind::add);
  EXPECT_EQ(sub.number, kStackRegister);
  EXPECT_EQ(sub.offset, -4096);
  const MachineInstruction align = whole({0x48, 0x83, 0xe4, 0xc0});
  EXPECT_EQ(align.kind, Kind::other);
  EXPECT_TRUE(writes(align, kStackRegister));
  const MachineInstruction lea = whole({0x48, 0x8d, 0x64, 0x24, 0x20});  // lea 0x20(%rsp),%rsp
  EXPECT_EQ(lea.kind, Kind::copy);
  EXPECT_EQ(lea.offset, 0x20);
  const MachineInstruction store = whole({0x48, 0x89, 0x5d, 0xf0});  // mov %rbx,-0x10(%rbp)
  EXPECT_EQ(store.kind, Kind::save);
  EXPECT_EQ(store.number, 3U);
  EXPECT_EQ(store.from, kFrameRegister);
  EXPECT_EQ(store.offset, -0x10);
  EXPECT_EQ(store.written, 0);
}

TEST(MachineInstruction, OfVectorsWriteNoRegisterOfNumbers) {
  EXPECT_EQ(whole({0xc5, 0xd4, 0x58, 0xed}).written, 0);  // vaddps %ymm5,%ymm5,%ymm5
  EXPECT_EQ(whole({0x0f, 0x58, 0xed}).written, 0);        // addps %xmm5,%xmm5
  // shlx %rbp,%rcx,%rbx; vmovd %xmm0,%ebx; kmovw %k1,%ebx; shl $2,%ebx
  EXPECT_TRUE(writes(whole({0xc4, 0xe2, 0xd1, 0xf7, 0xd9}), 3));
  EXPECT_TRUE(writes(whole({0xc5, 0xf9, 0x7e, 0xc3}), 3));
  EXPECT_TRUE(writes(whole({0xc5, 0xf8, 0x93, 0xd9}), 3));
  EXPECT_TRUE(writes(whole({0xc1, 0xe3, 0x02}), 3));
  EXPECT_FALSE(writes(whole({0xc1, 0xe3, 0x02}), kStackRegister));
  EXPECT_EQ(whole({0x39, 0xdd}).written, 0);  // cmp %ebx,%ebp
}

TEST(MachineInstruction, SayWhereTheyGo) {
  EXPECT_EQ(whole({0x75, 0xf9}).target, -7);
  EXPECT_EQ(whole({0x75, 0xf9}).kind, Kind::branch);
  EXPECT_EQ(whole({0x0f, 0x84, 0, 1, 0, 0}).target, 256);
  EXPECT_EQ(whole({0xeb, 0x05}).kind, Kind::jump);
  EXPECT_EQ(whole({0xe9, 0, 1, 0, 0}).target, 256);
  EXPECT_EQ(whole({0xff, 0xe0}).kind, Kind::jump_by_table);
  EXPECT_EQ(whole({0xff, 0xd0}).kind, Kind::call);
  EXPECT_EQ(whole({0xc3}).kind, Kind::end);
}

TEST(MachineInstruction, ThatThereAreNoneOfAreNone) {
  for (const unsigned operation : {0x06U, 0x27U, 0x60U, 0x62U, 0x9aU, 0xd6U, 0xeaU})
    EXPECT_FALSE(read_instruction(bytes_of({operation, 0, 0, 0, 0, 0, 0, 0}))) << operation;
  EXPECT_FALSE(read_instruction({}));
  EXPECT_FALSE(read_instruction(std::vector<std::byte>(32, std::byte{0x66})));
}

}  // namespace
}  // namespace fathom::sample::native
