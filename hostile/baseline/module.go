package baseline

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// plugin is the state that the imported functions of a module share.
type plugin struct {
	*host
	input, context, reply, output []byte
	logs                          [][]byte
}

// module runs a plug-in in wazero. The context of the run ends at the deadline.
func module(h *host, file string, input []byte) ([]byte, error) {
	code, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), h.deadline)
	defer cancel()
	r := wazero.NewRuntime(ctx)
	wasi_snapshot_preview1.MustInstantiate(ctx, r)
	p := &plugin{host: h, input: input, context: []byte("{}")}
	if err := p.export(ctx, r); err != nil {
		return nil, err
	}
	var printed bytes.Buffer
	config := wazero.NewModuleConfig().WithStartFunctions("_initialize").WithStdout(&printed).WithStderr(&printed).
		WithSysWalltime().WithSysNanotime().WithSysNanosleep()
	guest, err := r.InstantiateWithConfig(ctx, code, config)
	if err != nil {
		return nil, err
	}
	entry := guest.ExportedFunction("toolrun_run")
	if entry == nil {
		return nil, fmt.Errorf("the module does not export an entry function")
	}
	answered, err := entry.Call(ctx)
	if err != nil {
		return nil, err
	}
	if len(answered) > 0 && answered[0] != 0 {
		return nil, fmt.Errorf("the module returned %d", answered[0])
	}
	return p.output, nil
}

// export defines the functions that a plug-in imports; see abi/ABI.md.
func (p *plugin) export(ctx context.Context, r wazero.Runtime) error {
	own := r.NewHostModuleBuilder("toolrun")
	for name, document := range map[string]*[]byte{"input": &p.input, "context": &p.context, "result": &p.reply} {
		own.NewFunctionBuilder().WithFunc(func() int32 { return int32(len(*document)) }).Export(name + "_len")
		own.NewFunctionBuilder().WithFunc(func(_ context.Context, m api.Module, ptr, off, n uint32) int32 {
			part := (*document)[off:][:n]
			m.Memory().Write(ptr, part)
			return int32(len(part))
		}).Export(name + "_read")
	}
	for name, into := range map[string]*[]byte{"output": &p.output, "context": &p.context, "error": &p.reply} {
		own.NewFunctionBuilder().WithFunc(func(_ context.Context, m api.Module, ptr, n uint32) int32 {
			text, _ := m.Memory().Read(ptr, n)
			*into = text
			return 0
		}).Export(name + "_write")
	}
	own.NewFunctionBuilder().WithFunc(func(_ context.Context, m api.Module, _, ptr, n uint32) int32 {
		text, _ := m.Memory().Read(ptr, n)
		p.logs = append(p.logs, bytes.Clone(text))
		return 0
	}).Export("log")
	if _, err := own.Instantiate(ctx); err != nil {
		return err
	}
	return p.exportMemory(ctx, r)
}

func (p *plugin) exportMemory(ctx context.Context, r wazero.Runtime) error {
	text := func(m api.Module, ptr, n uint32) string {
		bytes, _ := m.Memory().Read(ptr, n)
		return string(bytes)
	}
	answer := func(value any, err error) int32 {
		if err != nil {
			return -1
		}
		p.reply, _ = json.Marshal(value)
		return int32(len(p.reply))
	}
	stores := r.NewHostModuleBuilder("memory")
	stores.NewFunctionBuilder().WithFunc(func(_ context.Context, m api.Module, store, n, _, _, _, _ uint32) int32 {
		return answer(p.get(text(m, store, n)))
	}).Export("get_content")
	stores.NewFunctionBuilder().WithFunc(func(_ context.Context, m api.Module, store, n, value, size, _, _ uint32) int32 {
		var content map[string]any
		if err := json.Unmarshal([]byte(text(m, value, size)), &content); err != nil {
			return -1
		}
		return answer(nil, p.set(text(m, store, n), content))
	}).Export("set_content")
	stores.NewFunctionBuilder().WithFunc(func(_ context.Context, m api.Module, store, n, _, _ uint32) int32 {
		return answer(nil, p.remove(text(m, store, n)))
	}).Export("delete_content")
	_, err := stores.Instantiate(ctx)
	return err
}
