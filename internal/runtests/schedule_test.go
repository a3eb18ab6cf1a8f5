package main

import (
	"slices"
	"testing"
)

// Whatever the order, each package is tested as often as before, in the same way, and the long ones in jobs of their own.
func TestSchedule(t *testing.T) {
	all, err := jobs([]string{"../..", "../../bench", "../../hostile"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if all[i].folder == "../.." {
			all[i].folder = "." // as in the root of the repository
		}
	}
	begun := schedule(all)
	if got, want := calls(begun), calls(all); !slices.Equal(got, want) {
		t.Errorf("the schedule runs\n%q\nwant\n%q", got, want)
	}
	var alone []string
	for _, j := range begun {
		for _, pkg := range j.packages {
			if slices.Contains(long, pkg) {
				alone = append(alone, pkg)
				if len(j.packages) > 1 {
					t.Errorf("%s is in a job with %d packages; want it alone", pkg, len(j.packages))
				}
			}
		}
	}
	if !slices.Equal(alone, long) {
		t.Errorf("the long packages begin in the order %q; want %q, each of which exists", alone, long)
	}
}

// calls names each package of jobs with the flags that it is tested with, sorted.
func calls(all []job) (lines []string) {
	for _, j := range all {
		for _, pkg := range j.packages {
			lines = append(lines, j.folder+" "+pkg+" "+slices.Concat(j.flags, []string{""})[0])
		}
	}
	slices.Sort(lines)
	return lines
}
