//go:build linux

package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolrun/toolrun/abi"
	"github.com/toolrun/toolrun/host/engine"
	"github.com/toolrun/toolrun/host/sandbox"
	"github.com/toolrun/toolrun/host/sandbox/sandboxtest"
)

// probes is an engine. The guests of the engine are Go functions in this file. The guests perform
// acts of an attacker. The attacker has escaped from the sandbox of a language. In this engine, a
// source is the name of an act.
type probes struct{ dir string }

func (probes) Info() engine.Info { return engine.Info{Name: "probe", Extensions: []string{".probe"}} }

func (p probes) Load(_ context.Context, src engine.Source) (engine.Program, error) {
	name := string(src.Code)
	found := p.compiled(name)
	if act := loads[name]; act != nil {
		act()
	}
	if act := loadFaults[name]; act != nil {
		return nil, act(p.dir)
	}
	if acts[name] == nil && loads[name] == nil {
		return nil, abi.Faultf(abi.SourceInvalid, "unknown act %q", name)
	}
	return probe{name, found}, nil
}

// compiled returns the compiled code of a source. If reading or writing the code fails, compiled
// returns the text of an error. If the code does not exist, the method writes the code.
func (p probes) compiled(name string) string {
	if p.dir == "" {
		return "nowhere"
	}
	file := filepath.Join(p.dir, "compiled")
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(p.dir, 0o700); err == nil {
			err = os.WriteFile(file, []byte(name), 0o600)
		}
	}
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// sharing is an engine. All its tools return the same text. The text is shared state, which is
// prepared only once from a file.
type sharing struct{ dir, text string }

var sharingLanguage = sandbox.Language{
	New: func(s sandbox.Setup) engine.Engine { return &sharing{dir: s.CacheDir} },
	Shared: &sandbox.Shared{
		Prepare: func(_ context.Context, s sandbox.Setup) error {
			if len(s.Files) == 0 {
				return abi.Faultf(abi.SourceInvalid, "the file is missing")
			}
			text, err := os.ReadFile(s.Files[0])
			if err == nil {
				err = os.MkdirAll(s.CacheDir, 0o700)
			}
			if string(text) == "slow" {
				time.Sleep(1500 * time.Millisecond)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(s.CacheDir, "made"), append(text, " made"...), 0o600)
			}
			return err
		},
		Start: func(_ context.Context, e engine.Engine) {
			s := e.(*sharing)
			text, err := os.ReadFile(filepath.Join(s.dir, "made"))
			s.text = fmt.Sprintf("%s, readable: %v", text, err == nil)
		},
	},
}

func (*sharing) Info() engine.Info {
	return engine.Info{Name: "sharing", Extensions: []string{".sharing"}}
}

func (s *sharing) Load(_ context.Context, src engine.Source) (engine.Program, error) {
	if string(src.Code) == "lie" {
		return nil, abi.Faultf(abi.Unavailable, "what is shared is damaged, believe me")
	}
	if !strings.HasSuffix(s.text, "readable: true") || strings.HasPrefix(s.text, "damaged") {
		return nil, abi.Faultf(abi.Unavailable, "what is shared cannot be used: %s", s.text)
	}
	return s, nil
}
func (s *sharing) Close() error { return nil }

// Run returns the text. Run also reports whether the guest can write to the shared state.
func (s *sharing) Run(context.Context, engine.Input, engine.Host) (engine.Output, error) {
	err := os.WriteFile(filepath.Join(s.dir, "made"), nil, 0o600)
	text, _ := json.Marshal(fmt.Sprint(s.text, ", writable: ", err == nil))
	return engine.Output{Output: text}, nil
}

type probe struct{ name, found string }

func (probe) Close() error { return nil }

// Run returns the result of the act. The result is "done" or the text of an error.
func (p probe) Run(ctx context.Context, in engine.Input, host engine.Host) (engine.Output, error) {
	var argument struct {
		Text []byte
		Pid  int
	}
	if err := json.Unmarshal(in.Input, &argument); err != nil {
		return engine.Output{}, err
	}
	err := acts[p.name](act{ctx, string(argument.Text), argument.Pid, host})
	if p.name == "found" {
		err = errors.New(p.found)
	}
	if p.asks() && err != nil {
		return engine.Output{}, err
	}
	got := "done"
	if err != nil {
		got = err.Error()
	}
	text, err := json.Marshal(got)
	return engine.Output{Output: text}, err
}

