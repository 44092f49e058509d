// Traces that repeat ids, times, names, threads, tracks, levels of nesting and steps without end.
#include "tests/scaling/hostile_traces.h"

#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>

#include "store/trace.h"
#include "store/trace_builder.h"

namespace fathom {
namespace {

constexpr std::int64_t kGap = 100;  // ns between the beginnings of two groups of events

// Sizes of the smaller of two traces; the larger one has four times as many. Small ones find what
// is quadratic where little else is done; make nightly has large ones.
constexpr std::size_t kFew = 500;
bool all_sizes() { return std::getenv("FATHOM_TEST_ALL_SIZES") != nullptr; }
std::size_t few() { return all_sizes() ? kFew : 200; }
std::size_t deep() { return all_sizes() ? 2'500 : 1'000; }
/// Of threads and streams: 100,000 take two minutes under the sanitizers.
std::size_t many() { return all_sizes() ? 25'000 : 500; }
/// Of counters, of which little is asked.
std::size_t most() { return all_sizes() ? 25'000 : 2'000; }

std::int64_t whole(std::size_t number) { return static_cast<std::int64_t>(number); }

/// An operator that launches a kernel, with a wait behind it.
struct Launch {
  std::int64_t at = 0;
  std::int64_t id = 0;
  std::string_view op = "aten::mm";
  std::string_view kernel = "gemm";
};

void add(TraceBuilder& trace, const Launch& launch) {
  trace.op(launch.op, launch.at, 60)
      .shapes("[[2,3],[3,4]]")
      .types(R"(["float","float"])")
      .external_id(launch.id);
  trace.runtime("cudaLaunchKernel", launch.at + 5, 10, launch.id).external_id(launch.id);
  trace.kernel(launch.kernel, launch.at + 20, 30, launch.id).grid(4, 1, 1).external_id(launch.id);
  trace.runtime("cudaStreamSynchronize", launch.at + 30, 25, launch.id);
  trace.sync("Stream Sync", launch.at + 30, 25, launch.id, 7);
}

void add_device(TraceBuilder& trace) {
  trace.device({.name = "NVIDIA A100-SXM4-80GB",
                .memory_bytes = 80'000'000'000,
                .compute_major = 8,
                .compute_minor = 0,
                .sms = 108,
                .max_threads_per_sm = 2048,
                .max_threads_per_block = 1024});
}

/// What recordings are like: each event has its own id and time; ten operators are a step.
Trace ordinary(std::size_t count) {
  TraceBuilder trace;
  add_device(trace);
  const std::size_t steps = count / 10;
  for (std::size_t step = 0; step < steps; ++step) {
    const std::int64_t at = whole(step) * 12 * kGap;
    trace.step(whole(step), at, 11 * kGap);
    for (std::size_t i = 0; i < 10; ++i)
      add(trace, {.at = at + whole(i) * kGap, .id = whole(10 * step + i) + 1});
  }
  return trace.build();
}

/// Steps of two events; each third is an outlier.
Trace many_steps(std::size_t count) {
  TraceBuilder trace;
  add_device(trace);
  std::int64_t at = 0;
  for (std::size_t step = 0; step < count; ++step) {
    const std::int64_t length = step % 3 == 0 ? 2000 : 120 + whole(step % 7);
    trace.step(whole(step), at, length);
    add(trace, {.at = at + 1, .id = whole(step) + 1});
    at += length + 10;
  }
  return trace.build();
}

Trace with_id(std::size_t count, std::int64_t id) {
  TraceBuilder trace;
  add_device(trace);
  for (std::size_t i = 0; i < count; ++i) add(trace, {.at = whole(i) * kGap, .id = id});
  return trace.build();
}
Trace equal_ids(std::size_t count) { return with_id(count, 7); }
Trace zero_ids(std::size_t count) { return with_id(count, 0); }

/// Every process of the file uses the same id.
Trace equal_ids_of_processes(std::size_t count) {
  TraceBuilder trace;
  for (std::size_t i = 0; i < count; ++i) {
    trace.on_thread(1, whole(i) + 1).on_stream(7);
    add(trace, {.at = whole(i) * kGap, .id = 7});
  }
  return trace.build();
}

/// All at one moment, of one length.
Trace equal_times(std::size_t count) {
  TraceBuilder trace;
  add_device(trace);
  for (std::size_t i = 0; i < count; ++i) add(trace, {.at = 1000, .id = whole(i) + 1});
  return trace.build();
}

/// All at one moment, of no length.
Trace no_lengths(std::size_t count) {
  TraceBuilder trace;
  for (std::size_t i = 0; i < count; ++i) {
    trace.op("aten::mm", 1000, 0).sequence(whole(i));
    trace.runtime("cudaLaunchKernel", 1000, 0, whole(i) + 1);
    trace.kernel("gemm", 1000, 0, whole(i) + 1);
    trace.frame("train.py(3): step", 1000, 0, whole(i));
  }
  return trace.build();
}

/// One thread of operators that compute on the host, all of one name.
Trace one_thread_and_name(std::size_t count) {
  TraceBuilder trace;
  for (std::size_t i = 0; i < count; ++i)
    trace.op("aten::add", whole(i) * kGap, 90)
        .shapes("[[2,3],[2,3]]")
        .sequence(whole(i))
        .stack("train.py(3): step\ntrain.py(9): <module>");
  return trace.build();
}

/// No two operators and no two kernels have one name, signature or stack.
Trace distinct_names(std::size_t count) {
  TraceBuilder trace;
  add_device(trace);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    const std::int64_t at = whole(i) * kGap;
    trace.op("mine::op" + number, at, 60)
        .shapes("[[" + number + ",3],[3,4]]")
        .stack("train.py(" + number + "): step\ntrain.py(9): <module>");
    trace.runtime("cudaLaunchKernel", at + 5, 10, whole(i) + 1);
    trace.kernel("kernel" + number, at + 20, 30, whole(i) + 1)
        .grid(static_cast<std::int32_t>(i % 1000) + 1, 1, 1);
  }
  return trace.build();
}

/// Kernels of one name, each launched by an operator of another name.
Trace distinct_ops_of_one_kernel(std::size_t count) {
  TraceBuilder trace;
  add_device(trace);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string op = "mine::op" + std::to_string(i);
    add(trace, {.at = whole(i) * kGap, .id = whole(i) + 1, .op = op});
  }
  return trace.build();
}

/// The operator has one name, each of its kernels another.
Trace distinct_kernels_of_one_op(std::size_t count) {
  TraceBuilder trace;
  add_device(trace);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string kernel = "kernel" + std::to_string(i);
    add(trace, {.at = whole(i) * kGap, .id = whole(i) + 1, .op = "aten::mm", .kernel = kernel});
  }
  return trace.build();
}

