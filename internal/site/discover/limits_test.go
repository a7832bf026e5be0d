package discover

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/target"
)

// TestAskSaysWhatIsNotSupported: of an idle site in Python on PostgreSQL, init says first
// that PostgreSQL is not diagnosed, and asks whether the server is the site's.
func TestAskSaysWhatIsNotSupported(t *testing.T) {
	tier.Slow(t)
	folder := servertest.Postgres(t, nil)
	address := servertest.FreeAddress(t)
	host4, port, _ := strings.Cut(address, ":")
	cmd := exec.Command("python3", "-m", "http.server", port, "--bind", host4)
	cmd.Dir = t.TempDir()
	servertest.Start(t, cmd, address)
	found, err := Ask(t.Context(), host.Local{}, Options{URL: "http://" + address, Self: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Limits) < 2 || found.Limits[0].Engine != target.EnginePostgreSQL || !strings.Contains(found.Limits[0].Service, folder) {
		t.Errorf("the limits are %+v", found.Limits)
	}
	if last := found.Limits[len(found.Limits)-1]; last.Engine != "python" {
		t.Errorf("the last limit is %+v", last)
	}
	if all := strings.Join(found.Todo, "\n"); !strings.Contains(all, "postgresql runs at "+folder) {
		t.Errorf("to do: %s", all)
	}
}
