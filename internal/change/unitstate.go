package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// UnitsFolder has a host's units. A site changes all units of a host if this is one of its
// folders there, and a single one if the unit's own drop-in is (host.UnitFiles).
const UnitsFolder = host.UnitsFolder

// unitSettle is how long a unit may take to start or to end before its state is read as it
// is: systemd ends a start after 90 s unless the unit says otherwise.
const unitSettle = 100 * time.Second

var unitForm = regexp.MustCompile(`^[A-Za-z0-9:_.@\\-]+\.(service|socket|timer|target)$`)

// unitOn checks an op on a unit and returns its host and order.
func (s *Site) unitOn(op iikanji.Op) (host.Host, UnitOrder, error) {
	o, err := ParseUnitOrder(op.Body)
	if err != nil {
		return nil, o, err
	}
	if err := s.MayChangeUnit(op.Host, op.Place); err != nil {
		return nil, o, err
	}
	if o.Want.Enabled != o.Was.Enabled {
		if err := s.MayEnable(op.Host, op.Place); err != nil {
			return nil, o, err
		}
	}
	for _, l := range o.Links {
		if !within(UnitsFolder, l.Path) {
			return nil, o, fmt.Errorf("the link %s of %s is outside of %s", l.Path, op.Place, UnitsFolder)
		}
	}
	h, err := s.On(op.Host)
	return h, o, err
}

// within reports whether a clean path is below a folder.
func within(folder, path string) bool {
	return strings.HasPrefix(path, folder+"/") && filepath.Clean(path) == path
}

// MayChangeUnit refuses a unit that the site may not change.
func (s *Site) MayChangeUnit(on, unit string) error {
	switch {
	case !unitForm.MatchString(unit):
		return fmt.Errorf("%q is no name of a unit", unit)
	case slices.Contains(s.Keep, unit):
		return fmt.Errorf("%s is one of the units that the policy keeps as they are", unit)
	case !s.mayChangeUnit(on, unit):
		return fmt.Errorf("the target is not allowed to change %s%s: neither %s nor %s is one of its folders", unit, onHost(on), UnitsFolder, host.UnitFiles(unit)[0])
	}
	return nil
}

// MayEnable refuses to enable or disable units where only their drop-ins may be written.
func (s *Site) MayEnable(on, unit string) error {
	if slices.Contains(s.RootsOn(on), UnitsFolder) {
		return nil
	}
	return fmt.Errorf("the target is not allowed to enable or disable %s%s, which is a link: %s is not one of its folders", unit, onHost(on), UnitsFolder)
}

// onHost is " on NAME" for another host.
func onHost(name string) string {
	if name == "" {
		return ""
	}
	return " on " + name
}

