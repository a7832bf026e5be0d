package observe

import (
	"context"
	"strings"
	"syscall"
	"time"

	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/machine/host"
)

const (
	// An nginx that gets the signal to reopen its logs writes its buffer within
	// milliseconds. A log that has not grown for settled is complete. Give up
	// after maxFlushWait.
	settled      = 60 * time.Millisecond
	maxFlushWait = 200 * time.Millisecond
)

// A logFlush makes an nginx that buffers its access log write the buffer.
// Without it, the lines of the last second would be missing, and lines of the
// checks before the load would be written during the load.
type logFlush struct {
	host host.Host
	path string
	pid  func() int // of the master, 0 when it is not known
}

// hidesWarnings reports whether an nginx logs no warnings in a block that passes
// requests on. Its log then does not mention temporary files.
func hidesWarnings(conf *nginx.Config) bool {
	if conf == nil {
		return false
	}
	top, passes, hidden := conf.Quiet(nil), 0, 0
	conf.Walk(conf.Root(), nil, func(p nginx.Place) {
		if p.Block == nil && len(p.Around) > 0 && p.Around[0].Name() == "http" && strings.HasSuffix(p.Name(), "_pass") {
			if passes++; conf.Quiet(p.Around) {
				hidden++
			}
		}
	})
	if passes == 0 {
		return top
	}
	return hidden > 0
}

// newLogFlush looks in the configuration for a log with a buffer; nil without one.
func newLogFlush(conf *nginx.Config, h host.Host, path string, master func() int) *logFlush {
	if path == "" || conf == nil {
		return nil
	}
	buffered := false
	conf.Walk(conf.Root(), nil, func(p nginx.Place) {
		buffered = buffered || p.Name() == "access_log" && p.Arg(0) == path && nginx.IsBuffered(p.Directive)
	})
	if !buffered {
		return nil
	}
	return &logFlush{host: h, path: path, pid: master}
}

// flush makes nginx write the log. It returns when the log has stopped growing,
// or after maxFlushWait, as requests may keep coming.
func (f *logFlush) flush(ctx context.Context) error {
	if f == nil || f.pid() == 0 {
		return nil
	}
	if err := f.host.Signal(f.pid(), syscall.SIGUSR1); err != nil {
		return err
	}
	last, since := int64(-1), time.Duration(0)
	tick := time.NewTicker(settled / 3)
	defer tick.Stop()
	for waited := time.Duration(0); waited < maxFlushWait && since < settled; waited += settled / 3 {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		now, err := size(f.host, f.path)
		if err != nil {
			return err
		}
		if since += settled / 3; now != last {
			last, since = now, 0
		}
	}
	return nil
}
