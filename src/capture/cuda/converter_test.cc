// Records as libcupti of each version writes them, and what of them is in the capture file. Behind
// a record lies rubbish, as in a buffer that was used before.
#include "capture/cuda/converter.h"

#include <array>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "wire/reader.h"
#include "wire/wire_test_support.h"

namespace fathom::cuda {
namespace {

constexpr std::int32_t kPid = 4711;

struct Activity {
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::int32_t device = 0;
  std::uint32_t context = 0;
  std::int64_t stream = 0;
  std::string name;
  std::string category;
  std::int64_t correlation = 0;
  std::int64_t graph = 0;
  std::int64_t node = 0;
  wire::Launch launch;
  bool launched = false;
  std::int64_t bytes = -1;
  std::string kind;
  std::string source;
  std::string destination;
  wire::Wait wait;
  std::map<std::string, std::string> arguments;
};

/// What was written.
struct Collector {
  std::vector<Activity> activities;
  std::vector<Activity> calls;  // stream is the thread, graph the external id
  std::vector<Activity> slices;
  std::vector<std::pair<wire::MemoryOperation, std::string>> memory_operations;
  std::map<std::string, std::string> facts;
  std::map<std::string, double> samples;
  std::map<std::int64_t, std::string> threads;
  std::vector<std::string> instants;
};

class Reading final : public wire::Visitor {
 public:
  explicit Reading(Collector& to) : to_(to) {}
  void thread(const wire::ThreadRecord& r, std::uint64_t) override { to_.threads[r.tid] = r.name; }
  void slice(const wire::SliceRecord& r, std::uint64_t) override {
    Activity made;
    made.start = r.start;
    made.duration = r.duration;
    made.stream = r.tid;
    made.name = r.name;
    made.category = r.category;
    last_ = &to_.slices.emplace_back(made);
  }
  void instant(const wire::MomentRecord& r, std::uint64_t) override {
    to_.instants.emplace_back(r.name);
    last_ = &rest_;
  }
  std::uint32_t counter(const wire::CounterRecord& r, std::uint64_t) override {
    counters_.emplace_back(r.name);
    return static_cast<std::uint32_t>(counters_.size() - 1);
  }
  void sample(const wire::SampleRecord& r, std::uint64_t) override {
    to_.samples[counters_[r.counter]] = r.value;
  }
  void fact(const wire::FactRecord& r, std::uint64_t) override {
    to_.facts[std::string(r.key)] = r.value;
  }
  void argument(const wire::ArgumentRecord& r, std::uint64_t) override {
    last_->arguments[std::string(r.key)] = r.value;
  }
  void device(const wire::DeviceActivity& r, std::uint64_t) override {
    Activity made;
    made.start = r.start;
    made.duration = r.duration;
    made.device = r.device;
    made.context = r.context;
    made.stream = r.stream;
    made.name = r.name;
    made.category = r.category;
    made.correlation = r.correlation;
    made.graph = r.graph;
    made.node = r.node;
    EXPECT_EQ(r.pid, kPid);
    last_ = &to_.activities.emplace_back(made);
  }
  void launch(const wire::Launch& r, std::uint64_t) override {
    last_->launch = r;
    last_->launched = true;
  }
  void copy(const wire::Copy& r, std::uint64_t) override {
    last_->bytes = r.bytes;
    last_->kind = r.kind;
    last_->source = r.source;
    last_->destination = r.destination;
  }
  void wait(const wire::Wait& r, std::uint64_t) override {
    last_->kind = r.kind;
    last_->wait = r;
    last_->wait.kind = {};
  }
  void call(const wire::Call& r, std::uint64_t) override {
    Activity made;
    made.start = r.start;
    made.duration = r.duration;
    made.stream = r.tid;
    made.name = r.name;
    made.category = r.category;
    made.correlation = r.correlation;
    made.graph = r.external;
    last_ = &to_.calls.emplace_back(made);
  }
  void memory(const wire::MemoryOperation& r, std::uint64_t) override {
    to_.memory_operations.emplace_back(r, r.kind);
  }

 private:
  Collector& to_;
  std::vector<std::string> counters_;
  Activity rest_;
  Activity* last_ = nullptr;
};

/// A record as the library puts it into a buffer that was used before.
class Buffer {
 public:
  template <typename Record>
  explicit Buffer(const Record& record) {
    bytes_.fill(std::byte{0xa5});
    static_assert(sizeof record < kSize);
    std::memcpy(bytes_.data(), &record, sizeof record);
  }
  [[nodiscard]] const CUpti_Activity& record() const {
    return *reinterpret_cast<const CUpti_Activity*>(bytes_.data());
  }