// asks reports whether an act returns the errors and faults of its memory calls unchanged.
func (p probe) asks() bool {
	return strings.HasPrefix(p.name, "call") || strings.HasPrefix(p.name, "fl") || strings.HasPrefix(p.name, "fail")
}

// act is the input of an act.
type act struct {
	ctx  context.Context
	text string // the argument of the act
	pid  int    // a process that the act tries to reach, but must not reach
	host engine.Host
}

// The variable loads contains acts that a hostile source performs during its compilation.
var loads = map[string]func(){
	"compile slowly":   func() { time.Sleep(200 * time.Millisecond) },
	"compile for ever": func() { _ = flood(func() error { return nil }) },
	"compile bomb":     func() { swell() },
	"compile nesting":  func() { fmt.Fprint(os.Stderr, nest(1)) },
	"compile crash":    func() { panic("a bug of the compiler") },
}

// loadFaults contains acts that make a compilation fail.
var loadFaults = map[string]func(dir string) error{
	"compile to a conflict": func(string) error {
		return &abi.Fault{Code: abi.Conflict, Message: strings.Repeat("x", 900_000), Outcome: "unknown"}
	},
	"compile to a long fault": func(string) error {
		return &abi.Fault{Code: abi.SourceInvalid, Message: strings.Repeat("x", 400_000), Hint: strings.Repeat("x", 400_000), Outcome: "unknown"}
	},
	"compile to a large file": func(dir string) error {
		return fill(dir, func(n int) string { return "large" }, 1<<20, 400)
	},
	"compile to many files": func(dir string) error {
		return fill(dir, func(n int) string { return fmt.Sprint("file", n) }, 1<<20, 400)
	},
	"compile to many folders": func(dir string) error {
		for n := range 1000 {
			if err := os.MkdirAll(filepath.Join(dir, fmt.Sprint("folder", n)), 0o700); err != nil {
				return err
			}
		}
		return nil
	},
}

