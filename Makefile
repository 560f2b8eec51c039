# The words people type, over Meson, which is the only build system.
# `make help` lists them.

BUILD ?= build
CHECK ?= build-check
TSAN ?= build-tsan
MSAN ?= build-msan
VALGRIND ?= build-valgrind
AARCH64 ?= build-aarch64
COVER ?= build-cover
LTO ?= build-lto
MUSL ?= build-musl
prefix ?= $(or $(PREFIX),/usr/local)

# Given to `meson setup` when a build folder is made, as in
# MESON_ARGS=-Dwerror=true.
MESON_ARGS ?=

# Slow cases wait for time to pass rather than for the processor.
export MESON_TESTTHREADS ?= $(shell n=$$(nproc 2>/dev/null || echo 2); echo $$((n * 3)))

# MemorySanitizer has to see all that a program runs; c-ares, libidn2, jansson, OpenSSL, SQLite and libstdc++ are not built for it.
# What its own calls take of a stack is no measure.
MSAN_BUT = --but io-,tls-,http-,sqlite-,fault-every-call-sqlite,fault-every-call-tls,fault-tls,fault-proxy,cmd-,gdb-,cxx-,scope-names_cpp,co-backtrace,fault-every-call-real,scope-stack_record,test-net,wire/json_peers

# QUICK=1: without the sweeps, which `make check` runs under ASan.
SWEEPS = io-process_fault,fault-,loom-,sim-seeds,sim-modes,tls-flood,tls-certificates,tls-sessions,tls-hostile,http-key,http-split,http-coding_chain,http-https,wire/http1_corpus,cmd-crash,cmd-damage,cmd-answers
BUT_SWEEPS = $(if $(QUICK)$(SAMPLE),--but $(SWEEPS)$(BUT_MORE))

# What needs servers, schedulers, a browser or registries, which a plain Debian lacks: `make interop`.
INTEROP = pg-bouncer,pg-cancel,pg-connect,pg-crash,pg-loan,pg-outage,pg-pipeline,pg-pool,pg-query,pg-stream,pg-tls,pg-transaction,redis-,mongo-,docs-pages,docs-schedulers,docs-speedscope,e2e-chat-page,e2e-fastapi-peer,e2e-http-peers,e2e-http2-clients,e2e-openapi,e2e-proxy,e2e-serve-peers,e2e-server-peers,e2e-slow-clients,e2e-slow-readers,e2e-uploads

# TWINS=1, for `.ci/run`: the twins in Python of the examples run in `make examples`, which waits, and not in `make check`.
CHECK_BUT = $(TWINS:1=,twin-)
EXAMPLES_WITH = $(TWINS:1=--with-twins --slack 60)

# SAMPLE=1, for `.ci/run`. ThreadSanitizer: the suites of the core, input and output, HTTP, TLS, logs, limits, databases
# and process pools, in which threads and processes meet; not the sweeps. Torture: two minutes of it.
TSAN_SAMPLE = --only unit,bug,planted
# Long, and in one thread.
TSAN_LONG = ,cmd-merge-sort,cmd-events,cmd-assembly,cmd-select,cmd-endpoint,http-multipart_bombs,test-explore,limit-limiter-schedules
TORTURE_SAMPLE = --names e2e-injected,e2e-batch-torture,e2e-torture,scope-,io-file-in,io-stream-in,http-client-in,http-server-in,http-pool-in,limit-retry-in,sim-

# Long under Valgrind, and under other tools in `.ci/run` too.
BUT_LONG = ,cmd-merge-sort,cmd-events,cmd-alloc,cmd-output,cmd-assembly,wire/json_write,test-run,test-explore,limit-limiter-schedules

SANITIZE = -Db_lundef=false -Dtests=true -Dexamples=true -Dbuildtype=debugoptimized

OPTIMIZE = -Db_lto=true -Dbuildtype=release -Dtests=true -Dexamples=true