/// Slices within slices, then what `add_inner` adds to the innermost; `add_level` opens each level.
template <typename AddLevel, typename AddInner>
Trace tower(std::size_t levels, const AddLevel& add_level, const AddInner& add_inner) {
  const std::size_t launches = levels / 5;
  TraceBuilder trace;
  add_device(trace);
  const std::int64_t inside = whole(levels);
  const std::int64_t length = 2 * inside + whole(launches) * kGap;
  for (std::size_t level = 0; level < levels; ++level)
    add_level(trace, level, whole(level), length - 2 * whole(level));
  for (std::size_t i = 0; i < launches; ++i)
    add_inner(trace, inside + whole(i) * kGap, whole(i) + 1);
  return trace.build();
}
template <typename AddLevel>
Trace tower(std::size_t levels, const AddLevel& add_level) {
  return tower(levels, add_level, [](TraceBuilder& trace, std::int64_t at, std::int64_t id) {
    add(trace, {.at = at, .id = id});
  });
}

Trace nested_ops(std::size_t count) {
  return tower(count,
               [](TraceBuilder& trace, std::size_t level, std::int64_t at, std::int64_t length) {
                 trace.op("aten::add", at, length).shapes("[[2,3],[2,3]]").sequence(whole(level));
               });
}

/// What rules look outwards from: who asked for a copy, whether one of a name is around it.
Trace copies_in_a_nest(std::size_t count) {
  return tower(
      count,
      [](TraceBuilder& trace, std::size_t level, std::int64_t at, std::int64_t length) {
        trace.op(level == 0 ? "aten::to" : "mine::level", at, length);
      },
      [](TraceBuilder& trace, std::int64_t at, std::int64_t id) {
        trace.op("aten::copy_", at, 90);
        trace.runtime("cudaMemcpyAsync", at + 5, 10, id);
        trace.copy(CopyKind::h2d, at + 20, 30, id, 64)
            .memory(MemoryKind::pageable, MemoryKind::device);
        trace.runtime("cudaStreamSynchronize", at + 20, 40);
      });
}

