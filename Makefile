# The front door. `make` alone lists what there is. Each goal installs what it lacks through tools/setup.

PREFIX ?= /usr/local
# How long `make fuzz` runs, all targets together; RUNS=N instead: how many inputs, the same ones each time.
SECONDS ?= 600
RUNS ?=
# What `make fuzz SECONDS=…` fails without: AT_LEAST inputs a second of each target that only parses, and INPUTS of all together.
AT_LEAST ?=
INPUTS ?=
# Compilers at a time, and test programs, of which many wait: one more.
JOBS ?= $(shell nproc)
TEST_JOBS ?= $(shell expr $(JOBS) + 1)
# Tests that `make test` and `make asan` leave out, as a regular expression.
LEAVE_OUT ?=
# How many tests that failed beside others may run once more, alone (tools/run_tests).
AGAIN ?= 0
# The one test program that `make debug`, `make asan` and `make tsan` build and run: make debug ONLY=base_test.
ONLY ?=
# Versions that `make test-cupti` reads, as 12.8.90; all where it is empty.
CUPTI ?=
# OFF: `make test` leaves out the unit tests of the rooms, which `make asan` has.
UNIT_TESTS ?= ON
# `make test-ui`: smoke, or all.
UI_TESTS ?= smoke
# ON: `make test`, `make debug` and `make asan` build what they test, and run nothing.
BUILD_ONLY ?= OFF
# Further options of the build that `make fuzz` makes.
FUZZ_BUILD ?=
# Further options of the build that `make asan` makes.
ASAN_BUILD ?=
# ON: `make debug` compiles several files as one, too: sooner ready, but not after a change of one file.
UNITY ?= OFF
# ON: larger groups of files that are compiled as one. A whole build takes less time, a change of one file more.
LARGE_GROUPS ?= OFF
# What `make check` tells tools/check_alone and tools/check_tidy about proofs: --write, --all, --again N.
PROOFS ?=
RELEASE := build/release
# The rooms whose tests run several threads at once.
TSAN_TESTS := $(if $(ONLY),$(ONLY),base_test wire_test formats_test inside_test cuda_test)
unless_build_only := $(if $(filter ON,$(BUILD_ONLY)),exit 0;)
space := $(subst ,, )
TRACE := $(firstword $(wildcard examples/*.json.gz))

.DEFAULT_GOAL := help
.PHONY: help build demo ui check-ui test-ui test test-torch test-cupti bench eval fuzz check format install uninstall dist wheel test-wheel clean debug asan tsan nightly

help: ## This list.
	@echo 'make <goal>, where goal is one of:'
	@sed -n 's/^\([a-z -]*\):.*## /\1|/p' Makefile | while IFS='|' read -r goal what; do printf '  %-12s%s\n' "$$goal" "$$what"; done

build: ## The release binary, build/release/fathom.
	@tools/setup build
	@tools/setup nvtx || echo 'build: no headers of NVTX: fathom run will not record its ranges' >&2
	@tools/setup cuda || echo 'build: no headers of CUPTI: fathom run will not record CUDA without PyTorch' >&2
	@$(call configure,release)
	@cmake --build $(RELEASE) -j $(JOBS) --target fathom_product

demo: build ## Diagnoses a real GPU trace, then records and diagnoses a program on this machine.
	$(RELEASE)/fathom diagnose $(TRACE)
	@tools/demo_live $(RELEASE)

ui: ## The web page, ui/dist, from ui/src (needs Node; the built page is committed).
	@tools/setup ui
	@cd ui && node build.mjs

check-ui: ## The web page: layers, types, format, unit tests, and that ui/dist is what the sources give.
	@tools/setup ui
	@tools/check_ui

test-ui: build ## The page in a browser: a smoke test of each view (make test-ui UI_TESTS=all for all of it).
	@tools/setup browser ui
	@FATHOM=$(abspath $(RELEASE)/fathom) FATHOM_UI_TESTS=$(UI_TESTS) \
	  build/browser/bin/python -m pytest -q -p no:cacheprovider tests/ui

test: ## All tests: unit, golden tables, the whole program, the release binary, the Python package.
	@tools/setup build python nvtx
	@tools/setup cuda || echo 'test: no headers of CUPTI: the tests of libfathom_cuda.so are left out' >&2
	@tools/setup beside || echo 'test: no greenlet, coverage and Cython: functions and lines beside them are not tested' >&2
	@tools/setup oldglibc || echo 'test: no older glibc: that the binary starts with one is not tested' >&2
	@tools/setup musl || echo 'test: no compiler for musl: what a program that is made for it does is tested in part' >&2
	@$(call configure,release,-DFATHOM_PYTHON=ON -DFATHOM_UNIT_TESTS=$(UNIT_TESTS))
	@cmake --build $(RELEASE) -j $(JOBS)
	@$(unless_build_only) AGAIN=$(AGAIN) tools/run_tests $(RELEASE) -j $(TEST_JOBS) $(if $(LEAVE_OUT),-E '$(value LEAVE_OUT)')

test-cupti: ## Real libraries of CUPTI (downloads 18, 220 MB) against the table of their records, and under the recorder.
	@tools/setup build cuda
	@tools/cupti_table.py --check $(CUPTI)
	@$(call configure,release)
	@cmake --build $(RELEASE) -j $(JOBS) --target fathom fathom_cuda fake_cupti cuda_program
	@FATHOM=$(abspath $(RELEASE)/fathom) python3 tests/cuda/real_libraries_test.py

test-torch: build ## The recording of real PyTorch programs (installs PyTorch, about 6 GB).
	@tools/setup build torch python
	@$(call configure,release,-DFATHOM_PYTHON=ON)
	@cmake --build $(RELEASE) -j $(JOBS) --target fathom fathom_core
	@FATHOM=$(abspath $(RELEASE)/fathom) FATHOM_TEST_TORCH=1; export FATHOM FATHOM_TEST_TORCH; \
	for each in tests/capture/*torch_test.py; do python3 $$each || exit 1; done; \
	FATHOM_SOURCE_DIR=$(CURDIR) FATHOM_BUILD_DIR=$(abspath $(RELEASE)) \
	PYTHONPATH=$(RELEASE)/python:$$(build/python/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') \
	$${FATHOM_TORCH_PYTHON:-build/torch/bin/python} -m pytest -q -p no:cacheprovider tests/python/torch_profile_test.py

debug asan: ## The same tests in another build: assertions; assertions and sanitizers (clang's, which compile fastest).
	@tools/setup build nvtx $(if $(filter asan,$@),clang)
	@tools/setup cuda || echo '$@: no headers of CUPTI: the tests of libfathom_cuda.so are left out' >&2
	@$(call configure,$@,$(if $(filter asan,$@),$(ASAN_BUILD)))
	@cmake --build build/$@ -j $(JOBS) $(if $(ONLY),--target $(ONLY))
	@$(unless_build_only) FATHOM_DATA=$${FATHOM_DATA-none} AGAIN=$(AGAIN) tools/run_tests build/$@ -j $(TEST_JOBS) \
	  $(if $(ONLY),-R '^$(ONLY)/') $(if $(LEAVE_OUT),-E '$(value LEAVE_OUT)')

# The recorder has handlers of its own for the signals that end a program.
tsan: ## Data races in what runs inside other programs and in the reader, by the thread sanitizer.
	@tools/setup build nvtx
	@tools/setup cuda || echo '$@: no headers of CUPTI: the tests of libfathom_cuda.so are left out' >&2
	@$(call configure,$@)
	@cmake --build build/$@ -j $(JOBS) --target $(TSAN_TESTS)
	@FATHOM_DATA=none TSAN_OPTIONS=handle_segv=0:handle_abort=0:handle_sigbus=0 tools/run_tests build/$@ \
	  -j $(JOBS) -R '^($(subst $(space),|,$(TSAN_TESTS)))/'

bench: ## The benchmarks of bench/, one after the other (make bench BENCHMARK_MIN_TIME=0.01 for a short run).
	@tools/setup build bench
	@$(call configure,release,-DFATHOM_BENCH=ON)
	@cmake --build $(RELEASE) -j $(JOBS) --target fathom benches
	@for program in $(RELEASE)/bench/*_bench; do \
	  [ -x "$$program" ] || { echo 'bench: there are no benchmarks in bench/'; exit 1; }; \
	  echo "== $$program"; $$program || exit 1; done

eval: build ## Diagnoses every labelled trace: is the verdict right, are the findings true?
	@FATHOM=$(RELEASE)/fathom tools/eval --gate

fuzz: ## Fuzzes the readers for ten minutes (make fuzz SECONDS=60 for less).
	@tools/setup build clang
	@$(call configure,fuzz,$(FUZZ_BUILD))
	@cmake --build build/fuzz -j $(JOBS) --target fuzzers
	@tools/fuzz build/fuzz $(if $(RUNS),--runs $(RUNS),$(SECONDS) $(if $(AT_LEAST),--at-least $(AT_LEAST)) $(if $(INPUTS),--inputs $(INPUTS)))

check: ## Layers, names, format, words, includes and clang-tidy.
	@tools/setup build check python
	@tools/setup nvtx || echo 'check: no headers of NVTX: src/capture/nvtx is not read' >&2
	@tools/setup cuda || echo 'check: no headers of CUPTI: src/capture/cuda is not read' >&2
	@tools/check_layers.py
	@tools/check_names
	@tools/check_format
	@tools/check_words
	@$(call configure,debug,-DFATHOM_PYTHON=ON)
	@tools/check_alone build/debug -j $(JOBS) $(PROOFS)
	@tools/check_tidy build/debug -j $(JOBS) $(PROOFS)

nightly: ## All that the gate has no time for (tools/nightly).
	@tools/nightly

format: ## Rewrites our sources as clang-format wants them.
	@tools/setup check
	@tools/check_format --fix

install: build ## Copies the program, its manual page and completion, and the SDK to PREFIX (/usr/local).
	@cmake --build $(RELEASE) -j $(JOBS) --target fathom_sdk fathom_memory
	@mkdir -p '$(PREFIX)' && prefix=$$(cd '$(PREFIX)' && pwd -P) && cmake --install $(RELEASE) --strip --prefix "$$prefix" \
	&& mkdir -p "$$prefix/share/fathom" && sort $(RELEASE)/install_manifest.txt >"$$prefix/share/fathom/installed"

uninstall: ## Removes from PREFIX (/usr/local) what `make install` put there, and folders that are empty then.
	@tools/uninstall '$(PREFIX)'

dist: build ## Tarball, package for Debian and Ubuntu, and their sums, in build/dist.
	@rm -rf build/dist
	@tools/dist $(RELEASE) build/dist
	@ls -l build/dist

wheel: ## Wheels of the Python package for the CPythons here (3.10, 3.11, 3.12 and later), x86-64 and aarch64, in build/wheels/made.
	@tools/setup build python nvtx cuda
	@rm -rf build/wheels/made
	@tools/wheels build/wheels/made
	@if [ "$$(uname -m)" = aarch64 ]; then :; \
	elif tools/setup aarch64 && tools/fetch_sources aarch64; then tools/wheels build/wheels/made --aarch64; \
	else echo 'wheel: no cross compiler for aarch64, or none of its libraries: no wheels for it' >&2; fi
	@ls -l build/wheels/made

test-wheel: wheel ## The wheels in bare environments of all CPythons here, without compiler and network; aarch64's under qemu-user.
	@FATHOM_WHEELS=$(CURDIR)/build/wheels/made build/python/bin/python tests/packages/wheels.py
	@if [ "$$(uname -m)" = aarch64 ]; then :; \
	elif tools/setup qemu emulated; then FATHOM_WHEELS=$(CURDIR)/build/wheels/made build/python/bin/python tests/packages/emulated.py; \
	else echo 'test-wheel: no emulator, or no Python for it: the wheels for aarch64 are not tested' >&2; fi

clean: ## Removes the build trees, not what was downloaded (build/sources, build/torch, build/python, …) or learned by fuzzing.
	@if [ -d build ]; then find build -mindepth 1 -maxdepth 1 ! -name sources ! -name torch ! -name python ! -name beside ! -name peers ! -name browser ! -name nvtx ! -name glibc ! -name pythons ! -name 'cuda*' ! -name cupti ! -name fuzz -exec rm -rf {} +; fi
	@if [ -d build/fuzz ]; then find build/fuzz -mindepth 1 -maxdepth 1 ! -name corpus -exec rm -rf {} +; fi

# Quiet unless it fails: what cmake finds out is of interest to no one. $(1) preset, $(2) further options. But for
# `debug`, in which one works, several files are compiled as one.
configure = cmake --preset $(1) $(2) -DFATHOM_UNITY=$(if $(filter debug,$(1)),$(UNITY),ON) -DFATHOM_LARGE_GROUPS=$(LARGE_GROUPS) >/dev/null
