package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/approval"
	"github.com/toolrun/toolrun/host/declare"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/machine"
	"github.com/toolrun/toolrun/host/memory"
	"github.com/toolrun/toolrun/host/report"
	"github.com/toolrun/toolrun/internal/strictjson"
)

// functionOf returns the name that declarations of approvals use for an operation, such as
// set_content or model.chat.
func functionOf(op abi.Operation) string {
	if op.Module == "" {
		return op.Name
	}
	return op.Module + "." + op.Function()
}

// functions returns the names of all operations.
func functions(table abi.Table) []string {
	names := make([]string, len(table))
	for i, op := range table {
		names[i] = functionOf(op)
	}
	return names
}

// isGated reports whether an operation of the tool requires an approval.
func (t *tool) isGated() bool { return len(t.Approval.Before) > 0 }

// checkApproval returns an error that ends the attempt if a call requires an approval that the run
// does not have.
func (a *attempt) checkApproval(call abi.Call) error {
	r := a.run
	if !r.tool.isGated() {
		return nil
	}
	op, ok := r.h.table.Lookup(call.Op)
	name := functionOf(op)
	switch {
	case !ok || !slices.Contains(r.tool.Approval.Before, name):
		return nil
	case r.inv.DryRun && (!op.External || !r.inv.Live || r.inv.Mocks != nil):
		if warning := "outside of a dry run, the tool would wait for an approval before " + name; !slices.Contains(a.gated, warning) {
			a.gated = append(a.gated, warning)
		}
		return nil
	case r.inv.DryRun:
		return unapprovedFault(name)
	case r.root != nil:
		return &stop{abi.Faultf(abi.AccessDenied, "%s requires an approval, but a tool that an agent or sleep-time memory calls cannot wait for an approval", name).
			WithHint("run the tool directly, or remove %s from approval.before of the tool", name)}
	}
	effect, err := effectOf(op, call, r.limits)
	if err != nil {
		return &stop{abi.FaultOf(err)}
	}
	next := r.tool.binding(effect)
	if step := r.tool.step(a.calls, name); step != nil {
		next.Step, effect.Location = step.Name.Value, fmt.Sprintf("%s:%d", r.tool.Source, step.Line)
	}
	if a.passed < len(r.same.Approved) && r.same.Approved[a.passed] == next {
		a.passed++
		return nil
	}
	a.invalid = invalidApproval(r.same.Approved[a.passed:], next)
	return &pauseError{next, effect}
}

// invalidApproval returns a warning if the next approved effect is not the effect that the run has
// reached, and otherwise nil. The argument "approved" contains the approved effects that the run has
// not reached yet.
func invalidApproval(approved []approval.Binding, reached approval.Binding) []string {
	switch {
	case len(approved) == 0:
		return nil
	case approved[0].Program != reached.Program || approved[0].App != reached.App:
		return []string{"the tool or the app file has changed since the approval, so the effect requires a new approval"}
	}
	return []string{"the run reached another effect than the approved effect, so this effect requires its own approval"}
}

// unapprovedFault returns the error of a dry run that must not call a model without an approval.
func unapprovedFault(operation string) error {
	return &stop{abi.Faultf(abi.AccessDenied, "%s requires an approval, but a dry run cannot wait for an approval", operation).
		WithHint("omit `live`, or use mocks")}
}

// approve checks the approval of the current memory call once. A memory operation is performed
// before the check, so a call that fails needs no approval. If the attempt ends, the effect of the
// operation is undone. But a query that was sent to an embedding model cannot be undone, so a
// search checks its approval before it calls the model.
func (a *attempt) approve(call abi.Call) error {
	if a.approved == a.calls {
		return nil
	}
	a.approved, a.refused = a.calls, a.checkApproval(call)
	return a.refused
}

// performGuarded performs an operation that checks its approval before it calls an embedding model.
func (a *attempt) performGuarded(ctx context.Context, call abi.Call) (json.RawMessage, error) {
	memory.SetGuard(a.view, func() error { return a.approve(call) })
	defer memory.SetGuard(a.view, nil)
	return a.view.Call(ctx, call)
}

