#include "server/page_file/redactor.h"

#include <gtest/gtest.h>

namespace fathom::server {
namespace {

TEST(Redactor, WordsOfARecordingBecomeNumbersTheSameForTheSame) {
  Redactor with;
  EXPECT_EQ(with.text("secretnet::run takes 3 steps; secretnet::run"), "n1 takes 3 steps; n1");
  EXPECT_EQ(with.text("/home/jane/net.py:12"), "/n2");
}

TEST(Redactor, NumbersAndQuantitiesStay) {
  EXPECT_EQ(Redactor().text("12.5 ms, 1.5ms, 40 %, 3 kernels"), "12.5 ms, 1.5ms, 40 %, 3 kernels");
}

TEST(Redactor, StretchesOfTimeStay) {
  EXPECT_EQ(Redactor().text("--window 1.5ms:20ms, 10ns:5000ns, 3ms:"),
            "--window 1.5ms:20ms, 10ns:5000ns, 3ms:");
  EXPECT_EQ(Redactor().text("3ms:secretnet secretnet:3ms"), "n1 n2");
}

TEST(Redactor, AddressesOfMachinesGo) {
  EXPECT_EQ(Redactor().text("10.0.0.7 and 10.0.0.7:29500"), "n1 and n2");
}

TEST(Redactor, PartsOfNamesThatWereCutGoToo) {
  EXPECT_EQ(Redactor().text("void secret…elnetwork<4>"), "void n1…n2<4>");
}

TEST(Redactor, NamesOfKnownWordsGoAsAWhole) {
  Redactor with;
  with.add({"<device memory step>"});
  EXPECT_EQ(with.text("device memory"), "device memory");
  EXPECT_EQ(with.text("in device memory step."), "in n1.");
  EXPECT_EQ(with.text("kernel time"), "kernel time");
  with.add({"kernel time"});  // of another recording
  EXPECT_EQ(with.text("in device memory step, kernel time"), "in n1, n2");
}

TEST(Redactor, JsonKeepsItsShapeAndItsOwnMembers) {
  EXPECT_EQ(Redactor().json(R"({"name": "secretnet \"a\"", "device": 3, "mykey": ["kernel"]})"),
            R"({"name": "n1 \"a\"", "device": 3, "n2": ["kernel"]})");
}

TEST(Redactor, EscapesHideNothing) {
  EXPECT_EQ(Redactor().json(R"(["\u0073ecretnet", "secretnet", "a\nsecretnet"])"),
            R"(["n1", "n1", "a\nn1"])");
}

}  // namespace
}  // namespace fathom::server