 private:
  static constexpr std::size_t kSize = 1024;
  alignas(8) std::array<std::byte, kSize> bytes_{};
};

const char* function_name(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && id == 211) return "cudaLaunchKernel_v7000";
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API && id == 307) return "cuLaunchKernel_ptsz";
  return nullptr;
}

/// Converts records, and gives what was written.
class Conversion {
 public:
  explicit Conversion(std::uint32_t version, LaunchNotes* notes = nullptr) {
    writer_ = std::move(*wire::Writer::open(folder_.file("x.fathom")));
    converter_ = std::make_unique<Converter>(*writer_, clock_, kPid, version, function_name, notes);
  }
  template <typename Record>
  Conversion& add(const Record& record) {
    converter_->convert(Buffer(record).record());
    return *this;
  }
  Collector read() {
    EXPECT_TRUE(writer_->close());
    Collector collector;
    Reading reading(collector);
    wire::Reader reader(reading);
    const std::string bytes = wire::bytes_of(folder_.file("x.fathom"));
    reader.feed(std::as_bytes(std::span(bytes)));
    reader.finish();
    EXPECT_EQ(reader.damage().malformed.count, 0U);
    EXPECT_TRUE(reader.damage().unknown_kinds.empty());
    return collector;
  }
  [[nodiscard]] const ConverterCounts& counts() const { return converter_->counts(); }

 private:
  wire::TemporaryFolder folder_;
  ClockFit clock_;
  std::unique_ptr<wire::Writer> writer_;
  std::unique_ptr<Converter> converter_;
};

template <typename Record>
Record kernel() {
  Record record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.start = 1000;
  record.end = 1700;
  record.deviceId = 1;
  record.contextId = 2;
  record.streamId = 7;
  record.gridX = 108;
  record.gridY = 2;
  record.gridZ = 1;
  record.blockX = 256;
  record.blockY = 1;
  record.blockZ = 1;
  record.registersPerThread = 40;
  record.staticSharedMemory = 1024;
  record.dynamicSharedMemory = 2048;
  record.correlationId = 99;
  record.name = "_Z3addPfS_i";
  record.graphId = 3;
  record.graphNodeId = 0x300000005;
  record.clusterX = 2;
  record.clusterY = 1;
  record.clusterZ = 1;
  record.localMemoryTotal_v2 = 4096;
  return record;
}

void check_kernel(const Activity& activity) {
  EXPECT_EQ(activity.name, "add(float*, float*, int)");
  EXPECT_EQ(activity.category, "kernel");
  EXPECT_EQ(activity.start, 1000);
  EXPECT_EQ(activity.duration, 700);
  EXPECT_EQ(activity.device, 1);
  EXPECT_EQ(activity.context, 2U);
  EXPECT_EQ(activity.stream, 7);
  EXPECT_EQ(activity.correlation, 99);
  EXPECT_EQ(activity.graph, 3);
  EXPECT_EQ(activity.node, 0x300000005);
  ASSERT_TRUE(activity.launched);
  EXPECT_EQ(activity.launch.grid, (wire::Dimensions{108, 2, 1}));
  EXPECT_EQ(activity.launch.block, (wire::Dimensions{256, 1, 1}));
  EXPECT_EQ(activity.launch.cluster, (wire::Dimensions{2, 1, 1}));
  EXPECT_EQ(activity.launch.registers, 40);
  EXPECT_EQ(activity.launch.static_shared, 1024);
  EXPECT_EQ(activity.launch.dynamic_shared, 2048);
  EXPECT_EQ(activity.launch.local_bytes, 4096);
}

