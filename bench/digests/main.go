// Command digests measures two promises of iikanji slow on generated logs whose truth is
// known: the share of the time of COMMITs that is attributed to the right writes, and the
// number of digests of statements with trace ids, uuids, hexadecimal ids and numbered
// tables in them. `make bench` runs it. The exit status is 1 if a share is below 95 % or a
// number of digests is not the true one.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/lines"
	"github.com/iikanji/iikanji/internal/logs/slowlog"
)

// leastShare is the promise of docs/slow.md for complete logs.
const leastShare = 0.95

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "digests:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer) error {
	var broken []string
	fmt.Fprintln(w, "time of COMMITs that is attributed to the right writes, 20,000 transactions")
	for _, c := range []struct {
		name     string
		log      func() *commitLog
		complete bool
	}{
		{"complete log, BEGIN logged", func() *commitLog { return commits(true, 0) }, true},
		{"complete log without BEGIN", func() *commitLog { return commits(false, 0) }, true},
		{"the same, and one write in ten commits itself", func() *commitLog { return commits(false, 10) }, true},
		{"only statements of 1 ms and more, without BEGIN", func() *commitLog { return commits(false, 0).slower(time.Millisecond) }, false},
		{"one statement in ten, without BEGIN", func() *commitLog { return commits(false, 0).sample(10) }, false},
	} {
		l := c.log()
		p, err := read(ctx, l.text(), false)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		share, warned := l.right(p), strings.Contains(strings.Join(p.Notes, "\n"), "unreliable")
		fmt.Fprintf(w, "  %-50s %5.1f %%  note that the table is unreliable: %v\n", c.name, 100*share, warned)
		if c.complete && share < leastShare || c.complete == warned {
			broken = append(broken, c.name)
		}
	}
	fmt.Fprintln(w, "digests")
	for _, c := range foldings() {
		p, err := read(ctx, c.text, c.foldTables)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Fprintf(w, "  %-50s %6d entries %4d digests, %d are true\n", c.name, p.Intake.Lines, len(p.Rows), c.want)
		if len(p.Rows) != c.want {
			broken = append(broken, c.name)
		}
	}
	if len(broken) > 0 {
		return fmt.Errorf("the promise does not hold: %s", strings.Join(broken, "; "))
	}
	return nil
}

func read(ctx context.Context, text string, foldTables bool) (*iikanji.Profile, error) {
	return slowlog.Read(ctx, []*lines.Input{lines.Bytes("slow.log", []byte(text))}, slowlog.Options{FoldTables: foldTables})
}
