package machine

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// slowStart is the assumed time in seconds until a database answers on a
// machine that starts everything at once, if its log does not show it.
const slowStart = 5.0

var downAfterReboot = cause.Declare(cause.PerRun, findDownAfterReboot,
	cause.Cause{Code: "OS106", Title: "would not come back", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line:     "the start order or a restart limit prevents it, or no unit starts the service",
		Remedies: []cause.Way{cause.Person}})

// findDownAfterReboot reports services that may be down after a reboot: masked, not enabled,
// or ended because a service that they need did not answer yet. The finding has
// no gain and ranks below all that have.
func findDownAfterReboot(v *cause.View) []iikanji.Finding {
	for _, b := range fact.TopicBoot.In(v.Input.Facts) {
		if len(b.Units) > 0 { // the rules of cause/boot ask systemd itself
			return nil
		}
	}
	units := map[string]fact.Unit{}
	for f, u := range fact.TopicUnit.In(v.Input.Facts) {
		units[f.Target] = u
	}
	var out []iikanji.Finding
	for _, service := range slices.Sorted(maps.Keys(units)) {
		u := units[service]
		if slices.ContainsFunc(out, func(f iikanji.Finding) bool { return f.Where == u.Name }) { // one unit may run several services
			continue
		}
		hazards := hazards(v, service, units)
		if len(hazards) == 0 {
			continue
		}
		f := iikanji.Finding{Code: "OS106", Where: u.Name}
		var says []string
		for _, h := range hazards {
			says = append(says, h.says)
			f.Evidence = append(f.Evidence, h.rows...)
			f.Remedies = append(f.Remedies, iikanji.ByPerson(service, h.cure))
		}
		f.Claim = u.Name + " may be down after a reboot: " + strings.Join(says, "; and ")
		out = append(out, f)
	}
	return out
}

// A hazard is one reason why a service may be down after a reboot.
type hazard struct {
	says, cure string
	rows       []iikanji.Evidence
}

// hazards are the reasons why the unit of a service may be down after a reboot.
func hazards(v *cause.View, service string, units map[string]fact.Unit) []hazard {
	u := units[service]
	if u.Masked != "" {
		return []hazard{{says: "it is masked", cure: "allow it to start: systemctl unmask " + u.Name + ", then systemctl enable " + u.Name,
			rows: []iikanji.Evidence{{Source: "unit", Text: u.Masked + " is empty or a link to /dev/null"}}}}
	}
	var out []hazard
	if len(u.Boot) == 0 {
		out = append(out, notEnabled(u))
	}
	linked := cause.FactsOf(v, fact.TopicConnection)
	for _, needed := range slices.Sorted(maps.Keys(units)) {
		c := linked[service+" "+needed]
		if d := units[needed]; d.Name != u.Name && d.Masked == "" && len(d.Boot) > 0 && c.TCP+c.Unix > 0 {
			if h, ok := unready(v, u, d, needed); ok {
				row := fmt.Sprintf("%s had %s to %s during the load", service, cause.Plural(float64(c.TCP+c.Unix), "connection"), needed)
				h.rows = append([]iikanji.Evidence{{Source: "connections", Text: row}}, h.rows...)
				out = append(out, h)
			}
		}
	}
	return out
}

// notEnabled is the hazard of a unit that the boot does not start.
func notEnabled(u fact.Unit) hazard {
	h := hazard{says: "no unit of the boot starts it",
		cure: "start it at boot: set WantedBy= to a target that the boot reaches, such as multi-user.target, then systemctl enable " + u.Name}
	for _, s := range u.Settings {
		if s.Section == "Install" && (s.Key == "WantedBy" || s.Key == "RequiredBy" || s.Key == "UpheldBy") {
			h.rows = append(h.rows, iikanji.Evidence{Source: "unit", Text: settingText(s) + ", but no chain of links leads to it from the boot target"})
		}
	}
	if len(h.rows) == 0 {
		h.cure = "start it at boot: add the lines [Install] and WantedBy=multi-user.target, then systemctl enable " + u.Name
		h.rows = []iikanji.Evidence{{Source: "unit", Text: "no WantedBy= in its section [Install], and no other unit requires it: " + strings.Join(u.Files, ", ")}}
	}
	return h
}