TEST(Layouts, AreThoseOfTheLibrariesVersion) {
  constexpr auto kKernel = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  EXPECT_EQ(record_bytes(kKernel, 18), sizeof(CUpti_ActivityKernel9));
  EXPECT_EQ(record_bytes(kKernel, 28), sizeof(CUpti_ActivityKernel9));
  EXPECT_EQ(record_bytes(CUPTI_ACTIVITY_KIND_MEMCPY, 24), sizeof(CUpti_ActivityMemcpy5));
  EXPECT_EQ(record_bytes(CUPTI_ACTIVITY_KIND_DEVICE, 19), sizeof(CUpti_ActivityDevice4));
  EXPECT_EQ(record_bytes(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 24),
            sizeof(CUpti_ActivitySynchronization));
  EXPECT_EQ(record_bytes(CUPTI_ACTIVITY_KIND_OVERHEAD, 21), sizeof(CUpti_ActivityOverhead2));
  EXPECT_EQ(record_bytes(CUPTI_ACTIVITY_KIND_CONTEXT, 22), sizeof(CUpti_ActivityContext2));
  EXPECT_EQ(record_bytes(CUPTI_ACTIVITY_KIND_MEMORY2, 23), sizeof(CUpti_ActivityMemory3));
  EXPECT_EQ(record_bytes(CUPTI_ACTIVITY_KIND_PC_SAMPLING, 28), 0U);
#if CUPTI_API_VERSION >= 130500
  EXPECT_EQ(record_bytes(kKernel, 130001), sizeof(CUpti_ActivityKernel10));
  EXPECT_EQ(record_bytes(kKernel, 130202), sizeof(CUpti_ActivityKernel11));
  EXPECT_EQ(record_bytes(kKernel, 130301), sizeof(CUpti_ActivityKernel12));
  EXPECT_EQ(record_bytes(kKernel, 130400), sizeof(CUpti_ActivityKernel13));
  EXPECT_EQ(record_bytes(CUPTI_ACTIVITY_KIND_MEMCPY, 130301), sizeof(CUpti_ActivityMemcpy6));
  EXPECT_EQ(record_bytes(CUPTI_ACTIVITY_KIND_MEMCPY, 130400), sizeof(CUpti_ActivityMemcpy7));
  EXPECT_EQ(record_bytes(CUPTI_ACTIVITY_KIND_MEMSET, 130400), sizeof(CUpti_ActivityMemset5));
  EXPECT_EQ(record_bytes(CUPTI_ACTIVITY_KIND_DEVICE, 130200), sizeof(CUpti_ActivityDevice6));
  EXPECT_EQ(record_bytes(CUPTI_ACTIVITY_KIND_CONTEXT, 130100), sizeof(CUpti_ActivityContext4));
  EXPECT_EQ(record_bytes(CUPTI_ACTIVITY_KIND_CUDA_EVENT, 130500), sizeof(CUpti_ActivityCudaEvent3));
#endif
}

TEST(Layouts, BeginWithTheFieldsOfTheirPredecessors) {
  using Newest = KernelRecord;
  EXPECT_EQ(offsetof(CUpti_ActivityKernel9, localMemoryTotal_v2),
            offsetof(Newest, localMemoryTotal_v2));
  EXPECT_EQ(offsetof(CUpti_ActivityKernel9, maxActiveClusters),
            offsetof(Newest, maxActiveClusters));
  EXPECT_EQ(offsetof(CUpti_ActivityMemcpy5, channelType), offsetof(CopyRecord, channelType));
  EXPECT_EQ(offsetof(CUpti_ActivityMemset4, channelType), offsetof(FillRecord, channelType));
  EXPECT_EQ(offsetof(CUpti_ActivityMemory3, memoryPoolConfig),
            offsetof(MemoryRecord, memoryPoolConfig));
  EXPECT_EQ(offsetof(CUpti_ActivityDevice4, migUuid), offsetof(DeviceRecord, migUuid));
  EXPECT_EQ(offsetof(CUpti_ActivityContext, nullStreamId), offsetof(ContextRecord, nullStreamId));
  EXPECT_EQ(offsetof(CUpti_ActivityCudaEvent, eventId), offsetof(EventRecord, eventId));
  EXPECT_EQ(offsetof(CUpti_ActivitySynchronization, cudaEventId),
            offsetof(WaitRecord, cudaEventId));
  EXPECT_EQ(offsetof(CUpti_ActivityOverhead, end), offsetof(OverheadRecord, end));
  EXPECT_EQ(offsetof(CUpti_ActivityGraphTrace, streamId), offsetof(GraphRecord, streamId));
  EXPECT_EQ(offsetof(CUpti_ActivityJit, cachePath), offsetof(JitRecord, cachePath));
  EXPECT_EQ(offsetof(CUpti_ActivityMemoryPool2, utilizedSize), offsetof(PoolRecord, utilizedSize));
}

TEST(Converter, KernelsOfCuda12HaveNothingThatTheyDoNotTell) {
  for (const std::uint32_t version : {18U, 22U, 26U, 28U}) {
    const Collector said = Conversion(version).add(kernel<CUpti_ActivityKernel9>()).read();
    ASSERT_EQ(said.activities.size(), 1U) << version;
    check_kernel(said.activities[0]);
    EXPECT_TRUE(said.activities[0].arguments.empty());
  }
}

#if CUPTI_API_VERSION >= 130500
TEST(Converter, KernelsOfCuda13TellTheirPriorityAndWhoLaunchedThem) {
  auto ten = kernel<CUpti_ActivityKernel10>();
  ten.isDeviceLaunched = 1;
  auto eleven = kernel<CUpti_ActivityKernel11>();
  eleven.priority = -5;
  auto twelve = kernel<CUpti_ActivityKernel12>();
  twelve.priority = 2;
  const auto thirteen = kernel<CUpti_ActivityKernel13>();
  using Arguments = std::map<std::string, std::string>;
  const Collector by_ten = Conversion(130001).add(ten).read();
  check_kernel(by_ten.activities.at(0));
  EXPECT_EQ(by_ten.activities[0].arguments, (Arguments{{"launched_by", "device"}}));
  const Collector by_eleven = Conversion(130202).add(eleven).read();
  check_kernel(by_eleven.activities.at(0));
  EXPECT_EQ(by_eleven.activities[0].arguments, (Arguments{{"priority", "-5"}}));
  const Collector by_twelve = Conversion(130301).add(twelve).read();
  EXPECT_EQ(by_twelve.activities.at(0).arguments, (Arguments{{"priority", "2"}}));
  const Collector by_thirteen = Conversion(130500).add(thirteen).read();
  check_kernel(by_thirteen.activities.at(0));
  EXPECT_TRUE(by_thirteen.activities[0].arguments.empty());
}
#endif