/// Nothing around them says what they are, or how large.
Trace collectives_in_a_nest(std::size_t count) {
  return tower(
      count,
      [](TraceBuilder& trace, std::size_t, std::int64_t at, std::int64_t length) {
        trace.op("mine::level", at, length);
      },
      [](TraceBuilder& trace, std::int64_t at, std::int64_t id) {
        trace.op("mine::exchange", at, 60);
        trace.runtime("cudaLaunchKernel", at + 5, 10, id);
        trace.kernel("ncclDevKernel_Generic", at + 20, 70, id);
      });
}

Trace nested_annotations(std::size_t count) {
  return tower(count,
               [](TraceBuilder& trace, std::size_t level, std::int64_t at, std::int64_t length) {
                 trace.annotation("level" + std::to_string(level), at, length);
               });
}

Trace nested_frames(std::size_t count) {
  return tower(count,
               [](TraceBuilder& trace, std::size_t level, std::int64_t at, std::int64_t length) {
                 const bool module = level % 2 == 0;
                 trace.frame(module ? "nn.Module: Block_0" : "train.py(3): step", at, length,
                             whole(level) + 1, whole(level));
               });
}

/// What is called after a deep recursion has returned: the frame that began last has ended.
Trace after_nested_frames(std::size_t count) {
  TraceBuilder trace;
  add_device(trace);
  const std::int64_t deep = 2 * whole(count);
  const std::int64_t all = deep + whole(count) * kGap;
  trace.frame("train.py(3): step", 0, all, 1);
  trace.op("mine::step", 0, all);
  for (std::size_t level = 0; level < count; ++level) {
    const std::int64_t length = deep - 2 * whole(level) - 2;
    trace.frame("train.py(9): walk", whole(level) + 1, length, whole(level) + 2, whole(level) + 1);
    trace.op("mine::walk", whole(level) + 1, length);
  }
  for (std::size_t i = 0; i < count / 5; ++i)
    add(trace, {.at = deep + whole(i) * kGap, .id = whole(i) + 1});
  return trace.build();
}

/// Operators that begin in the innermost of many frames and end behind all of them.
Trace out_of_nested_frames(std::size_t count) {
  TraceBuilder trace;
  const std::int64_t inside = whole(count);
  for (std::size_t level = 0; level < count; ++level)
    trace.frame("lib/python3.11/site-packages/torch/nn.py(9): call", whole(level),
                3 * inside - 2 * whole(level), whole(level) + 1, whole(level));
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t at = inside + whole(i);
    trace.op("aten::add", at, 10 * inside - 2 * whole(i));
    trace.runtime("cudaStreamSynchronize", at, 10 * inside - 2 * whole(i), whole(i) + 1);
  }
  return trace.build();
}

/// Stretches of Python in steps that lie deep in a nest: has one of these ranges to do with them?
Trace python_in_a_nest(std::size_t count) {
  constexpr std::int64_t kStretch = 300'000;
  constexpr std::size_t kOfStep = 5;
  TraceBuilder trace;
  add_device(trace);
  const std::size_t steps = count / 10;
  const std::int64_t length = whole(steps * kOfStep) * kStretch;
  for (std::size_t level = 0; level < count; ++level)
    trace.annotation("level", whole(level), length + 2 * whole(count - level));
  for (std::size_t i = 0; i < steps; ++i) {
    const std::int64_t begin = whole(count) + whole(i * kOfStep) * kStretch;
    trace.step(whole(i), begin, whole(kOfStep) * kStretch);
    for (std::size_t j = 0; j < kOfStep; ++j)
      add(trace, {.at = begin + whole(j) * kStretch, .id = whole(kOfStep * i + j) + 1});
  }
  return trace.build();
}

