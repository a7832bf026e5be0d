package field

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/change/history"
)

// A logging is a site that runs already, with a slow log of its own. Its restarts are
// counted and not done.
type logging struct {
	*library
	refuses   error
	restarted []string
	limits    []time.Time
	fails     func(n int) error
}

func (l *logging) SensorsOn(context.Context) (func() error, error) {
	return func() error { return nil }, l.refuses
}

func (l *logging) Restart(ctx context.Context, name string) error {
	l.restarted = append(l.restarted, name)
	if limit, ok := ctx.Deadline(); ok {
		l.limits = append(l.limits, limit)
	}
	if l.fails != nil {
		return l.fails(len(l.restarted))
	}
	return nil
}

// TestLateRestart: after a run that came to nothing the apps of a site with a slow log are
// restarted again, each with a time of its own and whatever happened to the one before, if
// they were restarted for the run, and else not.
func TestLateRestart(t *testing.T) {
	site := openLibrary(t)
	for _, stmt := range []string{"SET GLOBAL slow_query_log = 1", "SET GLOBAL log_output = 'FILE'", "SET GLOBAL long_query_time = 1"} {
		if _, err := site.Site().Services[shelves].DB().ExecContext(t.Context(), stmt); err != nil {
			t.Fatal(err)
		}
	}
	h, err := history.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	stop, fails := errors.New("stop here"), errors.New("does not start")
	for name, c := range map[string]struct {
		subject *logging
		want    []string
	}{
		"nothing was logged": {&logging{library: site, refuses: stop}, nil},
		"before the load":    {&logging{library: site}, []string{deskEast, deskWest, deskEast, deskWest}},
		"one app fails": {&logging{library: site, fails: func(n int) error {
			if n == 1 || n == 2 {
				return errors.Join(fails, stop)
			}
			return nil
		}}, []string{deskEast, deskEast, deskWest}},
	} {
		s := c.subject
		f := &Field{Subject: s, Loader: site, History: h, Now: time.Now, Noisy: true, Rest: time.Millisecond}
		if _, _, err := f.Diagnose(t.Context(), Load{Time: time.Second}, func() error { return stop }); !errors.Is(err, stop) {
			t.Errorf("%s: %v", name, err)
		}
		if !slices.Equal(s.restarted, c.want) {
			t.Errorf("%s: restarts of %v, want %v", name, s.restarted, c.want)
		}
		if n := len(s.limits); len(c.want) > 0 && (n != 2 || !s.limits[1].After(s.limits[0])) {
			t.Errorf("%s: the restarts after the run end at %v", name, s.limits)
		}
	}
}