TEST(Converter, ANewerLibrarysRecordIsReadAsFarAsItIsKnown) {
  const Collector said = Conversion(999999).add(kernel<KernelRecord>()).read();
  ASSERT_EQ(said.activities.size(), 1U);
  check_kernel(said.activities[0]);
}

TEST(Converter, KernelsWithoutTimesAreCounted) {
  auto record = kernel<CUpti_ActivityKernel9>();
  record.start = 0;
  record.end = 0;
  Conversion conversion(28);
  EXPECT_TRUE(conversion.add(record).read().activities.empty());
  EXPECT_EQ(conversion.counts().without_time, 1U);
}

TEST(Converter, ProgrammaticAndCooperativeLaunchesAreSaid) {
  LaunchNotes notes;
  notes.programmatic(99);
  auto cooperative = kernel<CUpti_ActivityKernel9>();
  cooperative.correlationId = 100;
  cooperative.launchType = CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE;
  Conversion conversion(28, &notes);
  const Collector said = conversion.add(kernel<CUpti_ActivityKernel9>()).add(cooperative).read();
  EXPECT_EQ(said.activities.at(0).arguments.at("launch"), "programmatic dependent");
  EXPECT_EQ(said.activities.at(1).arguments.at("launch"), "cooperative");
  EXPECT_EQ(conversion.counts().programmatic, 1U);
}

TEST(Converter, LaunchesThatAreForgottenBeforeTheirKernelsComeAreCounted) {
  LaunchNotes notes;
  for (std::uint32_t launch = 1; launch <= kMostRemembered + 1; ++launch)
    notes.programmatic(launch);
  EXPECT_FALSE(notes.take(1));
  EXPECT_TRUE(notes.take(kMostRemembered));
  EXPECT_FALSE(notes.take(kMostRemembered));
  Conversion conversion(28, &notes);
  EXPECT_EQ(conversion.counts().launches_forgotten, kMostRemembered / 2);
}

template <typename Record>
Record copy() {
  Record record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  record.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
  record.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  record.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
  record.bytes = 1 << 20;
  record.start = 500;
  record.end = 900;
  record.deviceId = 0;
  record.contextId = 1;
  record.streamId = 13;
  record.correlationId = 5;
  return record;
}

void check_copy(const Collector& said) {
  ASSERT_EQ(said.activities.size(), 1U);
  const Activity& copied = said.activities[0];
  EXPECT_EQ(copied.name, "Memcpy HtoD (Pageable -> Device)");
  EXPECT_EQ(copied.category, "gpu_memcpy");
  EXPECT_EQ(copied.bytes, 1 << 20);
  EXPECT_EQ(copied.kind, "HtoD");
  EXPECT_EQ(copied.source, "Pageable");
  EXPECT_EQ(copied.destination, "Device");
  EXPECT_EQ(copied.duration, 400);
  EXPECT_EQ(copied.graph, -1);
  EXPECT_TRUE(copied.arguments.empty());
}

TEST(Converter, CopiesOfEachVersion) {
  auto five = copy<CUpti_ActivityMemcpy5>();
  five.pad2 = 0xffffffff;  // whatever lies there
  check_copy(Conversion(24).add(five).read());
#if CUPTI_API_VERSION >= 26
  check_copy(Conversion(28).add(copy<CUpti_ActivityMemcpy6>()).read());
#endif
#if CUPTI_API_VERSION >= 130500
  check_copy(Conversion(130301).add(copy<CUpti_ActivityMemcpy6>()).read());
  check_copy(Conversion(130500).add(copy<CUpti_ActivityMemcpy7>()).read());
#endif
}

TEST(Converter, ABlockingCopyIsSaidAndOneBetweenDevicesToo) {
  auto blocking = copy<CUpti_ActivityMemcpy5>();
  blocking.flags = 0;
  CUpti_ActivityMemcpyPtoP4 peer{};
  peer.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  peer.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  peer.srcKind = peer.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  peer.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
  peer.start = 1;
  peer.end = 2;
  peer.srcDeviceId = 3;
  peer.dstDeviceId = 4;
  const Collector said = Conversion(24).add(blocking).add(peer).read();
  EXPECT_EQ(said.activities.at(0).arguments.at("blocking"), "yes");
  EXPECT_EQ(said.activities.at(1).name, "Memcpy PtoP (Device -> Device)");
  EXPECT_EQ(said.activities.at(1).arguments.at("from_device"), "3");
  EXPECT_EQ(said.activities.at(1).arguments.at("to_device"), "4");
}

