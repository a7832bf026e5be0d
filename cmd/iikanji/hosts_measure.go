package main

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/iikanji/iikanji"
	hostclock "github.com/iikanji/iikanji/internal/machine/clock"
	"github.com/iikanji/iikanji/internal/machine/yardstick"
	"github.com/iikanji/iikanji/internal/show/report"
)

type hostsMeasureCmd struct {
	Target string `arg:"" optional:"" help:"Folder with an iikanji.toml, or the file (default: this folder)."`
	Folder string `help:"Folder on each machine whose disk is measured." default:"/var/tmp" placeholder:"FOLDER"`
	JSON   bool   `help:"Print one JSON document."`
	placeFlags
}

// Help returns the long help of the command.
func (hostsMeasureCmd) Help() string {
	return `Measures for about 1.5 s on each machine, one after the other: what one core hashes
(SHA-256), what it copies in memory, and how long a write of 4 KiB to the disk
takes; and for 0.5 s between each two machines with a private address, how much
goes over the link, and the round trip. Do not run it during a benchmark.

Examples:
  iikanji hosts measure
  iikanji hosts measure --folder /var/lib --json

Exit status: 0 done, 1 failed to run, 2 usage.`
}

// A measured is what was measured.
type measured struct {
	Machines []measuredMachine `json:"machines"`
	Links    []measuredLink    `json:"links"`
}

type measuredMachine struct {
	Name string `json:"name"`
	yardstick.Result
	Trip time.Duration `json:"trip_ns"` // between this machine and it
}

type measuredLink struct {
	From string  `json:"from"`
	To   string  `json:"to"`
	Rate float64 `json:"rate"` // bytes in a second
	Why  string  `json:"why,omitempty"`
}

// Run runs the command.
func (c *hostsMeasureCmd) Run(ctx context.Context, e *env) error {
	return withFleet(ctx, e, c.Target, false, c.placeFlags, func(p *park) error {
		progress := report.NewProgress(e.Stderr, e.TTY, e.width, e.Now)
		defer progress.Done()
		var out measured
		for _, one := range p.machines {
			progress.Say("measuring %s", one.name)
			r, err := yardstick.Machine().On(ctx, one.host, c.Folder)
			if err != nil {
				return fmt.Errorf("measuring %s: %w", one.name, err)
			}
			m := measuredMachine{Name: one.name, Result: r}
			if one.member != nil {
				reading, err := hostclock.Read(ctx, one.host, e.Now)
				if err != nil {
					return err
				}
				m.Trip = reading.Trip
			}
			out.Machines = append(out.Machines, m)
		}
		out.Links = c.links(ctx, p, progress)
		progress.Done()
		if c.JSON {
			return writeJSON(e.Stdout, out)
		}
		return out.print(e)
	})
}

// links measures between each two machines whose receiver has a private address.
func (c *hostsMeasureCmd) links(ctx context.Context, p *park, progress *report.Progress) (out []measuredLink) {
	for _, from := range p.machines {
		for _, to := range p.machines {
			if _, err := netip.ParseAddr(to.private); err != nil || from.name == to.name || ctx.Err() != nil {
				continue
			}
			progress.Say("measuring %s to %s", from.name, to.name)
			l := measuredLink{From: from.name, To: to.name}
			var err error
			if l.Rate, err = yardstick.Between(ctx, from.host, to.host, to.private); err != nil {
				l.Why = report.Clean(err.Error())
			}
			out = append(out, l)
		}
	}
	return out
}

func (m measured) print(e *env) error {
	t := &report.Table{Columns: []report.Column{{Name: "machine", Left: true}, {Name: "one core"}, {Name: "memory"}, {Name: "disk"}, {Name: "round trip"}}}
	for _, r := range m.Machines {
		t.Rows = append(t.Rows, []string{r.Name, iikanji.Bytes(r.Spin).String() + "/s", iikanji.Bytes(r.Memory).String() + "/s", signedMillis(r.Sync)[1:], signedMillis(r.Trip)[1:]})
	}
	if err := t.Write(e.Stdout, report.Text, e.Cols); err != nil {
		return err
	}
	if len(m.Links) == 0 {
		return nil
	}
	p := &output{w: e.Stdout}
	p.line("")
	for _, l := range m.Links {
		if l.Why != "" {
			p.line("%s to %s: %s", l.From, l.To, l.Why)
		} else {
			p.line("%s to %s: %s/s", l.From, l.To, iikanji.Bytes(l.Rate))
		}
	}
	return p.err
}
