package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	hostclock "github.com/iikanji/iikanji/internal/machine/clock"
	sitefleet "github.com/iikanji/iikanji/internal/machine/fleet"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/target"
)

type hostsCmd struct {
	Show    hostsShowCmd    `cmd:"" default:"withargs" help:"Show the machines of a site: load, clock, identity."`
	Measure hostsMeasureCmd `cmd:"" help:"Measure what each machine can do, and what goes between each two."`
	Accept  hostsAcceptCmd  `cmd:"" help:"Accept another machine at the address of one that was exchanged."`
	Clean   hostsCleanCmd   `cmd:"" help:"Remove what iikanji has left on the other machines."`
}

// Help returns the long help of the command.
func (hostsCmd) Help() string {
	return `The machines of a site ([[host]] of iikanji.toml), as they are now. Without a further
word it is iikanji hosts show. See docs/machines.md.

Examples:
  iikanji hosts
  iikanji hosts measure

Exit status: 0 done, 1 failed to run (also: a machine is down), 2 usage.`
}

type hostsShowCmd struct {
	Target    string `arg:"" optional:"" help:"Folder with an iikanji.toml, or the file (default: this folder)."`
	AcceptNew bool   `help:"Write host keys that are not known into known_hosts beside iikanji.toml."`
	JSON      bool   `help:"Print one JSON document."`
	placeFlags
}

// Help returns the long help of the command.
func (hostsShowCmd) Help() string {
	return `Shows for each machine its address, what runs there by the site's file, its load of
the last minute, by how much its clock is ahead of this one's with the round trip,
and its identity: the SHA-256 of its SSH host key and its machine-id.

Examples:
  iikanji hosts show
  iikanji hosts --json

Exit status: 0 done, 1 failed to run (also: a machine is down), 2 usage.`
}

// A machineRow is a machine as iikanji hosts shows it.
type machineRow struct {
	Name     string        `json:"name"`
	Address  string        `json:"address,omitempty"`
	Services []string      `json:"services,omitempty"`
	Load     string        `json:"load,omitempty"` // of the last minute
	Offset   time.Duration `json:"clock_offset_ns"`
	Trip     time.Duration `json:"trip_ns"`
	Identity string        `json:"identity,omitempty"`
	Boot     string        `json:"boot,omitempty"`
	Down     string        `json:"down,omitempty"` // why it is not reached
	Hints    []string      `json:"hints,omitempty"`
}

// Run runs the command.
func (c *hostsShowCmd) Run(ctx context.Context, e *env) error {
	return withFleet(ctx, e, c.Target, c.AcceptNew, c.placeFlags, func(p *park) error {
		var rows []machineRow
		down := 0
		for _, one := range p.machines {
			row := p.row(ctx, e, one)
			if rows = append(rows, row); row.Down != "" {
				down++
			}
		}
		var err error
		if c.JSON {
			err = writeJSON(e.Stdout, rows)
		} else {
			err = printMachines(e, rows)
		}
		if err == nil && down > 0 {
			err = fmt.Errorf("%s not reached", report.Number(down, "machine"))
		}
		return err
	})
}

// printMachines shows machines, and below them why some are down.
func printMachines(e *env, rows []machineRow) error {
	if err := machineTable(rows).Write(e.Stdout, report.Text, e.Cols); err != nil {
		return err
	}
	out := &output{w: e.Stdout}
	for _, r := range rows {
		if r.Down != "" {
			out.line("%s is down: %s", r.Name, r.Down)
		}
		for _, hint := range r.Hints {
			out.line("  hint: %s", hint)
		}
	}
	return out.err
}

func machineTable(rows []machineRow) *report.Table {
	t := &report.Table{Columns: []report.Column{{Name: "machine", Left: true}, {Name: "address", Left: true}, {Name: "services", Left: true, Shrink: true}, {Name: "load"}, {Name: "clock"}, {Name: "round trip"}, {Name: "identity", Left: true}}}
	for _, r := range rows {
		if r.Down != "" {
			t.Rows = append(t.Rows, []string{r.Name, r.Address, strings.Join(r.Services, " "), "down", "", "", ""})
			continue
		}
		t.Rows = append(t.Rows, []string{r.Name, r.Address, strings.Join(r.Services, " "), r.Load, signedMillis(r.Offset), signedMillis(r.Trip)[1:], r.Identity[:min(12, len(r.Identity))]})
	}
	return t
}

