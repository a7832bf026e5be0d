package mysqlconf

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

func init() { change.Register(Kind{}) }

// Kind plans settings of a database server. Remedy.Target is its service; Args
// are variables from settings.go with their values, as
// {"innodb_flush_log_at_trx_commit": "2"}. log_bin can only be turned off.
type Kind struct{}

var _ change.ReadsBack = Kind{}

// Name implements change.Kind.
func (Kind) Name() string { return "mysqlconf" }

// Plan implements change.Kind.
func (k Kind) Plan(ctx context.Context, s *change.Site, r iikanji.Remedy) (*iikanji.Change, error) {
	svc := s.Services[r.Target]
	if svc.DropIn == "" || svc.DB() == nil || !svc.Checks {
		return nil, fmt.Errorf("no database %q with a file for further settings", r.Target)
	}
	_, args, err := match(r)
	if err != nil {
		return nil, err
	}
	now, err := variables(ctx, svc.DB())
	if err != nil {
		return nil, err
	}
	told, err := traits(ctx, svc.DB())
	if err != nil {
		return nil, err
	}
	wanted, changed, err := different(args.Values, now, told)
	if errors.Is(err, change.ErrNothing) {
		return k.keep(ctx, s, svc, r.Target, wanted)
	}
	if err != nil {
		return nil, err
	}
	if err := budget(s, svc.Host, now, wanted); err != nil {
		return nil, err
	}
	old, err := s.ReadOld(svc.Host, svc.DropIn)
	if err != nil {
		return nil, err
	}
	if err := overriding(s, svc, wanted); err != nil {
		return nil, err
	}
	edited := edit(old, wanted)
	if err := test(ctx, s, svc, edited); err != nil {
		return nil, err
	}
	byName, err := accountsByName(ctx, svc.DB(), wanted)
	if err != nil {
		return nil, err
	}
	c := &iikanji.Change{Kind: k.Name(), Target: r.Target, Says: "set " + change.SaySettings(wanted), Weakens: weakened(wanted, now, byName)}
	file := change.Edit{Path: svc.DropIn, Old: old, New: edited, Host: svc.Host}
	if live(changed, told) {
		c.Risk = iikanji.RiskNone
		change.FromEdits(c, iikanji.VerbUnknown, file)
		setGlobals(c, svc.Host, changed, now, wanted)
		return c, nil
	}
	c.Risk = iikanji.RiskRestart
	change.FromEdits(c, iikanji.Restart, file)
	return c, nil
}

// keep plans the file alone, for values that the running server has only because a statement
// has set them: its next start would not have them.
func (k Kind) keep(ctx context.Context, s *change.Site, svc change.Service, target string, wanted map[string]string) (*iikanji.Change, error) {
	byStatement, err := setByStatement(ctx, svc.DB())
	if err != nil {
		return nil, err
	}
	old, err := s.ReadOld(svc.Host, svc.DropIn)
	if err != nil {
		return nil, err
	}
	inFile := set(old)
	lost := false
	for name, value := range wanted {
		lost = lost || byStatement[name] && plain(inFile[name]) != plain(value)
	}
	if !lost {
		return nil, change.ErrNothing
	}
	if err := overriding(s, svc, wanted); err != nil {
		return nil, err
	}
	edited := edit(old, wanted)
	if err := test(ctx, s, svc, edited); err != nil {
		return nil, err
	}
	c := &iikanji.Change{Kind: k.Name(), Target: target, Says: "keep " + change.SaySettings(wanted), Risk: iikanji.RiskNone}
	change.FromEdits(c, iikanji.VerbUnknown, change.Edit{Path: svc.DropIn, Old: old, New: edited, Host: svc.Host})
	return c, nil
}

