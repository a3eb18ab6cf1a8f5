# make test    everything that can be tested on this machine
# make check   what CI runs: test, format, vet, staticcheck, tidy, clean tree
# make bench   the benchmarks, side by side
# make fuzz    every fuzz target for a minute (FUZZTIME=10s for less)
# make soak    what takes longer than a test should

GO       ?= go
FUZZTIME ?= 1m

.PHONY: build test check bench fuzz soak format vet staticcheck tidy clean-tree

build:
	$(GO) build -o toolrun ./cmd/toolrun

test:
	$(GO) run ./internal/testrun

check: test format vet staticcheck tidy clean-tree

format:
	@test -z "$$(gofmt -l .)" || { gofmt -d . ; exit 1; }

vet:
	$(GO) vet ./...

staticcheck:
	$(GO) tool staticcheck ./...

tidy:
	$(GO) mod tidy -diff

clean-tree:
	@test -z "$$(git status --porcelain)" || { git status --short; echo "the tree is not clean"; exit 1; }

bench:
	$(GO) run ./bench
	cd bench/wasm && $(GO) run .

fuzz:
	$(GO) run ./internal/testrun -fuzz $(FUZZTIME)

soak:
	TOOLRUN_SOAK=1 $(GO) test -count 1 -timeout 2h -run Soak ./...
