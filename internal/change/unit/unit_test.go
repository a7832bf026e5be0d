package unit

import (
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
		{"act", "dropin", "unit", "app.service", "StartLimitIntervalSec", "10"}, {"act", "dropin", "unit", "app.service", "ExecStart", "/bin/sh"}} {
		if err := match(bad...); err == nil || strings.Contains(err.Error(), "no kind") {
			t.Errorf("%q was accepted, or refused for another reason: %v", bad, err)
		}
	}
}

// TestNoFolder: no act is planned for a site whose policy does not allow the folder of units.
func TestNoFolder(t *testing.T) {
	for act, extra := range map[string][2]string{"boot": {}, "off": {}, "dropin": {"Restart", "always"}} {
		r := iikanji.Remedy{Kind: "unit", Target: "app", Args: map[string]string{"act": act, "unit": "app.service"}}
		if extra[0] != "" {
			r.Args[extra[0]] = extra[1]
		}
		s := &change.Site{Services: map[string]change.Service{change.Systemd: {}}}
		if c, err := (Kind{}).Plan(t.Context(), s, r); err == nil || !strings.Contains(err.Error(), Folder+" is not one of its folders") {
			t.Errorf("%s: %+v, %v", act, c, err)
		}
	}
}
