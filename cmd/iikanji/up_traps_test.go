package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/contest/lab"
	"github.com/iikanji/iikanji/internal/contest/practice"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestTraps: with every trap the site of a machine answers, and does not after a reboot.
func TestTraps(t *testing.T) {
	tier.Slow(t)
	tier.Needs(t, "a machine in namespaces", lab.Missing())
	key, err := lab.NewKey(t.Context(), filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--hosts", "1", "--key", key.Path + ".pub"}
	for _, trap := range practice.Traps() {
		args = append(args, "--trap", trap.Name)
	}
	p := upOnHosts(t, args...)
	inside := func(script string) string {
		text, err := p.ssh("isu1", script)
		if err != nil && !strings.Contains(script, "||") {
			t.Logf("%s: %v", script, err)
		}
		return text
	}
	answers := func() bool {
		r, err := http.Get("http://" + p.addresses[0] + "/api/trend")
		if err != nil {
			return false
		}
		defer r.Body.Close()
		return r.StatusCode == http.StatusOK
	}
	if !answers() {
		t.Error("the site does not answer before the reboot")
	}
	if got := inside("systemctl show -p Restart --value isucondition.go; systemctl is-enabled isucondition.go isucondition.ruby || true; sudo -n mariadb -Ne 'select @@innodb_flush_log_at_trx_commit'"); got != "no\ndisabled\nenabled\n0" {
		t.Errorf("planted: %q", got)
	}
	inside("sudo -n systemctl reboot || true")
	for end := time.Now().Add(time.Minute); !strings.Contains(p.errs.String(), "isu1 reboots") || !strings.HasPrefix(inside("systemctl is-active mariadb || true"), "active"); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the machine does not come back\n%s", p.errs.String())
		}
	}
	if answers() {
		t.Error("the site answers after the reboot: no trap has an effect")
	}
}

// TestTrapNames: a name that is none, and a trap without machines, are refused.
func TestTrapNames(t *testing.T) {
	for _, args := range [][]string{{"--hosts", "1", "--trap", "nothing"}, {"--trap", "boot-order"}} {
		if _, said := shell(t, exitUsage, append([]string{"up", "isucondition"}, args...)...); !strings.Contains(said, "trap") {
			t.Errorf("%q: %s", args, said)
		}
	}
}
