package host

import (
	"cmp"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/ledger"
	"github.com/toolrun/toolrun/host/report"
)

// These are the names of acts in ledger entries.
const (
	actRun     = "run"
	actDryRun  = "dry_run"
	actTurn    = "turn"
	actOperate = "operate"
	actList    = "list"
	actRender  = "render"
	actPurge   = "purge"
	actErase   = "erase"
	actDeclare = "declare"
	actExport  = "export"
	actImport  = "import"
	actLoad    = "download"
	actReembed = "reembed" // an export of a collection's entries

	actSleep    = "sleep"
	actMessages = "messages" // an import of a platform's messages
	actPause    = "pause"    // of sleep-time memory
	actResume   = "resume"
	actRetry    = "retry"   // repeats failed runs of sleep-time memory
	actDiscard  = "discard" // drops messages after too many failed runs

	actExportUser = "export_user"
	actEvaluate   = "evaluate" // of an agent's rules

	actRequestApproval = "request_approval"
	actApprove         = "approve"
	actDeny            = "deny"
)

// entry returns the ledger entry of a job that has not ended yet.
func (j *job) entry() *ledger.Entry {
	act := j.act
	if j.inv.DryRun {
		act = actDryRun
	}
	token := ""
	if j.claim != nil {
		token = j.claim.Token
	}
	return &ledger.Entry{
		Approval: token, Run: j.info.ID, Act: act, Tool: j.label, Actor: j.inv.Caller.Actor, User: j.inv.Caller.User, Session: cmp.Or(j.inv.Caller.Session, j.session),
		Workflow: j.inv.Caller.Workflow, At: j.began,
	}
}

// record adds the ledger entry of a job that has ended without a commit.
func (j *job) record(recorded bool, result *report.Result) {
	if recorded || j.info.ID == "" || result.Repeated {
		return
	}
	e := j.entry()
	e.Attempts, e.Reads, e.Writes = result.Attempts, result.Effects.Reads, []report.WriteEffect{} // empty for a dry run
	if result.Error != nil {
		e.Code = result.Error.Code
	}
	if result.Approval != nil { // the run's id already identifies the ledger entry of its commit
		e.Run, e.Act, e.Approval = result.Approval.Token, actRequestApproval, result.Approval.Token
	}
	noteExternal(j, e)
	j.h.ledger.add(j.info.Caller.Tenant, *e)
}

// RecordDeclared adds a ledger entry that lists stores that an operator has created or changed. If
// a program has changed stores, it must call RecordDeclared.
func (l *Ledger) RecordDeclared(caller Caller, stores ...string) error {
	return l.recordStores(caller, actDeclare, stores, nil)
}

// RecordImported adds a ledger entry for an operator's import of stores. If the import failed, the
// entry contains the fault code.
func (l *Ledger) RecordImported(caller Caller, failed error, stores ...string) error {
	return l.recordStores(caller, actImport, stores, failed)
}

// RecordExported adds a ledger entry for an operator's export of the app's configuration.
func (l *Ledger) RecordExported(caller Caller) error {
	return l.recordStores(caller, actExport, nil, nil)
}

func (l *Ledger) recordStores(caller Caller, act string, stores []string, failed error) error {
	id, err := l.h.newID(act)
	if err != nil {
		return err
	}
	effects := report.Effects{Writes: []report.WriteEffect{}, Reads: []report.ReadEffect{}}
	for _, store := range stores {
		if failed == nil {
			effects.Writes = append(effects.Writes, report.WriteEffect{Store: store, Op: actDeclare})
		}
	}
	l.recordAct(caller, id, act, effects, failed)
	return nil
}

// RecordDownload adds a ledger entry, which records that an operator has downloaded a file of the
// caller's session.
func (l *Ledger) RecordDownload(caller Caller, file string) error {
	id, err := l.h.newID(actLoad)
	if err != nil {
		return err
	}
	e := l.act(caller, id, actLoad, report.Effects{}, nil)
	e.File = file
	l.add(caller.as(id).Tenant, e)
	return nil
}

// recordAct adds the ledger entry of an operator's act.
func (l *Ledger) recordAct(caller Caller, id, act string, effects report.Effects, err error) {
	l.add(caller.as(id).Tenant, l.act(caller, id, act, effects, err))
}

// began returns the time at which the run or act with the given id began. The id contains this time
// in milliseconds.
func (l *Ledger) began(id string) time.Time {
	_, text, _ := strings.Cut(id, "_")
	made, err := ulid.ParseStrict(text)
	if err != nil {
		return l.h.clock().UTC()
	}
	return ulid.Time(made.Time()).UTC()
}

// act returns the ledger entry of an operator's act.
func (l *Ledger) act(caller Caller, id, act string, effects report.Effects, err error) ledger.Entry {
	c := caller.as(id)
	e := ledger.Entry{
		Run: id, Act: act, Actor: caller.Actor, User: c.User, Session: c.Session, Workflow: c.Workflow, At: l.began(id), Attempts: 1,
		Reads: effects.Reads, Writes: effects.Writes,
	}
	if act == actErase {
		e.User = "" // the ledger entry must not contain the erased user
	}
	if e.Reads == nil {
		e.Reads, e.Writes = []report.ReadEffect{}, []report.WriteEffect{}
	}
	if err != nil {
		e.Code = abi.FaultOf(err).Code
	}
	return e
}
