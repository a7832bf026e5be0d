package loop

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/hoststat"
)

func profileOf(lines, bad int64, rows ...iikanji.Row) *iikanji.Profile {
	return &iikanji.Profile{Rows: rows, Intake: iikanji.Intake{Lines: lines, Bad: bad}}
}

// wants says what a sensor has to be; why is part of the reason for red.
func wants(t *testing.T, name string, s Sensor, why string) {
	t.Helper()
	if s.Green != (why == "") || !strings.Contains(s.Why(), why) || s.Green && s.Why() != "" {
		t.Errorf("%s: green %v, %q, want %q", name, s.Green, s.Why(), why)
	}
}

// TestProveAccess breaks the access log's sensor in every way that it can be broken.
func TestProveAccess(t *testing.T) {
	run := &iikanji.Run{Steps: []iikanji.StepStat{{Count: 1100, Cached: 200}, {Count: 100, Cut: 7}}, Load: iikanji.Generator{PeakConns: 15, DialFaults: 5}}
	row := func(n int64) iikanji.Row { return iikanji.Row{Count: n} }
	for _, c := range []struct {
		name string
		p    *iikanji.Profile
		err  error
		why  string
	}{
		{"exact", profileOf(1000, 0, row(900), row(100)), nil, ""},
		{"in flight and 1 %", profileOf(1030, 0, row(1030)), nil, ""},
		{"somebody else's requests", profileOf(1031, 0, row(1031)), nil, "requests: 1031 in the log, 1000 sent"},
		{"lines lost", profileOf(969, 0, row(969)), nil, "a difference of 30 or less"},
		{"1 % of the lines unreadable", profileOf(1000, 10, row(990)), nil, ""},
		{"more of them", profileOf(1000, 11, row(989)), nil, "98.90 % of 1000 entries"},
		{"nothing in it", profileOf(0, 0), nil, "0 in the log"},
		{"rotated away", nil, errors.New("skipping to byte 9: it has only 3"), "skipping to byte 9"},
		{"read, but the window is wrong", profileOf(1000, 0, row(1000)), errors.New("no offset"), "no offset"},
	} {
		wants(t, c.name, proveAccess(c.p, run, c.err), c.why)
	}
	if proveAccess(nil, run, nil).Green || proveSlow(nil, counters{}, 0, nil).Green {
		t.Error("a sensor that read nothing is green")
	}
}

// TestProveSlow breaks the slow log's sensor.
func TestProveSlow(t *testing.T) {
	rows := func(n int64, took time.Duration) []iikanji.Row {
		return []iikanji.Row{{Key: "select ?", Count: n, Total: took}, {Key: "administrator command: Prepare", Count: 500}, {Key: "administrator command: Quit", Count: 10}}
	}
	const wall = 10 * time.Second
	c := counters{questions: 1000, threads: 4}
	for _, x := range []struct {
		name string
		p    *iikanji.Profile
		c    counters
		err  error
		why  string
	}{
		{"exact", profileOf(1500, 0, rows(990, 39*time.Second)...), c, nil, ""},
		{"some connections were not logged", profileOf(1300, 0, rows(800, time.Second)...), c, nil, "statements: 810 in the log, 1000 counted by the server"},
		{"another run's statements", profileOf(1600, 0, rows(1100, time.Second)...), c, nil, "1110 in the log"},
		{"more time than there was", profileOf(1500, 0, rows(990, 41*time.Second)...), c, nil, "statements took 41.0 s (wanted: 40.0 s or less, all that 4 connections had)"},
		{"unreadable", profileOf(1000, 20, rows(990, time.Second)...), c, nil, "98.00 %"},
		{"the counters could not be read", profileOf(1500, 0, rows(990, time.Second)...), counters{}, nil, "0 counted by the server"},
		{"the log stayed off", nil, c, errors.New("observed-slow.log is empty"), "is empty"},
		{"the disk was full", profileOf(1500, 0, rows(990, time.Second)...), c, errors.New("setting log_output of the database: disk full"), "disk full"},
	} {
		wants(t, x.name, proveSlow(x.p, x.c, wall, x.err), x.why)
	}
}

// TestProveHost wants samples for nearly all of the time.
func TestProveHost(t *testing.T) {
	wants(t, "all", proveHost(10, 10*time.Second, nil), "")
	wants(t, "the last is on its way", proveHost(3, 4200*time.Millisecond, nil), "")
	wants(t, "half", proveHost(5, 10*time.Second, nil), "5 samples in 10 s")
	wants(t, "none", proveHost(0, 10*time.Second, nil), "0 samples")
	wants(t, "none of a second", proveHost(0, time.Second, nil), "0 samples")
	wants(t, "broken", proveHost(10, 10*time.Second, errors.New("opening /proc")), "opening /proc")
}

func TestCountersOf(t *testing.T) {
	c := countersOf(map[string]string{"questions": "100"}, map[string]string{"questions": "350", "max_used_connections": "7"})
	if c.questions != 250 || c.threads != 7 {
		t.Errorf("%+v", c)
	}
}

// TestHostTSV: every row has a cell for each column.
func TestHostTSV(t *testing.T) {
	text := string(hostTSV([]hoststat.Sample{{At: time.Unix(1, 0), User: 1.5, Services: []hoststat.ServiceSample{{Name: "app", User: 0.25, FDs: 7}, {Name: "other"}}}}))
	rows := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(rows) != 4 || !strings.Contains(rows[1], "\thost\t1.500\t") || !strings.Contains(rows[2], "\tapp\t0.250\t") {
		t.Fatalf("%q", rows)
	}
	for _, r := range rows {
		if got, want := strings.Count(r, "\t"), strings.Count(rows[0], "\t"); got != want {
			t.Errorf("%d tabs, the head has %d: %q", got, want, r)
		}
	}
}
