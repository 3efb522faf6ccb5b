# The book "Learning to Align": `make book` to read it, `make help` for the rest.
PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
TESTS ?= tests
EXECUTE ?= stale
BIN = $(VENV)/bin
STAMP = $(VENV)/.installed
BUILD = $(BIN)/jupyter-book build
PYTEST = $(BIN)/python -m pytest -p no:nbval -p no:anyio -n $(JOBS) --dist worksteal
# The files with a test of a marker, so that the others need not be read.
MARKED = $(shell grep -rl --include="test_*.py" "mark\.$(1)" tests)
# Executed by every check, their knobs at "quick". What the pages show holds by its stamps.
CORE = $(wildcard book/[0-9]*.ipynb book/ten_minutes.ipynb book/one_page.ipynb book/primer.ipynb)
NBVAL = $(BIN)/python -m pytest --nbval-lax --nbval-current-env --nbval-cell-timeout=600 -n $(JOBS) --dist loadscope -W default
SERVE = @echo "To read it: $(BIN)/python -m http.server --directory _build/html, then open http://localhost:8000"

# One thread a process: two chapters run at a time, and the numbers stay the same on any machine.
export OMP_NUM_THREADS = 1
export MKL_NUM_THREADS = 1
unexport PYTHONDONTWRITEBYTECODE # with it each process of the tests compiles all modules again
.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' $(firstword $(MAKEFILE_LIST)))
.NOTPARALLEL:

help:
	@sed -n "s/^\([a-z-]*\):[^#]*## /\1\t/p" $(firstword $(MAKEFILE_LIST)) | expand -t 14
	@echo "Settings: PYTHON=$(PYTHON) VENV=$(VENV) JOBS=$(JOBS)"
book: $(STAMP) ## install, execute what is not as stored (EXECUTE=all: everything), and build the book
	rm -rf _build/run _build/html _build/.doctrees
	$(BIN)/python -m press.run.execute --jobs $(JOBS) --into _build/run $(if $(filter all,$(EXECUTE)),,--stale) $(CHAPTERS)
	$(BUILD) _build/run --path-output . --quiet
	$(SERVE)
html: $(STAMP) ## build the book and its slides from the stored outputs, without executing
	$(BUILD) . --quiet
	$(SERVE)
slides: html ## the same: they are in _build/html/slides
notebooks: $(STAMP) ## execute chapters in place, to refresh what they store (CHAPTERS="book/03_learning_to_align.ipynb")
	$(BIN)/python -m press.run.execute --jobs $(JOBS) --in-place $(CHAPTERS)
grade: $(STAMP) ## check the mechanisms that learners wrote (ANSWERS=folder or notebook GRADEBOOK=grades.csv)
	$(BIN)/python -m press.editions.grade "$(ANSWERS)" --jobs $(JOBS) $(if $(GRADEBOOK),--gradebook "$(GRADEBOOK)")
pdf: html ## print the whole book to _build/pdf, with Chromium or Chrome; or a handout (CHAPTERS=book/03_learning_to_align.ipynb)
	$(BIN)/python -m press.editions.pdf $(CHAPTERS)
course-test: $(STAMP) ## what a course's copy must pass to be published: the chapters run, and the pages build
	@$(MAKE) -k --no-print-directory nbval strict
nbval: $(STAMP)
	ATTNMT_SIZE=quick $(NBVAL) $(or $(CHAPTERS),$(CORE))
strict: $(STAMP)
	rm -rf _build/strict
	$(BUILD) . --path-output _build/strict -W --keep-going -n --quiet
publish: $(STAMP) ## give a copy its address (REPOSITORY=https://github.com/someone/somewhere BRANCH=main)
	$(BIN)/python -m press.colab.publish "$(REPOSITORY)" --branch "$(BRANCH)"
study: $(STAMP) ## make a study again, in results/studies (NAME=searches)
	$(BIN)/python -m studies $(NAME)
install: $(STAMP) ## make the environment in .venv
$(STAMP): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Install Python 3.11 or newer with its module venv (on Debian and Ubuntu: python3-venv), or name it: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.version_info < (3, 15) or print(sys.version.split()[0], "was not tried with this book; if something fails, try 3.11 to 3.14")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check -r requirements.txt -e .
	@touch $(STAMP)
clean: ## remove what was built; the environment stays
	rm -rf _build dist .pytest_cache .ruff_cache .hypothesis .coverage htmlcov
