package unit

import (
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// TestMerge: a later change of one unit keeps the settings of an earlier one.
func TestMerge(t *testing.T) {
	first := merge(nil, []setting{{"Service", "Restart", "always"}, {"Unit", "After", "a.service"}})
	if want := header + "[Unit]\nAfter=a.service\n[Service]\nRestart=always\n"; string(first) != want {
		t.Errorf("got %q", first)
	}
	second := merge(first, []setting{{"Service", "RuntimeDirectory", "app"}, {"Unit", "After", "b.service"}})
	if want := header + "[Unit]\nAfter=b.service\n[Service]\nRestart=always\nRuntimeDirectory=app\n"; string(second) != want {
		t.Errorf("got %q", second)
	}
	if again := merge(second, []setting{{"Unit", "After", "b.service"}}); string(again) != string(second) {
		t.Errorf("setting what is set makes %q", again)
	}
}

func TestMatch(t *testing.T) {
	match := func(args ...string) error {
		r := iikanji.Remedy{Kind: "unit", Target: "app", Args: map[string]string{}}
		for i := 0; i < len(args); i += 2 {
			r.Args[args[i]] = args[i+1]
		}
		_, err := change.Match(r)
		return err
	}
	for _, good := range [][]string{{"act", "boot", "unit", "app.service"}, {"act", "dropin", "unit", "app@1.service", "Restart", "always", "RestartSec", "1", "StartLimitIntervalSec", "0"},
		{"act", "dropin", "unit", "app.service", "After", "a.service b.socket", "RuntimeDirectory", "app"}} {
		if err := match(good...); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range [][]string{{"act", "boot", "unit", "../../x.service"}, {"act", "boot", "unit", "app"}, {"act", "dropin", "unit", "app.service"},
		{"act", "dropin", "unit", "app.service", "Restart", "no"}, {"act", "dropin", "unit", "app.service", "RestartSec", "1\nExecStart=/bin/sh"},
		{"act", "dropin", "unit", "app.service", "After", "a.service\n[Service]"}, {"act", "dropin", "unit", "app.service", "RuntimeDirectory", "../etc"},
		{"act", "dropin", "unit", "app.service", "StartLimitIntervalSec", "-1"}, {"act", "dropin", "unit", "app.service", "ExecStart", "/bin/sh"}} {
		if err := match(bad...); err == nil || strings.Contains(err.Error(), "no kind") {
			t.Errorf("%q was accepted, or refused for another reason: %v", bad, err)
		}
	}
}

// TestNoFolder: no act is planned for a site whose policy does not allow the folder of units,
// nor for a unit that the policy keeps.
func TestNoFolder(t *testing.T) {
	for act, extra := range map[string][2]string{"boot": {}, "off": {}, "dropin": {"Restart", "always"}, "state": {"active", "no"}} {
		r := iikanji.Remedy{Kind: "unit", Target: "app", Args: map[string]string{"act": act, "unit": "app.service"}}
		if extra[0] != "" {
			r.Args[extra[0]] = extra[1]
		}
		s := &change.Site{Services: map[string]change.Service{change.Systemd: {}, "app": {}}}
		if c, err := (Kind{}).Plan(t.Context(), s, r); err == nil || !strings.Contains(err.Error(), "neither "+Folder+" nor ") {
			t.Errorf("%s: %+v, %v", act, c, err)
		}
		s.Roots, s.Keep = []string{Folder}, []string{"app.service"}
		if c, err := (Kind{}).Plan(t.Context(), s, r); err == nil || !strings.Contains(err.Error(), "the policy keeps") {
			t.Errorf("%s of a unit that is kept: %+v, %v", act, c, err)
		}
		r.Target = "host:db"
		if c, err := (Kind{}).Plan(t.Context(), s, r); err == nil || !strings.Contains(err.Error(), `no host "db"`) {
			t.Errorf("%s of a host that is not there: %+v, %v", act, c, err)
		}
	}
}

// TestBounds: each setting has values that are accepted and values that are not, and none
// ends its line.
func TestBounds(t *testing.T) {
	good := map[string][]string{"After": {"a.service b.socket"}, "Wants": {"a.service"}, "Requires": {"a.target"}, "StartLimitIntervalSec": {"0", "10"}, "StartLimitBurst": {"5"},
		"Restart": {"always"}, "RestartSec": {"0"}, "RuntimeDirectory": {"app"}, "LimitNOFILE": {"65536"}, "LimitNPROC": {"infinity"}, "LimitMEMLOCK": {"65536"}, "LimitCORE": {"0"},
		"TasksMax": {"512"}, "CPUWeight": {"200"}, "CPUAffinity": {"0-1", "0,2"}, "OOMScoreAdjust": {"-500"}}
	bad := map[string][]string{"After": {"a.service\tb.service", "a"}, "Wants": {"../a.service"}, "Requires": {"a"}, "StartLimitIntervalSec": {"10s"}, "StartLimitBurst": {"0"},
		"Restart": {"no"}, "RestartSec": {"301"}, "RuntimeDirectory": {"a b"}, "LimitNOFILE": {"infinity", "1"}, "LimitNPROC": {"1"}, "LimitMEMLOCK": {"-1"}, "LimitCORE": {"1G"},
		"TasksMax": {"10"}, "CPUWeight": {"0"}, "CPUAffinity": {"0-", "a"}, "OOMScoreAdjust": {"-1001"}}
	for _, b := range bounds {
		if len(good[b.key]) == 0 || len(bad[b.key]) == 0 {
			t.Errorf("%s is not tried", b.key)
		}
		for _, value := range append(bad[b.key], "0\nExecStart=/bin/sh") {
			if matches(t, b.key, value) {
				t.Errorf("%s = %q is accepted", b.key, value)
			}
		}
		for _, value := range good[b.key] {
			if !matches(t, b.key, value) {
				t.Errorf("%s = %q is refused", b.key, value)
			}
		}
	}
	for name, value := range map[string]string{"DB_PASSWORD": "x", "A-B": "x", "PATH2": "a b", "X": "%h", "Y": "a\nb"} {
		if matches(t, "env."+name, value) {
			t.Errorf("%s = %q is accepted", name, value)
		}
	}
	if !matches(t, "env.GOGC", "200") {
		t.Error("a plain variable is refused")
	}
}

func matches(t *testing.T, key, value string) bool {
	t.Helper()
	_, err := change.Match(iikanji.Remedy{Kind: "unit", Target: "app", Args: map[string]string{"act": "dropin", "unit": "app.service", key: value}})
	return err == nil
}

// TestShown: what systemctl show prints for the settings.
func TestShown(t *testing.T) {
	for _, c := range []struct {
		key, value, now string
		want            bool
	}{
		{"RestartSec", "90", "1min 30s", true}, {"RestartSec", "0", "0", true}, {"RestartSec", "1", "500ms", false}, {"RestartSec", "3600", "1h", true},
		{"After", "a.service b.service", "x.target b.service a.service", true}, {"After", "a.service", "b.service", false},
		{"Environment", "A=1", "B=2 A=1", true}, {"Environment", "A=1", "A=2", false}, {"LimitNOFILE", "65536", "65536", true}, {"LimitNOFILE", "65536", "1024", false},
		{"CPUAffinity", "0,1,2", "0-2", true}, {"CPUAffinity", "0", "0-1", false},
	} {
		if got := shown(setting{"Service", c.key, c.value}, c.now); got != c.want {
			t.Errorf("%s=%s, shown %q: %v", c.key, c.value, c.now, got)
		}
	}
	const limits = "Limit                     Soft Limit           Hard Limit           Units     \nMax open files            65536                65536                files     \nMax core file size        0                    unlimited            bytes     \n"
	for _, c := range []struct {
		key, value    string
		younger, want bool
	}{{"LimitNOFILE", "65536", false, true}, {"LimitNOFILE", "1024", true, false}, {"LimitNOFILE", "100000", true, true}, {"LimitNOFILE", "100000", false, false},
		{"LimitCORE", "0", true, false}, {"LimitCORE", "infinity", false, true}, {"TasksMax", "5", false, true}} {
		if limited(setting{"Service", c.key, c.value}, limits, c.younger) != c.want {
			t.Errorf("%+v of a process is read wrongly", c)
		}
	}
}

// FuzzRead: any text of a drop-in is read, and what is written is read as it was set.
func FuzzRead(f *testing.F) {
	f.Add("[Unit]\nAfter=a.service\n[Service]\nEnvironment=A=1\n", "LimitNOFILE", "65536")
	f.Fuzz(func(t *testing.T, text, key, value string) {
		if strings.ContainsAny(key+value, "\n\r[]#=") || key == "" || strings.TrimSpace(key) != key || strings.TrimSpace(value) != value {
			return
		}
		want := setting{"Service", key, value}
		all := read(merge([]byte(text), []setting{want}))
		if !slices.Contains(all, want) {
			t.Errorf("%+v is missing in %+v", want, all)
		}
	})
}
