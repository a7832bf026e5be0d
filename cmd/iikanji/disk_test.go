package main

import (
	"context"
	"slices"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// TestDisks: a nearly full disk of another machine gives one line, which names the machine, also
// if several of the files are on it.
func TestDisks(t *testing.T) {
	const head = "Filesystem 1024-blocks Used Available Capacity Mounted on\n"
	fake := &host.Fake{Host: "db"}
	lines := map[string]string{"/var/log/nginx": "/dev/vda1 10485760 9961472 524288 95% /\n", "/": "/dev/vda1 10485760 9961472 524288 95% /\n", "/srv/my data": "/dev/vdb1 10485760 1048576 9437184 10% /srv/my data\n"}
	fake.Run = func(_ context.Context, c host.Command) (host.Result, error) {
		return host.Result{Output: []byte(head + lines[c.Args[len(c.Args)-1]])}, nil
	}
	got := farDiskLines(t.Context(), fake, []string{"/", "/var/log/nginx/access.log", "/srv/my data/x.log"})
	if want := []string{"the disk of / on db has 0.5 GiB left (5 %): remove logs that nobody needs"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzDF(f *testing.F) {
	f.Add("Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/vda1 100 40 60 40% /\n")
	f.Fuzz(func(t *testing.T, text string) {
		if mount, free, all := parseDF(text); free < 0 || all < free || mount == "" && all > 0 {
			t.Errorf("%q: %q %d of %d", text, mount, free, all)
		}
	})
}
