// Command compare runs two builds of the same benchmark, in turn. For each case and each pair of
// runs, the command divides the new build's p50 by the old build's p50. The command prints the
// median of these ratios for each case.
//
//	cd bench && go run ./compare -pairs 20 /tmp/old-bench /tmp/new-bench
//
// The command passes -json, -rounds 1 and -span to both builds. On a noisy machine, compare only
// runs of the same pair with each other.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"
)

type row struct {
	Name    string  `json:"name"`
	P50     float64 `json:"p50_us"`
	Missing string  `json:"missing"`
}

func main() {
	pairs := flag.Int("pairs", 20, "number of pairs to measure")
	span := flag.Duration("span", 300*time.Millisecond, "duration of each case")
	flag.Parse()
	if err := compare(flag.Args(), *pairs, *span); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func compare(builds []string, pairs int, span time.Duration) error {
	if len(builds) != 2 {
		return fmt.Errorf("got %d benchmark builds; want two, an old one and a new one", len(builds))
	}
	var names []string
	ratios := map[string][]float64{}
	for pair := range pairs {
		fmt.Fprintf(os.Stderr, "\rpair %d of %d", pair+1, pairs)
		measured := make([]map[string]float64, 2)
		for turn := range 2 {
			which := (turn + pair) % 2 // alternate the order: the load can change within a pair
			rows, err := measure(builds[which], span)
			if err != nil {
				return err
			}
			measured[which] = map[string]float64{}
			for _, r := range rows {
				if r.Missing == "" {
					measured[which][r.Name] = r.P50
				}
				if !slices.Contains(names, r.Name) {
					names = append(names, r.Name)
				}
			}
		}
		for name, old := range measured[0] {
			if fresh, ok := measured[1][name]; ok {
				ratios[name] = append(ratios[name], fresh/old)
			}
		}
	}
	fmt.Fprintln(os.Stderr)
	for _, name := range names {
		if all := slices.Sorted(slices.Values(ratios[name])); len(all) > 0 {
			fmt.Printf("%5.2f  (%.2f to %.2f in the middle half of %d pairs)  %s\n", all[len(all)/2], all[len(all)/4], all[len(all)*3/4], len(all), name)
		}
	}
	return nil
}

func measure(build string, span time.Duration) ([]row, error) {
	out, err := exec.Command(build, "-json", "-rounds", "1", "-span", span.String()).Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", build, err)
	}
	var report struct {
		Rows []row `json:"cases"`
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return nil, fmt.Errorf("read the report of %s: %w", build, err)
	}
	return report.Rows, nil
}
