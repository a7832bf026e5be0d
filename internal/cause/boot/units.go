package boot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// onUnit is the way of changes of a unit, of a service of any role.
var onUnit = cause.Plan("unit", "boot", iikanji.RoleUnknown)

var notEnabled = declare("BOOT101", "runs, not enabled", "a service runs now, and no unit of the boot starts it", func(m machine) (out []iikanji.Finding) {
	for _, u := range m.Units {
		if !m.ours(u) || u.Active != "active" || u.Boots || u.Type == "oneshot" || u.Load == "masked" || u.Reload {
			continue
		}
		if u.State == "static" && len(m.of(u.Name)) == 0 { // another unit starts it when it is needed
			continue
		}
		f := finding(m.where(u), u.Name+" runs, and a boot does not start it", "systemctl enable "+u.Name,
			fmt.Sprintf("%s is %s; no chain of units leads from the boot to it", u.Name, word(u.State, "not installed")))
		out = append(out, planned(f, "unit", m.where(u), "start "+u.Name+" at boot", map[string]string{"act": "boot", "unit": u.Name}))
	}
	return out
}, onUnit)

// word is a text, or another one if it is empty.
func word(text, empty string) string {
	if text == "" {
		return empty
	}
	return text
}

var enabledFails = declare("BOOT102", "enabled, fails", "the boot starts a unit that has failed", func(m machine) (out []iikanji.Finding) {
	for _, u := range m.Units {
		if m.ours(u) && u.Boots && u.Active == "failed" {
			out = append(out, finding(m.where(u), fmt.Sprintf("%s is started at boot and has failed (%s)", u.Name, word(u.Result, "without a reason")),
				"read journalctl -u "+u.Name+", and mend it or systemctl disable "+u.Name, u.File))
		}
	}
	return out
})

var onePort = declare("BOOT103", "two enabled units for one port", "a boot starts two programs that would listen on one port", func(m machine) (out []iikanji.Finding) {
	for _, s := range m.Services {
		mine, ok := m.unit(s.Unit)
		if !ok || !mine.Boots {
			continue
		}
		for _, u := range m.Units {
			if u.Name == s.Unit || !u.Boots || u.Never || u.Active == "active" && u.PID != 0 && strings.HasSuffix(u.Name, ".service") {
				continue // it runs beside the other one
			}
			port, both := common(u.Ports, append(slices.Clone(s.Ports), mine.Ports...))
			if !both || triggers(u, s.Unit) {
				continue
			}
			f := finding(s.Name, fmt.Sprintf("a boot starts %s and %s, and both would listen on port %d", s.Unit, u.Name, port),
				"systemctl disable "+u.Name, fmt.Sprintf("%s listens on it now; %s is %s and %s", s.Unit, u.Name, word(u.State, "started by another unit"), u.Active))
			out = append(out, planned(f, "unit", s.Name, "leave "+u.Name+" out at boot", map[string]string{"act": "off", "unit": u.Name}))
		}
	}
	return out
}, cause.Plan("unit", "off", iikanji.RoleUnknown))

// common is a port that both lists have.
func common(a, b []int) (port int, both bool) {
	for _, p := range a {
		if slices.Contains(b, p) {
			return p, true
		}
	}
	return 0, false
}

// triggers reports whether a socket unit starts a service.
func triggers(u fact.BootUnit, service string) bool {
	return strings.HasSuffix(u.Name, ".socket") && strings.TrimSuffix(u.Name, ".socket") == strings.TrimSuffix(service, ".service")
}

// Times of a boot, in seconds: a database is assumed to answer that long after its process
// has started, and hosts that boot beside each other may differ by the second.
const (
	slowStart  = 5.0
	otherHosts = 60.0
)

var givesUp = declare("BOOT104", "gives up before its server is there", "a service ends if its database or cache starts later, and is not started again for long enough",
	func(m machine) []iikanji.Finding { return impatient(m, false) }, cause.Plan("unit", "dropin", iikanji.RoleUnknown))

var givesUpOverHosts = declare("UNIT103", "gives up in the worst boot order", "a service ends if a server on another machine boots later, and is not started again for long enough",
	func(m machine) []iikanji.Finding { return impatient(m, true) }, cause.Plan("unit", "dropin", iikanji.RoleUnknown))