// effectOf returns the description of a call, with its arguments in canonical form.
func effectOf(op abi.Operation, call abi.Call, limits Limits) (report.Effect, error) {
	arguments := map[string]json.RawMessage{}
	for i, p := range op.Params {
		if arg := call.Arg(i); arg != nil {
			arguments[p.Name] = arg
		}
	}
	text, err := json.Marshal(arguments)
	if err != nil {
		return report.Effect{}, abi.Faultf(abi.InvalidArgument, "the arguments of %s are not valid JSON", functionOf(op))
	}
	documents := limits.documents()
	documents.Depth++ // the arguments are members of a JSON object
	value, err := strictjson.Decode(text, documents)
	if err != nil {
		return report.Effect{}, documentFault(abi.InvalidArgument, "arguments of "+functionOf(op), err)
	}
	canonical, err := strictjson.Encode(value)
	return report.Effect{Operation: functionOf(op), Arguments: slices.Clone(canonical)}, err
}

// binding returns the values for which an approval is valid: the effect, the tool and the run.
func (t *tool) binding(effect report.Effect) approval.Binding {
	arguments := sha256.Sum256(effect.Arguments)
	return approval.Binding{
		Program: t.digest, App: t.declared, Operation: effect.Operation, Arguments: hex.EncodeToString(arguments[:]),
	}
}

// step returns the step of a machine that makes call number n of an attempt. If the tool is not a
// machine, step returns nil.
func (t *tool) step(n int, operation string) *machine.Step {
	if n > len(t.calls) || t.calls[n-1].Kind.Operation() != operation {
		return nil
	}
	return &t.calls[n-1]
}

// setDigests computes the digests of a tool whose effects require approvals. If the tool is a
// machine, setDigests also determines its steps.
func (t *tool) setDigests() (err error) {
	if !t.isGated() {
		return nil
	}
	declaration, err := json.Marshal(struct {
		App    string
		Stores []declare.Store
		Tool   declare.Tool
	}{t.app.ID, t.app.AllStores(), t.Tool.Tool})
	if err != nil {
		return err
	}
	sum := sha256.Sum256(declaration)
	t.declared = hex.EncodeToString(sum[:])
	src, err := t.source()
	if err != nil {
		return err
	}
	if path.Ext(src.Path) == machine.Extension {
		doc, _ := machine.Parse(src.Path, src.Code) // the engine reports the errors in the source text
		t.calls = doc.Calls()
	}
	t.digest, err = digestOf(src)
	return err
}

// These limits apply to the files of a tool whose effects require approvals.
const (
	maxDigestFiles = 10_000
	maxDigestBytes = 64 << 20
)

// digestOf returns a digest of the source of a tool. The source consists of the entry file and all
// files that the tool can import.
func digestOf(src engine.Source) (string, error) {
	h := sha256.New()
	part := func(text string) { sum := sha256.Sum256([]byte(text)); _, _ = h.Write(sum[:]) }
	part(src.Path)
	part(src.Entry)
	part(string(src.Code))
	if src.Files == nil {
		return hex.EncodeToString(h.Sum(nil)), nil
	}
	files, bytes := 0, int64(0)
	err := fs.WalkDir(src.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		if files++; files > maxDigestFiles {
			return errTooManyFiles
		}
		part(name)
		n, sum, err := digestFile(src.Files, name, maxDigestBytes-bytes)
		bytes += n
		part(sum)
		return err
	})
	if err != nil {
		f := abi.Faultf(abi.SourceInvalid, "cannot read the folder of a tool whose effects require approvals")
		return "", f.WithHint("the folder can contain at most %d files and %d MiB", maxDigestFiles, maxDigestBytes>>20)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// errTooManyFiles reports that the files of a folder are too many or too large.
var errTooManyFiles = abi.Faultf(abi.SourceInvalid, "the folder of the tool is too large")

// digestFile returns the size and a digest of a file. The file must have at most the given number
// of bytes.
func digestFile(files fs.FS, name string, limit int64) (int64, string, error) {
	f, err := files.Open(name)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = f.Close() }() // nothing was written
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, limit+1))
	if err == nil && n > limit {
		err = errTooManyFiles
	}
	return n, string(h.Sum(nil)), err
}
