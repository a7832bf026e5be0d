package main

import (
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/contest/lab"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestInitUnits: on a machine of systemd, init names the services of the site and no others. An
// app whose output goes to the journal is connected to systemd, and systemd has a pipe open that
// blocks whoever opens it.
func TestInitUnits(t *testing.T) {
	tier.Slow(t)
	m := contestSite(t)
	text := inside(t, m, 0, "cd /root/site; rm iikanji.toml; timeout 120 iikanji init http://127.0.0.1:80 --bench ./bench.sh --policy contest </dev/null 2>&1; cat iikanji.toml")
	for _, want := range []string{`unit = "nginx.service"`, `unit = "mariadb.service"`, `unit = "redis-server.service"`, `unit = "app.service"`, `source = "/home/app"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if n := strings.Count(text, "[[service]]"); n != 4 {
		t.Errorf("%d services in\n%s", n, text)
	}
	for _, whole := range wholeFolders {
		if !strings.Contains(text, whole) {
			t.Errorf("a contest's policy has no %s in\n%s", whole, text)
		}
	}
	initProduction(t, m)
}

// wholeFolders are what opens all units and all variables of a machine.
var wholeFolders = []string{`"/etc/systemd/system"`, `"/etc/sysctl.d"`}

// initProduction: without a profile, init opens the drop-ins of the site's units and no folder of
// the system, doctor has nothing against that, and a unit's limit is changed and undone with them.
func initProduction(t *testing.T, m *lab.Machine) {
	text := inside(t, m, 0, "cd /root/site; rm iikanji.toml; timeout 120 iikanji init http://127.0.0.1:80 --bench ./bench.sh </dev/null 2>&1; cat iikanji.toml; iikanji doctor </dev/null 2>&1")
	for _, want := range []string{"app.service.d/90-iikanji.conf", "multi-user.target.d/90-iikanji-app.service.conf", "/etc/sysctl.d/90-iikanji.conf"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	for _, whole := range wholeFolders {
		if strings.Contains(text, whole) {
			t.Errorf("%s in\n%s", whole, text)
		}
	}
	const units = "cd /etc/systemd/system; find . | sort; "
	before := inside(t, m, 0, units)
	inside(t, m, 0, "cd /root/site; iikanji apply . unit dropin target=app unit=app.service LimitNOFILE=54321 </dev/null; [ \"$(systemctl show -P LimitNOFILE app)\" = 54321 ]")
	if why := inside(t, m, 0, "cd /root/site; iikanji plan . unit dropin target=systemd-journald.service unit=systemd-journald.service LimitNOFILE=54321 </dev/null 2>&1"); !strings.Contains(why, "not allowed to change systemd-journald.service") {
		t.Errorf("another unit: %s", why)
	}
	inside(t, m, 0, "cd /root/site; iikanji revert --all </dev/null; [ \"$(systemctl show -P LimitNOFILE app)\" != 54321 ]; "+untilUp)
	if after := inside(t, m, 0, units); after != before {
		t.Errorf("after the undo\n%s\nbefore\n%s", after, before)
	}
}