// impatient finds units that give up before a server of theirs is there: one on the same
// host, or at least one on another host, which may boot a minute later.
func impatient(m machine, others bool) (out []iikanji.Finding) {
	for _, s := range m.Services {
		u, ok := m.unit(s.Unit)
		if !ok || u.Load == "masked" {
			continue
		}
		var late, after []string
		needed, far := 0.0, false
		for _, name := range s.Needs {
			i := slices.IndexFunc(m.Services, func(o fact.BootService) bool { return o.Name == name })
			if i < 0 { // on another host
				late, needed, far = append(late, name+" on another host"), otherHosts, true
				continue
			}
			server, ok := m.unit(m.Services[i].Unit)
			if !ok || server.Name == u.Name || slices.Contains(u.After, server.Name) && ready(server) {
				continue
			}
			late, after, needed = append(late, name), append(after, server.Name), max(needed, slowStart)
		}
		patience, forever := patience(u)
		if len(late) == 0 || far != others || forever || patience >= needed || waits(u) {
			continue
		}
		says := fmt.Sprintf("%s may start before %s, and is not started again when it ends (Restart=%s)", u.Name, strings.Join(late, " and "), word(u.Restart, "no"))
		if restarts(u) {
			says = fmt.Sprintf("%s may start before %s; systemd gives up after %d starts in %.1f s, that may take %.0f s", u.Name, strings.Join(late, " and "), u.Burst, patience, needed)
		}
		cure := "in a drop-in of " + u.Name + ": [Unit] StartLimitIntervalSec=0; [Service] Restart=always and RestartSec=1; then systemctl daemon-reload"
		f := finding(s.Name, says, cure, fmt.Sprintf("Restart=%s RestartSec=%gs StartLimitIntervalSec=%gs StartLimitBurst=%d", word(u.Restart, "no"), u.Wait, u.Interval, u.Burst),
			"After="+strings.Join(u.After, " "))
		args := map[string]string{"act": "dropin", "unit": u.Name, "Restart": "always", "RestartSec": "1", "StartLimitIntervalSec": "0"}
		if len(after) > 0 {
			args["After"], args["Wants"] = strings.Join(after, " "), strings.Join(after, " ")
		}
		out = append(out, planned(f, "unit", s.Name, "let "+u.Name+" try again until its servers are there", args))
	}
	return out
}

// ready reports whether systemd counts a unit as started only when it answers.
func ready(u fact.BootUnit) bool {
	return slices.Contains([]string{"notify", "notify-reload", "forking", "oneshot", "dbus"}, u.Type)
}

func restarts(u fact.BootUnit) bool { return u.Restart == "always" || u.Restart == "on-failure" }

// patience is how long systemd starts a unit again that ends at once, in seconds.
func patience(u fact.BootUnit) (seconds float64, forever bool) {
	if !restarts(u) || u.Wait < 0 {
		return 0, false
	}
	if u.Interval == 0 || u.Burst == 0 {
		return 0, true
	}
	total := u.Wait * float64(u.Burst) // the start after the last one that counts
	if u.Interval > 0 && total > u.Interval {
		return 0, true // a new interval begins before
	}
	return u.Wait * float64(u.Burst-1), false
}

// waits reports whether a command before the start, or the command itself, waits.
func waits(u fact.BootUnit) bool {
	for _, command := range append(slices.Clone(u.Pre), u.Exec) {
		for _, w := range []string{"wait-for", "wait_for", "waitfor", "until ", "mysqladmin", "sleep ", "dockerize"} {
			if strings.Contains(command, w) {
				return true
			}
		}
	}
	return false
}

var noUnit = declare("BOOT109", "process of no unit", "a service was started by hand, and nothing starts it at boot", func(m machine) (out []iikanji.Finding) {
	if len(m.Units) == 0 { // systemd does not run this host
		return nil
	}
	for _, s := range m.Services {
		switch {
		case len(s.PIDs) == 0 || s.Unit != "":
		case s.Container == "":
			out = append(out, finding(s.Name, fmt.Sprintf("%s (process %d) runs in no unit: a boot does not start it", s.Name, s.PIDs[0]),
				"write a unit for it and systemctl enable it, or start the unit that it has", s.Program))
		case s.Policy != "always" && s.Policy != "unless-stopped":
			out = append(out, finding(s.Name, fmt.Sprintf("the container of %s has the restart policy %q: a boot does not start it", s.Name, word(s.Policy, "unknown")),
				"docker update --restart unless-stopped "+s.Container[:12], "container "+s.Container[:12]))
		}
	}
	return out
})

var notLoaded = declare("BOOT112", "drop-in not loaded", "a unit's files are newer than what systemd has loaded: a boot starts something else", func(m machine) (out []iikanji.Finding) {
	for _, u := range m.Units {
		if m.ours(u) && u.Reload && u.Load != "masked" && (u.Boots || u.Active == "active") {
			out = append(out, finding(m.where(u), "the files of "+u.Name+" were changed, and systemd has not loaded them",
				"systemctl daemon-reload && systemctl restart "+u.Name+", then make a run", strings.Join(append([]string{u.File}, u.DropIns...), " ")))
		}
	}
	return out
})

var doesNotParse = declare("BOOT113", "unit does not parse", "systemd passes over a part of a unit's files, or refuses the unit", func(m machine) (out []iikanji.Finding) {
	for _, u := range m.Units {
		bad := u.Load == "bad-setting" || u.Load == "error"
		if !m.ours(u) || !u.Boots && u.Active != "active" || !bad && len(u.Wrong) == 0 {
			continue
		}
		claim := u.Name + ": systemd passes over a part of its files"
		if bad {
			claim = u.Name + ": systemd refuses it (" + u.Load + ")"
		}
		out = append(out, finding(m.where(u), claim, "mend the line, then systemd-analyze verify "+u.File+" and systemctl daemon-reload", u.Wrong...))
	}
	return out
})
