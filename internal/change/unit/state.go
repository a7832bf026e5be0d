package unit

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// plan starts or ends a unit, and makes or removes the links by which the boot starts it.
func (a *stateArgs) plan(ctx context.Context, s *change.Site, on string, c *iikanji.Change) error {
	h, err := s.On(on)
	if err != nil {
		return err
	}
	was, links, err := change.ReadUnit(ctx, h, a.Unit)
	if err != nil {
		return err
	}
	want := was
	if a.Active != "" {
		want.Active = a.Active == "yes"
		want.Enabled = want.Active
	}
	if a.Enabled != "" {
		want.Enabled = a.Enabled == "yes"
	}
	if want.Enabled && len(links) == 0 && a.Enabled == "" {
		want.Enabled = was.Enabled // another unit starts it
	}
	if want.Enabled != was.Enabled && len(links) == 0 {
		return fmt.Errorf("%s has no section [Install]: the boot starts it only for other units", a.Unit)
	}
	if want == was {
		return change.ErrNothing
	}
	if want.Enabled != was.Enabled {
		if err := s.MayEnable(on, a.Unit); err != nil {
			return err
		}
	}
	if !want.Active && was.Active {
		if err := unused(s, on, a.Unit); err != nil {
			return err
		}
	}
	c.Risk = iikanji.RiskRestart
	c.Do = []iikanji.Op{change.UnitOp(on, a.Unit, was, want, links)}
	c.Undo = []iikanji.Op{change.UnitOp(on, a.Unit, want, was, links)}
	c.Ground = c.Do[0].Expect
	return nil
}

// unused refuses to end a unit that the site uses.
func unused(s *change.Site, on, unit string) error {
	i := slices.IndexFunc(s.Target.Services, func(svc iikanji.Service) bool { return svc.Host == on && svc.Unit == unit })
	if i >= 0 {
		return fmt.Errorf("%s is the service %s of the site, which would not answer", unit, s.Target.Services[i].Name)
	}
	return nil
}

// InForce implements change.ReadsBack: settings are read from systemd, limits from the running
// process of the unit as well.
func (Kind) InForce(ctx context.Context, s *change.Site, c *iikanji.Change, _ bool) error {
	h, err := on(s, c)
	if err != nil {
		return err
	}
	for _, op := range c.Do {
		name, own := strings.CutSuffix(filepath.Base(filepath.Dir(op.Place)), ".d")
		if op.Verb != iikanji.Write || !own || filepath.Dir(filepath.Dir(op.Place)) != Folder || strings.HasSuffix(name, ".target") {
			continue
		}
		info, err := h.Stat(op.Place)
		if err != nil {
			return fmt.Errorf("reading %s: %w", op.Place, err)
		}
		if err := settingsInForce(ctx, h, name, read([]byte(op.Body)), info.ModTime()); err != nil {
			return err
		}
	}
	return nil
}

// settingsInForce compares settings of a drop-in, written at a time, with those that systemd
// has.
func settingsInForce(ctx context.Context, h host.Host, unit string, settings []setting, at time.Time) error {
	properties := []string{"MainPID", "ExecMainStartTimestamp"}
	for _, s := range settings {
		properties = append(properties, property(s.key))
	}
	is, err := change.ShowUnit(ctx, h, unit, properties...)
	if err != nil {
		return err
	}
	limits := ""
	if pid := is["MainPID"]; pid != "" && pid != "0" {
		b, err := h.Read("/proc/" + pid + "/limits")
		if err != nil {
			return fmt.Errorf("reading the limits of %s: %w", unit, err)
		}
		limits = string(b)
	}
	started, err := strconv.ParseInt(strings.TrimPrefix(is["ExecMainStartTimestamp"], "@"), 10, 64)
	younger := err == nil && started >= at.Unix()
	for _, s := range settings {
		if now := is[property(s.key)]; !shown(s, now) {
			return fmt.Errorf("%s of %s is %q, and was set to %s", s.key, unit, now, s.value)
		}
		if limits != "" && !limited(s, limits, younger) {
			return fmt.Errorf("the process of %s does not have %s=%s", unit, s.key, s.value)
		}
	}
	return nil
}