// different checks that the server has the variables and that at least one value
// differs. It returns the values as the server will store them, and the names of
// the variables that differ.
func different(args, now map[string]string, told map[string]trait) (wanted map[string]string, changed []string, err error) {
	wanted = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		is, known := now[name]
		if !known {
			return nil, nil, fmt.Errorf("the server has no variable %q", name)
		}
		if wanted[name], err = told[name].exact(name, args[name]); err != nil {
			return nil, nil, err
		}
		if plain(is) != plain(wanted[name]) {
			changed = append(changed, name)
		}
	}
	if len(changed) == 0 {
		return wanted, nil, change.ErrNothing
	}
	return wanted, changed, nil
}

// live reports whether SET GLOBAL has the full effect of a restart.
func live(changed []string, told map[string]trait) bool {
	for _, name := range changed {
		if !settings[name].live || !told[name].dynamic {
			return false
		}
	}
	return true
}

// setGlobals adds ops that set the running server's variables: after the edit of
// the file in Do, before it in Undo.
func setGlobals(c *iikanji.Change, on string, changed []string, now, wanted map[string]string) {
	ground := string(c.Ground)
	for _, name := range changed {
		is, then := now[name], shown(now[name], wanted[name])
		place := change.VariablePlace(c.Target, name)
		before, after := change.FingerprintOf([]byte(is+"\n")), change.FingerprintOf([]byte(then+"\n"))
		c.Do = append(c.Do, iikanji.Op{Verb: iikanji.SQL, Host: on, Place: place, Body: change.SetGlobal(name, then), Expect: before})
		c.Undo = slices.Insert(c.Undo, 0, iikanji.Op{Verb: iikanji.SQL, Host: on, Place: place, Body: change.SetGlobal(name, is), Expect: after})
		ground += string(before)
	}
	c.Ground = change.FingerprintOf([]byte(ground))
}

// shown returns a value in the form in which the server shows the variable; is
// is the value that it shows now.
func shown(is, value string) string {
	if is == "ON" || is == "OFF" {
		return map[string]string{"1": "ON", "0": "OFF"}[plain(value)]
	}
	return plain(value)
}

// InForce implements change.ReadsBack: a restart may have changed values, and
// another file may have overridden them.
func (Kind) InForce(ctx context.Context, s *change.Site, c *iikanji.Change, all bool) error {
	svc := s.Services[c.Target]
	if svc.DB() == nil {
		return fmt.Errorf("no database %q", c.Target)
	}
	now, err := variables(ctx, svc.DB())
	if err != nil {
		return err
	}
	dropIn, err := s.RealPlace(svc.Host, svc.DropIn)
	if err != nil {
		return err
	}
	before := map[string]string{}
	for _, op := range c.Undo {
		if op.Verb == iikanji.Write && op.Place == dropIn && (!all || svc.DropIn == svc.Config) {
			before = set([]byte(op.Body)) // in the server's own file, most lines are the site's
		}
	}
	var wrong []error
	for _, op := range c.Do {
		if op.Verb != iikanji.Write || op.Place != dropIn {
			continue
		}
		wanted := set([]byte(op.Body))
		for _, name := range slices.Sorted(maps.Keys(wanted)) {
			value := wanted[name]
			if was, had := before[name]; had && was == value {
				continue
			}
			if is, known := now[name]; known && plain(is) != plain(value) && !settings[name].sensed {
				wrong = append(wrong, fmt.Errorf("%s is %s, and was set to %s", name, is, value))
			}
		}
		if err := overriding(s, svc, wanted); err != nil {
			wrong = append(wrong, err)
		}
	}
	return errors.Join(wrong...)
}

// test lets the server's program read the edited file. The file has a name that
// the running server does not read at a restart (it reads only "*.cnf").
func test(ctx context.Context, s *change.Site, svc change.Service, edited []byte) error {
	return s.InScratchFile(svc, filepath.Dir(svc.DropIn), ".tmp", edited, func(path string) error {
		if err := svc.Running.CheckConfig(ctx, path); err != nil {
			return fmt.Errorf("the server refuses the settings: %w", err)
		}
		return nil
	})
}
