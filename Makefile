# The book "Learning to Align": `make book` to read it, `make test` to check it.
PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
CHAPTERS ?=
TESTS ?= tests

BIN = $(VENV)/bin
STAMP = $(VENV)/.installed
EXECUTE ?= stale
CHECKS = $(if $(wildcard tests),lint unit processors nbval strict browser,strict)
EVERYTHING = $(CHECKS) pages $(if $(wildcard tests),nightly colab versions)
# Each process has tests in a row, so that what several of them need is made once; one that is done takes over.
PYTEST = $(BIN)/python -m pytest -n $(JOBS) --dist worksteal
# The files that have a test with a marker, so that the others need not be read.
MARKED = $(shell grep -rl --include="test_*.py" "mark\.$(1)" tests)
# Executed by every check, with the knob at "quick". What the pages show holds by its stamps; `make test-all` executes it all.
CORE = $(wildcard book/[0-9]*.ipynb book/ten_minutes.ipynb book/primer.ipynb)
NBVAL = $(BIN)/python -m pytest --nbval-lax --nbval-current-env --nbval-cell-timeout=600 \
	-n $(JOBS) --dist loadscope -W default --durations=10

# One thread a process: two chapters run at a time, and the numbers stay the same on any machine.
export OMP_NUM_THREADS = 1
export MKL_NUM_THREADS = 1

.PHONY: help book html slides notebooks record verdicts study publish student grade pdf epub korean release outdated test test-all whole install lint unit \
	processors nbval pages strict browser nightly colab versions format clean
.NOTPARALLEL:

help:
	@echo "make book       install, execute what is not as stored, and build the book (EXECUTE=all: execute everything)"
	@echo "make html       build the book from the stored outputs, without executing"
	@echo "make slides     the same, and where the slides are, which every build makes"
	@echo "make notebooks  execute the chapters in place, to refresh their stored outputs"
	@echo "                (some only: make notebooks CHAPTERS=\"book/03_learning_to_align.ipynb\")"
	@echo "make record     make recorded runs again (RUNS=\"rnnsearch-grammar-0 rnnsearch-grammar-1\")"
	@echo "make verdicts   judge the whole list of claims by the recorded runs, into results/verdicts.json"
	@echo "make study      make a study again, in results/studies (NAME=searches)"
	@echo "make publish    give a copy its address (REPOSITORY=https://github.com/someone/somewhere)"
	@echo "make student    write the student edition, without solutions, into _build/student"
	@echo "make grade      check the mechanisms that learners wrote (ANSWERS=folder of their notebooks)"
	@echo "make pdf        print the whole book to _build/pdf, with Chromium or Chrome"
	@echo "make epub       write the core chapters to _build/epub"
	@echo "make release    make everything that a release offers, in dist"
	@echo "make outdated   say which packages have a newer release than the pins"
	@echo "make korean     update the Korean catalogue, and build both editions, the Korean one in _build/html/ko"
	@echo "make test       install, and check: make $(CHECKS)"
	@echo "make test-all   the same, and: make pages nightly colab versions"
	@echo "make colab      run chapters as Colab would, in a new environment (CHAPTERS=... or the shortest)"
	@echo "make format     let ruff format the code and mend what it can"
	@echo "make clean      remove what was built; the environment in $(VENV) stays"
	@echo "Settings: PYTHON=$(PYTHON) VENV=$(VENV) JOBS=$(JOBS)"

book: $(STAMP)
	@echo "==> execute the chapters: $(EXECUTE)"
	rm -rf _build/run
	$(BIN)/python -m press.run.execute --jobs $(JOBS) --into _build/run $(if $(filter all,$(EXECUTE)),,--stale) $(CHAPTERS)
	@echo "==> build the book"
	rm -rf _build/html _build/.doctrees
	$(BIN)/jupyter-book build _build/run --path-output . --quiet
	@echo "To read it, run: $(BIN)/python -m http.server --directory _build/html"
	@echo "and open http://localhost:8000"

html: $(STAMP)
	@echo "==> build the book"
	$(BIN)/jupyter-book build . --quiet
	@echo "To read it, run: $(BIN)/python -m http.server --directory _build/html"
	@echo "and open http://localhost:8000"

slides: html
	@echo "The slides are in _build/html/slides: for example http://localhost:8000/slides/03_learning_to_align.html"

notebooks: $(STAMP)
	$(BIN)/python -m press.run.execute --jobs $(JOBS) --in-place $(CHAPTERS)

record: $(STAMP)
	$(BIN)/attnmt record $(RUNS)

verdicts: $(STAMP)
	$(BIN)/python -m attnmt.evidence.claims

study: $(STAMP)
	$(BIN)/python -m studies $(NAME)

publish: $(STAMP)
	@test -n "$(REPOSITORY)" || { echo "Which one? make publish REPOSITORY=https://github.com/someone/somewhere"; exit 1; }
	$(BIN)/python -m press.colab.publish "$(REPOSITORY)" --branch "$(BRANCH)"

student: whole $(STAMP)
	$(BIN)/python -m press.editions.student

