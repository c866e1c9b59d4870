# Every target sets up what it needs; see README.md.
NODE := node_modules/.bin/node
RUN := env -u NODE_EXTRA_CA_CERTS $(NODE) --conditions=source

.PHONY: demo test proof bench check build clean setup setup-test fuzz lab

demo: setup
	@$(RUN) test/demo/main.ts

test: setup-test
	@$(RUN) scripts/test.ts

# BENCH_ROUNDS=4 for a short run, RECORD=1 to keep the results in docs/performance.md
bench: setup-test
	@$(RUN) bench/main.ts

# The conformance kit on all plugins, killed at every system call that changes something, in both lanes; hours.
# PLUGINS=vlan,vrf for some of them only
proof: export HEDDLE_LAB := user-mode
proof: setup-test
	@for lane in program agent; do \
	  HEDDLE_TEST_LANE=$$lane HEDDLE_CONFORMANCE=$${PLUGINS:-all} HEDDLE_CRASH=all $(RUN) scripts/test.ts test/conformance || exit 1; \
	done

check: setup
	@$(RUN) scripts/check.ts

build: setup
	@$(RUN) scripts/build.ts

# An hour, or FUZZ_MINUTES=…; FUZZ_TARGET=… for some decoders only; FUZZ_INPUT=FILE executes one input again
fuzz: setup
	@$(RUN) test/fuzz/main.ts

# A shell on a kernel that has every link type, or one command there: make lab CMD='ip link'; HEDDLE_LAB=user-mode for a
# faster one that has fewer
lab: setup-test
	@$(RUN) scripts/lab/main.ts $(CMD)

setup:
	@scripts/setup.sh base

setup-test:
	@scripts/setup.sh test

clean:
	rm -rf node_modules packages/*/dist packages/*/build build
