# Everything here also installs what it needs (tools/setup): a fresh Debian 12 with gcc, make, python3 >= 3.11 and pip is enough.
PYTHON ?= python3
VENV   := .venv
TOOLS  := $(VENV)/.weir-tools
STAMP  := $(VENV)/.weir-setup
BIN    := $(abspath $(VENV)/bin)
CMAKE  := $(BIN)/cmake
BUILD  := build/release
JOBS   ?= $(shell nproc)

.PHONY: all library build debug asan tsan test test-whole check fuzz test-jax-versions test-tensorflow test-torch test-devices test-aarch64 test-avx2 mutants golden demo bench wheel docs layers metrics tidy clean distclean help

all: build ## library, command and Python package (the default)

help: ## this list
	@grep -hE '^[a-z-]+:.*##' Makefile | sed 's/:.*##/\t/' | expand -t20

# What the library is built with, and then all else: packages are loaded while the compiler works.
$(TOOLS): tools/setup
	@PYTHON='$(PYTHON)' sh tools/setup $(VENV) tools
	@touch $@

$(STAMP): pyproject.toml $(TOOLS)
	@PYTHON='$(PYTHON)' sh tools/setup $(VENV) packages
	@touch $@

# $(1): build folder, $(2): CMake settings. CMake itself re-runs where a file was added.
define cmake_build
	@test -f $(1)/build.ninja || $(CMAKE) -S . -B $(1) -G Ninja -DCMAKE_MAKE_PROGRAM=$(BIN)/ninja $(2) >$(1).log 2>&1 || { cat $(1).log; exit 1; }
	@$(CMAKE) --build $(1) -j $(JOBS) -- --quiet
endef

library: $(TOOLS)
	@mkdir -p build
	$(call cmake_build,$(BUILD),-DCMAKE_BUILD_TYPE=RelWithDebInfo)

build: library $(STAMP)
	@ln -sf ../../$(BUILD)/libweir.so python/weir/libweir.so
	@if [ -x $(BUILD)/weir ]; then ln -sf ../../$(BUILD)/weir $(VENV)/bin/weir; fi

debug: $(TOOLS) ## build/debug: no optimisation, asserts on
	@mkdir -p build
	$(call cmake_build,build/debug,-DCMAKE_BUILD_TYPE=Debug)

asan: $(TOOLS) ## build/asan: AddressSanitizer and UndefinedBehaviorSanitizer, warnings are errors
	@mkdir -p build
	$(call cmake_build,build/asan,-DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS=-O1 -DWEIR_SANITIZE=address$(comma)undefined -DWEIR_WERROR=ON)
comma := ,

test: ## each test, of its cases a share that changes with the commit; ends with "N passed, N failed"
	@$(MAKE) --no-print-directory -j2 build asan
	@$(BIN)/python tools/run_tests.py all --build $(BUILD) --asan build/asan

test-whole: ## each test with all of its cases: before code is merged
	@$(MAKE) --no-print-directory -j2 build asan
	@$(BIN)/python tools/run_tests.py whole --build $(BUILD) --asan build/asan

check: asan $(STAMP) ## unit programs and lit under the sanitizers
	@$(BIN)/python tools/run_tests.py check --asan build/asan

tsan: $(TOOLS) ## what runs on several threads, under ThreadSanitizer
	@mkdir -p build
	$(call cmake_build,build/tsan,-DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS=-O1 -DWEIR_SANITIZE=thread)
	@for program in kernel_run progress kernel_cache; do TSAN_OPTIONS=halt_on_error=1 build/tsan/unit/$${program}_test || exit 1; done

fuzz: $(STAMP) ## libFuzzer on every reader, FUZZ_SECONDS each (600); needs clang
	@mkdir -p build
	$(call cmake_build,build/fuzz,-DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER=clang -DWEIR_FUZZ=ON -DWEIR_TESTS=OFF)
	@$(BIN)/python tools/fuzz.py --build build/fuzz --seconds $(or $(FUZZ_SECONDS),600)

mutants: $(STAMP) ## which wrong changes of the sources do tests notice? hours: docs/testing.md
	@nice -n 19 $(BIN)/python tools/mutants.py run

test-jax-versions: build ## the tests of the hook, whole, with the oldest and the newest jax of each Python at hand
	@$(BIN)/python tools/run_tests.py jax --build $(BUILD)

test-tensorflow: build ## the hook in TensorFlow, with its oldest and its newest version
	@$(BIN)/python tools/run_tests.py tensorflow --build $(BUILD)

test-torch: build ## PyTorch on JAX (torchax): loads 2.9 GB
	@$(BIN)/python tools/run_tests.py torch --build $(BUILD)

test-devices: build ## plans for GPUs and TPUs, judged by their own XLA, whole
	@$(BIN)/python tools/run_tests.py devices --build $(BUILD)

test-aarch64: build ## kernels for 64-bit Arm in an emulator, more of them than make test tries
	@$(BIN)/python tools/run_tests.py aarch64 --build $(BUILD)

test-avx2: build ## as on a processor with AVX2 and no AVX-512: units, lit, a share of the rest
	@$(BIN)/python tools/run_tests.py avx2 --build $(BUILD)

demo: build ## an unchanged JAX script under a memory limit
	@$(BIN)/python examples/demo.py

bench: build ## loops as kernels beside C and JAX by hand: docs/performance.md
	@$(BIN)/python bench/kernels.py

wheel: $(STAMP) ## dist/*.whl, for every Python and any Linux with glibc 2.27
	@$(BIN)/python tools/wheel.py

docs: build ## build/docs/site: the documents as a site, with the tutorials as they ran
	@$(BIN)/python tools/docs.py

golden: build ## writes the expected outputs of test/lit anew: look at the difference before you commit
	@$(BIN)/python tools/golden.py --build $(BUILD)

layers: ## checks who includes whom, and where measured numbers stand
	@$(PYTHON) tools/layers.py && $(PYTHON) tools/tuned.py

metrics: ## lines per folder, long functions
	@$(PYTHON) tools/metrics.py

tidy: debug ## clang-tidy, if installed
	@command -v clang-tidy >/dev/null || { echo "make tidy needs clang-tidy (Debian package clang-tidy)"; exit 1; }
	@clang-tidy -p build/debug --quiet $$(find src -name '*.c')

clean: ## build products
	rm -rf build dist python/weir/libweir.so

distclean: clean ## also the Python environment
	rm -rf $(VENV)
