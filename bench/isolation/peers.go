package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"time"

	"github.com/toolrun/toolrun/bench/measure"
)

const (
	peersFolder = "peers"
	// installing is the time limit of the command "npm install". If isolated-vm has no
	// binary for this machine, npm compiles isolated-vm.
	installing = 10 * time.Minute
	// peersTake is the time limit for the measurement of all peers. Each peer is measured for
	// peerSpan.
	peersTake = time.Minute
	peerSpan  = 2 * time.Second
)

// peers measures the packages in the folder "peers". If the packages cannot be measured, peers
// reports the reason.
func peers() []measure.Row {
	rows, err := measurePeers()
	if err != nil {
		rows = append(rows, measure.Row{Name: "other ways to run JavaScript in Node.js", Missing: err.Error()})
	}
	return rows
}

func measurePeers() ([]measure.Row, error) {
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return nil, fmt.Errorf("%s is not installed", program)
		}
	}
	if _, err := inPeers(installing, "npm", "install", "--prefer-offline", "--no-audit", "--no-fund"); err != nil {
		return nil, fmt.Errorf("npm install in %s: %w", peersFolder, err)
	}
	out, err := inPeers(peersTake, "node", "peers.mjs", fmt.Sprint(peerSpan.Milliseconds()))
	if err != nil {
		return nil, fmt.Errorf("node peers.mjs in %s: %w", peersFolder, err)
	}
	return readPeers(out)
}

// inPeers runs a program in the folder of the peers. The standard error of the program is not part
// of the report.
func inPeers(limit time.Duration, program string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	command := exec.CommandContext(ctx, program, args...)
	command.Dir = peersFolder
	return command.Output()
}

// readPeers parses the output of peers.mjs.
func readPeers(out []byte) (rows []measure.Row, err error) {
	for line := range bytes.Lines(out) {
		var peer struct {
			Name    string  `json:"name"`
			P50     float64 `json:"p50_us"`
			P99     float64 `json:"p99_us"`
			Rate    float64 `json:"runs_per_s"`
			Missing string  `json:"missing"`
		}
		if err := json.Unmarshal(line, &peer); err != nil {
			return rows, fmt.Errorf("parse line of peers.mjs: %w", err)
		}
		rows = append(rows, measure.Row{Name: peer.Name, Workers: 1, P50: peer.P50, P99: peer.P99, Rate: peer.Rate, Missing: peer.Missing})
	}
	return rows, nil
}

// peerFigures compares the run of each measured peer with a run in a worker.
func peerFigures(rows measure.Rows, peers []measure.Row) (list []measure.Figure) {
	for _, peer := range peers {
		if rows.Has(peer.Name) {
			list = append(list, rows.Over(peer.Name+", ratio to a run in a worker, p50", peer.Name, "above 1", inWorker))
		}
	}
	return list
}
