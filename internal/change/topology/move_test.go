package topology

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestMove: the database of a site goes to another host and its client with it, initialize
// reaches the new server, and the undo leaves both hosts as they were.
func TestMove(t *testing.T) {
	tier.Slow(t)
	c := newContest(t)
	s := c.site()
	x, h := c.executor(s)
	before := c.state()
	if got, err := c.ask("/"); err != nil || got != "2 items from web" {
		t.Fatalf("at first: %q %v", got, err)
	}
	prepare := c.plan(s, h, move())
	t.Logf("%s\n%s", prepare.Says, change.Diff(prepare))
	if got := c.state(); got != before {
		t.Fatalf("planning changed\n%s\nto\n%s", before, got)
	}
	begin := time.Now()
	if err := x.Apply(t.Context(), prepare.ID); err != nil {
		t.Fatal(err)
	}
	t.Logf("prepared in %v", time.Since(begin))
	if got, err := c.ask("/"); err != nil || got != "2 items from web" {
		t.Errorf("prepared: %q %v", got, err)
	}
	if got := c.run("db", "mariadb", "-Ne", "select count(*) from shop.item"); got != "2" {
		t.Errorf("the copy has %s items", got)
	}
	lead := c.plan(s, h, move())
	t.Logf("%s\n%s", lead.Says, change.Diff(lead))
	begin = time.Now()
	if err := x.Apply(t.Context(), lead.ID); err != nil {
		t.Fatal(err)
	}
	t.Logf("switched in %v", time.Since(begin))
	if got, err := c.ask("/"); err != nil || got != "2 items from db" {
		t.Errorf("moved: %q %v", got, err)
	}
	if got := c.run("web", "sh", "-c", "systemctl is-active mariadb; systemctl is-enabled mariadb; :"); got != "inactive\ndisabled" {
		t.Errorf("the former server is %q", got)
	}
	if text, err := os.ReadFile(s.Placement); err != nil || !strings.Contains(string(text), `"host": "db"`) {
		t.Errorf("%s %v", text, err)
	}
	begin = time.Now()
	if err := x.Revert(t.Context(), lead.ID, "test"); err != nil {
		t.Fatal(err)
	}
	t.Logf("back in %v", time.Since(begin))
	if got, err := c.ask("/"); err != nil || got != "2 items from web" {
		t.Errorf("back: %q %v", got, err)
	}
	if err := x.Revert(t.Context(), prepare.ID, "test"); err != nil {
		t.Fatal(err)
	}
	if got := c.state(); got != before {
		t.Errorf("after the undo\n%s\nwant\n%s", got, before)
	}
}