# Links of the builds with a sanitizer take a third of the time with lld, which deps-check installs.
QUICK_LINKS = $$(command -v ld.lld >/dev/null && echo CC_LD=lld CXX_LD=lld)

# A build can take minutes: ninja's own line says where it is on a terminal, else one line says what goes on.
ninja = @if [ -t 1 ]; then ninja -C $(1); else echo "make: building $(1)"; ninja -C $(1) --quiet; fi

.DEFAULT_GOAL := all
.PHONY: all demo demo-fetch check interop tsan msan valgrind aarch64 lto musl cover torture steady fuzz mutate bench tidy format examples course install dist wheel \
	clean help deps-build deps-course deps-check deps-interop deps-bench deps-dist deps-wheel deps-wheel-aarch64

all: deps-build $(BUILD)/build.ninja       ## (or just make) the optimised program, at build/eddy
	$(call ninja,$(BUILD))
	@if [ -e $(BUILD)/cmd/eddy/eddy ]; then ln -sfn cmd/eddy/eddy $(BUILD)/eddy; else rm -f $(BUILD)/eddy; fi
	@$(if $(filter-out all,$(MAKECMDGOALS)),:,if [ -e $(BUILD)/eddy ]; then echo "$(BUILD)/eddy is ready; next: make demo"; fi)

demo: all                                  ## 1,000 API requests to a local server, interrupted and resumed
	@tools/demo $(BUILD)/eddy

demo-fetch: all                            ## 50 slow requests, 8 at a time, to a local server
	@tools/demo-fetch $(BUILD)/eddy

check: deps-check $(CHECK)/build.ninja     ## all tests under ASan and UBSan; T=name for some
	$(call ninja,$(CHECK))
	@tools/run-tests $(CHECK) --not tidy,torture,bench $(if $(T),--match '$(T)',--but $(INTEROP)$(CHECK_BUT))

interop: deps-interop deps-check $(CHECK)/build.ninja   ## tests beside servers, schedulers and a browser, skipped by name without them
	@tests/unit/mongo/server fetch || echo "interop: no mongo-java-server, its cases are skipped"
	@timeout 60 tests/e2e/peers/node_packages fetch || echo "interop: no packages of npm, their cases are skipped"
	@tests/e2e/peers/python_packages fetch || echo "interop: no packages of PyPI, their cases are skipped"
	$(call ninja,$(CHECK))
	@tools/run-tests $(CHECK) --only unit,docs,e2e --names $(INTEROP) $(if $(T),--match '$(T)')

tsan: BUT_MORE = $(if $(SAMPLE),$(TSAN_LONG))
tsan: deps-check $(TSAN)/build.ninja       ## all tests under ThreadSanitizer (clang); SAMPLE=1, QUICK=1, T=name
	$(call ninja,$(TSAN))
	@tools/run-tests $(TSAN) $(if $(SAMPLE),$(TSAN_SAMPLE),--not tidy,torture,bench,tools,docs) --patience 4 $(BUT_SWEEPS) $(if $(T),--match '$(T)')

msan: deps-check $(MSAN)/build.ninja       ## the tests of the core under MemorySanitizer (clang); QUICK=1, T=name
	@tools/run-tests $(MSAN) --build --only unit,wire,fuzz,sim,fault,bug,traces --patience 4 $(MSAN_BUT)$(QUICK:1=,$(SWEEPS)) \
		$(if $(T),--match '$(T)')

valgrind: BUT_MORE = $(BUT_LONG)
valgrind: deps-check $(VALGRIND)/build.ninja   ## the tests of the floors under Valgrind; QUICK=1, T=name
	$(call ninja,$(VALGRIND))
	@tools/run-tests $(VALGRIND) --not tidy,torture,bench,e2e,tools,docs --wrap tools/valgrind --patience 10 $(BUT_SWEEPS) \
		$(if $(T),--match '$(T)')

