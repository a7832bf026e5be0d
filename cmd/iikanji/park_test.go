package main

import (
	"context"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/contest/lab"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// A shownPark is an arena on machines that iikanji up has started, as what it printed says.
type shownPark struct {
	t         *testing.T
	config    string   // path of the configuration of ssh
	addresses []string // of the machines
	errs      *lockedOutput
	end       func()
}

// upOnHosts runs iikanji up with flags until the site of each machine answers. Its end checks
// the status.
func upOnHosts(t *testing.T, flags ...string) *shownPark {
	t.Helper()
	tier.Slow(t)
	tier.Needs(t, "a machine in namespaces", lab.Missing())
	ctx, stop := context.WithCancel(t.Context())
	var out, errs lockedOutput
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, &env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Now: time.Now, Cols: 80}, append([]string{"up", "isucondition"}, flags...))
	}()
	for !strings.Contains(out.String(), "Ctrl-C ends") {
		select {
		case status := <-ended:
			t.Fatalf("status %d\n%s%s", status, out.String(), errs.String())
		case <-time.After(100 * time.Millisecond):
		}
	}
	t.Log(out.String())
	p := &shownPark{t: t, errs: &errs}
	if config := regexp.MustCompile(`ssh -F (\S+) isu1`).FindStringSubmatch(out.String()); config != nil {
		p.config = config[1]
	}
	for _, m := range regexp.MustCompile(`HostName (\S+)`).FindAllStringSubmatch(out.String(), -1) {
		p.addresses = append(p.addresses, m[1])
	}
	over := false
	p.end = func() {
		if stop(); over {
			return
		}
		over = true
		if status := <-ended; status != 0 {
			t.Errorf("status %d\n%s", status, errs.String())
		}
	}
	t.Cleanup(p.end)
	if p.config == "" || len(p.addresses) == 0 {
		t.Fatal(out.String())
	}
	return p
}

// ssh runs a script on a machine.
func (p *shownPark) ssh(name, script string) (string, error) {
	text, err := exec.CommandContext(p.t.Context(), "ssh", "-F", p.config, "-o", "ConnectTimeout=5", name, script).CombinedOutput()
	return strings.TrimSpace(string(text)), err
}

// inside is ssh for a script that must end with status 0.
func (p *shownPark) inside(name, script string) string {
	p.t.Helper()
	text, err := p.ssh(name, script)
	if err != nil {
		p.t.Errorf("%s: %s: %v\n%s", name, script, err, text)
	}
	return text
}
