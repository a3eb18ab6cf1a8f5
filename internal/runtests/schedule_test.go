package main

import (
	"slices"
	"testing"
)

// TestSchedule checks that the schedule runs each package as often as the original jobs, with the
// same flags. Long packages must be separate jobs.
func TestSchedule(t *testing.T) {
	all, err := jobs([]string{"../..", "../../bench", "../../hostile"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if all[i].folder == "../.." {
			all[i].folder = "." // like in the root of the repository
		}
	}
	begun := schedule(all)
	if got, want := calls(begun), calls(all); !slices.Equal(got, want) {
		t.Errorf("the schedule runs\n%q\nwant\n%q", got, want)
	}
	var separate []string
	for _, j := range begun {
		for _, pkg := range j.packages {
			if slices.Contains(long, pkg) {
				separate = append(separate, pkg)
				if len(j.packages) > 1 {
					t.Errorf("%s is in a job with %d packages; want 1", pkg, len(j.packages))
				}
			}
		}
	}
	if !slices.Equal(separate, long) {
		t.Errorf("the long packages start in the order %q; want %q, each of which exists", separate, long)
	}
}

// calls returns each package of the jobs with its test flags, sorted.
func calls(all []job) (lines []string) {
	for _, j := range all {
		for _, pkg := range j.packages {
			lines = append(lines, j.folder+" "+pkg+" "+slices.Concat(j.flags, []string{""})[0])
		}
	}
	slices.Sort(lines)
	return lines
}
