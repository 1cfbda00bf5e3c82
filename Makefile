# make demo | test | room | studies | check | torture | mutants | kills | interop | reality | house | package | docs | bench | ratios | install | clean
PYTHON ?= python3
VENV ?= .venv
PYTEST_ARGS ?= -n logical --maxprocesses 8 --dist worksteal
TESTS ?= tests
PROCESSES ?= 8
INTEROP ?= build/interop
REALITY ?= build/reality
PACKAGE ?= build/package
RATIOS ?= build/ratios
BESIDE ?= nothing else

BIN := $(VENV)/bin
SOURCES := $(shell find src -type f -not -name '*.pyc')
DEMO_TEXTS := examples/abstracts

.PHONY: demo test room studies check torture mutants kills interop reality house package docs bench ratios install clean

demo: $(VENV)/.base
	@echo "Annotating $(DEMO_TEXTS) with the model that is in the package:"
	$(BIN)/fascicle annotate $(DEMO_TEXTS) --format text
	$(BIN)/fascicle annotate $(DEMO_TEXTS) --output demo-output/ --overwrite
	@echo "The same annotations as files are in demo-output/."

# Without bytecode, each of the hundreds of processes that tests start compiles the package anew.
test room studies check: export PYTHONDONTWRITEBYTECODE :=

test: $(VENV)/.dev
	$(BIN)/python -m pytest $(PYTEST_ARGS) $(TESTS)

# The fast tests of one room, and the rules for all: make room ROOM=text
room: $(if $(ROOM),$(VENV)/.dev)
	@test -n "$(ROOM)" || { echo "make room needs ROOM, a folder of tests, such as make room ROOM=text" >&2; exit 2; }
	$(BIN)/python -m pytest -q -m "not slow" $(PYTEST_ARGS) tests/$(ROOM) tests/test_architecture.py

studies: $(VENV)/.dev
	$(BIN)/python -m pytest $(PYTEST_ARGS) studies

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q -m "not slow" $(PYTEST_ARGS) $(TESTS)

torture: $(VENV)/.dev
	$(BIN)/python -m tests.torture.fuzz_readers --count 10000 --processes $(PROCESSES)
	$(BIN)/python -m tests.formats.oracle.trial --count 500
	FASCICLE_MUTANTS=10000 $(BIN)/python -m pytest $(PYTEST_ARGS) -m slow tests/terms/sources/test_fuzz.py

# Each guard is broken in a copy of the tree, in turn; the tests that are named for it have to notice.
mutants: $(VENV)/.dev
	$(BIN)/python -m tests.mutants

# Commands that are killed, or that find no room or no disk to write to, at random moments.
kills: $(VENV)/.dev
	$(BIN)/python -m tests.torture.kills

# How dense the code is.
house: $(VENV)/.dev
	$(BIN)/python -m tests.density

