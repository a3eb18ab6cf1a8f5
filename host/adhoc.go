package host

import (
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/machine"
	"github.com/toolrun/toolrun/internal/bytesize"
	"github.com/toolrun/toolrun/internal/spell"
)

// AdHocTool is a tool that the app does not declare, such as the function node of a workflow. An
// invocation contains the source text of the tool.
type AdHocTool struct {
	// Language is the name of a language, such as javascript, typescript or python. An engine of
	// the host must support the language.
	Language string
	// Text is the source text. The source text cannot import any modules other than those that the
	// engine bundles with the language.
	Text string
	// Grants are the tool's grants on the app's stores. If Grants is empty, the tool cannot access
	// any store.
	Grants []declare.Grant
}

// digest returns a digest that identifies the tool. If c is nil, digest returns nil.
func (c *AdHocTool) digest() []byte {
	if c == nil {
		return nil
	}
	h := sha256.New()
	grants, err := json.Marshal(c.Grants)
	if err != nil {
		grants = nil // strings always encode
	}
	for _, part := range []string{c.Language, string(grants), c.Text} {
		_, _ = io.WriteString(h, hex.EncodeToString([]byte(part))+" ")
	}
	return h.Sum(nil)
}

// codeFile returns a file name for source text in a language. The extension of the file name is the
// first file extension of the language.
func codeFile(languages []engine.Language, language string) (string, error) {
	var known []string
	for _, l := range languages {
		if l.Name == strings.ToLower(language) {
			return "code" + l.Extensions[0], nil
		}
		known = append(known, l.Name)
	}
	f := abi.Faultf(abi.InvalidArgument, "the language %q is not supported", language)
	if len(known) == 0 {
		return "", f.WithHint("this host cannot run code that a request contains")
	}
	slices.Sort(known)
	return "", f.WithHint("the supported languages are: %s", strings.Join(known, ", "))
}

// tool returns the declaration of the ad-hoc tool with the given name and file.
func (c *AdHocTool) tool(name, file string) (app.Tool, error) {
	if strings.TrimSpace(c.Text) == "" {
		return app.Tool{}, abi.Faultf(abi.SourceInvalid, "the code is empty")
	}
	for _, g := range c.Grants {
		if g.Store == declare.SessionMeta {
			if g.Allows(abi.Write) || g.Allows(abi.Delete) {
				return app.Tool{}, abi.Faultf(abi.InvalidArgument, "the grant on the store %q is not valid, because the store is read-only", g.Store).WithHint("grant read")
			}
			continue
		}
		if err := checkGrant(g); err != nil {
			return app.Tool{}, abi.Faultf(abi.InvalidArgument, "the grant on %q: %v", g.Name(), err)
		}
	}
	return app.Tool{Tool: declare.Tool{Name: name, Source: file, Grants: c.Grants, Approval: approvalsOf(file, c.Text)}}, nil
}

// approvalsOf returns the names of the operations that an ad-hoc tool may perform only after an
// approval. Only the source text of a machine can declare such operations.
func approvalsOf(file, text string) (a declare.Approval) {
	if path.Ext(file) != machine.Extension {
		return a
	}
	doc, _ := machine.Parse(file, []byte(text)) // the engine reports the problems of the text
	a.Before = doc.Approvals()
	return a
}

// checkGrant returns an error if the store name, the pattern or the path in a grant is invalid.
func checkGrant(g declare.Grant) error {
	if g.Store == declare.Facts {
		return g.CheckItem()
	}
	if g.IsPattern() {
		return g.CheckPattern()
	}
	return declare.CheckName(g.Store)
}

// toolOf returns the tool of an invocation. The caller must call release when the run is over.
func (h *Host) toolOf(inv Invocation) (t *tool, release func(), err error) {
	if inv.Code == nil {
		t, err = h.tool(inv.Tool)
		return t, func() {}, err
	}
	return h.programs.tool(h, inv)
}

// maxPrograms is the maximum number of compiled ad-hoc tools of a Host.
const maxPrograms = 64

// programCache is an LRU cache of compiled ad-hoc tools.
type programCache struct {
	mu      sync.Mutex
	closed  bool
	recent  list.List // the elements are *cachedTool values; the most recently used tool is first
	byKey   map[string]*list.Element
	closing sync.WaitGroup // evicted tools that are being closed
}

