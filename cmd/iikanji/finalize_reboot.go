package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/day/finalize"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/livesite"
	"github.com/iikanji/iikanji/internal/site/target"
)

// Files of a reboot in the work folder: what it must keep, and what the command has said that
// went on by itself.
const (
	rebootNote = "finalize-reboot.json"
	rebootLog  = "finalize-reboot.log"
)

// rounds adds the rounds of reboots to a plan.
func (f *finalSite) rounds(p *finalize.Plan) (err error) {
	if f.machines == nil {
		p.Rounds = finalize.RoundsOf(finalize.Machines{{Host: host.Local{}}}, nil)
		return nil
	}
	var may finalize.Machines
	for _, u := range f.machines {
		if mayReboot(f.file, u.Host.Name()) {
			may = append(may, u)
		} else {
			f.stay = append(f.stay, u.Label)
		}
	}
	if len(may) == 0 {
		return hinted(errors.New("no machine of the site may be rebooted"), `write reboot = "ask" into each [[host]] that may be`)
	}
	note := filepath.Join(f.dir, rebootNote)
	if p.From, err = finalize.ReadRebooting(host.Local{}, note, f.e.Now()); err != nil {
		return err
	}
	p.Rounds = finalize.RoundsOf(may, f.cmd.Gaps)
	if len(f.machines) > 1 && len(f.stay) == 0 { // every order was one of boots
		p.Orders = nil
	}
	f.rebooter = &finalize.Rebooter{Machines: f.machines, Rounds: p.Rounds, Note: note, Now: f.e.Now, Before: f.contents, Proof: f.same, From: p.From, Expect: f.target.expect}
	if slices.Contains(f.file.FoldersOn(""), unitFolder) {
		f.rebooter.GoOn, f.rebooter.Stay = f.goOn, func() error { return f.goesOn(true) }
	}
	return f.goesOn(p.From != nil)
}

// mayReboot reports whether a machine may be rebooted by a person who asks for it. The flag
// alone allows it for this machine where the file does not list it.
func mayReboot(f *target.File, name string) bool {
	for i := range f.Hosts {
		if h := &f.Hosts[i]; f.HostRef(h.Name) == name {
			return h.Reboot == target.RebootAsk || h.Reboot == target.RebootYes
		}
	}
	return true
}

// Reboot implements finalize.Site.
func (f *finalSite) Reboot(ctx context.Context, round int, so []finalize.Step) (says string, down bool, err error) {
	if f.rebooter == nil {
		return "", false, &finalize.ErrPerson{Says: "not every service is a unit of systemd: reboot by hand, and run iikanji finalize afterwards"}
	}
	return f.rebooter.Round(ctx, round, so)
}

// contents are what the site has, which a reboot must keep.
func (f *finalSite) contents(ctx context.Context) (text json.RawMessage, err error) {
	var before field.Contents
	err = f.field(ctx, func(ctx context.Context, _ *benchRun, _ *livesite.Subject, fd *field.Field) (err error) {
		before, err = fd.ContentsAtRest(ctx)
		return err
	})
	if err == nil {
		text, err = json.Marshal(before)
	}
	return text, err
}

// same proves that the site has what it had.
func (f *finalSite) same(ctx context.Context, text json.RawMessage) (says string, err error) {
	var before field.Contents
	if err := json.Unmarshal(text, &before); err != nil {
		return "", fmt.Errorf("reading what the reboot must keep: %w", err)
	}
	return report.Number(before.Tables(), "table") + " as before", f.asBefore(ctx, before)
}

// The unit with which the command goes on after the boot of its machine, and where units are.
const (
	unitFolder = "/etc/systemd/system"
	goOnUnit   = "iikanji-finalize.service"
)

// plainArgument matches what needs no quoting in the file of a unit.
var plainArgument = regexp.MustCompile(`^[A-Za-z0-9_./:=,@+-]+$`)

// goOn writes a unit that goes on with this command after the boot. A boot ends the ssh agent:
// if the keys to other machines were in it alone, the command fails, its log says why, and a
// person has to type it.
func (f *finalSite) goOn(context.Context) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program, which goes on after the boot: %w", err)
	}
	here, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("finding the working folder, in which the command goes on: %w", err)
	}
	log := filepath.Join(f.dir, rebootLog)
	words := append([]string{program}, f.cmd.words()...)
	var env strings.Builder
	for _, name := range []string{"HOME", "PATH", "IIKANJI_WHO", "XDG_STATE_HOME"} {
		if v := os.Getenv(name); v != "" && plainArgument.MatchString(v) {
			fmt.Fprintf(&env, "Environment=%s=%s\n", name, v)
		}
	}
	for _, w := range append(slices.Clone(words), here, log) {
		if !plainArgument.MatchString(w) {
			f.progress.Say("the command does not go on by itself: %q cannot stand in a unit", w)
			return nil
		}
	}
	text := fmt.Sprintf("[Unit]\nDescription=iikanji finalize, after the reboot that it has made\nAfter=multi-user.target\n\n[Service]\nWorkingDirectory=%s\n%sExecStart=%s\nStandardOutput=append:%s\nStandardError=append:%s\n",
		here, env.String(), strings.Join(words, " "), log, log)
	var local host.Local
	if err := local.Write(filepath.Join(unitFolder, goOnUnit), []byte(text), 0o644); err != nil {
		return fmt.Errorf("writing the unit that goes on after the boot: %w", err)
	}
	wants := filepath.Join(unitFolder, "multi-user.target.wants")
	if err := local.Mkdir(wants, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("enabling the unit that goes on after the boot: %w", err)
	}
	if err := local.Symlink(filepath.Join(unitFolder, goOnUnit), filepath.Join(wants, goOnUnit)); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("enabling the unit that goes on after the boot: %w", err)
	}
	return nil
}

// goesOn removes the unit of goOn, and the log of a former reboot where this process does not
// go on from it.
func (f *finalSite) goesOn(from bool) error {
	paths := []string{filepath.Join(unitFolder, "multi-user.target.wants", goOnUnit), filepath.Join(unitFolder, goOnUnit)}
	if !from {
		paths = append(paths, filepath.Join(f.dir, rebootLog), filepath.Join(f.dir, rebootNote))
	}
	for _, path := range paths {
		if err := (host.Local{}).Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing what a former reboot has left: %w", err)
		}
	}
	return nil
}

// words are the words of the command, for the unit.
func (c *finalizeCmd) words() []string {
	words := []string{"finalize", "--reboot"}
	if c.rehearse {
		words[0] = "rehearse"
	}
	if c.Target != "" {
		words = append(words, c.Target)
	}
	var gaps []string
	for _, g := range c.Gaps {
		gaps = append(gaps, g.String())
	}
	if words = append(words, "--gaps="+strings.Join(gaps, ",")); !c.LastRun {
		words = append(words, "--no-last-run")
	}
	if c.JSON {
		words = append(words, "--json")
	}
	return append(words, c.arguments()...)
}