/// Stretches of Python, each behind the seed of a loader that never fetches.
Trace seeds(std::size_t count) {
  constexpr std::int64_t kStretch = 300'000;
  constexpr std::size_t kOfStep = 5;
  TraceBuilder trace;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t at = whole(i) * kStretch;
    if (i % kOfStep == 0) trace.step(whole(i / kOfStep), at, whole(kOfStep) * kStretch);
    trace.op("aten::random_", at + 10, 60);
  }
  return trace.build();
}

/// Which operator is around them: a batch normalisation follows each convolution.
Trace convolutions_in_a_nest(std::size_t count) {
  return tower(
      count,
      [](TraceBuilder& trace, std::size_t, std::int64_t at, std::int64_t length) {
        trace.annotation("level", at, length);
      },
      [](TraceBuilder& trace, std::int64_t at, std::int64_t id) {
        trace.op("aten::conv2d", at, 40);
        trace.runtime("cudaLaunchKernel", at + 5, 10, 2 * id);
        trace.kernel("convolve", at + 20, 30, 2 * id);
        trace.op("aten::batch_norm", at + 45, 40);
        trace.runtime("cudaLaunchKernel", at + 50, 10, 2 * id + 1);
        trace.kernel("normalise", at + 65, 30, 2 * id + 1);
      });
}

/// Tensors of one shape grow, each in one of two dimensions.
Trace growing_tensors(std::size_t count) {
  TraceBuilder trace;
  for (std::size_t i = 0; i < count; ++i) {
    const bool first = i < count / 2;
    trace.op("aten::cat", whole(i) * kGap, 90)
        .shapes(first ? "[[[1,4],[1,4]],[]]" : "[[[2,4],[2,1]],[]]")
        .types(R"(["TensorList","Scalar"])");
  }
  return trace.build();
}

/// Each slice of a thread begins within the one before it and ends after it.
Trace overlapping(std::size_t count) {
  TraceBuilder trace;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t at = whole(i) * kGap;
    trace.op("aten::add", at, 150);
    trace.runtime("cudaLaunchKernel", at + 1, 120, whole(i) + 1);
    trace.kernel("add", at + 20, 1000, whole(i) + 1);
  }
  return trace.build();
}

/// Each slice of a thread begins within all that are before it and ends after them.
Trace all_overlapping(std::size_t count) {
  TraceBuilder trace;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t at = whole(i) * kGap;
    trace.op("aten::add", at, whole(count) * kGap);
    trace.runtime("cudaLaunchKernel", at + 1, 20, whole(i) + 1);
    trace.frame("train.py(3): step", at, whole(count) * kGap, whole(i) + 1);
  }
  return trace.build();
}

/// Each kernel begins after the one before it, on a stream of its own, and ends before it.
Trace kernels_within_kernels(std::size_t count) {
  TraceBuilder trace;
  const std::size_t kernels = count;
  for (std::size_t i = 0; i < kernels; ++i) {
    trace.op("aten::add", whole(i) * 10, 8);
    trace.runtime("cudaLaunchKernel", whole(i) * 10 + 1, 5, whole(i) + 1);
    trace.on_stream(whole(i) + 1);
    trace.kernel("add", whole(kernels + i) * 10, whole(kernels - i) * 20, whole(i) + 1);
  }
  return trace.build();
}

Trace threads(std::size_t count) {
  TraceBuilder trace;
  add_device(trace);
  for (std::size_t i = 0; i < count; ++i) {
    trace.on_thread(whole(i) + 1);
    add(trace, {.at = whole(i) * kGap, .id = whole(i) + 1});
  }
  return trace.build();
}

/// Threads that are all at work at the same time.
Trace concurrent_threads(std::size_t count) {
  TraceBuilder trace;
  trace.step(1, 0, whole(count));
  for (std::size_t i = 0; i < count; ++i) {
    trace.on_thread(whole(i) + 1);
    trace.op("aten::add", whole(i), whole(count)).sequence(whole(i), 1);
    trace.runtime("cudaStreamSynchronize", whole(i) + 1, whole(count) / 2, whole(i) + 1);
    trace.frame("train.py(3): step", whole(i), whole(count), whole(i) + 1);
  }
  return trace.build();
}

