package host

import (
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/app"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/internal/bytesize"
	"github.com/toolrun/toolrun/internal/spell"
)

// Code is the text of a tool that no app declares: the function node of a workflow, which its engine keeps.
type Code struct {
	// Language is the name of a language of the host's engines, such as javascript, typescript or python.
	Language string
	// Text is the source: one file, which imports nothing but what the language brings.
	Text string
	// Grants are what it may do with the app's stores. Default: nothing.
	Grants []declare.Grant
}

// digest tells one code from another; nil for none.
func (c *Code) digest() []byte {
	if c == nil {
		return nil
	}
	h := sha256.New()
	grants, err := json.Marshal(c.Grants)
	if err != nil {
		grants = nil // strings are always JSON
	}
	for _, part := range []string{c.Language, string(grants), c.Text} {
		_, _ = io.WriteString(h, hex.EncodeToString([]byte(part))+" ")
	}
	return h.Sum(nil)
}

// codeFile returns the name of the file that a code is, with the extension of its language, which is one of languages.
func codeFile(languages []engine.Language, language string) (string, error) {
	var known []string
	for _, l := range languages {
		if l.Name == strings.ToLower(language) {
			return "code" + l.Extensions[0], nil
		}
		known = append(known, l.Name)
	}
	f := abi.Faultf(abi.InvalidArgument, "code of the language %q cannot be run", language)
	if len(known) == 0 {
		return "", f.WithHint("no engine of this host runs code that is sent as text")
	}
	slices.Sort(known)
	return "", f.WithHint("the languages are: %s", strings.Join(known, ", "))
}

// tool makes the tool that the code is, in a file of its language.
func (c *Code) tool(name, file string) (app.Tool, error) {
	if strings.TrimSpace(c.Text) == "" {
		return app.Tool{}, abi.Faultf(abi.SourceInvalid, "the code is empty")
	}
	for _, g := range c.Grants {
		if g.Store == declare.SessionMeta {
			if g.Allows(abi.Write) || g.Allows(abi.Delete) {
				return app.Tool{}, abi.Faultf(abi.InvalidArgument, "the grant of %q: the store can only be read", g.Store).WithHint("grant read")
			}
			continue
		}
		if err := declare.CheckName(g.Store); err != nil {
			return app.Tool{}, abi.Faultf(abi.InvalidArgument, "the grant of %q: %v", g.Store, err)
		}
	}
	return app.Tool{Tool: declare.Tool{Name: name, Source: file, Grants: c.Grants}}, nil
}

// toolOf finds the tool that an invocation asks for; release is called when the run is over.
func (h *Host) toolOf(inv Invocation) (t *tool, release func(), err error) {
	if inv.Code == nil {
		t, err = h.tool(inv.Tool)
		return t, func() {}, err
	}
	return h.inline.tool(h, inv)
}

// maxInlined is how many codes a Host keeps compiled.
const maxInlined = 64

// inlined are the codes that ran last, compiled.
type inlined struct {
	mu     sync.Mutex
	closed bool
	recent list.List // of *inlinedTool, the last one used in front
	byKey  map[string]*list.Element
	gone   sync.WaitGroup // those that are being closed
}

type inlinedTool struct {
	key  string
	tool *tool
	uses int // runs under way
}

// tool returns the tool of a code, and keeps it from being closed until release.
func (l *inlined) tool(h *Host, inv Invocation) (t *tool, release func(), err error) {
	declared, err := l.declared(h, inv)
	if err != nil {
		return nil, nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, nil, errHostClosed
	}
	one := l.get(h, inv.Tool+" "+string(inv.Code.digest()), declared, inv.Code.Text)
	one.uses++
	l.forget()
	return one.tool, func() { l.release(one) }, nil
}

func (l *inlined) release(one *inlinedTool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one.uses--
	l.forget()
}

// declared returns the tool that the code of an invocation is, if the app of a Host has the stores that it is granted.
func (l *inlined) declared(h *Host, inv Invocation) (declared app.Tool, err error) {
	if len(inv.Code.Text) > h.limits.SourceBytes {
		return declared, abi.Faultf(abi.SourceInvalid, "the code has more than %s", bytesize.Format(int64(h.limits.SourceBytes)))
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

// get returns what is kept under a key, which it makes where there is nothing. The caller holds mu.
func (l *inlined) get(h *Host, key string, declared app.Tool, text string) *inlinedTool {
	if found := l.byKey[key]; found != nil {
		l.recent.MoveToFront(found)
		return found.Value.(*inlinedTool)
	}
	t := newTool(declared)
	code := []byte(text)
	t.source = func() (engine.Source, error) {
		return engine.Source{Path: declared.Source, Code: code, Params: declared.Params(), Domain: h.compiler.domain(), Operations: h.table}, nil
	}
	t.load = h.compiler.of(t)
	if l.byKey == nil {
		l.byKey = map[string]*list.Element{}
	}
	one := &inlinedTool{key: key, tool: t}
	l.byKey[key] = l.recent.PushFront(one)
	return one
}

// declares reports whether an app has a store.
func declares(a *app.App, store string) bool {
	return store == declare.SessionMeta || slices.ContainsFunc(a.Stores, func(s declare.Store) bool { return s.Name == store })
}

// unknownGrant refuses the grant of a store that an app does not have.
func unknownGrant(a *app.App, name string) error {
	f := abi.Faultf(abi.InvalidArgument, "the grant of %q: the app has no such store", name)
	known := []string{declare.SessionMeta}
	for _, s := range a.Stores {
		known = append(known, s.Name)
	}
	if near := spell.Name(name, known); near != "" {
		return f.WithHint("did you mean %q?", near)
	}
	return f.WithHint("the stores are: %s", strings.Join(known, ", "))
}

// forget closes code that was not used for longest, and is not used now, where there is too much. The caller holds mu.
func (l *inlined) forget() {
	for e := l.recent.Back(); e != nil && l.recent.Len() > maxInlined && !l.closed; {
		before, one := e.Prev(), e.Value.(*inlinedTool)
		if one.uses == 0 {
			l.recent.Remove(e)
			delete(l.byKey, one.key)
			l.gone.Go(func() { _ = one.tool.close() }) // the engine has told what went wrong
		}
		e = before
	}
}

func (l *inlined) close() error {
	l.mu.Lock()
	l.closed = true
	var tools []*tool
	for e := l.recent.Front(); e != nil; e = e.Next() {
		tools = append(tools, e.Value.(*inlinedTool).tool)
	}
	l.mu.Unlock()
	var errs []error
	for _, t := range tools {
		errs = append(errs, t.close()) // which waits for runs
	}
	l.gone.Wait()
	return errors.Join(errs...)
}
