package observe

import (
	"context"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/host"
)

const (
	// An nginx that was told to reopen its logs writes what it had buffered
	// within milliseconds; a log that has not grown for settled is whole, and
	// longer than mostFlush nobody waits.
	settled   = 60 * time.Millisecond
	mostFlush = 200 * time.Millisecond
)

// A logFlush makes an nginx that buffers its access log write the buffer:
// without it the lines of the last second would be missing, and those of the
// checks before the load would come within it.
type logFlush struct {
	host host.Host
	path string
	pid  func() int // of the master, 0 when it is not known
}

// hidesWarnings says whether an nginx keeps errors only where it hands requests
// on, so that its log does not tell of temporary files.
func hidesWarnings(tree []iikanji.Directive) bool {
	if tree == nil {
		return false
	}
	top := hides(tree, true) // nginx's default is error
	passes, hidden := 0, 0
	for _, d := range tree {
		if d.Name == "http" {
			passes, hidden = hiding(d.Block, top)
		}
	}
	if passes == 0 {
		return top
	}
	return hidden > 0
}

// hiding counts the blocks in one that hand requests on, and those of them
// whose error log has no warnings.
func hiding(block []iikanji.Directive, around bool) (passes, hidden int) {
	around = hides(block, around)
	if slices.ContainsFunc(block, func(d iikanji.Directive) bool { return strings.HasSuffix(d.Name, "_pass") && len(d.Block) == 0 }) {
		if passes++; around {
			hidden++
		}
	}
	for _, d := range block {
		p, h := hiding(d.Block, around)
		passes, hidden = passes+p, hidden+h
	}
	return passes, hidden
}

// hides says whether a block's error logs hide warnings. They replace those
// around it; of several, the one that tells most counts.
func hides(block []iikanji.Directive, around bool) bool {
	own, hidden := false, true
	for _, d := range block {
		if d.Name == "error_log" {
			own = true
			hidden = hidden && !slices.Contains([]string{"debug", "info", "notice", "warn"}, d.Arg(1))
		}
	}
	if !own {
		return around
	}
	return hidden
}

// newLogFlush looks in the configuration for a log with a buffer; nil without one.
func newLogFlush(tree []iikanji.Directive, h host.Host, path string, master func() int) *logFlush {
	if path == "" || !slices.ContainsFunc(tree, func(d iikanji.Directive) bool { return buffers(d, path) }) {
		return nil
	}
	return &logFlush{host: h, path: path, pid: master}
}

// buffers says whether a directive, or one in it, writes the log through a buffer.
func buffers(d iikanji.Directive, path string) bool {
	if d.Name == "access_log" && d.Arg(0) == path {
		return slices.ContainsFunc(d.Args, func(a string) bool { return strings.HasPrefix(a, "buffer=") || strings.HasPrefix(a, "gzip") })
	}
	return slices.ContainsFunc(d.Block, func(in iikanji.Directive) bool { return buffers(in, path) })
}

// flush has the log written and returns when it has stopped growing, or, while
// requests keep coming, after a moment.
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
	for waited := time.Duration(0); waited < mostFlush && since < settled; waited += settled / 3 {
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