aarch64: deps-check $(AARCH64)/build.ninja  ## the tests of the floors for aarch64, under qemu; QUICK=1, T=name
	$(call ninja,$(AARCH64))
	@tools/run-tests $(AARCH64) --not tidy,torture,bench,e2e,tools,docs --patience 4 $(BUT_SWEEPS) \
		$(if $(T),--match '$(T)')

lto: deps-check $(LTO)-gcc/build.ninja $(LTO)-clang/build.ninja  ## tests of the switch with link-time optimisation
	@status=0; \
	tools/run-tests $(LTO)-gcc --build --only lto $(if $(T),--match '$(T)') || status=1; \
	tools/run-tests $(LTO)-clang --build --only lto,examples $(if $(T),--match '$(T)') || status=1; exit $$status

musl: deps-check $(MUSL)/build.ninja       ## the tests of the core with musl instead of glibc; T=name
	$(call ninja,$(MUSL))
	@tools/run-tests $(MUSL) --not torture $(if $(T),--match '$(T)')

cover: deps-check $(COVER)/build.ninja     ## what share of the core's lines and branches the tests run
	@find $(COVER) -name '*.gcda' -delete
	@tools/run-tests $(COVER) --build --only unit,wire,kit,sim,fault,bug,traces --but http-,cmd-,gdb- --patience 4
	@tools/cover $(COVER)

torture: deps-check $(CHECK)/build.ninja   ## the slow sweeps of the tests; QUICK=1 for a sample, SAMPLE=1 for two minutes of it
	$(call ninja,$(CHECK))
	@$(if $(QUICK)$(SAMPLE),EDDY_TEST_QUICK=1 )tools/run-tests $(CHECK) --only torture --patience 4 \
		$(QUICK:1=--but fault-every-call) $(if $(SAMPLE),$(TORTURE_SAMPLE)) $(if $(T),--match '$(T)')

# Few tests at a time, which share one core; MESON_TESTTHREADS=N changes it.
steady: MESON_TESTTHREADS = 2
steady: deps-check $(CHECK)/build.ninja    ## all tests with their processes stopped at random; T=name, TIMES=3, SEED=N
	$(call ninja,$(CHECK))
	@tools/steady $(CHECK) --not tidy,torture,bench,tools,docs $(if $(TIMES),--times $(TIMES)) $(if $(SEED),--seed $(SEED)) \
		$(if $(T),--match '$(T)')

fuzz: deps-check                           ## the parsers against made-up input; SECONDS=60 T=target
	@tests/fuzz/run $(or $(SECONDS),60) $(T)

mutate: deps-check                         ## which of 100 flipped conditions the tests notice
	@tools/mutate $(if $(T),--match '$(T)')

bench: deps-bench                          ## figures beside the peers
	@bench/run

tidy: deps-check all                       ## floors, names, banned calls, headers, format, documents
	@status=0; tests/tidy/run --build $(BUILD) || status=1; \
	tests/tidy/selftest --build $(BUILD) $(if $(CI),,>/dev/null) || status=1; exit $$status

format: deps-check                         ## clang-format on all C files
	@tools/c-files | xargs clang-format -i

examples: deps-build $(if $(TWINS),deps-course) $(BUILD)/examples.made  ## build the examples and run them; TWINS=1: their twins in Python too
	$(call ninja,$(BUILD))
	@examples/run $(BUILD) $(EXAMPLES_WITH)

# The list needs no build.
course: $(if $(N),deps-course $(BUILD)/examples.made)  ## the courses' programs, by number; N=14 runs one, in C and in Python
	@$(if $(N),ninja -C $(BUILD) --quiet && tools/course run $(BUILD) '$(N)',tools/course list)

install: all                               ## PREFIX=/usr/local (or prefix=), DESTDIR=
	@meson configure $(BUILD) --prefix=$(prefix)
	@ninja -C $(BUILD) --quiet >/dev/null
	@DESTDIR=$(DESTDIR) meson install -C $(BUILD) --no-rebuild --quiet
	@[ "$(DESTDIR)" ] || [ "$$(id -u)" -ne 0 ] || ldconfig