Trace streams(std::size_t count) {
  TraceBuilder trace;
  add_device(trace);
  for (std::size_t i = 0; i < count; ++i) {
    trace.on_stream(whole(i) + 1);
    add(trace, {.at = whole(i) * kGap, .id = whole(i) + 1});
  }
  return trace.build();
}

/// One thread launches to each of them before the first begins: all are idle for all of that.
Trace devices(std::size_t count) {
  TraceBuilder trace;
  for (std::size_t i = 0; i < count; ++i) {
    trace.op("aten::mm", whole(i) * kGap, 60);
    trace.runtime("cudaLaunchKernel", whole(i) * kGap + 5, 10, whole(i) + 1);
    trace.on_stream(7, static_cast<std::int32_t>(i));
    trace.kernel("gemm", whole(count + i) * kGap, 30, whole(i) + 1);
  }
  return trace.build();
}

/// Every thread counts the same sequence number; each has backward operators.
Trace equal_sequences_of_threads(std::size_t count) {
  TraceBuilder trace;
  for (std::size_t i = 0; i < count; ++i) {
    trace.on_thread(whole(i) + 2);
    trace.op("aten::add", whole(i) * kGap, 50).sequence(3);
    trace.on_thread(1);
    trace.op("AddBackward0", whole(i) * kGap + 50, 40).sequence(3, whole(i) + 1);
  }
  return trace.build();
}

Trace processes(std::size_t count) {
  TraceBuilder trace;
  for (std::size_t i = 0; i < count; ++i) {
    trace.on_thread(1, whole(i) + 1).on_stream(7);
    trace.process(whole(i) + 1, "python");
    add(trace, {.at = whole(i) * kGap, .id = whole(i) + 1});
  }
  return trace.build();
}

/// Each process has a step, all of them at one time.
Trace stepping_processes(std::size_t count) {
  TraceBuilder trace;
  for (std::size_t i = 0; i < count; ++i) {
    trace.on_thread(1, whole(i) + 1);
    trace.step(1, 0, 1000);
    trace.op("aten::mm", 10, 900).shapes("[[2,3],[3,4]]");
  }
  return trace.build();
}

Trace counters(std::size_t count) {
  TraceBuilder trace;
  trace.step(1, 0, whole(count) * kGap);
  for (std::size_t i = 0; i < count; ++i) {
    trace.sample("counter" + std::to_string(i), whole(i) * kGap, 1.0);
    trace.sample("cpu.busy", whole(i) * kGap, 0.5);
  }
  return trace.build();
}

/// One launch of a graph starts it all.
Trace one_graph(std::size_t count) {
  TraceBuilder trace;
  trace.op("graph", 0, 100);
  trace.runtime("cudaGraphLaunch", 10, 20, 1);
  for (std::size_t i = 0; i < count; ++i)
    trace.kernel("node", 100 + whole(i) * kGap, 90, 1).graph_node(5);
  return trace.build();
}

/// Events are recorded on one stream and waited for on another.
Trace event_waits(std::size_t count) {
  TraceBuilder trace;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t at = whole(i) * kGap;
    const std::int64_t id = 4 * whole(i) + 1;
    trace.runtime("cudaLaunchKernel", at, 10, id);
    trace.on_stream(whole(i % 2) + 1).kernel("add", at + 20, 90, id);
    trace.runtime("cudaEventRecord", at + 12, 5, id + 1);
    trace.runtime("cudaStreamWaitEvent", at + 20, 5, id + 2);
    trace.on_stream(whole((i + 1) % 2) + 1)
        .sync("Stream Wait Event", at + 20, 5, id + 2, whole(i % 2) + 1, 9, id + 1);
    trace.runtime("cudaEventSynchronize", at + 30, 50, id + 3);
  }
  return trace.build();
}

/// Arrows of one id, and backward operators of one sequence number.
Trace equal_links(std::size_t count) {
  TraceBuilder trace;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t at = whole(i) * kGap;
    trace.on_thread(1);
    const SliceId forward = trace.op("aten::add", at, 50).sequence(3);
    trace.on_thread(2);
    const SliceId backward = trace.op("AddBackward0", at + 50, 40).sequence(3, 1);
    trace.flow("fwdbwd", 3, forward, backward);
  }
  return trace.build();
}

