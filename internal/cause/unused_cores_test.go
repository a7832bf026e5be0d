package cause_test

import (
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
)

// TestOneThreadWorks checks that a runtime in which one of many threads does the work
// can use one core, and that a program with evenly used threads, and a database, can
// use more.
func TestOneThreadWorks(t *testing.T) {
	const s = time.Second
	idle := iikanji.MachineRow{Idle: 9 * s}
	for _, c := range []struct {
		name, service string
		used          iikanji.HostRow
		found         bool
	}{
		{"an event loop and its helpers", "app", iikanji.HostRow{User: 10300 * time.Millisecond, Threads: 11, Processes: 1, Busiest: 9900 * time.Millisecond}, true},
		{"threads that take turns", "app", iikanji.HostRow{User: 11 * s, Threads: 11, Processes: 1, Busiest: 6 * s}, false},
		{"all cores", "app", iikanji.HostRow{User: 19 * s, Threads: 11, Processes: 1, Busiest: 9900 * time.Millisecond}, false},
		{"an event loop with idle time", "app", iikanji.HostRow{User: 6 * s, Threads: 11, Processes: 1, Busiest: 6 * s}, false},
		{"a kernel without thread times", "app", iikanji.HostRow{User: 10 * s, Threads: 11, Processes: 1}, false},
		{"one connection of a database", "database", iikanji.HostRow{User: 10 * s, Threads: 30, Processes: 1, Busiest: 9900 * time.Millisecond}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := newScene().host(idle, map[string]iikanji.HostRow{c.service: c.used}).Input
			fs, err := findAll(in)
			if err != nil {
				t.Fatal(err)
			}
			sameElsewhere(t, in, fs)
			found := false
			for _, f := range fs {
				found = found || f.Code == "APP106" && f.Where == c.service && strings.Contains(f.Evidence[0].Text, "one of its 11 threads")
			}
			if found != c.found {
				t.Errorf("findings: %+v", fs)
			}
		})
	}
}

// TestNeighboursHaveNames checks that the finding about other processes names them.
func TestNeighboursHaveNames(t *testing.T) {
	programs := []iikanji.Usage{{Who: "cc1", User: 7 * time.Second, System: time.Second}, {Who: "cron", User: 500 * time.Millisecond}}
	fs, err := findAll(newScene().host(iikanji.MachineRow{}, map[string]iikanji.HostRow{"other": {User: 9 * time.Second, Programs: programs}}).Input)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fs {
		if f.Code == "OS104" && len(f.Evidence) == 2 && f.Evidence[1].Text == "cc1 8.0 s, cron 0.5 s" {
			return
		}
	}
	t.Errorf("findings: %+v", fs)
}
