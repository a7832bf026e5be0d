package observe

import (
	"context"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/iikanji/iikanji"
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

// hiding counts the blocks, at any depth of a block, that pass requests on, and
// those of them whose error log has no warnings.
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

// hides reports whether a block's error logs have no warnings. They replace the
// logs of the block around it. Of several logs, the most verbose one counts.
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

// buffers reports whether a directive, or one in its block, writes the log through a buffer.
func buffers(d iikanji.Directive, path string) bool {
	if d.Name == "access_log" && d.Arg(0) == path {
		return slices.ContainsFunc(d.Args, func(a string) bool { return strings.HasPrefix(a, "buffer=") || strings.HasPrefix(a, "gzip") })
	}
	return slices.ContainsFunc(d.Block, func(in iikanji.Directive) bool { return buffers(in, path) })
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
