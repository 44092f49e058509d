#include "capture/redact.h"

#include <gtest/gtest.h>

#include "capture/conditions.h"

namespace fathom::capture {
namespace {

const std::string kHex40 = "0123456789abcdef0123456789abcdef01234567";

TEST(Redact, NamesThatHoldSecretsAreKnown) {
  for (const char* name : {"HF_TOKEN", "WANDB_API_KEY", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD",
                           "MYPASSWORD", "--token", "--api-key", "apiKey", "GITHUB_AUTH",
                           "PGPASSWD", "CREDENTIALS", "accessToken", "--auth-token"})
    EXPECT_TRUE(names_secret(name)) << name;
}

TEST(Redact, NamesThatOnlyLookLikeItAreLeft) {
  for (const char* name :
       {"OMP_NUM_THREADS", "TOKENIZERS_PARALLELISM", "--max-tokens", "MONKEY", "--tokenizer",
        "KEYBOARD", "--num-tokens", "PATH", "CUDA_VISIBLE_DEVICES", "--batch-size", "COMPASS"})
    EXPECT_FALSE(names_secret(name)) << name;
}

TEST(Redact, ValuesThatLookLikeSecretsAreReplacedWhereverTheyStand) {
  const struct {
    std::string text;
    std::string expected;
  } cases[] = {
      {"hf_abcdefghijklmnopqrstuvwxyz", "[redacted]"},
      {"x hf_abcdefghijklmnopqrstuvwxyz y", "x [redacted] y"},
      {"sk-proj-abcdefghijklmnop1234", "[redacted]"},
      {"AKIAIOSFODNN7EXAMPLE", "[redacted]"},
      {"ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted]"},
      {kHex40, "[redacted]"},
      {"https://user:pass@host/path", "https://[redacted]@host/path"},
      {"https://tok3n@host", "https://[redacted]@host"},
      {"https://host/p?token=abc&x=1", "https://host/p?token=[redacted]&x=1"},
      {"--token=abc", "--token=[redacted]"},
      {"WANDB_API_KEY=abc", "WANDB_API_KEY=[redacted]"},
      {"trainer.hub_token=abc", "trainer.hub_token=[redacted]"},
      {"--lr=0.1", "--lr=0.1"},
      {"train.py", "train.py"},
      {"a" + kHex40, "a" + kHex40},
      {"mail@example.org", "mail@example.org"},
      {"s3://bucket/file@v2", "s3://bucket/file@v2"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(redact(text), expected);
}

TEST(Redact, TheWordAfterAnOptionForASecretIsReplaced) {
  EXPECT_EQ(redact_command({"train", "--password", "hunter2", "--epochs", "3"}),
            (std::vector<std::string>{"train", "--password", "[redacted]", "--epochs", "3"}));
  EXPECT_EQ(redact_command({"train", "--use-auth", "--epochs", "3"}),
            (std::vector<std::string>{"train", "--use-auth", "--epochs", "3"}));
}

TEST(Redact, VariablesAreReplacedByNameOrByValue) {
  EXPECT_EQ(redact_variable("HF_TOKEN", "x"), "[redacted]");
  EXPECT_EQ(redact_variable("HF_TOKEN", ""), "");
  EXPECT_EQ(redact_variable("HF_ENDPOINT", "https://a:b@c"), "https://[redacted]@c");
  EXPECT_EQ(redact_variable("OMP_NUM_THREADS", "4"), "4");
}

TEST(Redact, OnlyVariablesThatMatterAreKept) {
  for (const char* name :
       {"CUDA_VISIBLE_DEVICES", "NCCL_DEBUG", "RANK", "PYTHONPATH", "SLURM_JOB_ID"})
    EXPECT_TRUE(environment_matters(name)) << name;
  for (const char* name : {"HOME", "USER", "SSH_AUTH_SOCK", "AWS_PROFILE"})
    EXPECT_FALSE(environment_matters(name)) << name;
}

}  // namespace
}  // namespace fathom::capture