dist: deps-dist                            ## source, .debs, static program and wheel, in dist/
	@tools/dist

# For another processor than this machine's, the cross compiler.
wheel: deps-wheel$(addprefix -,$(filter-out $(shell uname -m),$(filter aarch64,$(ARCH))))   ## the program for pip, in dist/; ARCH=aarch64 for 64-bit ARM
	@tools/wheel $(ARCH)

clean:                                     ## remove the build folders
	@rm -rf build build-* dist

help:                                      ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F '|' \
		'{ printf "%-28s%s\n", $$1, $$2 }'

deps-build deps-course deps-check deps-bench deps-dist deps-wheel deps-wheel-aarch64: deps-%:
	@tools/install-deps $*

deps-interop:
	@tools/install-deps interop || echo "interop: the cases of missing servers and tools are skipped"

$(BUILD)/build.ninja: | deps-build
	@echo "make: configuring $(BUILD)"
	@meson setup $(BUILD) $(MESON_ARGS) >/dev/null || { meson setup $(BUILD) $(MESON_ARGS); exit 1; }

$(BUILD)/examples.made: $(BUILD)/build.ninja
	@meson configure $(BUILD) -Dexamples=true
	@touch $@

$(CHECK)/build.ninja: | deps-check
	env $(QUICK_LINKS) meson setup $(CHECK) $(SANITIZE) -Db_sanitize=address,undefined $(MESON_ARGS)

# gcc 12's ThreadSanitizer dies at 8,128 tasks.
$(TSAN)/build.ninja: | deps-check
	env $(QUICK_LINKS) CC=clang CXX=clang++ meson setup $(TSAN) $(SANITIZE) -Db_sanitize=thread $(MESON_ARGS)

$(MSAN)/build.ninja: | deps-check
	CC=clang CXX=clang++ meson setup $(MSAN) $(SANITIZE) -Db_sanitize=memory -Ddatabases=disabled $(MESON_ARGS)

$(VALGRIND)/build.ninja: | deps-check
	meson setup $(VALGRIND) -Dtests=true -Dvalgrind=enabled -Dunder_valgrind=true -Doptimization=1 $(MESON_ARGS)

$(AARCH64)/build.ninja: | deps-check
	tools/aarch64-sysroot $(AARCH64)
	meson setup $(AARCH64) --cross-file tools/aarch64.ini --cross-file $(AARCH64)/sysroot.ini \
		-Dtests=true $(MESON_ARGS)

# -O3, as those who optimise while linking are likely to use.
$(LTO)-gcc/build.ninja: | deps-check
	CC=gcc CXX=g++ meson setup $(LTO)-gcc $(OPTIMIZE) $(MESON_ARGS)

$(LTO)-clang/build.ninja: | deps-check
	CC=clang CXX=clang++ CC_LD=lld CXX_LD=lld meson setup $(LTO)-clang $(OPTIMIZE) -Db_lto_mode=thin $(MESON_ARGS)

# Debian has neither c-ares, libidn2 nor a C++ library for musl, and musl-gcc does not know where the
# kernel's headers are.
$(MUSL)/build.ninja: | deps-check
	@mkdir -p $(MUSL)/kernel
	@for part in linux asm asm-generic; do \
		path=/usr/include/$$part; [ -e $$path ] || path=/usr/include/$$(gcc -print-multiarch)/$$part; \
		ln -sfn $$path $(MUSL)/kernel/$$part; done
	CC=musl-gcc CFLAGS="-idirafter $(CURDIR)/$(MUSL)/kernel" \
		meson setup $(MUSL) -Dfloors=core -Dtests=true $(MESON_ARGS)

# Not optimised: each condition keeps a jump of its own.
$(COVER)/build.ninja: | deps-check
	meson setup $(COVER) -Db_coverage=true -Dtests=true -Doptimization=0 $(MESON_ARGS)
