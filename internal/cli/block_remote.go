package cli

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host"
	"github.com/toolrun/toolrun/host/memory/block"
	"github.com/toolrun/toolrun/host/server/httpapi/apitypes"
	"github.com/toolrun/toolrun/sdk/client"
)

var _ blockBackend = remoteBlocks{}

// remoteBlocks reads and writes the blocks of an app at a server.
type remoteBlocks struct{ client *client.Client }

// List lists the blocks of the caller's user.
func (r remoteBlocks) List(ctx context.Context, c host.Caller, scope block.Scope) ([]block.Block, error) {
	named := ""
	if scope == block.ScopeAll {
		named = client.AllScopes
	}
	list, err := r.client.Memory().List(ctx, blockCallerOf(c, scope != block.ScopeUser), named)
	if err != nil {
		return nil, err
	}
	found := []block.Block{}
	for i := range list {
		b, err := readBlock(&list[i])
		if err != nil {
			return nil, err
		}
		found = append(found, *b)
	}
	return found, nil
}

// Declarations returns the blocks that the app declares.
func (r remoteBlocks) Declarations(ctx context.Context) ([]block.Declaration, error) {
	list, err := r.client.Memory().Declared(ctx)
	if err != nil {
		return nil, err
	}
	declared := make([]block.Declaration, len(list))
	for i, d := range list {
		declared[i] = block.Declaration(d)
	}
	return declared, nil
}

// isDeclared reports whether the app declares a block.
func (r remoteBlocks) isDeclared(ctx context.Context, name string) (bool, error) {
	declared, err := r.Declarations(ctx)
	return slices.ContainsFunc(declared, func(d block.Declaration) bool { return d.Name == name }), err
}

// Get reads a block. If the block does not exist, Get returns nil. If the app does not declare the
// block, Get fails with abi.NotFound.
func (r remoteBlocks) Get(ctx context.Context, c host.Caller, name string, agent bool) (*block.Block, error) {
	found, err := r.client.Memory().Get(ctx, blockCallerOf(c, agent), name)
	if f, ok := errors.AsType[*client.Error](err); ok && f.Fault.Code == abi.NotFound && f.Fault.Store == name {
		declared, unknown := r.isDeclared(ctx, name)
		if declared || unknown != nil {
			return nil, unknown
		}
	}
	if err != nil {
		return nil, err
	}
	return readBlock(found)
}

// Update replaces a block.
func (r remoteBlocks) Update(ctx context.Context, c host.Caller, u host.BlockUpdate) (*block.Block, error) {
	version, err := versionOf(u.Expected)
	if err != nil {
		return nil, err
	}
	stored, err := r.client.Memory().Update(ctx, blockCallerOf(c, u.Agent), u.Name, u.Content, version)
	if err != nil {
		return nil, err
	}
	return readBlock(stored)
}

// Delete deletes a block. The server requires a version. If no version is expected, Delete reads
// the current version first.
func (r remoteBlocks) Delete(ctx context.Context, c host.Caller, u host.BlockUpdate) (deleted bool, err error) {
	if u.Expected.IsZero() {
		found, err := r.Get(ctx, c, u.Name, u.Agent)
		if err != nil {
			return false, err
		}
		return false, u.Expected.Check(found)
	}
	version, err := versionOf(u.Expected)
	if err != nil {
		return false, err
	}
	reply, err := r.client.Memory().Delete(ctx, blockCallerOf(c, u.Agent), u.Name, version)
	if err != nil {
		return false, err
	}
	return reply.Deleted, nil
}

// blockCallerOf returns the caller of a request about blocks. The blocks belong to the user or to
// an agent.
func blockCallerOf(c host.Caller, agent bool) client.Caller {
	caller := callerOf(c)
	if !agent {
		caller.Agent = ""
	}
	return caller
}

// versionOf returns the updated_at of an expected version. If the block must not exist, versionOf
// returns "". The revision of a block is a time in milliseconds. If the expected time and the
// expected revision contradict each other, no block can have the expected version.
func versionOf(e block.Expected) (string, error) {
	switch {
	case !e.Updated.IsZero() && e.Revision != 0 && !e.Updated.Equal(time.UnixMilli(e.Revision)):
		return "", abi.Faultf(abi.Conflict, "no version of the block has both the expected time and the expected revision")
	case !e.Updated.IsZero():
		return e.Updated.Format(time.RFC3339Nano), nil
	case e.Revision != 0:
		return block.FormatTime(time.UnixMilli(e.Revision)), nil
	}
	return "", nil
}

// readBlock converts a block in a response to a block of package host.
func readBlock(b *apitypes.Block) (*block.Block, error) {
	text, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	found := &block.Block{}
	return found, json.Unmarshal(text, found)
}
