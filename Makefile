# make test    everything that can be tested on this machine
# make check   what CI runs: test, modules, format, vet, staticcheck, tidy, clean tree
# make modules build, vet and lint the modules beside toolrun's
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

# The tests use all processors. The other checks do not, so two of them run concurrently.
check: test
	$(MAKE) --no-print-directory -j 2 modules format vet staticcheck tidy
	$(MAKE) --no-print-directory clean-tree

# Modules of their own keep their dependencies out of toolrun's: the activity for Temporal, the benchmarks with what they
# compare with, and the hostile tools. They use this tree, so a change of toolrun can break them. make test runs their tests.
modules:
	@lint=$$($(GO) tool -n staticcheck) && for mod in $$(git ls-files '*/go.mod'); do \
		echo "module $$(dirname $$mod)"; \
		(cd $$(dirname $$mod) && $(GO) mod tidy -diff && $(GO) build -o /dev/null ./... && $(GO) vet ./... && $$lint ./...) || exit 1; done

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
	cd bench && $(GO) run .
	cd bench && $(GO) run ./isolation
	cd bench && $(GO) run ./service
	cd bench && $(GO) run ./wasm
	cd bench && $(GO) run ./recall

hostile:
	cd hostile && $(GO) run .

fuzz:
	$(GO) run ./internal/runtests -fuzz $(FUZZTIME)

soak:
	TOOLRUN_SOAK=1 $(GO) test -count 1 -timeout 3h -run 'Soak|Schedules|EachLayerOff|Corpus|ServeSurvivesKill|Generated|Inspector' ./...
	cd hostile && TOOLRUN_SOAK=1 $(GO) test -count 1 -timeout 3h -run 'Soak|EachLayerOff|Corpus' ./...
	$(GO) test -race -timeout 3h -run 'Schedules|Plugin|InAllLanguages|InEngines|ForeignIDs|SearchTime|ErasedCanary' ./host/...
	$(GO) test -race -timeout 1h ./internal/wasm/... ./host/engine/wasm ./abi/guest/... ./plugins/examples/...
