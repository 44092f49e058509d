#include "capture/launcher/redact.h"

#include <gtest/gtest.h>

#include "capture/launcher/conditions.h"

namespace fathom::capture {
namespace {

const std::string kHex40 = "0123456789abcdef0123456789abcdef01234567";

TEST(Redact, NamesThatHoldSecretsAreKnown) {
  for (const char* name :
       {"HF_TOKEN", "WANDB_API_KEY", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "MYPASSWORD",
        "--token", "--api-key", "apiKey", "GITHUB_AUTH", "PGPASSWD", "CREDENTIALS", "accessToken",
        "--auth-token", "SLURM_JWT", "HFToken", "model.tokenizer.auth_token",
        "spark.hadoop.fs.s3a.secret.key", "X-Amz-Signature", "SECRET_KEY_BASE"})
    EXPECT_TRUE(names_secret(name)) << name;
}

TEST(Redact, NamesThatOnlyLookLikeItAreLeft) {
  for (const char* name :
       {"OMP_NUM_THREADS", "TOKENIZERS_PARALLELISM", "--max-tokens", "MONKEY", "--tokenizer",
        "KEYBOARD", "--num-tokens", "key_padding_mask", "pad_token", "--pass-through",
        "token_type_ids", "query_key_value", "--auth-mode", "SLURM_JOB_ID", "PATH",
        "CUDA_VISIBLE_DEVICES", "--batch-size", "COMPASS"})
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

struct Pair {
  std::string text;
  std::string expected;
};

void expect_redacted(const std::vector<Pair>& cases) {
  for (const auto& [text, expected] : cases) EXPECT_EQ(redact(text), expected);
}

TEST(Redact, SecretsInsideAScriptAreFound) {
  expect_redacted({
      {"WANDB_API_KEY=0123abc python train.py --lr 0.1",
       "WANDB_API_KEY=[redacted] python train.py --lr 0.1"},
      {"export HF_TOKEN=abcdef; python train.py --token abcdef --epochs 3",
       "export HF_TOKEN=[redacted]; python train.py --token [redacted] --epochs 3"},
      {"mysql --password 'my secret pw' --epochs 3", "mysql --password '[redacted]' --epochs 3"},
      {"os.environ['HF_TOKEN']='abc'", "os.environ['HF_TOKEN']='[redacted]'"},
      {R"(os.environ["WANDB_API_KEY"] = "abc"; wandb.login(key='abc'))",
       R"(os.environ["WANDB_API_KEY"] = "[redacted]"; wandb.login(key='[redacted]'))"},
      {R"({"api_key": "abc", "lr": 0.1, "max_tokens": 512})",
       R"({"api_key": "[redacted]", "lr": 0.1, "max_tokens": 512})"},
      {"AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE AWS_SECRET_ACCESS_KEY=wJal/K7MDENG/bPx aws s3 ls",
       "AWS_ACCESS_KEY_ID=[redacted] AWS_SECRET_ACCESS_KEY=[redacted] aws s3 ls"},
      {"curl -H \"Authorization: Bearer abc12345\" https://host/x",
       "curl -H \"Authorization: [redacted]\" https://host/x"},
      {"curl -H 'X-Api-Key: abc123' https://h", "curl -H 'X-Api-Key: [redacted]' https://h"},
      {"Cookie: a=b; session=xyz", "Cookie: [redacted]"},
  });
}

TEST(Redact, CredentialsInAddressesAreFound) {
  expect_redacted({
      {"git clone https://oauth2:glpat-abcdefghij1234@gitlab.com/x/y.git",
       "git clone https://[redacted]@gitlab.com/x/y.git"},
      {"postgres://u:p#s/s@db.host:5432/name", "postgres://[redacted]@db.host:5432/name"},
      {"redis://:pw@host:6379/0", "redis://[redacted]@host:6379/0"},
      {"mongodb+srv://user:p%40ss@cluster.mongodb.net/db?w=majority",
       "mongodb+srv://[redacted]@cluster.mongodb.net/db?w=majority"},
      {"user:pw@db.example.org/x", "[redacted]@db.example.org/x"},
      {"https://hooks.slack.com/services/T0/B0/XXXX",
       "https://hooks.slack.com/services/[redacted]"},
      {"https://b.s3.amazonaws.com/k?X-Amz-Credential=A%2F2&X-Amz-Signature=ab&x=1",
       "https://b.s3.amazonaws.com/k?X-Amz-Credential=[redacted]&X-Amz-Signature=[redacted]&x=1"},
      {"https://acct.blob.core.windows.net/c?sv=2020&sig=abc%3D&se=2025",
       "https://acct.blob.core.windows.net/c?sv=2020&sig=[redacted]&se=2025"},
      {"Protocol=https;AccountName=x;AccountKey=abc==;Suffix=y",
       "Protocol=https;AccountName=x;AccountKey=[redacted];Suffix=y"},
  });
}

TEST(Redact, SecretsOfFurtherServicesAreKnownByTheirShape) {
  for (const std::string text :
       {"sk-ant-api03-abcdefghij0123456789", "gsk_abcdefghijklmnopqrst", "xoxa-2-abcdefghij",
        "npm_abcdefghijklmnopqrstuvwx", "ya29.a0AfH6SMBabcdefghij", "hvs.CAESIabcdefghijklmn",
        "lsv2_pt_abcdefghijklmnop", "dapi0123456789abcdef0123456789abcdef",
        "SG.abcdefghijklmnopqrstuv.abc0", "AGE-SECRET-KEY-1ABCDEFGHIJKLMNOP",
        "wandb_v1_abcdefghijklmnop"})
    EXPECT_EQ(redact("x " + text + " y"), "x [redacted] y") << text;
  EXPECT_EQ(redact("local-" + kHex40), "[redacted]");
  EXPECT_EQ(redact("-----BEGIN RSA PRIVATE KEY-----MIIabc-----END RSA PRIVATE KEY-----"),
            "[redacted]-----END RSA PRIVATE KEY-----");
}

TEST(Redact, WhatPeopleTuneAndNameIsLeft) {
  for (const char* text :
       {"--tokenizer bert-base --max_tokens=512 --key_padding_mask=1 --num-keys 3",
        "key_padding=1 token_dim=64 eos_token=</s> sort_key=name kv_cache=True",
        "--pad-token-id=0 --tokens 100 --passes 3 model.pass_through=1 --author me",
        "--master_port=29500 --rdzv_endpoint=host:29400 --rdzv-id=abc", "sk-learn-pipeline-steps",
        "git@github.com:org/repo.git", "nvcr.io/nvidia/pytorch:24.01@sha256:abcdef",
        "def f(key: Tensor): pass", "--password-file /run/secrets/pw", "http://host:8080/v1?x=1",
        "--no-auth --use-auth-token", "python -m torch.distributed.run --nproc-per-node=2"})
    EXPECT_EQ(redact(text), text);
}

TEST(Redact, AValueOfItsOwnMayHoldAnything) {
  EXPECT_EQ(redact("--password=a&b;c,d"), "--password=[redacted]");
  EXPECT_EQ(redact("DB_PASSWORD=p)q"), "DB_PASSWORD=[redacted]");
}

TEST(Redact, PasswordsOfUsersAreReplaced) {
  EXPECT_EQ(redact_command({"curl", "-u", "me:pw", "https://h"}),
            (std::vector<std::string>{"curl", "-u", "me:[redacted]", "https://h"}));
  EXPECT_EQ(redact_command({"docker", "run", "-u", "1000:1000", "image"}),
            (std::vector<std::string>{"docker", "run", "-u", "1000:1000", "image"}));
  EXPECT_EQ(redact_command({"/usr/bin/sshpass", "-p", "pw", "ssh", "host"}),
            (std::vector<std::string>{"/usr/bin/sshpass", "-p", "[redacted]", "ssh", "host"}));
  EXPECT_EQ(redact_command({"sshpass", "-ppw", "ssh", "host"}),
            (std::vector<std::string>{"sshpass", "-p[redacted]", "ssh", "host"}));
}

TEST(Redact, PasswordsOfUsersAreReplacedInScriptsAndRightBehindTheOption) {
  expect_redacted({
      {"curl -u me:s3cret https://h", "curl -u me:[redacted] https://h"},
      {"curl -u 'me:s3 cret' https://h", "curl -u 'me:[redacted]' https://h"},
      {"curl --user me:s3cret https://h", "curl --user me:[redacted] https://h"},
      {"--user=me:s3cret", "--user=me:[redacted]"},
      {"-ume:s3cret", "-ume:[redacted]"},
      {"docker run -u 1000:1000 image", "docker run -u 1000:1000 image"},
      {"python -u train.py", "python -u train.py"},
  });
}

TEST(Redact, APasswordRightBehindItsOptionIsReplaced) {
  expect_redacted({
      {"-pSECRET", "-p[redacted]"},
      {"mysql -h db -phunter2 -e 'select 1'", "mysql -h db -p[redacted] -e 'select 1'"},
      {"find . -print", "find . -print"},
      {"cc -pthread -pedantic", "cc -pthread -pedantic"},
      {"docker run -p8080:80 -p9000", "docker run -p8080:80 -p9000"},
  });
  EXPECT_EQ(redact_command({"mysqldump", "-psecret", "base"}),
            (std::vector<std::string>{"mysqldump", "-p[redacted]", "base"}));
}

TEST(Redact, APasswordBehindMinusPOfAnyProgramIsReplaced) {
  for (const char* secret : {"hunter2", "SECRET", "S3cr3t!x", "Tr0ub4dor&3", "abc$1"})
    EXPECT_EQ(redact_command({"prog", "-p", secret, "--x"}),
              (std::vector<std::string>{"prog", "-p", "[redacted]", "--x"}))
        << secret;
  for (const char* other : {"8080", "8080:80", "0.5", "config.yaml", "/data/A1", "no:cache", "high",
                            "bf16", "float32", "16GB", "a,B", "Once upon a time", "$PORT", "-Xa1",
                            "me@Host", "name=Value1", "pw", "data-set_a"})
    EXPECT_EQ(redact_command({"prog", "-p", other}),
              (std::vector<std::string>{"prog", "-p", other}));
  expect_redacted({
      {"prog -p hunter2 --x", "prog -p [redacted] --x"},
      {"prog -p 'S3cr3t!x'; serve -p 8080", "prog -p '[redacted]'; serve -p 8080"},
      {"prog -p=hunter2", "prog -p=[redacted]"},
      {"prog -p=8080 -p", "prog -p=8080 -p"},
      {"prog -p ${PASS} -p $PORT", "prog -p ${PASS} -p $PORT"},
      {"srun -p A100x train", "srun -p A100x train"},
      {"srun -p A100x python train.py -p hunter2", "srun -p A100x python train.py -p [redacted]"},
  });
  EXPECT_EQ(redact_command({"prog", "-p=hunter2"}),
            (std::vector<std::string>{"prog", "-p=[redacted]"}));
  EXPECT_EQ(redact_command({"prog", "-p=8080"}), (std::vector<std::string>{"prog", "-p=8080"}));
  EXPECT_EQ(redact_command({"mkdir", "-p", "Model_A1"}),
            (std::vector<std::string>{"mkdir", "-p", "Model_A1"}));
}

TEST(Redact, WhatAUrlHandsOverIsReplaced) {
  expect_redacted({
      {"https://h/cb?code=abc123&state=x", "https://h/cb?code=[redacted]&state=x"},
      {"https://h/a?q=1&code=abc&lang=de", "https://h/a?q=1&code=[redacted]&lang=de"},
      {"https://h/#id_token=abc", "https://h/#id_token=[redacted]"},
      {"https://h/x?ticket=a&assertion=b&session=c",
       "https://h/x?ticket=[redacted]&assertion=[redacted]&session=[redacted]"},
      {"curl 'https://h/x?oauth_verifier=a' -o x",
       "curl 'https://h/x?oauth_verifier=[redacted]' -o x"},
      {"https://h/x?SAMLResponse=PHN", "https://h/x?SAMLResponse=[redacted]"},
      {"https://h/x?country_code=de&page=2", "https://h/x?country_code=de&page=2"},
      {"--code=3 code=4 --session training", "--code=3 code=4 --session training"},
  });
}

TEST(Redact, UsersBehindSeveralOptionsOfCurlAndOfOthersAreSeen) {
  expect_redacted({
      {"curl -su me:pw https://h", "curl -su me:[redacted] https://h"},
      {"curl -fsSLu 'me:p w' https://h", "curl -fsSLu 'me:[redacted]' https://h"},
      {"curl -U proxy:pw https://h", "curl -U proxy:[redacted] https://h"},
      {"smbclient -U me%pw //h/s", "smbclient -U me%[redacted] //h/s"},
      {"date -u +%H:%M", "date -u +%H:%M"},
      {"run -gpu cuda:0 -cpu a:b", "run -gpu cuda:0 -cpu a:b"},
      {"psql -U me base", "psql -U me base"},
  });
  EXPECT_EQ(redact_command({"scan", "-u", "https://me:pw@host"}),
            (std::vector<std::string>{"scan", "-u", "https://[redacted]@host"}));
  EXPECT_EQ(redact_command({"curl", "-su", "me:pw"}),
            (std::vector<std::string>{"curl", "-su", "me:[redacted]"}));
}

TEST(Redact, OptionsOfKnownProgramsTakePasswords) {
  expect_redacted({
      {"mysql -uroot -psecret base", "mysql -uroot -p[redacted] base"},
      {"mysql -u root -p'my secret' base", "mysql -u root -p'[redacted]' base"},
      {"mysql -u root -p base", "mysql -u root -p base"},
      {"/usr/bin/mysqldump -pab-cd base", "/usr/bin/mysqldump -p[redacted] base"},
      {"mongo -u me -p secret", "mongo -u me -p [redacted]"},
      {"docker login -u me -p secret host", "docker login -u me -p [redacted] host"},
      {"docker run -p 8080:80 image", "docker run -p 8080:80 image"},
      {"docker login --password-stdin host", "docker login --password-stdin host"},
      {"redis-cli -a secret ping", "redis-cli -a [redacted] ping"},
      {"unzip -P 'my secret' a.zip", "unzip -P '[redacted]' a.zip"},
      {"sshpass -p secret ssh -p 22 host", "sshpass -p [redacted] ssh -p 22 host"},
      {"mongo -p secret; serve -p 8080", "mongo -p [redacted]; serve -p 8080"},
      {"openssl rsa -passin pass:secret", "openssl rsa -passin pass:[redacted]"},
      {"aws configure set aws_secret_access_key a/b",
       "aws configure set aws_secret_access_key "
       "[redacted]"},
  });
  EXPECT_EQ(redact_command({"docker", "login", "-u", "me", "-p", "1234", "host"}),
            (std::vector<std::string>{"docker", "login", "-u", "me", "-p", "[redacted]", "host"}));
  EXPECT_EQ(redact_command({"mysql", "-u", "root", "-p", "base"}),
            (std::vector<std::string>{"mysql", "-u", "root", "-p", "base"}));
  EXPECT_EQ(redact_command({"python", "mysql_load.py", "-prefetch", "4"}),
            (std::vector<std::string>{"python", "mysql_load.py", "-prefetch", "4"}));
  EXPECT_EQ(redact_command({"ssh", "-p", "8080", "host"}),
            (std::vector<std::string>{"ssh", "-p", "8080", "host"}));
  EXPECT_EQ(redact_command({"helm", "install", "--set", "db.password=abc", "chart", "--wait"}),
            (std::vector<std::string>{"helm", "install", "--set", "db.password=[redacted]", "chart",
                                      "--wait"}));
  EXPECT_EQ(redact_command({"ngrok", "config", "add-authtoken", "abc"}),
            (std::vector<std::string>{"ngrok", "config", "add-authtoken", "[redacted]"}));
}

TEST(Redact, AWordOfAShellIsHiddenWhole) {
  expect_redacted({
      {R"(TOKEN=x\ y cmd)", "TOKEN=[redacted] cmd"},
      {"TOKEN=$'x y' cmd", "TOKEN=[redacted] cmd"},
      {R"(TOKEN="a\"b c" cmd)", "TOKEN=\"[redacted]\" cmd"},
      {"TOKEN=a\"b c\"d cmd", "TOKEN=[redacted] cmd"},
      {"TOKEN=\"x\" --lr \"3\"", "TOKEN=\"[redacted]\" --lr \"3\""},
      {"bash -c \"TOKEN=x cmd\" --lr \"3\"", "bash -c \"TOKEN=[redacted] cmd\" --lr \"3\""},
      {"it's a TOKEN=abc 'x'", "it's a TOKEN=[redacted] 'x'"},
      {R"(mysql -p'ab!' ; curl -H "Cookie: it's mine")",
       R"(mysql -p'[redacted]' ; curl -H "Cookie: [redacted]")"},
      {R"({\"token\": \"abc\", \"x\": 1})", R"({\"token\": \"[redacted]\", \"x\": 1})"},
      {R"({"password":"a\"b","x":1})", R"({"password":"[redacted]","x":1})"},
      {R"(run(["--token", "abc", "--lr", "3"]))", R"(run(["--token", "[redacted]", "--lr", "3"]))"},
      {R"(curl -H 'Authorization: Digest name="x", response="abc"' https://h)",
       "curl -H 'Authorization: [redacted]' https://h"},
      {"curl -H 'X-Api-Key: abc def' https://h", "curl -H 'X-Api-Key: [redacted]' https://h"},
  });
}

TEST(Redact, AWordOfItsOwnMayHoldBlanksAndQuotes) {
  EXPECT_EQ(
      redact_command({"env", "A_TOKEN=x y z", "--password=it's \"so\"", "run"}),
      (std::vector<std::string>{"env", "A_TOKEN=[redacted]", "--password=[redacted]", "run"}));
  EXPECT_EQ(redact_command({"bash", "-lc", "A_TOKEN=x train --lr 0.1"}),
            (std::vector<std::string>{"bash", "-lc", "A_TOKEN=[redacted] train --lr 0.1"}));
}

TEST(Redact, FilesThatAreNamedLikeATokenAreLeft) {
  for (const char* text : {"hf_trainer_benchmark.py", "python hf_transformers_with_accelerate.py",
                           "npm_config_user_agent_of_a_build", "--key-frames 4 --token-weight 0.5"})
    EXPECT_EQ(redact(text), text);
}

TEST(Redact, APrivateValueIsReplacedAndAPrivateRepositoryIsNot) {
  EXPECT_EQ(redact_command({"sign", "--private", "0xabc", "file"}),
            (std::vector<std::string>{"sign", "--private", "[redacted]", "file"}));
  EXPECT_EQ(redact("sign --private 0xabc file"), "sign --private [redacted] file");
  EXPECT_EQ(redact("hub_private_repo=True"), "hub_private_repo=True");
}

TEST(Redact, WhatFollowsAVeryLongTextIsLeftOut) {
  const std::string text(70'000, 'x');
  const std::string kept = redact(text + " HF_TOKEN=abc");
  EXPECT_LT(kept.size(), 66'000U);
  EXPECT_TRUE(kept.ends_with("[redacted]"));
}

TEST(Redact, TheWordAfterAnOptionForASecretIsReplaced) {
  EXPECT_EQ(redact_command({"train", "--password", "hunter2", "--epochs", "3"}),
            (std::vector<std::string>{"train", "--password", "[redacted]", "--epochs", "3"}));
  EXPECT_EQ(redact_command({"train", "--use-auth", "--epochs", "3"}),
            (std::vector<std::string>{"train", "--use-auth", "--epochs", "3"}));
}

TEST(Redact, APasswordWithADashIsToldFromOtherOptions) {
  expect_redacted({
      {"prog -pSecret-1 x", "prog -p[redacted] x"},
      {"prog -python-3.11 -p8080 -p=8080 -parallel", "prog -python-3.11 -p8080 -p=8080 -parallel"},
      {"srun -pA100-80G x", "srun -pA100-80G x"},
  });
  EXPECT_EQ(redact_command({"prog", "-pSecret-1"}),
            (std::vector<std::string>{"prog", "-p[redacted]"}));
  EXPECT_EQ(redact_command({"srun", "-pA100-80G"}),
            (std::vector<std::string>{"srun", "-pA100-80G"}));
  EXPECT_EQ(redact_command({"srun", "./train", "-password=Secret99"}),
            (std::vector<std::string>{"srun", "./train", "-password=[redacted]"}));
  EXPECT_EQ(redact_command({"srun", "-pghp_abcdefghijklmnopqrstuvwxyz0123456789"}),
            (std::vector<std::string>{"srun", "-p[redacted]"}));
}

TEST(Redact, WhatHttpieAndWandbAreGivenIsReplaced) {
  expect_redacted({
      {"http -a me:pw host", "http -a [redacted] host"},
      {"fetch https://x -a all", "fetch https://x -a all"},
      {"cd x && wandb login abcDEF123 && python t.py",
       "cd x && wandb login [redacted] && python t.py"},
      {"wandb login --host https://my.host abc", "wandb login --host https://my.host [redacted]"},
      {"wandb login \"abcDEF123\"", "wandb login \"[redacted]\""},
      {"wandb login --relogin 'abcDEF123' && x", "wandb login --relogin '[redacted]' && x"},
      {"wandb login $'abcDEF123'", "wandb login $'[redacted]'"},
      {"wandb sync runs/x", "wandb sync runs/x"},
  });
  EXPECT_EQ(redact_command({"https", "-ame:pw", "host"}),
            (std::vector<std::string>{"https", "-a[redacted]", "host"}));
  EXPECT_EQ(redact_command({"wandb", "login", "--relogin", "abcDEF123"}),
            (std::vector<std::string>{"wandb", "login", "--relogin", "[redacted]"}));
  EXPECT_EQ(
      redact_command({"wandb", "login", "--host", "https://my.host", "abc"}),
      (std::vector<std::string>{"wandb", "login", "--host", "https://my.host", "[redacted]"}));
}

using Words = std::vector<std::string>;

TEST(Redact, APasswordRightBehindMinusPIsToldByItsPartsAndByTheProgram) {
  const struct {
    Words words;
    Words expected;
  } cases[] = {
      {{"prog", "-phunter2-x"}, {"prog", "-p[redacted]"}},
      {{"prog", "-px-hunter2"}, {"prog", "-p[redacted]"}},
      {{"mysql", "-phunter2-x", "base"}, {"mysql", "-p[redacted]", "base"}},
      {{"mariadb-dump", "-psmall", "base"}, {"mariadb-dump", "-p[redacted]", "base"}},
      {{"mycli", "-psmall"}, {"mycli", "-p[redacted]"}},
      {{"mysqladmin", "-u", "root", "-psmall"}, {"mysqladmin", "-u", "root", "-p[redacted]"}},
      {{"cypher-shell", "-p", "small"}, {"cypher-shell", "-p", "[redacted]"}},
  };
  for (const auto& [words, expected] : cases) EXPECT_EQ(redact_command(words), expected);
  expect_redacted({{"prog -phunter2-x y", "prog -p[redacted] y"},
                   {"mysql -phunter2-x base", "mysql -p[redacted] base"}});
}

TEST(Redact, WhatElseBeginsLikeMinusPIsLeft) {
  for (const Words& words :
       {Words{"docker", "run", "-p8080:80", "image"},
        Words{"docker", "run", "-p127.0.0.1:8000-8010:80", "image"},
        Words{"docker", "run", "-p8080:80/tcp", "image"}, Words{"ffmpeg", "-profile:v", "high"},
        Words{"ffmpeg", "-i", "in", "-pix_fmt", "yuv420p", "out"}, Words{"python", "-pfoo", "x.py"},
        Words{"prog", "-python-3.11", "-pre-trained", "-p8-16"},
        Words{"srun", "-pgpu-a100x", "train"}, Words{"mysql", "-P3306", "--protocol=tcp"}})
    EXPECT_EQ(redact_command(words), words);
  expect_redacted({{"ffmpeg -pix_fmt yuv420p -preset fast", "ffmpeg -pix_fmt yuv420p -preset fast"},
                   {"python -pfoo x.py", "python -pfoo x.py"}});
}

TEST(Redact, TheKeyOfALoginIsReplacedAndItsHostIsNot) {
  expect_redacted({
      {"comet login abcDEF123", "comet login [redacted]"},
      {"swanlab login -k abcdef", "swanlab login -k [redacted]"},
      {"neptune login small && train x", "neptune login [redacted] && train x"},
      {"prog login abcdefghij0123456789 && y", "prog login [redacted] && y"},
      {"prog login abcDEF123 && y", "prog login [redacted] && y"},
      {"prog login 12ab34cd56ef", "prog login [redacted]"},
      {"prog login Server01", "prog login Server01"},
      {"prog login gpu-node-17", "prog login gpu-node-17"},
      {"docker login registry-1.docker.io", "docker login registry-1.docker.io"},
      {"docker login registry-of-cluster-01:5000", "docker login registry-of-cluster-01:5000"},
      {"docker login -u service-account-0000001 -p small host",
       "docker login -u service-account-0000001 -p [redacted] host"},
      {"prog login -u me:hunter2 abcdefghij0123456789", "prog login -u me:[redacted] [redacted]"},
      {"az login --tenant contoso", "az login --tenant contoso"},
      {"az login --tenant 72f988bf-86f1-41af-91ab-2d7cd011db47",
       "az login --tenant 72f988bf-86f1-41af-91ab-2d7cd011db47"},
      {"ssh login node-17", "ssh login node-17"},
      {"comet upload run-17.zip", "comet upload run-17.zip"},
      {"prog login me train abcdefghij0123456789", "prog login me train abcdefghij0123456789"},
  });
  EXPECT_EQ(redact_command({"comet", "login", "abcDEF123"}),
            (Words{"comet", "login", "[redacted]"}));
  EXPECT_EQ(redact_command({"python", "-m", "comet_ml", "login", "abcDEF123"}),
            (Words{"python", "-m", "comet_ml", "login", "[redacted]"}));
  for (const Words& words : {Words{"podman", "login", "quay.io", "-u", "me"},
                             Words{"podman", "login", "-u", "service-account-0000001", "quay.io"},
                             Words{"docker", "login", "registry-of-cluster-01:5000"},
                             Words{"aws", "sso", "login", "--profile", "research-cluster-2024-a"}})
    EXPECT_EQ(redact_command(words), words);
}

TEST(Redact, AHeaderRightBehindItsOptionIsReplaced) {
  EXPECT_EQ(redact_command({"curl", "-HAuthorization: Basic abc def", "https://x"}),
            (std::vector<std::string>{"curl", "-HAuthorization: [redacted]", "https://x"}));
  EXPECT_EQ(redact_command({"curl", "-HAccept: text/html"}),
            (std::vector<std::string>{"curl", "-HAccept: text/html"}));
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