template <typename Record>
Collector filled(std::uint32_t version) {
  Record record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  record.bytes = 64;
  record.start = 10;
  record.end = 12;
  record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  record.streamId = 7;
  return Conversion(version).add(record).read();
}

TEST(Converter, FillsOfEachVersion) {
  std::vector<Collector> all;
  all.push_back(filled<CUpti_ActivityMemset4>(18));
#if CUPTI_API_VERSION >= 130500
  all.push_back(filled<CUpti_ActivityMemset4>(130001));
  all.push_back(filled<CUpti_ActivityMemset5>(130500));
#endif
  for (const Collector& said : all) {
    ASSERT_EQ(said.activities.size(), 1U);
    EXPECT_EQ(said.activities[0].name, "Memset (Device)");
    EXPECT_EQ(said.activities[0].category, "gpu_memset");
    EXPECT_EQ(said.activities[0].bytes, 64);
    EXPECT_TRUE(said.activities[0].arguments.empty());
  }
}

CUpti_ActivityAPI api(CUpti_ActivityKind kind, CUpti_CallbackId id) {
  CUpti_ActivityAPI record{};
  record.kind = kind;
  record.cbid = id;
  record.start = 100;
  record.end = 150;
  record.processId = kPid;
  record.threadId = 4712;
  record.correlationId = 99;
  return record;
}

TEST(Converter, CallsHaveTheirNamesWithoutVersionsAndTheirThreads) {
  const Collector said = Conversion(28)
                             .add(api(CUPTI_ACTIVITY_KIND_RUNTIME, 211))
                             .add(api(CUPTI_ACTIVITY_KIND_DRIVER, 307))
                             .add(api(CUPTI_ACTIVITY_KIND_RUNTIME, 12345))
                             .read();
  ASSERT_EQ(said.calls.size(), 3U);
  EXPECT_EQ(said.calls[0].name, "cudaLaunchKernel");
  EXPECT_EQ(said.calls[0].category, "cuda_runtime");
  EXPECT_EQ(said.calls[0].stream, 4712);
  EXPECT_EQ(said.calls[0].correlation, 99);
  EXPECT_EQ(said.calls[0].duration, 50);
  EXPECT_EQ(said.calls[0].graph, -1);
  EXPECT_EQ(said.calls[1].name, "cuLaunchKernel");
  EXPECT_EQ(said.calls[1].category, "cuda_driver");
  EXPECT_EQ(said.calls[2].name, "cuda function 12345");
}

TEST(Converter, ACallHasTheIdThatTheProgramGaveIt) {
  CUpti_ActivityExternalCorrelation external{};
  external.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  external.externalId = 77;
  external.correlationId = 99;
  const Collector said = Conversion(28)
                             .add(external)
                             .add(api(CUPTI_ACTIVITY_KIND_RUNTIME, 211))
                             .add(api(CUPTI_ACTIVITY_KIND_RUNTIME, 211))
                             .read();
  EXPECT_EQ(said.calls.at(0).graph, 77);
  EXPECT_EQ(said.calls.at(1).graph, -1);
}

TEST(Converter, ACallThatFailedSaysWhatItReturned) {
  auto failed = api(CUPTI_ACTIVITY_KIND_RUNTIME, 211);
  failed.returnValue = 2;
  auto not_ready = failed;
  not_ready.returnValue = 600;
  const Collector said = Conversion(28).add(failed).add(not_ready).read();
  EXPECT_EQ(said.calls.at(0).arguments.at("returned"), "2");
  EXPECT_TRUE(said.calls.at(1).arguments.empty());
}

template <typename Event, typename Wait>
Collector waited(std::uint32_t version, std::uint64_t id) {
  Event event{};
  event.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
  event.correlationId = 41;
  event.contextId = 1;
  event.streamId = 13;
  event.eventId = 6;
  Event later = event;
  later.correlationId = 42;
  Wait wait{};
  wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
  wait.start = 10;
  wait.end = 20;
  wait.correlationId = 50;
  wait.contextId = 1;
  wait.streamId = 7;
  wait.cudaEventId = 6;
  if constexpr (requires {
                  event.cudaEventSyncId;
                  wait.cudaEventSyncId;
                }) {
    event.cudaEventSyncId = 1000;
    later.cudaEventSyncId = 1001;
    wait.cudaEventSyncId = id;
  }
  return Conversion(version).add(event).add(later).add(wait).read();
}

