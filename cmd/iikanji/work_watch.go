package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/portalbench"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/show/report"
)

type workWatchCmd struct {
	For time.Duration `help:"How long to watch; 0 until Ctrl-C." default:"0s"`
	workFlags
}

// Help returns the long help of the command.
func (workWatchCmd) Help() string {
	return `Watches the access log for loads that no iikanji command announced, as when a
teammate presses the portal's button, and keeps each as a run that waits for its
score. A load that a bench or a tune makes is kept by that command.

Examples:
  iikanji work watch

Exit status: 0 ended, 1 failed to run, 2 usage.`
}

// lockWait is how long a load waits for a history that another command writes.
const lockWait = 2 * time.Minute

// Run runs the command.
func (c *workWatchCmd) Run(ctx context.Context, e *env) error {
	t, dir, hist, err := c.site()
	if err != nil {
		return err
	}
	log := frontLog(t)
	if log == "" {
		return hinted(errors.New("the site has no access log that could show a load"), "write access below [service.logs] of its web server")
	}
	if c.For > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, c.For)
		defer stop()
	}
	say := func(line string) { fmt.Fprintln(e.Stdout, report.Clean(line)) }
	say("watching " + log)
	w := &portalbench.Watch{Host: host.Local{}, Log: log, Now: e.Now, Say: say,
		Busy: func() (bool, error) {
			s, err := e.turnOf(hist).State()
			return s.Work != nil, err
		},
		Keep: func(l portalbench.Load) error {
			id, err := keepLoad(context.WithoutCancel(ctx), e, t, dir, hist, l)
			if err == nil {
				say(fmt.Sprintf("run %d: a load of %s that nobody announced; iikanji score 44034 --run %d gives its score", id, report.Duration(l.To.Sub(l.From).Round(100*time.Millisecond)), id))
			}
			return err
		}}
	return w.Run(ctx)
}

// frontLog is the access log of the site's first web server that has one.
func frontLog(t *namedTarget) string {
	for i := range t.file.Services {
		if s := &t.file.Services[i]; s.Role == iikanji.RoleWeb && s.Logs.Access != "" {
			return s.Logs.Access
		}
	}
	return ""
}

// keepLoad keeps a load as a run. It waits while another command writes the history.
func keepLoad(ctx context.Context, e *env, t *namedTarget, dir, hist string, l portalbench.Load) (iikanji.RunID, error) {
	ctx, stop := context.WithTimeout(ctx, lockWait)
	defer stop()
	for {
		h, err := openHistory(ctx, e, t, dir, hist, acting{})
		if err == nil {
			return keepIn(h, t, l)
		}
		select {
		case <-ctx.Done():
			return 0, err
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func keepIn(h *history.History, t *namedTarget, l portalbench.Load) (id iikanji.RunID, err error) {
	defer func() { err = errors.Join(err, h.Close()) }()
	return portalbench.Record(h, t.file.Site, l, "nobody announced this load")
}
