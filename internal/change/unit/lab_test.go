package unit

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/contest/lab"
	"github.com/iikanji/iikanji/internal/contest/lab/labtest"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// jobUnit is a service of the machine's administrator, which is not enabled.
const jobUnit = "[Unit]\nDescription=a job\n[Service]\nExecStart=/bin/sleep 1000000\n[Install]\nWantedBy=multi-user.target\nWantedBy=job.target\n"

// TestUnits: units of a real systemd on another host are started, ended, enabled, disabled and
// limited; systemd and the running process have the settings; the undo restores files, links
// and states, also after a kill at each step.
func TestUnits(t *testing.T) {
	tier.Slow(t)
	dir := changetest.ChildDir()
	if dir == "" {
		dir = t.TempDir()
		machines := labtest.Boot(t, labtest.Spec{Name: "db", Units: []string{"redis-server"}, Prepare: func(m *lab.Machine) error {
			return errors.Join(m.Write("/etc/systemd/system/job.service", jobUnit, 0o644), m.Write("/etc/systemd/system/keep.service", jobUnit, 0o644))
		}})
		labtest.File(t, dir, machines...)
	}
	db := sync.OnceValues(func() (*labtest.Far, error) {
		hosts, _, err := labtest.Dial(dir, Folder)
		return hosts["db"], err
	})
	open := func(string) *change.Site {
		h, err := db()
		if err != nil {
			panic(err)
		}
		return &change.Site{Hosts: map[string]host.Host{"db": h}, Roots: []string{"db:" + Folder}, Keep: []string{"keep.service"},
			Target: iikanji.Target{Hosts: []iikanji.HostRef{{Name: "db"}}, Services: []iikanji.Service{{Name: "cache", Host: "db", Unit: "redis-server.service"}}}}
	}
	run := func(args ...string) string {
		h, err := db()
		if err != nil {
			t.Fatal(err)
		}
		out, err := h.Run(t.Context(), args...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	remedy := func(target string, kv ...string) iikanji.Remedy {
		return iikanji.Remedy{Kind: "unit", Target: target, Args: changetest.Args(kv...)}
	}
	changetest.Run(t, changetest.Case{
		Dir: dir, Open: open,
		Remedies: map[string]iikanji.Remedy{
			"start":  remedy("host:db", "act", "state", "unit", "job.service", "active", "yes"),
			"enable": remedy("host:db", "act", "state", "unit", "job.service", "enabled", "yes"),
			"end":    remedy("host:db", "act", "state", "unit", "redis-server.service", "enabled", "no"),
			"limits": remedy("cache", "act", "dropin", "unit", "redis-server.service", "LimitNOFILE", "54321", "LimitCORE", "infinity", "TasksMax", "500", "Restart", "always", "RestartSec", "2",
				"StartLimitIntervalSec", "0", "After", "job.service", "env.GREETING", "hello", "OOMScoreAdjust", "-300", "CPUAffinity", "0"),
			"boot": remedy("host:db", "act", "boot", "unit", "job.service"),
		},
		Effects: map[string]string{"start": "job active enabled", "enable": "job inactive enabled", "end": "redis active disabled", "limits": "LimitNOFILE=54321"},
		State: func() (string, error) {
			h, err := db()
			if err != nil {
				return "", err
			}
			files, err := h.Run(t.Context(), "sh", "-c", "cd /etc/systemd/system && find . ! -type l -printf '%p %m %u\\n' -o -type l -printf '%p -> %l\\n' | grep -v /dev/null | sort; cat *.d/*-iikanji*.conf multi-user.target.d/* 2>/dev/null || :")
			if err != nil {
				return "", err
			}
			state := func(unit string) string {
				return strings.TrimSpace(run("sh", "-c", "systemctl is-active "+unit+" || :")) + " " + strings.TrimSpace(run("sh", "-c", "systemctl is-enabled "+unit+" || :"))
			}
			limits := run("sh", "-c", "grep 'open files' /proc/$(systemctl show redis-server -p MainPID --value)/limits 2>&1 | awk '{print $5}'")
			return fmt.Sprintf("%s\njob %s\nredis %s\nmost files: %s\n", files, state("job"), state("redis-server"), limits), nil
		},
		Serves: func() error {
			if got := run("redis-cli", "ping"); got != "PONG" {
				return fmt.Errorf("redis answers %q", got)
			}
			return nil
		},
		Disturb: func(op iikanji.Op) (func() error, error) {
			h, err := db()
			if err != nil {
				return nil, err
			}
			at, text := op.Place, []byte("# by hand\n")
			if op.Verb == iikanji.Unit { // another link of the same name
				o, err := change.ParseUnitOrder(op.Body)
				if err != nil || len(o.Links) == 0 {
					return nil, err
				}
				at = o.Links[0].Path
				if target, err := h.Readlink(at); err == nil {
					return func() error { return errors.Join(h.Remove(at), h.Symlink(target, at)) }, errors.Join(h.Remove(at), h.Symlink("/etc/passwd", at))
				}
				return func() error { return h.Remove(at) }, h.Symlink("/etc/passwd", at)
			}
			was, err := h.Read(at)
			if errors.Is(err, os.ErrNotExist) {
				folder := op.Place[:strings.LastIndexByte(op.Place, '/')]
				_, there := h.Stat(folder)
				calm := func() error {
					err := h.Remove(at)
					if there != nil {
						err = errors.Join(err, h.Rmdir(folder))
					}
					return err
				}
				if there != nil {
					err = h.Mkdir(folder, 0o755)
				} else {
					err = nil
				}
				return calm, errors.Join(err, h.Write(at, text, 0o644))
			}
			return func() error { return h.Write(at, was, 0o644) }, errors.Join(err, h.Write(at, append(text, was...), 0o644))
		},
	})
	if changetest.ChildDir() != "" {
		return
	}
	refused(t, open(""))
}

// refused: what would end a service of the site, or a unit that is kept.
func refused(t *testing.T, s *change.Site) {
	for want, args := range map[string][]string{
		"which would not answer": {"act", "state", "unit", "redis-server.service", "active", "no"},
		"has no unit file":       {"act", "state", "unit", "nowhere.service", "active", "no"},
		"the policy keeps":       {"act", "state", "unit", "keep.service", "active", "yes"},
		"no section [Install]":   {"act", "state", "unit", "dbus.service", "enabled", "yes"},
	} {
		if _, err := change.Plan(t.Context(), s, iikanji.Remedy{Kind: "unit", Target: "host:db", Args: changetest.Args(args...)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
}

// TestUnitFiles: where the policy has the files of one unit in place of systemd's folder, its
// settings are changed on a real machine and undone to the byte, with the folder that was made
// for them. The unit may not be enabled, and no other unit may be changed.
func TestUnitFiles(t *testing.T) {
	tier.Slow(t)
	dir := t.TempDir()
	labtest.File(t, dir, labtest.Boot(t, labtest.Spec{Name: "db", Units: []string{"redis-server"}, Prepare: func(m *lab.Machine) error {
		return m.Write("/etc/systemd/system/job.service", jobUnit, 0o644)
	}})...)
	const unit = "redis-server.service"
	files := host.UnitFiles(unit)
	hosts, _, err := labtest.Dial(dir, files...)
	if err != nil {
		t.Fatal(err)
	}
	h := hosts["db"]
	s := &change.Site{Hosts: map[string]host.Host{"db": h}, Roots: []string{"db:" + files[0], "db:" + files[1]},
		Target: iikanji.Target{Hosts: []iikanji.HostRef{{Name: "db"}}, Services: []iikanji.Service{{Name: "cache", Host: "db", Unit: unit}}}}
	state := func() string {
		out, err := h.Run(t.Context(), "sh", "-c", "cd /etc/systemd/system && find . | sort; systemctl show redis-server -p LimitNOFILE -p DropInPaths; systemctl show multi-user.target -p Wants --value | tr ' ' '\n' | sort")
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	before := state()
	for want, r := range map[string]iikanji.Remedy{
		"LimitNOFILE=54321": {Kind: "unit", Target: "cache", Args: changetest.Args("act", "dropin", "unit", unit, "LimitNOFILE", "54321")},
		files[1]:            {Kind: "unit", Target: "host:db", Args: changetest.Args("act", "boot", "unit", unit)},
	} {
		c, err := change.Plan(t.Context(), s, r)
		if err != nil {
			t.Errorf("%s: %v", want, err)
			continue
		}
		perform(t, s, c.Do)
		if got := state(); !strings.Contains(got, strings.TrimPrefix(want, "/etc/systemd/system/")) {
			t.Errorf("no %s in\n%s", want, got)
		}
		perform(t, s, c.Undo)
		if got := state(); got != before {
			t.Errorf("%s: after the undo\n%s\nwant\n%s", want, got, before)
		}
	}
	for want, args := range map[string][]string{
		"not allowed to enable": {"act", "state", "unit", unit, "enabled", "no"},
		"not allowed to change": {"act", "dropin", "unit", "job.service", "LimitNOFILE", "54321"},
	} {
		if _, err := change.Plan(t.Context(), s, iikanji.Remedy{Kind: "unit", Target: "host:db", Args: changetest.Args(args...)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
	if err := h.WriteBeneath("/etc/systemd/system", "/etc/systemd/system/"+unit+".d/evil.conf", nil, host.New{Perm: 0o644, Folder: true}); err == nil {
		t.Error("the far end wrote a file beside that of the policy")
	}
}

// perform carries out the ops of one way of a change.
func perform(t *testing.T, s *change.Site, ops []iikanji.Op) {
	t.Helper()
	for _, op := range ops {
		if err := s.Perform(t.Context(), op); err != nil {
			t.Errorf("%s %s: %v", op.Verb, op.Place, err)
		}
	}
}