# ------------------------------------------------------- what the student edition leaves out
# Lines of stages beside each other, with EACH processes or JOBS; what a stage said is shown when it is done.
TOGETHER = xargs -L 1 -P $(JOBS) sh -c 'mkdir -p _build; failed=0; for stage; do $(MAKE) --no-print-directory JOBS=$${EACH:-$(JOBS)} $$stage >_build/$$stage.log 2>&1 || failed=1; \
	echo "[$$stage]"; cat _build/$$stage.log; done; exit $$failed' stages
check: $(STAMP) ## in three minutes: style, types, unit tests of the core, one chapter
	@printf "unit\nlint nbval\n" | TESTS="tests/attnmt/test_*.py" LESS="and not slow" CHAPTERS=book/03_learning_to_align.ipynb $(TOGETHER)
test: $(STAMP) ## all that a change must pass: unit processors, beside them strict browser lint; then nbval
	@printf "unit processors\nstrict browser lint\n" | EACH=$$((($(JOBS) + 1) / 2)) $(TOGETHER); failed=$$?; $(MAKE) --no-print-directory nbval && exit $$failed
test-all: $(STAMP) ## the same, and every notebook as shown, whole editions, Colab, other Pythons
	@$(MAKE) -k --no-print-directory test pages nightly sphinx colab versions
lint: $(STAMP)
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/mypy --cache-dir _build/mypy && $(BIN)/lint-imports --no-logo --cache-dir _build/imports
unit: $(STAMP)
	$(PYTEST) -m "not browser and not nightly $(LESS)" $(TESTS)
processors: $(STAMP) # what depends on kernels, with the limits of lesser ones (on ARM the variables change nothing)
	ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2 $(PYTEST) -n 0 -m kernels $(call MARKED,kernels)
	ATEN_CPU_CAPABILITY=default ONEDNN_MAX_CPU_ISA=SSE41 $(PYTEST) -n 0 -m kernels $(call MARKED,kernels)
browser: $(STAMP)
	$(PYTEST) -m "browser and not nightly" $(call MARKED,browser)
nightly: $(STAMP) # the other pages, whole editions
	$(PYTEST) -m nightly tests
sphinx: strict # the way out of jupyter-book 1: Sphinx alone builds the same pages
	$(BIN)/python -m press.run.plain_sphinx
pages: $(STAMP)
	$(NBVAL) $(or $(CHAPTERS),$(wildcard book/*.ipynb))
	ATTNMT_SIZE=quick $(NBVAL) $(or $(CHAPTERS),$(filter-out $(CORE),$(wildcard book/*.ipynb)))
colab: $(STAMP) ## run chapters as Colab would, in a new environment (CHAPTERS=... or Ten minutes)
	$(BIN)/python -m press.colab.as_in_colab $(CHAPTERS)
versions: # the Pythons that the book promises, each in an environment of its own
	@for python in python3.11 python3.12 python3.13 python3.14; do \
		$$python -c "" 2>/dev/null || { echo "Skipped: there is no $$python here"; continue; }; \
		$(MAKE) --no-print-directory PYTHON=$$python VENV=_build/$$python TESTS=tests/attnmt CHAPTERS=book/ten_minutes.ipynb unit nbval || exit 1; done
format: $(STAMP) ## let ruff format the code and mend what it can
	$(BIN)/ruff check --fix . && $(BIN)/ruff format .
lock: ## write requirements.lock: the same versions with their hashes, for pip's --require-hashes (needs uv)
	uv pip compile requirements.txt --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet -o requirements.lock
verdicts: $(STAMP) ## judge the list of claims by the recorded runs, into results/verdicts.json
	$(BIN)/python -m attnmt.evidence.verdicts
student: $(STAMP) ## write the student edition, without solutions, into _build/student
	$(BIN)/python -m press.editions.student
gradescope: student ## write the same check as an autograder for Gradescope, _build/gradescope.zip
	$(BIN)/python -m zipfile -c _build/gradescope.zip _build/student/. press/editions/autograder/.
release: pdf student ## write what a release offers into dist: the package (from its sdist), two zips, the PDF, checksums
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m zipfile -c dist/learning-to-align-site.zip _build/html
	$(BIN)/python -m zipfile -c dist/learning-to-align-student.zip _build/student
	cp _build/pdf/learning-to-align.pdf dist && cd dist && sha256sum * > SHA256SUMS
korean: $(STAMP) ## update the Korean catalogue, and build both editions, the Korean one in _build/html/ko
	$(BIN)/python -m press.editions.korean update
	$(BIN)/python -m press.editions.korean generate --into _build/korean
	rm -rf _build/korean/_build _build/html/ko
	$(BUILD) _build/korean --path-output _build/korean -W --keep-going -n --quiet
	mkdir -p _build/html && cp -R _build/korean/_build/html _build/html/ko
	$(BUILD) . --quiet # the English pages, with buttons to the Korean ones