func signedMillis(d time.Duration) string { return fmt.Sprintf("%+.2f ms", d.Seconds()*1e3) }

// A park is the machines of a site, this one among them.
type park struct {
	target   *namedTarget
	known    string // file of the identities
	fleet    *sitefleet.Fleet
	machines []onePlace
}

// A onePlace is one machine.
type onePlace struct {
	name, address, private string
	host                   host.Host
	member                 *sitefleet.Member // nil for this machine
}

// withFleet connects to all machines of a site, for reading.
func withFleet(ctx context.Context, e *env, name string, acceptNew bool, flags placeFlags, do func(p *park) error) (err error) {
	t, err := findTargetOrHere(name)
	if err != nil {
		return err
	}
	if t.file == nil {
		return usageError("%s is an arena, which runs on this machine", t.Name)
	}
	dir, _, err := flags.folders(t)
	if err != nil {
		return err
	}
	p := &park{target: t, known: filepath.Join(dir, identitiesFile)}
	ids, err := sitefleet.ReadIdentities(p.known)
	if err != nil {
		return err
	}
	p.fleet, err = sitefleet.Open(ctx, t.file, sitefleet.Options{AcceptNew: acceptNew, Ask: askSecret(e), Known: ids})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.fleet.Close()) }()
	p.fill()
	if err := p.remember(ids); err != nil {
		return err
	}
	return do(p)
}

// fill lists the machines: this one first if the file does not name it.
func (p *park) fill() {
	f := p.target.file
	if !slices.ContainsFunc(f.Hosts, func(h target.Host) bool { return h.Here() }) {
		p.machines = append(p.machines, onePlace{name: "this machine", host: host.Local{}})
	}
	for _, h := range f.Hosts {
		one := onePlace{name: h.Name, address: h.Address, private: h.Private, host: host.Local{}}
		if len(h.Via) > 0 {
			one.address = strings.Join(h.Via, " ")
		}
		if one.member = p.fleet.Member(h.Name); one.member != nil {
			one.host = one.member
		}
		p.machines = append(p.machines, one)
	}
}

// row asks a machine.
func (p *park) row(ctx context.Context, e *env, one onePlace) machineRow {
	r := machineRow{Name: one.name, Address: one.address}
	for _, s := range p.target.file.Services {
		if at := s.Host; at == one.name || at == "" && one.member == nil {
			r.Services = append(r.Services, s.Name)
		}
	}
	is, err := sitefleet.IdentityOf(one.host)
	if err == nil {
		r.Identity, r.Boot = is.ID, is.Boot
		var b []byte
		if b, err = one.host.Read("/proc/loadavg"); err == nil {
			r.Load, _, _ = strings.Cut(string(b), " ")
		}
	}
	if err == nil && one.member != nil {
		var reading iikanji.ClockReading
		if reading, err = hostclock.Read(ctx, one.host, e.Now); err == nil {
			r.Offset, r.Trip = reading.Offset, reading.Trip
		}
	}
	if err != nil {
		var lost *host.LostError
		if errors.As(err, &lost) && lost.Err != nil { // without what was asked of it
			err = lost.Err
		}
		r.Down = report.Clean(err.Error())
		var h hinter
		if errors.As(err, &h) {
			r.Hints = h.Hints()
		}
	}
	return r
}

// identitiesFile has the identity of each machine of a site, by name, in the work folder.
const identitiesFile = "machines.json"

// remember writes identities that are new.
func (p *park) remember(ids map[string]string) error {
	now := maps.Clone(ids)
	for _, one := range p.machines {
		if one.member == nil {
			continue
		}
		if is := one.member.Identity(); is.ID != "" && now[one.name] == "" {
			now[one.name] = is.ID
		}
	}
	if maps.Equal(now, ids) {
		return nil
	}
	return sitefleet.WriteIdentities(p.known, now)
}