// waiting matches start commands that wait for other services themselves.
var waiting = regexp.MustCompile(`(?i)\b(wait|until|sleep|ping|nc|mysqladmin)\b|wait_?for|is_?ready`)

// unready is the hazard of a unit that is started before a needed service
// answers, ends therefore, and is not restarted, or not for long enough.
func unready(v *cause.View, u, d fact.Unit, needed string) (hazard, bool) {
	for _, s := range u.Settings {
		if s.Section == "Service" && (s.Key == "ExecStart" || s.Key == "ExecStartPre") && waiting.MatchString(s.Value) {
			return hazard{}, false
		}
	}
	order, ordered := orderRow(u, d)
	if ordered {
		return hazard{}, false
	}
	r := restartsOf(u)
	h := hazard{rows: append([]iikanji.Evidence{{Source: "unit", Text: order}}, r.rows...)}
	h.says = fmt.Sprintf("it may start before %s is ready, and is not restarted if it then exits", d.Name)
	if r.again {
		if r.tries == 0 {
			return hazard{}, false
		}
		takes, measured := fact.TopicReady.Of(v.Input.Facts, needed, "seconds")
		row := fmt.Sprintf("%s took up to %.1f s to start, by its error log", needed, takes)
		says := fmt.Sprintf("but that takes %.1f s", takes)
		if !measured {
			takes = slowStart
			row = fmt.Sprintf("the start time of %s is unknown; %.0f s are assumed", needed, takes)
			says = "and the time until it is ready is unknown"
		}
		if takes <= r.patience {
			return hazard{}, false
		}
		h.says = fmt.Sprintf("it may start before %s is ready; if it then exits, systemd gives up after %s in %.1f s, %s", d.Name, cause.Plural(float64(r.tries), "start"), r.patience, says)
		h.rows = append(h.rows, iikanji.Evidence{Source: needed, Text: row})
	}
	wait := fmt.Sprintf("After=%s, Wants=%s and ", d.Name, d.Name)
	if _, behind := u.Follows[d.Name]; behind {
		wait = "" // it is set already, and does not help
	}
	h.cure = fmt.Sprintf("in %s: [Unit] %sStartLimitIntervalSec=0; [Service] Restart=always and RestartSec=1; then systemctl daemon-reload", u.Name, wait)
	return h, true
}

// signals are the types of services that count as started only when they are
// ready; other types are started when their process exists
// (systemd.service(5)).
var signals = []string{"notify", "notify-reload", "forking", "oneshot", "dbus"}

// orderRow describes the order of one unit after another, and reports whether
// that order implies that the other is ready.
func orderRow(u, d fact.Unit) (row string, ready bool) {
	kind := serviceType(d)
	chain, behind := u.Follows[d.Name]
	switch {
	case behind && slices.Contains(signals, kind.Value):
		return "", true
	case behind:
		return fmt.Sprintf("it is started after %s (%s), but with %s that means when its process exists, not when it is ready", d.Name, strings.Join(chain, " → "), settingText(kind)), false
	}
	var after []string
	for _, s := range u.Settings {
		if s.Section == "Unit" && s.Key == "After" {
			after = append(after, settingText(s))
		}
	}
	if len(after) == 0 {
		return fmt.Sprintf("it has no After= and is not started after %s (%s)", d.Name, strings.Join(u.Files, ", ")), false
	}
	return fmt.Sprintf("none of its After= leads to %s: %s", d.Name, strings.Join(after, ", ")), false
}

// serviceType is the type of a service, with systemd's default.
func serviceType(u fact.Unit) fact.Setting {
	def := "simple"
	has := func(key string) bool {
		return slices.ContainsFunc(u.Settings, func(s fact.Setting) bool { return s.Section == "Service" && s.Key == key })
	}
	if has("BusName") {
		def = "dbus"
	} else if !has("ExecStart") {
		def = "oneshot"
	}
	return lastOf(u, def, func(s string) bool { return slices.Contains(append(signals, "simple", "exec", "idle"), s) }, "Service.Type")
}