/// Allocations within operators, all of one address.
Trace allocations(std::size_t count) {
  TraceBuilder trace;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t at = whole(i) * kGap;
    trace.op("aten::empty", at, 90);
    trace.memory(at + 10, 512, 1, 0, 4096, whole(i) * 512, whole(i) * 512);
    trace.memory(at + 20, i % 2 == 0 ? -512 : 512, 0, -1, 4096);
  }
  return trace.build();
}

/// Copies with the waits of the host for them.
Trace copies(std::size_t count) {
  TraceBuilder trace;
  add_device(trace);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t at = whole(i) * kGap;
    trace.op("aten::copy_", at, 90).stack("train.py(3): step");
    trace.runtime("cudaMemcpyAsync", at + 5, 10, whole(i) + 1);
    trace.copy(CopyKind::h2d, at + 20, 30, whole(i) + 1, 4096)
        .memory(MemoryKind::pageable, MemoryKind::device);
    trace.runtime("cudaStreamSynchronize", at + 20, 40);
  }
  return trace.build();
}

/// Collectives that all say the same of themselves.
Trace collectives(std::size_t count) {
  TraceBuilder trace;
  add_device(trace);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t at = whole(i) * kGap;
    trace.op("nccl:all_reduce", at, 60).collective({.in_elements = 1000, .group_size = 8});
    trace.runtime("cudaLaunchKernel", at + 5, 10, whole(i) + 1);
    trace.kernel("ncclDevKernel_AllReduce_Sum_f32", at + 20, 70, whole(i) + 1)
        .collective({.in_elements = 1000, .group_size = 8});
  }
  return trace.build();
}

/// Functions and statements of one name and of many, in each of the steps.
Trace profiles_of_python(std::size_t count) {
  Trace trace = ordinary(count);
  trace.format = "fathom-wire";
  const StringId file = trace.strings.intern("train.py");
  for (std::size_t i = 0; i < count; ++i) {
    const StringId name = trace.strings.intern(i % 2 == 0 ? "same" : "f" + std::to_string(i));
    const auto line = static_cast<std::uint32_t>(i + 1);
    const FunctionTime function{.pid = whole(i % 10),
                                .file = file,
                                .name = name,
                                .line = line,
                                .calls = 2,
                                .total = duration_ns(kGap),
                                .self = duration_ns(kGap / 2)};
    const LineTime statement{.pid = whole(i % 10),
                             .file = file,
                             .function = name,
                             .first = line,
                             .last = line,
                             .function_line = line,
                             .hits = 2,
                             .total = duration_ns(kGap),
                             .self = duration_ns(kGap / 2)};
    const Time at = Time{} + duration_ns(whole(i / 10) * 12 * kGap);
    const Interval when{at, at + duration_ns(12 * kGap)};
    trace.functions.push_back(function);
    trace.function_parts.push_back({.time = function, .when = when, .step = whole(i / 10)});
    // One function is called by all, and all are called by one.
    const StringId first = trace.strings.intern("same");
    trace.function_calls.push_back({.pid = whole(i % 10),
                                    .file = file,
                                    .name = i % 2 == 0 ? name : first,
                                    .line = i % 2 == 0 ? line : 1,
                                    .caller_file = file,
                                    .caller_name = i % 2 == 0 ? first : name,
                                    .caller_line = i % 2 == 0 ? 1 : line,
                                    .calls = 2,
                                    .total = duration_ns(kGap),
                                    .self = duration_ns(kGap / 2)});
    trace.lines.push_back(statement);
    trace.line_parts.push_back({.time = statement, .when = when, .step = whole(i / 10)});
  }
  return trace;
}

/// A function, below the row that calls it.
std::uint32_t add_frame(Trace& trace, std::uint32_t parent, std::string_view function,
                        std::string_view file, std::int32_t line) {
  trace.stack_frames.push_back({.parent = parent,
                                .function = trace.strings.intern(function),
                                .file = trace.strings.intern(file),
                                .line = line});
  return static_cast<std::uint32_t>(trace.stack_frames.size() - 1);
}

