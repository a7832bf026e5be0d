package report

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestProgress: a drawing replaces the one before in one write, also when the terminal
// has become narrower in between, and Done leaves nothing behind.
func TestProgress(t *testing.T) {
	var out writes
	cols, now := 80, time.Unix(0, 0)
	l := NewProgress(&out, true, func() int { return cols }, func() time.Time { return now })
	draw := func(lines ...string) string {
		now = now.Add(time.Second)
		before := len(out)
		l.Draw(lines...)
		if len(out) != before+1 {
			t.Fatalf("%d writes for one drawing", len(out)-before)
		}
		return out[before]
	}
	if got := strings.Split(draw("one", strings.Repeat("x", 100)), "\n"); got[0] != "one" || Width(got[1]) != 79 || len(got) != 3 {
		t.Errorf("%q", got)
	}
	if got := draw("two\x1b[2J"); got != "\x1b[2A\r\x1b[Jtwo·[2J\n" {
		t.Errorf("%q", got)
	}
	draw("one", strings.Repeat("x", 79))
	cols = 40
	if got := draw("narrow"); got != "\x1b[3A\r\x1b[Jnarrow\n" {
		t.Errorf("after a resize %q", got)
	}
	l.Say("it %s", "stays")
	if got := out[len(out)-1]; got != "\x1b[1A\r\x1b[Jit stays\nnarrow\n" {
		t.Errorf("%q", got)
	}
	l.Done()
	if got := out[len(out)-1]; got != "\x1b[1A\r\x1b[J" {
		t.Errorf("%q", got)
	}
}

// TestProgressPlain: where there is no terminal, no escapes are written. A redrawn line
// is written once, and another one at the earliest 10 s later.
func TestProgressPlain(t *testing.T) {
	var out writes
	now := time.Unix(0, 0)
	l := NewProgress(&out, false, func() int { return 80 }, func() time.Time { return now })
	for i := range 25 {
		now = now.Add(time.Second)
		l.Draw("where it stands", fmt.Sprint(i))
	}
	for i := range 25 {
		now = now.Add(time.Second)
		l.Draw(fmt.Sprintf("step %d", i))
	}
	l.Say("done")
	l.Done()
	if got := strings.Join(out, ""); got != "where it stands\nstep 0\nstep 10\nstep 20\ndone\n" {
		t.Errorf("%q", got)
	}
}

// writes records each write that is not empty.
type writes []string

func (w *writes) Write(b []byte) (int, error) {
	if len(b) > 0 {
		*w = append(*w, string(b))
	}
	return len(b), nil
}
