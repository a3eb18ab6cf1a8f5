// Command neighbours measures how an attack by one user of a service affects other users and
// tenants. The command starts `toolrun serve` once for each attack, in a new folder. Before the
// attack and during the attack, the command sends small requests at a steady pace. Run this command
// in the folder "bench". The measured binary can be any binary that serves the same API:
//
//	go run ./neighbours -toolrun old-toolrun -per-app 1 -attack bodies,merges
//
// The attacker and the small requests share the machine with the service. Compare the figures only
// with those of another binary that was measured under the same load. Each attack is bounded in
// time and bytes, and all traffic stays on 127.0.0.1.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// options contains the flags of the command.
type options struct {
	toolrun string        // the binary
	perApp  int           // the value of the flag --per-app of serve, or 0
	memory  int           // the limit of the service's data in MiB, or 0
	span    time.Duration // duration of an attack
	extra   []string      // additional flags of serve
}

func main() {
	var o options
	seconds := flag.Int("seconds", 8, "duration of each attack in seconds")
	names := flag.String("attack", "", "comma-separated attacks (default: all of "+strings.Join(attackNames(), ",")+")")
	asJSON := flag.Bool("json", false, "print JSON")
	flag.StringVar(&o.toolrun, "toolrun", "", "binary to measure (default: build ./cmd/toolrun)")
	flag.IntVar(&o.perApp, "per-app", 0, "concurrent runs of one app and tenant; 0 for the default of serve")
	flag.IntVar(&o.memory, "memory", 2048, "limit of the service's data in MiB (RLIMIT_DATA); 0 for no limit")
	flag.Parse()
	o.span, o.extra = time.Duration(*seconds)*time.Second, flag.Args()
	if err := run(o, *names, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "neighbours:", err)
		os.Exit(1)
	}
}

func run(o options, names string, asJSON bool) error {
	chosen, err := attacksNamed(names)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "toolrun-neighbours")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if o.toolrun == "" {
		o.toolrun = filepath.Join(dir, "toolrun")
		build := exec.Command("go", "build", "-o", o.toolrun, "./cmd/toolrun")
		build.Dir = ".." // the module of toolrun
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build ./cmd/toolrun: %w\n%s", err, out)
		}
	}
	if o.toolrun, err = filepath.Abs(o.toolrun); err != nil {
		return err
	}
	r := report{Toolrun: o.toolrun, PerApp: o.perApp}
	for _, a := range chosen {
		found, err := measure(o, a, filepath.Join(dir, a.name))
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		r.Attacks = append(r.Attacks, found)
		if !asJSON {
			found.print(os.Stdout)
		}
	}
	if asJSON {
		return r.writeJSON(os.Stdout)
	}
	return nil
}

// measure starts a new service and measures one attack on it.
func measure(o options, a attack, dir string) (outcome, error) {
	s, err := start(o, dir)
	if err != nil {
		return outcome{}, err
	}
	defer s.stop()
	setup := &attacker{service: s, counts: map[string]int{}, left: a.budget}
	var send func(worker int) bool
	if send, err = a.prepare(setup); err != nil {
		return outcome{}, err
	}
	neighbours, err := a.neighbours(s)
	if err != nil {
		return outcome{}, err
	}
	out := outcome{Attack: a.name, LoadBefore: load()}
	undisturbed := sample(s, neighbours, o.span/2, nil)
	before := s.bytes()
	out.MemoryMiB = s.memory()
	setup.reset()
	span := o.span * time.Duration(max(1, a.spans))
	peak := s.watch()
	over, stop := setup.begin(a.workers, send)
	began := time.Now()
	during := sample(s, neighbours, span, over)
	out.Seconds = time.Since(began).Seconds()
	stop()
	out.LoadAfter, out.Dead, out.CommitWork = load(), s.dead(), s.commitWork()
	counts, sent := setup.total()
	out.Requests, out.SentMiB = counts, float64(sent)/(1<<20)
	out.PeakMiB, out.GrowthMiB = peak(), float64(s.bytes()-before)/(1<<20)
	for i, n := range neighbours {
		out.Neighbours = append(out.Neighbours, compare(n, undisturbed[i], during[i]))
	}
	return out, nil
}

// load returns the machine's load average over the last minute, or "" if the load is unknown.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	return strings.Fields(string(text))[0]
}