// fill appends blocks to files until the system denies a write. The argument "times" is the maximum
// number of blocks.
func fill(dir string, name func(int) string, bytes, times int) error {
	block := make([]byte, bytes)
	for n := range times {
		file, err := os.OpenFile(filepath.Join(dir, name(n)), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		_, err = file.Write(block)
		file.Close()
		if errors.Is(err, unix.EFBIG) {
			return fill(dir, func(m int) string { return fmt.Sprint("more", m) }, bytes, times)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// The variable acts contains the acts that guests try in a worker.
var acts = map[string]func(act) error{
	"compile slowly": func(act) error { return nil },
	"open a file":    func(a act) error { _, err := os.ReadFile(a.text); return err },
	"look at a file": func(a act) error { _, err := os.Stat(a.text); return err },
	"read a link":    func(a act) error { _, err := os.Readlink("/proc/self"); return err },
	"start threads": func(act) error {
		_, err := sandboxtest.StartThreads(1000)
		return err
	},
	"be signalled": func(act) error {
		var ends [2]int
		if err := unix.Pipe2(ends[:], 0); err != nil {
			return err
		}
		_, err := unix.FcntlInt(uintptr(ends[0]), unix.F_SETOWN, os.Getppid())
		return err
	},
	"take a lease": func(act) error {
		fd, err := unix.MemfdCreate("x", 0)
		if err != nil {
			fd = 0 // uses a pipe if memory files are denied
		}
		_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK)
		return may(err, unix.EAGAIN, unix.EINVAL)
	},
	"enlarge a pipe": func(act) error {
		var ends [2]int
		if err := unix.Pipe2(ends[:], 0); err != nil {
			return err
		}
		_, err := unix.FcntlInt(uintptr(ends[0]), unix.F_SETPIPE_SZ, 1<<17)
		return err
	},
	"fill a memory file": func(act) error {
		fd, err := unix.MemfdCreate("x", 0)
		block := make([]byte, 1<<20)
		for n := 0; n < 400 && err == nil; n++ {
			_, err = unix.Write(fd, block)
		}
		return err
	},
	"map shared memory": func(act) error {
		all, err := unix.Mmap(-1, 0, 400<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON)
		for i := 0; i < len(all); i += 4096 {
			if all[i] = 1; i%(8<<20) == 0 { // releases the memory
				_ = unix.Madvise(all[:i], unix.MADV_DONTNEED)
			}
		}
		return err
	},
	"read a quarter of a terabyte": func(act) error { // fills memory with page tables
		const quarterTerabyte = 1 << 38
		all, err := unix.Mmap(-1, 0, quarterTerabyte, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
		for i := 0; i < len(all); i += 2 << 20 {
			retained = append(retained[:0], all[i:i+1:i+1])
			if retained[0][0] != 0 {
				return errors.New("it is not zero")
			}
		}
		return err
	},
	"list a folder": func(a act) error {
		_, err := os.ReadDir(filepath.Dir(a.text))
		return err
	},
	"write a file":  func(a act) error { return os.WriteFile(a.text+".new", []byte("x"), 0o600) },
	"remove a file": func(a act) error { return os.Remove(a.text) },
	"connect": func(a act) error {
		conn, err := net.DialTimeout("tcp", a.text, 5*time.Second)
		if err == nil {
			conn.Close()
		}
		return err
	},
	"send UDP": func(a act) error {
		conn, err := net.Dial("udp", a.text)
		if err != nil {
			return err
		}
		defer conn.Close()
		_, err = conn.Write([]byte("hello"))
		return err
	},
	"connect to an abstract socket": func(a act) error {
		conn, err := net.Dial("unix", a.text)
		if err == nil {
			conn.Close()
		}
		return err
	},
	"execute": func(a act) error {
		pid, err := syscall.ForkExec(a.text, []string{a.text, "-test.run=^$"}, &syscall.ProcAttr{Env: []string{}})
		if err == nil {
			_, err = syscall.Wait4(pid, nil, 0, nil)
		}
		return err
	},
	"trace a process":  func(a act) error { return unix.PtraceSeize(a.pid) },
	"signal a process": func(a act) error { return syscall.Kill(a.pid, syscall.SIGURG) },
	"read a process's memory": func(a act) error {
		buffer := make([]byte, 8)
		local := []unix.Iovec{{Base: &buffer[0], Len: 8}}
		_, err := unix.ProcessVMReadv(a.pid, local, []unix.RemoteIovec{{Base: 0, Len: 8}}, 0)
		return may(err, unix.EFAULT) // no memory is mapped at this address
	},
	"read a process's environment": func(a act) error {
		_, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", a.pid))
		return err
	},
	"raise its own limits": func(act) error {
		return unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY})
	},
	"make a namespace": func(act) error { return unix.Unshare(unix.CLONE_NEWUTS) },
	// The file system type does not exist. Therefore the act mounts nothing, even as root.
	"mount": func(a act) error {
		return may(unix.Mount("none", filepath.Dir(a.text), "toolrun-none", 0, ""), unix.ENODEV)
	},
	"make a ring": func(act) error {
		_, _, e := unix.Syscall(unix.SYS_IO_URING_SETUP, 0, 0, 0)
		return may(e, unix.EINVAL, unix.EFAULT)
	},
	"load a program into the kernel": func(act) error {
		_, _, e := unix.Syscall(unix.SYS_BPF, 0, 0, 0)
		return may(e, unix.EINVAL, unix.EFAULT)
	},
	"read the environment": func(act) error {
		if env := os.Environ(); len(env) > 0 {
			return nil
		}
		return fmt.Errorf("it is empty")
	},
	"open many descriptors": func(act) error {
		for range 2000 {
			if _, err := unix.MemfdCreate("x", 0); err != nil {
				return err
			}
		}
		return nil
	},

	"found":  func(act) error { return nil },
	"answer": func(a act) error { return nil },
	"who":    func(act) error { return fmt.Errorf("%d", os.Getpid()) },
	"call at length": func(a act) error {
		_, err := a.host.Call(a.ctx, abi.Call{Op: abi.GetContent, Args: []json.RawMessage{json.RawMessage(`"` + strings.Repeat("x", 9<<20) + `"`)}})
		return err
	},
	"fail at length": func(act) error { return abi.Faultf(abi.ToolError, "%s", strings.Repeat("x", 9<<20)) },
	"spin":           func(act) error { select {} },
	"fail in time":   func(a act) error { <-a.ctx.Done(); return engine.FaultFromContext(a.ctx) },
	"read what was inherited": func(a act) error {
		for fd := 3; fd < 64; fd++ {
			text := make([]byte, 64)
			if n, err := unix.Pread(fd, text, 0); err == nil && n > 0 && strings.Contains(string(text[:n]), "secret") {
				return nil
			}
		}
		return errors.New("nothing was found")
	},
	"leave a child behind": func(act) error { // the child keeps the pipes open
		pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
		if errno != 0 {
			return errno
		}
		if pid == 0 {
			for { // the process has no Go runtime and executes only one loop
				_, _, _ = syscall.RawSyscall(syscall.SYS_GETPID, 0, 0, 0)
			}
		}
		select {}
	},
	"share memory": func(act) error {
		all, err := unix.Mmap(-1, 0, 512<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON)
		for i := 0; i < len(all); i += 4096 {
			all[i] = 1
		}
		time.Sleep(time.Second)
		return err
	},
	"speak ahead": func(a act) error { // the frame contains a result for the next run
		frame := "\x0e\x00\x00\x00\x0a\x00\x00\x08\"forged\"\x00\x00\x00"
		_, err := unix.Write(1, []byte(frame+frame))
		return err
	},
	"call something else": func(a act) error { _, err := a.host.Call(a.ctx, abi.Call{Op: strings.Repeat("x", 1000)}); return err },
	"spin hard":           func(act) error { return flood(func() error { return nil }) },
	"swell":               func(act) error { swell(); return nil },
	"nest":                func(act) error { return fmt.Errorf("%s", nest(1)) },
	"crash":               func(act) error { go panic("a bug of the engine"); select {} },
	"exit":                func(act) error { os.Exit(0); return nil },
	"burn": func(a act) error { // the goroutines together use more than one processor
		for range 2 {
			go func() {
				for {
					_ = time.Now()
				}
			}()
		}
		<-a.ctx.Done()
		return nil
	},
	"call and spin": func(a act) error {
		_, _ = a.host.Call(a.ctx, abi.Call{Op: abi.DeleteContent})
		return flood(func() error { return nil })
	},
	"call": func(a act) error {
		_, err := a.host.Call(a.ctx, abi.Call{Op: abi.GetContent, Args: []json.RawMessage{[]byte(a.text)}})
		return err
	},
	"flood logs": func(a act) error { return flood(func() error { return a.host.Log(abi.LevelInfo, "x") }) },
	"flood calls": func(a act) error {
		return flood(func() error { _, err := a.host.Call(a.ctx, abi.Call{Op: "get_content"}); return err })
	},
	"say": func(a act) error { // the act writes bytes that are not frames
		_, err := unix.Write(1, []byte(a.text))
		if err != nil {
			return err
		}
		select {}
	},
	"say for ever": func(a act) error {
		text := []byte(strings.Repeat(a.text, 1000))
		return flood(func() error { _, err := unix.Write(1, text); return err })
	},
	"cry": func(a act) error { // the parent never reads as many bytes as the act writes
		text := []byte(strings.Repeat("x", 1<<16))
		for range 1000 {
			_, _ = unix.Write(2, text)
		}
		return nil
	},
}

// The function may returns nil if err is one of the harmless errors. A harmless error means that no
// layer prevented the act, but that the act had, for example, invalid arguments.
func may(err error, harmless ...syscall.Errno) error {
	for _, e := range harmless {
		if err == e {
			return nil
		}
	}
	return err
}

func flood(once func() error) error {
	for {
		if err := once(); err != nil {
			return err
		}
	}
}

var retained [][]byte

func swell() {
	for {
		block := make([]byte, 1<<20)
		for i := range block {
			block[i] = byte(i)
		}
		retained = append(retained, block)
	}
}

// nest calls itself until the stack overflows.
func nest(n int) string {
	if n < 0 {
		return ""
	}
	var room [256]byte
	room[n%256] = byte(n)
	return nest(n+1) + string(room[:1])
}
