package main

import (
	"reflect"
	"testing"

	"github.com/iikanji/iikanji/internal/load/bench"
)

func TestParsePin(t *testing.T) {
	two, eight := []int{0, 1}, []int{0, 1, 2, 3, 4, 5, 6, 7}
	f := func(value string, allowed []int, generator, stack string) {
		t.Helper()
		p, err := parsePin(value, allowed)
		if err != nil {
			t.Errorf("%s: %v", value, err)
		}
		if g, s := bench.CPUList(p.generator), bench.CPUList(p.stack); g != generator || s != stack {
			t.Errorf("%s of %v: generator %s, stack %s; want %s, %s", value, allowed, g, s, generator, stack)
		}
	}
	f("auto", []int{3}, "all", "all")
	f("auto", two, "0", "1")
	f("auto", eight, "0-1", "2-7")
	f("off", two, "all", "all")
	f("shared", two, "all", "all")
	f("split", two, "0", "1")
	if p, err := parsePin("split", []int{3}); err == nil {
		t.Errorf("split of one CPU: %v", p)
	}
	f("1/0", two, "1", "0")
	f("0-1,4/2-3,5-7", eight, "0-1,4", "2-3,5-7")
	for _, bad := range []string{"", "0", "x/1", "0/", "2/1", "1-0/1", "0/1-99999999999"} {
		if p, err := parsePin(bad, two); err == nil {
			t.Errorf("--pin %q was taken as %v", bad, p)
		}
	}
}

func TestCPUListRoundTrip(t *testing.T) {
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for _, cpus := range [][]int{{0}, {0, 2, 4}, {0, 1, 2, 9}, {3, 4}} {
		back, err := parseCPUs(bench.CPUList(cpus), all)
		if err != nil || !reflect.DeepEqual(back, cpus) {
			t.Errorf("%v → %s → %v, %v", cpus, bench.CPUList(cpus), back, err)
		}
	}
}
