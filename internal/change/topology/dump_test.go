package topology

import (
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// richData are what a dump has to carry besides rows: other forms of values, a view, a trigger, a
// routine, an event, an account.
const richData = `create table shop.form (id int primary key, f float, d decimal(9,3), b varbinary(8), j json, t timestamp null, e enum('a', 'b'), g int as (id + 1) stored, n bit(3)) charset latin1;
insert into shop.form (id, f, d, b, j, t, e, n) values (1, 0.1, 1.5, x'00ff0a27', '{"a": [1]}', '2026-11-28 12:00:00', 'b', b'101'), (2, null, null, null, null, null, null, null);
create view shop.both_items as select id from shop.item;
create table shop.log (id int auto_increment primary key, item int);
create trigger shop.noted after insert on shop.item for each row insert into shop.log (item) values (new.id);
create procedure shop.twice() select count(*) * 2 from shop.item;
create event shop.nightly on schedule every 1 day do delete from shop.log where id < 0;
create user 'reader'@'%' identified by 'canary-88'; grant select on shop.* to 'reader'@'%';
create user 'root'@'10.1.%' identified by 'canary-89'; grant all on shop.* to 'root'@'10.1.%'`

// otherSettings makes the files of db's data others than those of web.
const otherSettings = "[mysqld]\ncharacter-set-server = latin1\ncollation-server = latin1_swedish_ci\n"

// newDump boots a site whose database cannot go to db as a folder.
func newDump(t *testing.T) *contest {
	t.Helper()
	c := newContest(t)
	if changetest.ChildDir() == "" {
		if err := c.hosts["db"].Write("/etc/mysql/mariadb.conf.d/70-data.cnf", []byte(otherSettings), 0o644); err != nil {
			t.Fatal(err)
		}
		c.run("db", "systemctl", "restart", "mariadb")
		c.run("web", "mariadb", "--delimiter=;", "-e", richData)
	}
	return c
}

// carriedByDump prints what a dump carries, of any host.
const carriedByDump = `mariadb -N -e "select id, f, d, hex(b), j, t, e, g, n + 0 from shop.form; select * from shop.both_items; select * from shop.log; call shop.twice(); show create user reader; show grants for reader; show create user root@'10.1.%'; show grants for root@'10.1.%';
select event_name, status from information_schema.events; select trigger_name from information_schema.triggers where trigger_schema = 'shop'; select @@character_set_server"`

// TestMoveByDump: a database whose folder the other server cannot read goes there as statements,
// with all that belongs to it, and the undo leaves both hosts as they were.
func TestMoveByDump(t *testing.T) {
	tier.Slow(t)
	c := newDump(t)
	s := c.site()
	x, h := c.executor(s)
	before := c.state()
	if _, err := change.Plan(t.Context(), s, move("method", "copy")); err == nil || !strings.Contains(err.Error(), "the settings of the data differ") {
		t.Errorf("its folder would be copied: %v", err)
	}
	prepare := c.plan(s, h, move())
	t.Logf("%s\n%s", prepare.Says, change.Diff(prepare))
	begin := time.Now()
	if err := x.Apply(t.Context(), prepare.ID); err != nil {
		t.Fatal(err)
	}
	t.Logf("prepared in %v", time.Since(begin))
	here, there := c.run("web", "sh", "-c", carriedByDump), c.run("db", "sh", "-c", carriedByDump)
	if strings.TrimSuffix(here, "utf8mb4") != strings.TrimSuffix(there, "latin1") || !strings.HasSuffix(there, "latin1") {
		t.Errorf("web has\n%s\ndb has\n%s", here, there)
	}
	for _, name := range []string{"web", "db"} {
		if left := c.run(name, "sh", "-c", "ls -d /var/lib/mysql.iikanji-*.dump; systemctl list-units --all --no-legend 'iikanji-*'; :"); !strings.Contains(left, "cannot access") || strings.Count(left, "\n") > 0 {
			t.Errorf("%s has still %s", name, left)
		}
	}
	lead := c.plan(s, h, move())
	if err := x.Apply(t.Context(), lead.ID); err != nil {
		t.Fatal(err)
	}
	c.soon("/", "2 items from db")
	for _, id := range []iikanji.ChangeID{lead.ID, prepare.ID} {
		if err := x.Revert(t.Context(), id, "test"); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.state(); got != before {
		t.Errorf("after the undo\n%s\nwant\n%s", got, before)
	}
	c.soon("/", "2 items from web")
}

// TestMoveByDumpCuts: a connection that is lost before, within or after an op of the preparation,
// also while the statements are loaded: after recover both hosts are as before, to the byte.
func TestMoveByDumpCuts(t *testing.T) {
	tier.Slow(t)
	c := newDump(t)
	if n := c.cutAll(move("step", "prepare"), 6); n < 6 {
		t.Errorf("only %d cuts", n)
	}
	before := c.state()
	for _, after := range []time.Duration{300 * time.Millisecond, 1500 * time.Millisecond} {
		c.cutLater(t, move("step", "prepare"), after, before)
	}
}

// cutLater loses db for some time so long after the folder has begun to be made there.
func (c *contest) cutLater(t *testing.T, r iikanji.Remedy, after time.Duration, before string) {
	t.Helper()
	s := c.open()
	x, h := c.executor(s)
	ch := c.plan(s, h, r)
	far := c.hosts["db"]
	lost := make(chan error, 1)
	go func() {
		for range 2000 {
			if found, err := far.Glob("/var/lib/mysql.iikanji-*"); err != nil || len(found) > 0 {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(after)
		far.Gone = true
		lost <- far.Lose("killed")
	}()
	err := x.Apply(t.Context(), ch.ID)
	t.Logf("lost %v after its begin: %v", after, err)
	if e := <-lost; e != nil {
		t.Fatal(e)
	}
	far.Gone = false
	if err := far.Reconnect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err == nil { // it was faster
		if err := x.Revert(t.Context(), ch.ID, "test"); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.state(); got != before {
		t.Errorf("lost %v after its begin: the hosts are\n%s\nwant\n%s", after, got, before)
	}
	c.answers("lost in a load")
}

// TestMoveByDumpKills: a process that is killed at any step of the preparation is recovered from.
func TestMoveByDumpKills(t *testing.T) {
	tier.Long(t, "each kill loads a database anew; every check cuts the connection at some of the same ops")
	c := newDump(t)
	changetest.Run(t, changetest.Case{
		Dir: c.dir, Open: func(string) *change.Site { return c.site() },
		Policy:   iikanji.Policy{Allow: []iikanji.Promise{iikanji.Availability}},
		Remedies: map[string]iikanji.Remedy{"prepare": move("step", "prepare")},
		Effects:  map[string]string{"prepare": confName},
		Secrets:  []string{"prepare"}, // the digest of the account
		State:    func() (string, error) { return c.state(), nil },
		Serves: func() error {
			c.soon("/", "2 items from web")
			return nil
		},
		Disturb: c.disturb,
	})
}