void check_wait(const Collector& said, std::int64_t recorded_by) {
  ASSERT_EQ(said.activities.size(), 1U);
  const Activity& wait = said.activities[0];
  EXPECT_EQ(wait.category, "cuda_sync");
  EXPECT_EQ(wait.kind, "Stream Wait Event");
  EXPECT_EQ(wait.stream, 7);
  EXPECT_EQ(wait.correlation, 50);
  EXPECT_EQ(wait.wait.stream, 13);
  EXPECT_EQ(wait.wait.event, 6);
  EXPECT_EQ(wait.wait.correlation, recorded_by);
}

TEST(Converter, AWaitKnowsTheRecordingItIsFor) {
  check_wait(waited<CUpti_ActivityCudaEvent, CUpti_ActivitySynchronization>(24, 0), 42);
#if CUPTI_API_VERSION >= 26
  check_wait(waited<CUpti_ActivityCudaEvent2, CUpti_ActivitySynchronization2>(28, 1000), 41);
#endif
#if CUPTI_API_VERSION >= 130500
  check_wait(waited<CUpti_ActivityCudaEvent3, CUpti_ActivitySynchronization2>(130500, 1000), 41);
#endif
}

TEST(Converter, OfTooManyEventsTheNewerOnesAreRememberedAndWaitsForOthersAreCounted) {
  constexpr std::uint32_t kEvents = 70'000;
  Conversion conversion(24);
  CUpti_ActivityCudaEvent event{};
  event.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
  event.contextId = 1;
  event.streamId = 13;
  for (event.eventId = 1; event.eventId <= kEvents; ++event.eventId) conversion.add(event);
  CUpti_ActivitySynchronization wait{};
  wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
  wait.start = 10;
  wait.end = 20;
  wait.contextId = 1;
  for (const std::uint32_t id : {kEvents, kEvents - 30'000, 1U}) {
    wait.cudaEventId = id;
    conversion.add(wait);
  }
  const Collector said = conversion.read();
  EXPECT_EQ(said.activities.at(0).wait.stream, 13);
  EXPECT_EQ(said.activities.at(1).wait.stream, 13);
  EXPECT_EQ(said.activities.at(2).wait.stream, -1);
  EXPECT_EQ(conversion.counts().waits_without_stream, 1U);
  EXPECT_EQ(conversion.counts().events_forgotten, kMostRemembered / 2);
}

TEST(Converter, IdsThatAreForgottenBeforeTheirCallsComeAreCounted) {
  Conversion conversion(28);
  CUpti_ActivityExternalCorrelation external{};
  external.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  external.externalId = 77;
  auto call = api(CUPTI_ACTIVITY_KIND_RUNTIME, 211);
  for (external.correlationId = 1; external.correlationId <= 2 * kMostRemembered;
       ++external.correlationId) {
    conversion.add(external);
    call.correlationId = external.correlationId;
    conversion.add(call);
  }
  EXPECT_EQ(conversion.counts().external_forgotten, 0U);
  for (external.correlationId = 1; external.correlationId <= kMostRemembered + 1;
       ++external.correlationId)
    conversion.add(external);
  EXPECT_EQ(conversion.counts().external_forgotten, kMostRemembered / 2);
}

TEST(Converter, AWaitForAllIsOfNoStream) {
  CUpti_ActivityContext context{};
  context.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
  context.contextId = 9;
  context.deviceId = 2;
  CUpti_ActivitySynchronization wait{};
  wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
  wait.start = 10;
  wait.end = 20;
  wait.contextId = 9;
  wait.streamId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  wait.cudaEventId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  const Collector said = Conversion(18).add(context).add(wait).read();
  EXPECT_EQ(said.activities.at(0).kind, "Context Sync");
  EXPECT_EQ(said.activities[0].stream, -1);
  EXPECT_EQ(said.activities[0].device, 2);
  EXPECT_EQ(said.activities[0].wait.event, -1);
}

template <typename Record>
Collector allocated(std::uint32_t version) {
  Record record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  record.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  record.address = 0x7f0000000000;
  record.bytes = 4096;
  record.timestamp = 55;
  record.deviceId = 1;
  record.isAsync = 1;
  record.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  record.memoryPoolConfig.pool.size = 1 << 20;
  Record released = record;
  released.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  released.timestamp = 66;
  return Conversion(version).add(record).add(released).read();
}

TEST(Converter, MemoryIsTakenAndGivenBack) {
  std::vector<Collector> all;
  all.push_back(allocated<CUpti_ActivityMemory3>(22));
#if CUPTI_API_VERSION >= 24
  all.push_back(allocated<CUpti_ActivityMemory4>(28));
#endif
  for (const Collector& said : all) {
    ASSERT_EQ(said.memory_operations.size(), 2U);
    const auto& [taken, kind] = said.memory_operations[0];
    EXPECT_EQ(kind, "Device");
    EXPECT_EQ(taken.time, 55);
    EXPECT_EQ(taken.bytes, 4096);
    EXPECT_EQ(taken.reserved, 1 << 20);
    EXPECT_EQ(taken.address, 0x7f0000000000U);
    EXPECT_EQ(said.memory_operations[1].first.bytes, -4096);
  }
}

template <typename Record>
Collector pooled(std::uint32_t version) {
  Record record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL;
  record.memoryPoolOperationType = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED;
  record.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  record.address = 1;
  record.size = 1000;
  record.utilizedSize = 300;
  record.timestamp = 5;
  Record second = record;
  second.address = 2;
  return Conversion(version).add(record).add(second).read();
}

TEST(Converter, PoolsOfADeviceAreSummedUp) {
  EXPECT_EQ(pooled<CUpti_ActivityMemoryPool2>(22).samples.at("cuda.pool.reserved"), 2000);
#if CUPTI_API_VERSION >= 130500
  EXPECT_EQ(pooled<CUpti_ActivityMemoryPool3>(130500).samples.at("cuda.pool.used"), 600);
#endif
}

template <typename Record>
Collector described(std::uint32_t version) {
  Record record{};
  record.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  record.id = 0;
  record.name = "NVIDIA \"X\"";
  record.numMultiprocessors = 108;
  record.maxWarpsPerMultiprocessor = 64;
  record.numThreadsPerWarp = 32;
  record.computeCapabilityMajor = 8;
  record.globalMemorySize = std::uint64_t{40} << 30;
  record.isMigEnabled = 1;
  record.gpuInstanceId = 7;
  return Conversion(version).add(record).read();
}

TEST(Converter, DevicesAreDescribedAsTorchDescribesThem) {
  std::vector<Collector> all;
  all.push_back(described<CUpti_ActivityDevice4>(18));
#if CUPTI_API_VERSION >= 20
  all.push_back(described<CUpti_ActivityDevice5>(28));
#endif
#if CUPTI_API_VERSION >= 130500
  all.push_back(described<CUpti_ActivityDevice6>(130500));
#endif
  for (const Collector& said : all) {
    const std::string& json = said.facts.at("device_properties.0");
    EXPECT_NE(json.find(R"("name": "NVIDIA \"X\"")"), std::string::npos) << json;
    EXPECT_NE(json.find(R"("numSms": 108)"), std::string::npos) << json;
    EXPECT_NE(json.find(R"("maxThreadsPerMultiprocessor": 2048)"), std::string::npos) << json;
    EXPECT_NE(json.find(R"("gpuInstance": 7)"), std::string::npos) << json;
    EXPECT_EQ(said.facts.at("cuda.mig.device 0").substr(0, 4), "MIG-");
  }
}

template <typename Record>
void check_overhead(std::uint32_t version) {
  Record record{};
  record.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  record.overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH;
  record.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  record.objectId.pt.threadId = 12;
  record.start = 5;
  record.end = 9;
  const Collector said = Conversion(version).add(record).read();
  ASSERT_EQ(said.slices.size(), 1U);
  EXPECT_EQ(said.slices[0].name, "Buffer Flush");
  EXPECT_EQ(said.slices[0].category, "overhead");
  EXPECT_EQ(said.slices[0].stream, 12);
}

TEST(Converter, OverheadOfEachVersion) {
  check_overhead<CUpti_ActivityOverhead>(18);
#if CUPTI_API_VERSION >= 22
  check_overhead<CUpti_ActivityOverhead2>(21);
  check_overhead<CUpti_ActivityOverhead3>(28);
#endif
}

template <typename Record>
void check_graph(std::uint32_t version) {
  Record record{};
  record.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  record.start = 5;
  record.end = 900;
  record.graphId = 8;
  record.streamId = 7;
  record.correlationId = 3;
  const Collector said = Conversion(version).add(record).read();
  ASSERT_EQ(said.activities.size(), 1U);
  EXPECT_EQ(said.activities[0].name, "CUDA graph 8");
  EXPECT_EQ(said.activities[0].category, "cuda_graph");
  EXPECT_EQ(said.activities[0].graph, 8);
  EXPECT_EQ(said.activities[0].duration, 895);
}

TEST(Converter, GraphsAsWholesOfEachVersion) {
  check_graph<CUpti_ActivityGraphTrace>(18);
#if CUPTI_API_VERSION >= 21
  check_graph<CUpti_ActivityGraphTrace2>(28);
#endif
}

template <typename Record>
void check_jit(std::uint32_t version, std::int64_t tid, const char* category) {
  Record record{};
  record.kind = CUPTI_ACTIVITY_KIND_JIT;
  record.jitEntryType = CUPTI_ACTIVITY_JIT_ENTRY_PTX_TO_CUBIN;
  record.jitOperationType = CUPTI_ACTIVITY_JIT_OPERATION_COMPILE;
  record.start = 5;
  record.end = 9;
  record.cacheSize = 100;
  record.cachePath = "/home/x/.nv";
  if constexpr (requires { record.threadId; }) record.threadId = 12;
  const Collector said = Conversion(version).add(record).read();
  ASSERT_EQ(said.slices.size(), 1U);
  EXPECT_EQ(said.slices[0].name, "JIT: PTX to cubin");
  EXPECT_EQ(said.slices[0].stream, tid);
  EXPECT_EQ(said.slices[0].category, category);
  EXPECT_EQ(said.slices[0].arguments.at("cache"), "/home/x/.nv");
}

TEST(Converter, CompilationsOfEachVersion) {
  check_jit<CUpti_ActivityJit>(18, kPid, "overhead.device");
#if CUPTI_API_VERSION >= 22
  check_jit<CUpti_ActivityJit2>(28, 12, "overhead");
#endif
}

TEST(Converter, MarkersBecomeRangesAndMoments) {
  CUpti_ActivityMarker2 marker{};
  marker.kind = CUPTI_ACTIVITY_KIND_MARKER;
  marker.flags = CUPTI_ACTIVITY_FLAG_MARKER_START;
  marker.timestamp = 10;
  marker.id = 1;
  marker.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  marker.objectId.pt.threadId = 12;
  marker.name = "load";
  marker.domain = "io";
  CUpti_ActivityMarker2 end = marker;
  end.flags = CUPTI_ACTIVITY_FLAG_MARKER_END;
  end.timestamp = 30;
  end.name = nullptr;
  CUpti_ActivityMarker2 moment = marker;
  moment.flags = CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS;
  moment.name = "saved";
  const Collector said = Conversion(28).add(marker).add(end).add(moment).read();
  ASSERT_EQ(said.slices.size(), 1U);
  EXPECT_EQ(said.slices[0].name, "load");
  EXPECT_EQ(said.slices[0].duration, 20);
  EXPECT_EQ(said.slices[0].category, "annotation");
  EXPECT_EQ(said.slices[0].arguments.at("domain"), "io");
  EXPECT_EQ(said.instants, std::vector<std::string>{"saved"});
}

TEST(Converter, NamesAndStreamsAreFacts) {
  CUpti_ActivityName name{};
  name.kind = CUPTI_ACTIVITY_KIND_NAME;
  name.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  name.objectId.pt.threadId = 12;
  name.name = "loader";
  CUpti_ActivityStream stream{};
  stream.kind = CUPTI_ACTIVITY_KIND_STREAM;
  stream.streamId = 14;
  stream.priority = static_cast<std::uint32_t>(-5);
  stream.flag = CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING;
  const Collector said = Conversion(28).add(name).add(stream).read();
  EXPECT_EQ(said.threads.at(12), "loader");
  EXPECT_EQ(said.facts.at("cuda.stream.14"), "non-blocking, priority -5");
}

#if CUPTI_API_VERSION >= 26
TEST(Converter, DecompressionsAndGraphsThatADeviceLaunchesAreOfTheirProcess) {
  CUpti_ActivityMemDecompress decompression{};
  decompression.kind = CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS;
  decompression.start = 1000;
  decompression.end = 1700;
  decompression.deviceId = 1;
  decompression.contextId = 2;
  decompression.streamId = 7;
  decompression.sourceBytes = 4096;
  CUpti_ActivityDeviceGraphTrace graph{};
  graph.kind = CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE;
  graph.start = 2000;
  graph.end = 2500;
  graph.deviceId = 1;
  graph.contextId = 2;
  graph.streamId = 7;
  graph.graphId = 5;
  graph.launcherGraphId = 4;
  // The reader looks at the process of each.
  const Collector made = Conversion(CUPTI_API_VERSION).add(decompression).add(graph).read();
  ASSERT_EQ(made.activities.size(), 2U);
  EXPECT_EQ(made.activities[0].name, "Memory decompression");
  EXPECT_EQ(made.activities[0].bytes, 4096);
  EXPECT_EQ(made.activities[1].name, "CUDA graph 5");
}
#endif

TEST(Converter, WhatIsNotReadIsCounted) {
  CUpti_ActivityPCSamplingRecordInfo record{};
  record.kind = CUPTI_ACTIVITY_KIND_PC_SAMPLING_RECORD_INFO;
  Conversion conversion(28);
  conversion.add(record).read();
  EXPECT_EQ(conversion.counts().unknown, 1U);
}

}  // namespace
}  // namespace fathom::cuda