/// Where a thread was met asleep, and at what.
struct Wait {
  std::string_view cause;
  std::string_view object;
};
/// One of each class, and one that is not known.
constexpr Wait kWaits[] = {
    {"gil", ""},           {"lock", "a mutex"}, {"lock", "a semaphore between processes"},
    {"lock", "a futex"},   {"child", "7"},      {"sleep", ""},
    {"file", "/tmp/data"}, {"poll", "a pipe"},  {"call", "ioctl"}};

/// A millisecond, of which the thread ran, waited for a processor and slept.
void add_sample(Trace& trace, std::int64_t thread, std::uint32_t frame, const Wait& wait,
                std::int64_t number) {
  constexpr std::int64_t kPart = 250'000;
  trace.stack_samples.push_back({.pid = 1,
                                 .tid = thread,
                                 .time = time_ns((number + 1) * 4 * kPart),
                                 .thread = trace.strings.intern("python"),
                                 .frame = frame,
                                 .on_cpu = duration_ns(kPart),
                                 .queued = duration_ns(kPart),
                                 .blocked = duration_ns(2 * kPart),
                                 .cause = trace.strings.intern(wait.cause),
                                 .object = trace.strings.intern(wait.object)});
}

Trace of_samples() {
  Trace trace;
  trace.format = "fathom-wire";
  trace.facts.push_back({"samples.processors", "\"2\""});
  return trace;
}

/// Each sample is of another function and line and waits for another thing, but for every second,
/// which is like all of these.
Trace samples(std::size_t count) {
  Trace trace = of_samples();
  const std::uint32_t outer = add_frame(trace, kNoFrame, "main", "train.py", 3);
  const std::uint32_t same = add_frame(trace, outer, "work", "train.py", 9);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    const std::uint32_t frame =
        i % 2 == 0 ? same : add_frame(trace, outer, "f" + number, "file" + number + ".py", 1);
    const Wait& wait = kWaits[i % std::size(kWaits)];
    const std::string object = i % 3 == 0 ? "object" + number : std::string(wait.object);
    add_sample(trace, 1 + whole(i % 3), frame, {wait.cause, object}, whole(i));
  }
  return trace;
}

/// Each thread was met once, all at one time and place.
Trace sampled_threads(std::size_t count) {
  Trace trace = of_samples();
  const std::uint32_t frame = add_frame(trace, kNoFrame, "main", "train.py", 3);
  for (std::size_t i = 0; i < count; ++i)
    add_sample(trace, whole(i) + 1, i % 2 == 0 ? frame : kNoFrame, kWaits[i % std::size(kWaits)],
               1);
  return trace;
}

/// An event loop whose callbacks take turns.
Trace sampled_loop(std::size_t count) {
  Trace trace = of_samples();
  const std::uint32_t loop =
      add_frame(trace, kNoFrame, "run_forever", "/usr/lib/python3.11/asyncio/base_events.py", 7);
  const std::uint32_t call =
      add_frame(trace, loop, "Handle._run", "/usr/lib/python3.11/asyncio/events.py", 9);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t callback =
        add_frame(trace, call, "callback" + std::to_string(i % 5), "app.py", 1);
    add_sample(trace, 1, i % 4 == 0 ? loop : callback, kWaits[i % std::size(kWaits)], whole(i));
  }
  return trace;
}

/// One stack, and samples at every 25th depth.
Trace deep_stack(std::size_t count, std::string_view function, std::string_view file) {
  Trace trace = of_samples();
  std::uint32_t frame = kNoFrame;
  for (std::size_t depth = 0; depth < count; ++depth) {
    frame = add_frame(trace, frame, function, file, static_cast<std::int32_t>(depth % 100));
    if (depth % 25 != 0) continue;
    add_sample(trace, 1, frame, kWaits[depth / 25 % std::size(kWaits)], whole(depth));
  }
  return trace;
}
Trace deep_stack_of_program(std::size_t count) { return deep_stack(count, "f", "train.py"); }
/// Of functions that belong to the wait of what called them.
Trace deep_stack_of_selectors(std::size_t count) {
  return deep_stack(count, "select", "/usr/lib/python3.11/selectors.py");
}
Trace deep_stack_of_shared_locks(std::size_t count) {
  return deep_stack(count, "acquire", "/usr/lib/python3.11/multiprocessing/synchronize.py");
}
Trace deep_stack_of_conditions(std::size_t count) {
  return deep_stack(count, "wait", "/usr/lib/python3.11/threading.py");
}

