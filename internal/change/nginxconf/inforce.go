package nginxconf

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/nginxedit"
)

var _ change.ReadsBack = Kind{}

// InForce implements change.ReadsBack: the configuration, read as nginx reads it, has
// the effect of the change, and the running workers were started with it.
func (k Kind) InForce(ctx context.Context, s *change.Site, c *iikanji.Change, _ bool) error {
	if c.Remedy == nil {
		return nginxedit.InForce(ctx, s, c.Target, c, nginxedit.Workers{})
	}
	return errors.Join(nginxedit.Effective(k.Plan(ctx, s, *c.Remedy)), nginxedit.InForce(ctx, s, c.Target, c, workersOf(*c.Remedy)))
}

// workersOf are the settings of workers that a remedy names.
func workersOf(r iikanji.Remedy) (w nginxedit.Workers) {
	set := func(to *int, value string) {
		if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil { // not "auto"
			*to = n
		}
	}
	switch r.Args["act"] {
	case "workers":
		set(&w.Processes, r.Args["processes"])
		set(&w.Descriptors, r.Args["nofile"])
	case "set":
		switch r.Args["directive"] {
		case "worker_processes":
			set(&w.Processes, r.Args["value"])
		case "worker_rlimit_nofile":
			set(&w.Descriptors, r.Args["value"])
		}
	}
	return w
}
