# make test    everything that can be tested on this machine
# make check   what CI runs: test, format, vet, staticcheck, tidy, clean tree
# make bench   the benchmarks, side by side
# make fuzz    every fuzz target for a minute (FUZZTIME=10s for less)
# make plugins the committed plug-ins, built anew from their sources
# make hostile hostile tools, against toolrun and against bare engines
# make soak    what takes longer than a test should

GO       ?= go
FUZZTIME ?= 1m

.PHONY: modules plugins hostile build test check bench fuzz soak format vet staticcheck tidy clean-tree

build:
	$(GO) build -o toolrun ./cmd/toolrun

test:
	$(GO) run ./internal/runtests

check: test modules format vet staticcheck tidy clean-tree

# Modules of their own, so that only who uses one gets what it needs: the activity for Temporal, and what the benchmarks
# compare with. Each go.mod of the repository is found, built, vetted and tested.
modules:
	@for mod in $$(git ls-files '*/go.mod'); do \
		echo "module $$(dirname $$mod)"; \
		(cd $$(dirname $$mod) && $(GO) mod tidy -diff && $(GO) build ./... && $(GO) vet ./... && $(GO) test ./...) || exit 1; done

# Go's recipes are go:generate lines, those of C stand in toolchain.txt, those of AssemblyScript in package.json.
plugins:
	$(GO) generate ./plugins/examples/...
	for f in plugins/examples/*_c/toolchain.txt abi/guest/c/probe/toolchain.txt; do \
		(cd $$(dirname $$f) && sed -n 's/^\$$ //p' toolchain.txt | sh -e && chmod 644 *.wasm) || exit 1; done
	cd abi/guest/assemblyscript && npm ci --no-audit --no-fund && sed -n 's/^\$$ /npx --no-install /p' probe/toolchain.txt | sh -e
	for d in plugins/examples/*_as; do \
		(cd $$d && npm install --no-package-lock --no-audit --no-fund && npm run build && rm -rf node_modules) || exit 1; done

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
	$(GO) run ./bench/isolation
	$(GO) run ./bench/service
	cd bench/wasm && $(GO) run .

hostile:
	$(GO) run ./hostile

fuzz:
	$(GO) run ./internal/runtests -fuzz $(FUZZTIME)

soak:
	TOOLRUN_SOAK=1 $(GO) test -count 1 -timeout 3h -run 'Soak|EachLayerOff|Corpus|ServeSurvivesKill|Generated|Inspector' ./...
	$(GO) test -race -timeout 1h ./internal/wasm/... ./host/engine/wasm ./abi/guest/... ./plugins/examples/...
