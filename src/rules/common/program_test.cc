#include "rules/common/program.h"

#include <gtest/gtest.h>

#include "rules/common/machine_builder.h"
#include "rules/common/rule_fixture.h"

namespace fathom {
namespace {

TEST(Program, IsToldByItsNames) {
  TraceBuilder plain;
  plain.op("aten::mm", 0, 10);
  EXPECT_FALSE(frameworks_of(plain.build()).ddp);
  TraceBuilder builder;
  builder.op("aten::embedding", 0, 10);
  builder.annotation("DistributedDataParallel.forward", 10, 10);
  const Frameworks found = frameworks_of(builder.build());
  EXPECT_TRUE(found.ddp);
  EXPECT_TRUE(found.embeds);
  EXPECT_FALSE(found.fsdp);
}

TEST(Program, IsRecordedAgainByItsOwnCommand) {
  TraceBuilder builder;
  builder.fact("command", R"(["python","my train.py","--lr=1"])");
  const Trace run = builder.build();
  EXPECT_EQ(command_of(run), "python 'my train.py' --lr=1");
  EXPECT_EQ(recording_later(run, 10, 2, 5),
            "fathom run --steps wait=10,warmup=2,active=5 -- python 'my train.py' --lr=1");
  EXPECT_EQ(steps_marked(run).find("prof.step()"), std::string_view::npos);
  EXPECT_EQ(recording_with(run, "record_shapes=True, with_stack=True"),
            "fathom run --with shapes,stacks -- python 'my train.py' --lr=1");
  EXPECT_EQ(recording_with(TraceBuilder().build(), "with_stack=True"), "with_stack=True");
  EXPECT_EQ(recording_later(TraceBuilder().build(), 10, 2, 5),
            "schedule(wait=10, warmup=2, active=5)");
}

TEST(Program, IsToldHowToRecordWhatARuleLacks) {
  const auto reason = [](TraceBuilder builder) {
    builder.step(0, 0, 100);
    const JudgedTrace judged(builder);
    return not_recorded(judged.rules(), "shapes were not recorded", "record_shapes=True").reason;
  };
  EXPECT_EQ(reason(TraceBuilder()), "shapes were not recorded: use record_shapes=True");
  TraceBuilder run;
  run.fact("command", R"(["python","train.py"])");
  EXPECT_EQ(reason(std::move(run)), "shapes were not recorded: use fathom run --with shapes");
}

TEST(Program, HasNoMoreWorkersThanProcessors) {
  const auto workers = [](double count) {
    return workers_for(judged_beside([count](MachineBuilder& machine) {
                         machine.level("cpu.count", count);
                       }).rules(),
                       4);
  };
  EXPECT_EQ(workers(2), 2);
  EXPECT_EQ(workers(64), 4);
}

TEST(Program, MultipliesInFewBitsWhereMostProductsDo) {
  ProgramBuilder half(1000);
  half.op("aten::mm", "ampere_bf16_s16816gemm_bf16_128x128", 300);
  half.op("aten::mm", "ampere_sgemm_128x64_tn", 100);
  EXPECT_TRUE(multiplies_in_few_bits(JudgedTrace(half.trace()).rules()));
  ProgramBuilder single(1000);
  single.op("aten::mm", "ampere_sgemm_128x64_tn", 300);
  EXPECT_FALSE(multiplies_in_few_bits(JudgedTrace(single.trace()).rules()));
}

}  // namespace
}  // namespace fathom