# Other programs, as they are installed from the registry; none of them gets into the environment of development.
interop: $(INTEROP)/tools/.made $(INTEROP)/label-studio/.made $(INTEROP)/medspacy/.made $(INTEROP)/gliner/.made $(INTEROP)/openapi/.made $(INTEROP)/kgx/.made $(INTEROP)/spark/.made
	FASCICLE_INTEROP=1 HF_HUB_OFFLINE=1 PYTHONPATH=src:. LABEL_STUDIO=$(abspath $(INTEROP))/label-studio/bin/label-studio \
		$(INTEROP)/tools/bin/python -m pytest -p no:cacheprovider -c tests/interop/pytest.ini tests/interop
	for program in medspacy:spacy_step gliner:gliner_step openapi:openapi kgx:kgx spark:spark label-studio:label_studio_commands; do \
		FASCICLE_INTEROP=1 HF_HUB_OFFLINE=1 PYTHONPATH=src:. LABEL_STUDIO=$(abspath $(INTEROP))/label-studio/bin/label-studio \
			$(INTEROP)/$${program%:*}/bin/python -m pytest -p no:cacheprovider \
			-c tests/interop/pytest.ini tests/interop/test_$${program#*:}.py || exit 1; done

# Real libraries on valid input, with Fascicle beside them; a folder of tests for each set that fits into one environment.
reality: $(REALITY)/tools/.made $(REALITY)/elder/.made $(REALITY)/ontologies/.made
	for set in tools elder ontologies; do \
		FASCICLE_REALITY=1 HF_HUB_OFFLINE=1 PYTHONPATH=src:. $(REALITY)/$$set/bin/python -m pytest -p no:cacheprovider \
			-c tests/reality/pytest.ini tests/reality/$$set || exit 1; done

define environment
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --disable-pip-version-check -q -r $<
	rm -rf $(@D)/lib/python*/site-packages/tests  # of a package that installs its tests, which hides ours
	@touch $@
endef

$(INTEROP)/%/.made: tests/interop/requirements-%.txt
	$(environment)

$(REALITY)/%/.made: tests/reality/requirements-%.txt
	$(environment)

# What is uploaded for a release: a wheel that is built from the sdist, checked, and tried in an environment of its own.
package: tests/package/requirements.txt
	rm -rf $(PACKAGE)
	$(PYTHON) -m venv $(PACKAGE)/tools
	$(PACKAGE)/tools/bin/python -m pip install --disable-pip-version-check -q -r $<
	$(PACKAGE)/tools/bin/python -m build -o $(PACKAGE)/dist .
	$(PACKAGE)/tools/bin/twine check --strict $(PACKAGE)/dist/*
	$(PACKAGE)/tools/bin/check-wheel-contents $(PACKAGE)/dist/*.whl
	$(PYTHON) -m venv $(PACKAGE)/empty
	$(PACKAGE)/empty/bin/python -m pip install --disable-pip-version-check -q $(PACKAGE)/dist/*.whl
	$(PACKAGE)/empty/bin/python -I tests/package/smoke.py
	for version in 3.12 3.13; do $(PACKAGE)/empty/bin/python -m pip install --disable-pip-version-check -q --dry-run \
		--target $(PACKAGE)/none --python-version $$version --only-binary=:all: $(PACKAGE)/dist/*.whl || exit 1; done

docs: $(VENV)/.dev
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --builder html docs build/docs
	@echo "The documentation is in build/docs/index.html."

bench: $(VENV)/.dev
	$(BIN)/python -m studies.results_packs unpack
	$(BIN)/python -m studies.tables

# Everyday jobs beside the fastest library at each; FASCICLE_DATA names the corpora, BESIDE what else runs meanwhile.
ratios: $(if $(FASCICLE_DATA),$(VENV)/.dev $(RATIOS)/peers/.made)
	@test -n "$(FASCICLE_DATA)" || { echo "make ratios needs FASCICLE_DATA, the folder of the corpora" >&2; exit 2; }
	$(BIN)/python -m studies.results_packs unpack
	$(BIN)/python -m studies.speed.ratios --peers $(abspath $(RATIOS))/peers/bin/python --beside "$(BESIDE)"
	$(BIN)/python -m studies.tables

$(RATIOS)/%/.made: studies/speed/requirements-ratios.txt
	$(environment)

install: $(VENV)/.base

clean:
	rm -rf $(VENV) build dist demo-output .mypy_cache .ruff_cache .pytest_cache .hypothesis

# The stamps make re-runs quick. An editable development install serves the demo too, so it is never replaced.
$(VENV)/.python:
	@echo "Making a virtual environment in $(VENV) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Fascicle needs Python 3.11 or newer; name one with make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.base: $(VENV)/.python pyproject.toml $(SOURCES)
	@test -e $(VENV)/.dev || echo "Installing Fascicle and what it needs into $(VENV), once; this may take a minute ..."
	test -e $(VENV)/.dev || $(BIN)/python -m pip install --disable-pip-version-check .
	@touch $@

$(VENV)/.dev: $(VENV)/.python pyproject.toml constraints-dev.txt
	@echo "Installing everything for development into $(VENV), torch too, once; this may take some minutes ..."
	$(BIN)/python -m pip install --disable-pip-version-check -c constraints-dev.txt -e '.[dev]'
	@touch $@
