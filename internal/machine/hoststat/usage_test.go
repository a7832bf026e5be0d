package hoststat

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestBetweenSeesABusyChild checks that the CPU time of a shell's child is charged to
// the group of the shell, also after the child has ended.
func TestBetweenSeesABusyChild(t *testing.T) {
	tier.Slow(t)
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c",
		`/bin/sh -c 'i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done'; echo done; read x`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	groups := map[string][]int{"shell": {cmd.Process.Pid}, "me": {os.Getpid()}, "gone": {1 << 30}}
	from, err := Take(host.Local{}, time.Now(), groups)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 8)); err != nil { // "done": the child was waited for
		t.Fatal(err)
	}
	to, err := Take(host.Local{}, time.Now(), groups)
	if err != nil {
		t.Fatal(err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Log("shell ended:", err) // read at end of file
	}
	usage, env := Between(from, to)
	got := map[string]time.Duration{}
	for _, u := range usage {
		got[u.Who] = u.User + u.System
		if u.Children > got[u.Who] || (u.Children > 0) != (u.Who == "shell") && u.Who != "me" {
			t.Errorf("%s: %v of %v of children", u.Who, u.Children, got[u.Who])
		}
		if u.Share < 0 || u.Share > 1.05 {
			t.Errorf("%s: share %v", u.Who, u.Share)
		}
	}
	if got["shell"] < 20*time.Millisecond {
		t.Errorf("shell used %v, want the child's loop", got["shell"])
	}
	if got["gone"] != 0 {
		t.Errorf("a process that does not exist used %v", got["gone"])
	}
	if _, ok := got["other"]; !ok || env.Steal < 0 {
		t.Errorf("other or steal missing: %v %v", got, env)
	}
}