// activeState waits until a unit neither starts nor ends, and returns its state.
func activeState(ctx context.Context, h host.Host, unit string) (string, error) {
	for end := time.Now().Add(unitSettle); ; {
		is, err := ShowUnit(ctx, h, unit, "LoadState", "ActiveState", "SubState")
		if err != nil {
			return "", err
		}
		state := is["ActiveState"]
		if is["LoadState"] == "not-found" {
			state = "missing"
		}
		moving := state == "activating" && is["SubState"] != "auto-restart" || state == "deactivating" || state == "reloading"
		if !moving || time.Now().After(end) {
			return state, nil
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// linked counts the links that are as the order says, and those that are missing.
func linked(h host.Host, links []UnitLink) (there, missing int, others []string, err error) {
	for _, l := range links {
		target, err := h.Readlink(l.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing++
		case err != nil && !isKind(h, l.Path):
			return 0, 0, nil, fmt.Errorf("reading the link %s: %w", l.Path, err)
		case err != nil || target != l.Target:
			others = append(others, l.Path)
		default:
			there++
		}
	}
	return there, missing, others, nil
}

// isKind reports whether something that is no link is at a path.
func isKind(h host.Host, path string) bool {
	info, err := h.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink == 0
}

// unitNow reads the state of a unit: its fingerprint, and a text for people.
func (s *Site) unitNow(ctx context.Context, op iikanji.Op) (iikanji.Fingerprint, string, error) {
	h, o, err := s.unitOn(op)
	if err != nil {
		return "", "", err
	}
	state, err := activeState(ctx, h, op.Place)
	if err != nil {
		return "", "", fmt.Errorf("reading the state of %s: %w", op.Place, err)
	}
	there, missing, others, err := linked(h, o.Links)
	if err != nil {
		return "", "", err
	}
	now := UnitState{Active: state == "active", Enabled: len(o.Links) > 0 && missing == 0 || len(o.Links) == 0 && o.Was.Enabled}
	text := now.String() + "\n"
	switch {
	case state == "missing":
		text = "missing\n"
	case len(others) > 0:
		text += "other links: " + strings.Join(others, " ") + "\n"
	case there > 0 && missing > 0: // an op was interrupted between two links
		return Partly, fmt.Sprintf("active=%s enabled=partly\n", yesNo(now.Active)), nil
	case now != o.Was && now != o.Want && o.between(now):
		return Partly, text, nil
	default:
		return o.fingerprint(now), text, nil
	}
	return FingerprintOf([]byte(text)), text, nil
}

// between reports whether each part of a state is as before or as after the op.
func (o UnitOrder) between(s UnitState) bool {
	return (s.Active == o.Was.Active || s.Active == o.Want.Active) && (s.Enabled == o.Was.Enabled || s.Enabled == o.Want.Enabled)
}

// performUnit brings a unit into the state of an order. It may be performed again.
func (s *Site) performUnit(ctx context.Context, op iikanji.Op) error {
	h, o, err := s.unitOn(op)
	if err != nil {
		return err
	}
	if o.Want.Enabled || !o.Was.Enabled { // what ends is ended before the boot leaves it out
		if err := setLinks(ctx, h, o.Links, o.Want.Enabled); err != nil {
			return err
		}
	}
	if state, err := activeState(ctx, h, op.Place); err != nil {
		return err
	} else if (state == "active") != o.Want.Active || state == "activating" {
		err := s.aroundUnit(ctx, op, func() (bool, error) { return o.Want.Active, setActive(ctx, h, op.Place, o.Want.Active) })
		if err != nil {
			return err
		}
	}
	return setLinks(ctx, h, o.Links, o.Want.Enabled)
}

func (s *Site) aroundUnit(ctx context.Context, op iikanji.Op, do func() (active bool, err error)) error {
	if s.AroundUnit != nil {
		return s.AroundUnit(ctx, op.Host, op.Place, do)
	}
	_, err := do()
	return err
}

// setActive starts or ends a unit and waits for it.
func setActive(ctx context.Context, h host.Host, unit string, want bool) error {
	state, err := activeState(ctx, h, unit)
	if err != nil || (state == "active") == want && (want || state != "activating") {
		return err
	}
	verb := "stop"
	if want {
		verb = "start"
		// A unit that failed too often is not started before.
		if _, err := Systemctl(ctx, h, "reset-failed", "--", unit); lostIn(err) != nil {
			return err
		}
	}
	if _, err := Systemctl(ctx, h, verb, "--", unit); err != nil {
		return fmt.Errorf("%s of %s: %w", verb, unit, err)
	}
	if state, err = activeState(ctx, h, unit); err == nil && (state == "active") != want {
		err = fmt.Errorf("%s of %s: it is %s", verb, unit, state)
	}
	return err
}

// setLinks makes or removes the links of a unit, and has systemd read them.
func setLinks(ctx context.Context, h host.Host, links []UnitLink, want bool) error {
	changed := false
	for _, l := range links {
		target, err := h.Readlink(l.Path)
		there := err == nil && target == l.Target
		if there == want || err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && !there {
			continue // another one is there: the state shows it
		}
		if changed = true; want {
			err = makeLink(h, l)
		} else if err = h.Remove(l.Path); err == nil && l.Folder {
			err = emptied(h, filepath.Dir(l.Path))
		}
		if err != nil {
			return fmt.Errorf("the link %s: %w", l.Path, err)
		}
	}
	if !changed {
		return nil
	}
	if _, err := Systemctl(ctx, h, "daemon-reload"); err != nil {
		return err
	}
	return nil
}

func makeLink(h host.Host, l UnitLink) error {
	if l.Folder {
		if err := h.Mkdir(filepath.Dir(l.Path), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return h.Symlink(l.Target, l.Path)
}

// emptied removes a folder if it is empty.
func emptied(h host.Host, dir string) error {
	entries, err := h.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		return err
	}
	return h.Rmdir(dir)
}

// noticeUnit restarts a unit of a host that runs, or has the host's systemd read its files.
func (s *Site) noticeUnit(ctx context.Context, op iikanji.Op) error {
	h, err := s.On(op.Host)
	if err != nil {
		return err
	}
	if op.Place == Systemd {
		_, err := Systemctl(ctx, h, "daemon-reload")
		return err
	}
	if err := s.MayChangeUnit(op.Host, op.Place); err != nil {
		return err
	}
	was, err := activeState(ctx, h, op.Place)
	if err != nil || was != "active" && was != "failed" && was != "activating" {
		return err
	}
	if _, err := Systemctl(ctx, h, "reset-failed", "--", op.Place); err != nil && lostIn(err) != nil {
		return err
	}
	err = s.aroundUnit(ctx, op, func() (bool, error) {
		_, err := Systemctl(ctx, h, "restart", "--", op.Place)
		return true, err
	})
	if err != nil {
		return fmt.Errorf("restart of %s: %w", op.Place, err)
	}
	if now, err := activeState(ctx, h, op.Place); err != nil || now != "active" {
		return errors.Join(err, fmt.Errorf("restart of %s: it is %s", op.Place, now))
	}
	return nil
}

// hostTarget begins the target of a remedy that is about a machine: "host:NAME". "host:" is
// this machine.
const hostTarget = "host:"

// HostOf is the name of the host that the target of a remedy is on: a machine, or that of a
// service.
func (s *Site) HostOf(target string) (name string, machine bool, err error) {
	if name, machine = strings.CutPrefix(target, hostTarget); machine {
		if _, err := s.On(name); err != nil {
			return "", true, err
		}
		return name, true, nil
	}
	if svc, ok := s.Services[target]; ok {
		return svc.Host, false, nil
	}
	if svc, ok := s.Target.Service(target); ok {
		return svc.Host, false, nil
	}
	return "", false, fmt.Errorf("no service %q", target)
}
