package sysctl

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// TestHardLimit: a limit above the hard limit of new processes is refused in the
// plan, and a lowered limit weakens availability.
func TestHardLimit(t *testing.T) {
	const limits = "Limit                     Soft Limit           Hard Limit           Units     \n" +
		"Max core file size        0                    unlimited            bytes     \n" +
		"Max open files            4096                 65536                files     \n"
	for _, c := range []struct {
		caps, nrOpen, nofile, core, file string
		want                             string // an error, or the promises
	}{
		{"0000000000000000", "1048576", "65536", "", "", "[]"},
		{"0000000000000000", "1048576", "65537", "", "", "the hard limit"},
		{"000001ffffffffff", "1048576", "65537", "", "", "[]"},
		{"000001ffffffffff", "100000", "1000000", "", "", "the hard limit"},
		{"0000000000000000", "1048576", "2048", "", "", "[availability]"},
		{"0000000000000000", "1048576", "2048", "", "nofile = 1024\n", "[]"},
		{"0000000000000000", "1048576", "8192", "", "nofile = 9000\n", "[availability]"},
		{"0000000000000000", "1048576", "", "unlimited", "", "[]"},
		{"0000000000000000", "1048576", "", "0", "core = unlimited\n", "[observability]"},
	} {
		fake := &host.Fake{Root: t.TempDir()}
		for path, text := range map[string]string{"proc/self/limits": limits, "proc/self/status": "Name:\tx\nCapEff:\t" + c.caps + "\n",
			"proc/sys/fs/nr_open": c.nrOpen + "\n", "conf/app.conf": c.file} {
			if text == "" {
				continue
			}
			at := filepath.Join(fake.Root, path)
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.MkdirAll(filepath.Join(fake.Root, "conf"), 0o755); err != nil {
			t.Fatal(err)
		}
		s := &change.Site{Hosts: map[string]host.Host{"": fake}, Roots: []string{"/conf"}, Services: map[string]change.Service{
			"app": {LimitsFile: "/conf/app.conf", Running: changetest.Running{}}}}
		args := map[string]string{"act": "limits"}
		for name, v := range map[string]string{"nofile": c.nofile, "core": c.core} {
			if v != "" {
				args[name] = v
			}
		}
		ch, err := change.Plan(t.Context(), s, iikanji.Remedy{Kind: "sysctl", Target: "app", Args: args})
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = fmt.Sprint(ch.Weakens)
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
