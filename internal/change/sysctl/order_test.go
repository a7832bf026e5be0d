package sysctl

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// TestOverriding: a file that is read after the drop-in file, and that sets the variable
// to another value, is named.
func TestOverriding(t *testing.T) {
	for name, c := range map[string]struct {
		dropIn string
		files  map[string]string
		want   string // "" if the setting lasts
	}{
		"after it":                {"/etc/sysctl.d/60-iikanji.conf", map[string]string{"/etc/sysctl.d/99-own.conf": "# mine\nnet.core.somaxconn=9\n"}, "/etc/sysctl.d/99-own.conf:2 sets net.core.somaxconn = 9"},
		"before it":               {"/etc/sysctl.d/60-iikanji.conf", map[string]string{"/etc/sysctl.d/10-own.conf": "net.core.somaxconn=9\n"}, ""},
		"the same value":          {"/etc/sysctl.d/60-iikanji.conf", map[string]string{"/etc/sysctl.d/99-own.conf": "-net/core/somaxconn =  9876\n"}, ""},
		"another folder":          {"/etc/sysctl.d/60-iikanji.conf", map[string]string{"/usr/lib/sysctl.d/99-own.conf": "-net/core/somaxconn =  8\n"}, "/usr/lib/sysctl.d/99-own.conf:1"},
		"masked by the first":     {"/etc/sysctl.d/60-iikanji.conf", map[string]string{"/usr/lib/sysctl.d/99-own.conf": "net.core.somaxconn=8\n", "/etc/sysctl.d/99-own.conf": ""}, ""},
		"sysctl.conf":             {"/etc/sysctl.d/60-iikanji.conf", map[string]string{"/etc/sysctl.conf": "net.core.somaxconn=8\n"}, "/etc/sysctl.conf:1"},
		"set back after it":       {"/etc/sysctl.d/60-iikanji.conf", map[string]string{"/etc/sysctl.d/70.conf": "net.core.somaxconn=8\n", "/etc/sysctl.conf": "net.core.somaxconn=9876\n"}, ""},
		"a wildcard":              {"/etc/sysctl.d/60-iikanji.conf", map[string]string{"/etc/sysctl.d/70.conf": "net.core.*conn=8\n"}, "/etc/sysctl.d/70.conf:1"},
		"a comment, another name": {"/etc/sysctl.d/60-iikanji.conf", map[string]string{"/etc/sysctl.d/70.conf": "; net.core.somaxconn=8\nnet.core.somaxconn2=8\nnet.core.somaxconn\n"}, ""},
		"no .conf":                {"/etc/sysctl.d/60-iikanji.conf", map[string]string{"/etc/sysctl.d/README": "net.core.somaxconn=8\n"}, ""},
		"a folder of its own":     {"/site/60.conf", map[string]string{"/site/70.conf": "net.core.somaxconn=8\n", "/etc/sysctl.conf": "net.core.somaxconn=7\n"}, "/site/70.conf:1"},
	} {
		fake := &host.Fake{Root: t.TempDir()}
		for path, text := range c.files {
			at := filepath.Join(fake.Root, path)
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		err := overriding(fake, c.dropIn, map[string]string{"net.core.somaxconn": "9876"})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// FuzzAssignment: any line is read without a panic, and a name without its blanks.
func FuzzAssignment(f *testing.F) {
	f.Add("net.core.somaxconn = 1")
	f.Add("-net/ipv4/conf/a.b/x=1")
	f.Fuzz(func(t *testing.T, line string) {
		if name, _, ok := assignment(line); ok && (name == "" || strings.TrimSpace(name) != name) {
			t.Errorf("%q: %q", line, name)
		}
	})
}