/// Statements along time, each second of them the same one, with launches and allocations in them.
Trace statements(std::size_t count) {
  TraceBuilder trace;
  add_device(trace);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t at = whole(i) * kGap;
    trace.line("train.py:" + std::to_string(i % 2 == 0 ? 1 : i) + " step", at, kGap - 5);
    add(trace, {.at = at, .id = whole(i) + 1});
    trace.memory(at + 10, 512, 1, 0, 4096 + whole(i), kAbsent, kAbsent);
  }
  return trace.build();
}

/// Processes of a run, each the child of the one before it.
Trace process_runs(std::size_t count) {
  Trace trace = ordinary(count);
  trace.format = "fathom-wire";
  for (std::size_t i = 0; i < count; ++i) {
    trace.process_runs.push_back({.pid = whole(i) + 1,
                                  .parent = whole(i),
                                  .role = trace.strings.intern(i == 0 ? "main" : "child"),
                                  .name = trace.strings.intern("sh"),
                                  .start_ns = whole(i) * kGap,
                                  .end_ns = whole(count) * kGap,
                                  .wall_ns = whole(count - i) * kGap,
                                  .user_ns = kGap,
                                  .system_ns = kGap});
  }
  return trace;
}

}  // namespace

std::span<const HostileTrace> hostile_traces() {
  static const HostileTrace kTraces[] = {
      {"ordinary", ordinary, few()},
      {"many_steps", many_steps, few()},
      {"equal_ids", equal_ids, few()},
      {"zero_ids", zero_ids, few()},
      // With less a rule of the host finds too little time lost to look further, then does.
      {"equal_ids_of_processes", equal_ids_of_processes, kFew},
      {"equal_times", equal_times, few()},
      {"no_lengths", no_lengths, few()},
      {"one_thread_and_name", one_thread_and_name, few()},
      {"distinct_names", distinct_names, few()},
      {"distinct_ops_of_one_kernel", distinct_ops_of_one_kernel, few()},
      {"distinct_kernels_of_one_op", distinct_kernels_of_one_op, few()},
      {"nested_ops", nested_ops, deep()},
      {"copies_in_a_nest", copies_in_a_nest, deep()},
      {"collectives_in_a_nest", collectives_in_a_nest, deep()},
      {"nested_annotations", nested_annotations, deep()},
      {"nested_frames", nested_frames, deep()},
      {"after_nested_frames", after_nested_frames, deep()},
      {"out_of_nested_frames", out_of_nested_frames, deep()},
      {"python_in_a_nest", python_in_a_nest, deep()},
      {"convolutions_in_a_nest", convolutions_in_a_nest, deep()},
      {"seeds", seeds, few()},
      {"growing_tensors", growing_tensors, few()},
      {"overlapping", overlapping, few()},
      {"all_overlapping", all_overlapping, few()},
      {"kernels_within_kernels", kernels_within_kernels, few()},
      {"threads", threads, many()},
      {"concurrent_threads", concurrent_threads, few()},
      {"streams", streams, many()},
      {"devices", devices, few()},
      {"processes", processes, few()},
      {"stepping_processes", stepping_processes, few()},
      {"equal_sequences_of_threads", equal_sequences_of_threads, kFew},
      {"counters", counters, most()},
      {"one_graph", one_graph, few()},
      {"event_waits", event_waits, few()},
      {"equal_links", equal_links, few()},
      {"allocations", allocations, few()},
      {"copies", copies, few()},
      {"collectives", collectives, few()},
      {"profiles_of_python", profiles_of_python, few()},
      {"process_runs", process_runs, few()},
      {"statements", statements, few()},
      {"samples", samples, few()},
      {"sampled_threads", sampled_threads, few()},
      {"sampled_loop", sampled_loop, few()},
      {"deep_stack_of_program", deep_stack_of_program, deep()},
      {"deep_stack_of_selectors", deep_stack_of_selectors, deep()},
      {"deep_stack_of_shared_locks", deep_stack_of_shared_locks, deep()},
      {"deep_stack_of_conditions", deep_stack_of_conditions, deep()},
  };
  return kTraces;
}

}  // namespace fathom
