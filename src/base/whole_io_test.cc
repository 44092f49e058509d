#include "base/whole_io.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/descriptor.h"

namespace fathom {
namespace {

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{-1, -1};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    out = Descriptor(ends[0]);
    in = Descriptor(ends[1]);
  }
  Descriptor out, in;
};

TEST(WholeIo, WhatAPipeTakesAndGivesInPartsArrivesWhole) {
  Pipe pipe;
  std::string sent(1'000'000, 'a');  // a pipe holds 64 KiB
  sent.back() = 'z';
  std::string got(sent.size() + 10, '\0');
  std::optional<std::size_t> read;
  std::thread reader([&] { read = read_all(pipe.out.get(), got); });
  EXPECT_EQ(write_all(pipe.in.get(), sent), sent.size());
  pipe.in.reset();
  reader.join();
  ASSERT_EQ(read, sent.size());
  got.resize(*read);
  EXPECT_EQ(got, sent);
}

TEST(WholeIo, WhatIsRefusedIsToldByHowMuchWentBefore) {
  Pipe pipe;
  ASSERT_NE(::fcntl(pipe.in.get(), F_SETFL, O_NONBLOCK), -1);
  const std::string sent(1'000'000, 'a');
  const std::size_t written = write_all(pipe.in.get(), sent);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_GT(written, 0U);
  EXPECT_LT(written, sent.size());

  std::array<char, 1> one{};
  EXPECT_EQ(read_all(-1, one), std::nullopt);
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(write_all(-1, "x"), 0U);
  EXPECT_EQ(errno, EBADF);
}

}  // namespace
}  // namespace fathom