grade: whole $(STAMP)
	@test -n "$(ANSWERS)" || { echo "Whose? make grade ANSWERS=folder"; exit 1; }
	$(BIN)/python -m press.editions.grade "$(ANSWERS)"

pdf: html
	@echo "==> print the book"
	$(BIN)/python -m press.editions.pdf

epub: html
	@echo "==> EPUB"
	$(BIN)/python -m press.editions.epub

# The package from its sdist, and so without what only the book reads.
release: pdf epub student
	@echo "==> release"
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m press.editions.release

outdated: $(STAMP)
	@$(BIN)/python -m pip list --outdated --disable-pip-version-check

korean: whole $(STAMP)
	@echo "==> Korean edition"
	$(BIN)/python -m press.editions.korean update
	$(BIN)/python -m press.editions.korean generate --into _build/korean
	rm -rf _build/korean/_build _build/html/ko
	$(BIN)/jupyter-book build _build/korean --path-output _build/korean -W --keep-going -n --quiet
	mkdir -p _build/html
	cp -R _build/korean/_build/html _build/html/ko
	@echo "==> the English pages, with buttons to the Korean ones"
	$(BIN)/jupyter-book build . --quiet
	@echo "To read both, run: $(BIN)/python -m http.server --directory _build/html"
	@echo "and open http://localhost:8000 and http://localhost:8000/ko"

test: $(STAMP)
	@$(BIN)/python -m press.run.check $(CHECKS)

test-all: $(STAMP)
	@$(BIN)/python -m press.run.check $(EVERYTHING)

# Before what the student edition lacks.
whole:
	@test -d tests || { echo "The student edition has no solutions and no tests. Its check is: make strict"; exit 1; }

lint: whole $(STAMP)
	@echo "==> style"
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --cache-dir _build/mypy
	$(BIN)/lint-imports --no-logo --cache-dir _build/imports

unit: whole $(STAMP)
	@echo "==> unit tests"
	$(PYTEST) -m "not browser and not nightly" $(TESTS)

nbval: $(STAMP)
	@echo "==> chapters, quick"
	$(BIN)/python -m press.run.quick _build/quick
	$(NBVAL) $(addprefix _build/quick/,$(or $(CHAPTERS),$(CORE)))

pages: $(STAMP)
	@echo "==> all notebooks, as the book shows them; the other knobs at quick"
	$(NBVAL) $(or $(CHAPTERS),$(wildcard book/*.ipynb))
	$(BIN)/python -m press.run.quick _build/quick
	$(NBVAL) $(addprefix _build/quick/,$(or $(CHAPTERS),$(filter-out $(CORE),$(wildcard book/*.ipynb))))

# What depends on kernels, with the limits of lesser processors. (On ARM the variables change nothing.)
processors: whole $(STAMP)
	@echo "==> other processors"
	ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2 $(PYTEST) -m kernels $(call MARKED,kernels)
	ATEN_CPU_CAPABILITY=default ONEDNN_MAX_CPU_ISA=SSE41 $(PYTEST) -m kernels $(call MARKED,kernels)

strict: $(STAMP)
	@echo "==> strict build"
	rm -rf _build/strict
	$(BIN)/jupyter-book build . --path-output _build/strict -W --keep-going -n --quiet

browser: whole $(STAMP)
	@echo "==> browser"
	$(PYTEST) -m "browser and not nightly" $(call MARKED,browser)

# What is of a kind that the stages above have looked at one of: the other pages, whole editions.
nightly: whole $(STAMP)
	@echo "==> more of each kind"
	$(PYTEST) -m nightly tests

colab: $(STAMP)
	@echo "==> as in Colab"
	$(BIN)/python -m press.colab.as_in_colab $(CHAPTERS)

# The oldest and the newest Python that the book promises, each in an environment of its own.
versions: whole
	@for python in python3.11 python3.13; do \
		$$python -c "" 2>/dev/null || { echo "Skipped: there is no $$python here"; continue; }; \
		echo "==> $$python"; \
		$(MAKE) --no-print-directory PYTHON=$$python VENV=_build/$$python TESTS=tests/attnmt \
			CHAPTERS=book/ten_minutes.ipynb unit nbval || exit 1; \
	done

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

install: $(STAMP)

$(STAMP): requirements.txt pyproject.toml
	@echo "==> install into $(VENV)"
	@command -v $(PYTHON) >/dev/null 2>&1 || { \
		echo "There is no $(PYTHON) here. Install Python 3.11, 3.12 or 3.13, or name it: make PYTHON=python3.12"; \
		exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' || { \
		echo "$(PYTHON) is `$(PYTHON) --version 2>&1`; the book needs 3.11, 3.12 or 3.13. Name one: make PYTHON=python3.12"; \
		exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' || { \
		echo "$(PYTHON) lacks the modules venv and ensurepip (on Debian and Ubuntu: apt install python3-venv)."; \
		exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check -r requirements.txt -e .
	@touch $(STAMP)

clean:
	rm -rf _build dist .pytest_cache .ruff_cache .hypothesis .coverage htmlcov
