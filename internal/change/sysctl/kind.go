package sysctl

import (
	"context"
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/promise"
	"github.com/iikanji/iikanji/internal/machine/host"
)

func init() { change.Register(Kind{}) }

// Kind plans kernel variables and process limits. The package comment has its
// arguments.
type Kind struct{}

var _ change.Kind = Kind{}

// Name implements change.Kind.
func (Kind) Name() string { return "sysctl" }

// Plan implements change.Kind.
func (k Kind) Plan(_ context.Context, s *change.Site, r iikanji.Remedy) (*iikanji.Change, error) {
	svc, err := keeper(s, r.Target)
	if err != nil {
		return nil, err
	}
	_, args, err := match(r)
	if err != nil {
		return nil, err
	}
	c := &iikanji.Change{Kind: k.Name(), Target: r.Target, Says: "set " + change.SaySettings(args.values())}
	if err := args.plan(s, svc, c); err != nil {
		return nil, err
	}
	return c, nil
}

// keeper is the service that a remedy is about, or a machine: a service with nothing but its
// file of variables.
func keeper(s *change.Site, target string) (change.Service, error) {
	if svc, ok := s.Services[target]; ok {
		return svc, nil
	}
	on, machine, err := s.HostOf(target)
	if err == nil && !machine {
		err = fmt.Errorf("no service %q", target)
	}
	return change.Service{Host: on, DropIn: host.KernelFile}, err
}

// procSys is the folder in which the kernel shows its variables as files.
const procSys = "/proc/sys"

// plan sets kernel variables, now and for the next start of the machine.
func (a *variableArgs) plan(s *change.Site, svc change.Service, c *iikanji.Change) error {
	args := a.Values
	if name := outside(s.RootsOn(svc.Host), args); name != "" {
		return fmt.Errorf("%s is a setting of the machine, and the target is not allowed to change the machine (%s is outside its folders)",
			name, filepath.Dir(placeOf(name)))
	}
	if svc.DropIn == "" {
		return fmt.Errorf("service %q has no file that keeps settings over a restart", c.Target)
	}
	now := map[string]string{}
	var live []change.Edit
	wanted := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		path := placeOf(name)
		old, err := s.ReadOld(svc.Host, path)
		if err != nil {
			return err
		}
		if old == nil {
			return fmt.Errorf("this kernel has no %s", name)
		}
		now[name] = plain(string(old))
		if now[name] == plain(args[name]) {
			continue
		}
		wanted[name] = plain(args[name])
		// In the kernel's own form, so that reading it back gives what was
		// written.
		live = append(live, change.Edit{Path: path, Old: old, New: []byte(strings.ReplaceAll(wanted[name], " ", "\t") + "\n")})
	}
	if len(live) == 0 {
		return change.ErrNothing
	}
	if err := sideEffects(s, svc.Host, wanted); err != nil {
		return err
	}
	if err := portsStay(s.Target, wanted[portRange]); err != nil {
		return err
	}
	h, err := s.On(svc.Host)
	if err != nil {
		return err
	}
	if err := overriding(h, svc.DropIn, wanted); err != nil {
		return err
	}
	old, err := s.ReadOld(svc.Host, svc.DropIn)
	if err != nil {
		return err
	}
	c.Risk, c.Weakens = iikanji.RiskNone, weakened(promise.Kernel, now, wanted)
	edits := append([]change.Edit{{Path: svc.DropIn, Old: old, New: edit(old, variablesHeader, wanted)}}, live...)
	change.FromEdits(c, iikanji.VerbUnknown, change.OnHost(svc.Host, edits...)...)
	return nil
}

// placeOf is the file of a kernel variable.
func placeOf(name string) string {
	return filepath.Join(procSys, strings.ReplaceAll(name, ".", "/"))
}

// outside is the first variable that is below no root, "" for none: /proc/sys/net, for example, is
// a machine's own where machines share a kernel, and /proc/sys/vm is not.
func outside(roots []string, args map[string]string) string {
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if !within(roots, filepath.Dir(placeOf(name))) {
			return name
		}
	}
	return ""
}

// within reports whether a folder is one of the roots, or below one.
func within(roots []string, dir string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		rel, err := filepath.Rel(root, dir)
		return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
	})
}

// plain returns a value with one blank between its parts.
func plain(value string) string { return strings.Join(strings.Fields(value), " ") }

// sideEffects refuses a variable that would change another one: the undo would
// not restore that one.
func sideEffects(s *change.Site, on string, wanted map[string]string) error {
	for _, name := range []string{"vm.dirty_ratio", "vm.dirty_background_ratio"} {
		if _, ok := wanted[name]; !ok {
			continue
		}
		bytes := strings.TrimSuffix(name, "ratio") + "bytes"
		now, err := s.ReadOld(on, placeOf(bytes))
		if err != nil {
			return err
		}
		if plain(string(now)) != "0" {
			return fmt.Errorf("%s is in force, which setting %s would end", bytes, name)
		}
	}
	return nil
}

const portRange = "net.ipv4.ip_local_port_range"

// portsStay refuses a range of outgoing ports that contains a port of a service:
// an outgoing connection could take the port while the service restarts. ports
// is "" if the range is not set.
func portsStay(t iikanji.Target, ports string) error {
	var low, high int
	if _, err := fmt.Sscan(ports, &low, &high); err != nil {
		return nil // no range is set; its form was checked before
	}
	for _, svc := range t.Services {
		_, text, _ := net.SplitHostPort(svc.Address) // a service without an address has no port
		if port, err := strconv.Atoi(text); err == nil && low <= port && port <= high {
			return fmt.Errorf("%s = %s: the %s listens on port %d, which an outgoing connection could take", portRange, ports, svc.Name, port)
		}
	}
	return nil
}
