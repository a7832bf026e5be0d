package main

import (
	"strings"
	"testing"

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
}
