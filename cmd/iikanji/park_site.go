package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/practice"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/target"
)

// hostsFlags put an arena onto machines of its own for one command.
type hostsFlags struct {
	Hosts int   `help:"Put the arena onto this many machines of its own for this command, as iikanji up --hosts does; needs root." placeholder:"N"`
	Sizes []int `help:"With --hosts: how large each machine is, relative to the others, as in 1,1,2." placeholder:"N"`
	Of    int   `help:"With --hosts: size the machines as if there were this many, to compare --hosts 1 --of 3 with --hosts 3." placeholder:"N"`

	again string `kong:"-"` // the command line that made the machines of this folder; "" where they stay
}

// made are the flags of a command on machines that were made for it: they end with it.
func (f hostsFlags) made(command, arena string) hostsFlags {
	text := fmt.Sprintf("iikanji %s %s --hosts %d", command, arena, f.Hosts)
	for i, n := range f.Sizes {
		if i == 0 {
			text += " --sizes "
		} else {
			text += ","
		}
		text += strconv.Itoa(n)
	}
	if f.Of > 0 {
		text += fmt.Sprintf(" --of %d", f.Of)
	}
	return hostsFlags{again: text}
}

// gone is the hint of a command that was interrupted on machines that have ended with it.
func (f hostsFlags) gone(where string) string {
	return fmt.Sprintf("the machines ended with the command, and all changes with them: %s begins on new ones; iikanji history %s has what was tried. Machines of iikanji up --hosts stay, and a search on them goes on", f.again, where)
}

// onPark brings an arena up on machines and calls do with the folder of the site that they
// are, in which everything is kept afterwards. The machines end with the command.
func (f hostsFlags) onPark(ctx context.Context, e *env, name, dir string, do func(dir string) error) (err error) {
	a, err := findArena(name)
	if err != nil {
		return err
	}
	if f.Of != 0 && (f.Of < f.Hosts || f.Of > mostHosts || len(f.Sizes) > 0) {
		return usageError("--of %d: want %d to %d, and no --sizes", f.Of, f.Hosts, mostHosts)
	}
	progress := report.NewProgress(e.Stderr, e.TTY, e.width, e.Now)
	defer progress.Done()
	say := func(line string) { progress.Say("%s", line) }
	p, err := bootPark(ctx, a, practice.Options{Hosts: f.Hosts, Sizes: f.Sizes, Of: f.Of, Progress: say}, "")
	if err != nil {
		return err
	}
	described := false
	defer func() {
		say("stopping the machines")
		if err = errors.Join(err, p.close()); described {
			say("the machines are gone, with all changes; the runs, and each change with its proof, are in " + dir)
		}
	}()
	if dir == "" { // machines are new each time, and so is the history
		if dir, err = stack.DefaultDir(fmt.Sprintf("%s-hosts%d-%s", a.Name, f.Hosts, e.Now().UTC().Format("20060102-150405"))); err != nil {
			return err
		}
	}
	if err := describePark(ctx, e, a, p, dir); err != nil {
		return err
	}
	described = true
	say("the site is described in " + dir)
	progress.Done()
	return do(dir)
}

// describePark writes an iikanji.toml of the machines as iikanji init finds them, with the
// arena's benchmarker.
func describePark(ctx context.Context, e *env, a *arena.Arena, p *arenaPark, dir string) error {
	path, err := filepath.Abs(filepath.Join(dir, target.Name))
	if err != nil {
		return fmt.Errorf("finding the folder: %w", err)
	}
	if _, err := os.Stat(path); err == nil {
		return &exitError{Status: exitUsage, Err: fmt.Errorf("%s exists", path), Hints: []string{"machines are new each time: give another --dir"}}
	}
	var hosts []target.Host
	for _, m := range p.Machines {
		hosts = append(hosts, target.Host{Name: m.Name, Via: []string{"ssh", "-F", p.config, m.Name}})
	}
	site, err := (&initCmd{Into: dir, Policy: target.Contest}).several(ctx, e, path, p.url(), hosts)
	if err != nil {
		return err
	}
	if site.File.Bench, err = e.benchOf(a, dir, p.Here(), p.pace); err != nil {
		return err
	}
	for key := range site.Notes {
		if strings.HasPrefix(key, "bench.") {
			delete(site.Notes, key)
		}
	}
	for _, h := range hosts { // the network's variables of a machine are its own; others are those of this machine
		site.File.Policy.Folders = append(site.File.Policy.Folders, h.Name+":/proc/sys/net", h.Name+":/etc/sysctl.d")
	}
	text := site.Text()
	if _, err := target.Parse(path, []byte(text)); err != nil {
		return fmt.Errorf("BUG: the file that was made cannot be read: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the folder: %w", err)
	}
	return host.Local{}.Write(path, []byte(text), 0o644)
}

// benchOf is an arena's benchmarker as a command: this program, on the first core, which the
// machines leave to it, at their pace. What it serves for the site is at here, where the machines
// reach it.
func (e *env) benchOf(a *arena.Arena, dir string, here netip.Addr, pace arena.Pace) (target.Bench, error) {
	program := e.Self
	if program == "" {
		var err error
		if program, err = os.Executable(); err != nil {
			return target.Bench{}, fmt.Errorf("finding this program: %w", err)
		}
	}
	pin := "off"
	if n := runtime.NumCPU(); n > 1 {
		pin = fmt.Sprintf("0/1-%d", n-1)
	}
	command := fmt.Sprintf(`%s bench %s --url "$IIKANJI_URL" --history %s --pin %s`, host.Quote(program), a.Name, host.Quote(filepath.Join(dir, "benchmarker")), pin)
	for _, word := range pace.Words() {
		command += " " + host.Quote(word)
	}
	for _, s := range a.Settings {
		if at, err := netip.ParseAddrPort(s.Default); s.Kind == arena.Address && err == nil && at.Addr().IsLoopback() {
			command += fmt.Sprintf(" --set %s=%s", s.Name, netip.AddrPortFrom(here, at.Port()))
		}
	}
	b := target.Bench{Command: command + ` --json --load "${IIKANJI_SECONDS}s"`, Length: target.Duration(defaultParkLoad), Initialize: command + " --no-load"}
	return b, b.Score.UnmarshalText([]byte("json:score"))
}

// defaultParkLoad is the length of the load of one run, that of most contests.
const defaultParkLoad = time.Minute
