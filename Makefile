.PHONY: check test bench install
install:
	python3 -m venv .venv && .venv/bin/pip install .
check test:
	./.ci/run
bench:
	.venv/bin/python -m benches