type cachedTool struct {
	key  string
	tool *tool
	uses int // active runs
}

// tool compiles the AdHocTool of an invocation, or returns the tool from the cache. The tool stays
// open until release is called.
func (c *programCache) tool(h *Host, inv Invocation) (t *tool, release func(), err error) {
	declared, err := c.declared(h, inv)
	if err != nil {
		return nil, nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, errHostClosed
	}
	entry := c.get(h, inv.Tool+" "+string(inv.Code.digest()), declared, inv.Code.Text)
	entry.uses++
	c.evict()
	return entry.tool, func() { c.release(entry) }, nil
}

func (c *programCache) release(entry *cachedTool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	entry.uses--
	c.evict()
}

// declared returns the declaration of an AdHocTool. If the AdHocTool has a grant on a store that
// the app does not have, declared returns an error.
func (c *programCache) declared(h *Host, inv Invocation) (declared app.Tool, err error) {
	if len(inv.Code.Text) > h.limits.SourceBytes {
		return declared, abi.Faultf(abi.SourceInvalid, "the code exceeds %s", bytesize.Format(int64(h.limits.SourceBytes)))
	}
	file, err := codeFile(h.languages, inv.Code.Language)
	if err != nil {
		return declared, err
	}
	if declared, err = inv.Code.tool(inv.Tool, file); err != nil {
		return declared, err
	}
	for _, g := range declared.Grants {
		if !declares(h.app, g.Store) {
			return declared, unknownGrant(h.app, g.Store)
		}
	}
	return declared, nil
}

// get returns the tool with the given key. If the tool is not cached, get creates it. The caller
// must hold mu.
func (c *programCache) get(h *Host, key string, declared app.Tool, text string) *cachedTool {
	if found := c.byKey[key]; found != nil {
		c.recent.MoveToFront(found)
		return found.Value.(*cachedTool)
	}
	t := newTool(h.app, declared)
	code := []byte(text)
	t.source = func() (engine.Source, error) {
		return engine.Source{Path: declared.Source, Code: code, Params: declared.Params(), Domain: h.compiler.domain(), Operations: h.table}, nil
	}
	t.load = h.compiler.loader(t)
	if c.byKey == nil {
		c.byKey = map[string]*list.Element{}
	}
	entry := &cachedTool{key: key, tool: t}
	c.byKey[key] = c.recent.PushFront(entry)
	return entry
}

// declares reports whether an app has a store with the given name. If the name is a pattern,
// declares reports whether the app has a store that the pattern covers.
func declares(a *app.App, store string) bool {
	return store == declare.SessionMeta || store == declare.Facts && a.Facts != nil || a.CanGrant(store)
}

// unknownGrant returns the fault for a grant on a store that the app does not have.
func unknownGrant(a *app.App, name string) error {
	f := abi.Faultf(abi.InvalidArgument, "the grant on %q: the app does not declare this store", name)
	known := []string{declare.SessionMeta}
	for _, s := range a.Stores {
		known = append(known, s.Name)
	}
	if near := spell.Name(name, known); near != "" {
		return f.WithHint("did you mean %q?", near)
	}
	return f.WithHint("the declared stores are: %s", strings.Join(known, ", "))
}

// evict evicts the least recently used tools until the cache is within its limit. evict skips tools
// that have an active run. The caller must hold mu.
func (c *programCache) evict() {
	for e := c.recent.Back(); e != nil && c.recent.Len() > maxPrograms && !c.closed; {
		before, entry := e.Prev(), e.Value.(*cachedTool)
		if entry.uses == 0 {
			c.recent.Remove(e)
			delete(c.byKey, entry.key)
			c.closing.Go(func() { _ = entry.tool.close() }) // the engine logs the error
		}
		e = before
	}
}

func (c *programCache) close() error {
	c.mu.Lock()
	c.closed = true
	var tools []*tool
	for e := c.recent.Front(); e != nil; e = e.Next() {
		tools = append(tools, e.Value.(*cachedTool).tool)
	}
	c.mu.Unlock()
	var errs []error
	for _, t := range tools {
		errs = append(errs, t.close()) // waits for runs
	}
	c.closing.Wait()
	return errors.Join(errs...)
}
