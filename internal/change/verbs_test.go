package change_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/contest/lab/labtest"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// A placing is a kind whose changes put a folder of one host into a place of another, or make
// an account.
type placing struct{}

func init() { change.Register(placing{}) }

func (placing) Name() string       { return "test placing" }
func (placing) Help() string       { return "" }
func (placing) Acts() []change.Act { return nil }
func (placing) Match(iikanji.Remedy) (change.Act, error) {
	return change.Act{}, nil
}

func (placing) Plan(ctx context.Context, s *change.Site, r iikanji.Remedy) (*iikanji.Change, error) {
	c := &iikanji.Change{Kind: "test placing", Target: "t", Says: "place", Ground: "g"}
	if as, ok := r.Args["as"]; ok {
		return account(ctx, s, c, as, r.Args["account"])
	}
	h, err := s.On("db")
	if err != nil {
		return nil, err
	}
	found, err := change.FolderID(h, r.Args["place"])
	if err != nil {
		return nil, err
	}
	if entries, err := h.Glob(r.Args["place"] + ".iikanji-*"); err != nil || len(entries) > 0 {
		return nil, errors.Join(err, change.ErrNothing)
	}
	do, undo := change.PlaceOps("db", r.Args["place"], change.PlaceOrder{Host: "web", Source: r.Args["source"], Found: found, Directly: r.Args["directly"]})
	c.Do, c.Undo = []iikanji.Op{do}, []iikanji.Op{undo}
	return c, nil
}

func account(ctx context.Context, s *change.Site, c *iikanji.Change, as, name string) (*iikanji.Change, error) {
	like, err := change.ParseAccount(as)
	a, err2 := change.ParseAccount(name)
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	db := s.Services["database"].DB()
	if now, err := change.AccountStatements(ctx, db, a); err != nil || now != nil {
		return nil, errors.Join(err, change.ErrNothing)
	}
	statements, err := change.AccountStatements(ctx, db, like)
	if err != nil {
		return nil, err
	}
	ops := change.AccountOps("db", "database", a, like, statements)
	c.Do, c.Undo = []iikanji.Op{ops[0]}, []iikanji.Op{ops[1]}
	return c, nil
}

// A pair is two machines of a test as hosts.
type pair struct {
	dir  string
	dial func() (map[string]*labtest.Far, map[string]string, error)
}

func newPair(t *testing.T, folders []string, specs ...labtest.Spec) *pair {
	p := &pair{dir: changetest.ChildDir()}
	if p.dir == "" {
		p.dir = t.TempDir()
		labtest.File(t, p.dir, labtest.Boot(t, specs...)...)
	}
	var once sync.Once
	var hosts map[string]*labtest.Far
	var addresses map[string]string
	var err error
	p.dial = func() (map[string]*labtest.Far, map[string]string, error) {
		once.Do(func() { hosts, addresses, err = labtest.Dial(p.dir, folders...) })
		return hosts, addresses, err
	}
	return p
}

func (p *pair) hosts() map[string]*labtest.Far {
	hosts, _, err := p.dial()
	if err != nil {
		panic(err)
	}
	return hosts
}

func (p *pair) site() *change.Site {
	s := &change.Site{Hosts: map[string]host.Host{}}
	for name, h := range p.hosts() {
		s.Hosts[name] = h
		s.Roots = append(s.Roots, name+":/srv")
	}
	return s
}

// TestPlace: a folder of one host is put into a place of another, directly and through this
// process; the former content comes back to the byte, also after a kill at each step.
func TestPlace(t *testing.T) {
	tier.Slow(t)
	p := newPair(t, []string{"/srv"}, labtest.Spec{Name: "web"}, labtest.Spec{Name: "db"})
	run := func(name string, args ...string) string {
		out, err := p.hosts()[name].Run(t.Context(), args...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if changetest.ChildDir() == "" {
		run("web", "sh", "-c", "mkdir -p /srv/data/sub && cd /srv/data && head -c 3000000 /dev/urandom >sub/big && echo one >a && ln -s a l && chown -R mysql:mysql . && chmod 600 a && touch -d 2020-01-01 a sub")
		run("db", "sh", "-c", "mkdir -p /srv/data && echo own >/srv/data/own && chmod 700 /srv/data && touch -d 2019-01-01 /srv/data")
	}
	_, addresses, err := p.dial()
	if err != nil {
		t.Fatal(err)
	}
	tree := func(name, dir string) string {
		return run(name, "sh", "-c", "cd "+dir+" && find . -printf '%p %y %m %u %g %s %t %l\\n' | grep -v '^. d' | sort; find . -type f | sort | xargs sha256sum")
	}
	changetest.Run(t, changetest.Case{
		Dir: p.dir, Open: func(string) *change.Site { return p.site() },
		Remedies: map[string]iikanji.Remedy{
			"over":         {Kind: "test placing", Target: "t", Args: changetest.Args("place", "/srv/data", "source", "/srv/data", "directly", addresses["web"])},
			"through here": {Kind: "test placing", Target: "t", Args: changetest.Args("place", "/srv/data", "source", "/srv/data")},
			"new":          {Kind: "test placing", Target: "t", Args: changetest.Args("place", "/srv/new", "source", "/srv/data", "directly", "192.0.2.1")}, // no such address there
		},
		State: func() (string, error) {
			return run("db", "sh", "-c", "cd /srv && find . -mindepth 1 -printf '%p %y %m %u %g %s %t\\n' | sort") + run("web", "ls", "-la", "--time-style=+", "/srv", "/srv/data"), nil
		},
		Serves: func() error {
			names := strings.Fields(run("db", "sh", "-c", "ls -d /srv/*"))
			for _, name := range names {
				if strings.Contains(name, ".iikanji-") {
					at := "/srv/" + strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
					at = at[:strings.Index(at+".", ".")]
					if got, want := tree("db", at), tree("web", "/srv/data"); got != want {
						return fmt.Errorf("the copy is\n%s\nwant\n%s", got, want)
					}
				}
			}
			return nil
		},
		Disturb: func(op iikanji.Op) (func() error, error) {
			db := p.hosts()["db"]
			if _, err := db.Stat(op.Place); errors.Is(err, os.ErrNotExist) {
				return func() error { return db.RemoveAll(op.Place) }, db.Mkdir(op.Place, 0o700)
			}
			aside := op.Place + ".aside"
			move := func(from, to string) error {
				_, err := db.Run(t.Context(), "mv", "-T", from, to)
				return err
			}
			placed, err := db.Glob(op.Place + ".iikanji-*.missing")
			if err != nil || len(placed) > 0 {
				gone := op.Place + ".gone"
				return func() error { return move(gone, placed[0]) }, errors.Join(err, move(placed[0], gone))
			}
			if former, err := db.Glob(op.Place + ".iikanji-*.former"); err != nil || len(former) > 0 {
				gone := former[0] + ".aside"
				return func() error { return move(gone, former[0]) }, errors.Join(err, move(former[0], gone))
			}
			return func() error { return errors.Join(db.Rmdir(op.Place), move(aside, op.Place)) }, errors.Join(move(op.Place, aside), db.Mkdir(op.Place, 0o700))
		},
	})
}

// TestAccount: an account of a real server is made like another one, with its authentication and
// its grants, and is gone after the undo, also after a kill at each step. No body of an op has
// a secret.
func TestAccount(t *testing.T) {
	tier.Slow(t)
	p := newPair(t, nil, labtest.Spec{Name: "db", Units: []string{"mariadb"}})
	run := func(statement string) string {
		out, err := p.hosts()["db"].Run(t.Context(), "mariadb", "-Ne", statement)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	const canary = "canary-5f0e"
	if changetest.ChildDir() == "" {
		run("create database shop; create table shop.t (a int); create user isu@localhost identified by '" + canary + "'; grant all on shop.* to isu@localhost with grant option; " +
			"grant select (a) on shop.t to isu@localhost; grant process on *.* to isu@localhost")
	}
	pool := sync.OnceValues(func() (change.Running, error) {
		db, err := p.hosts()["db"].SQL(host.Login{Socket: "/run/mysqld/mysqld.sock"})
		return changetest.Running{Pool: db}, err
	})
	changetest.Run(t, changetest.Case{
		Dir: p.dir, Open: func(string) *change.Site {
			running, err := pool()
			if err != nil {
				panic(err)
			}
			s := p.site()
			s.Services = map[string]change.Service{"database": {Host: "db", Running: running}}
			return s
		},
		Remedies: map[string]iikanji.Remedy{"like": {Kind: "test placing", Target: "t", Args: changetest.Args("as", "isu@localhost", "account", "isu@198.18.0.%")}},
		Effects:  map[string]string{"like": "198.18.0.%"},
		Secrets:  []string{"like"}, // the digest: passwords could be tried with it
		State: func() (string, error) {
			return run("select concat(user, '@', host, ' ', json_remove(priv, '$.password_last_changed')) from mysql.global_priv order by 1; select * from mysql.db order by 1, 2, 3; select user, host, db, column_name from mysql.columns_priv order by 1, 2"), nil
		},
		Serves: func() error {
			if !strings.Contains(run("select host from mysql.user"), "198.18.0.%") {
				return nil
			}
			if a, b := run("show grants for isu@localhost"), strings.ReplaceAll(run("show grants for isu@'198.18.0.%'"), "198.18.0.%", "localhost"); a != b {
				return fmt.Errorf("%s\nand\n%s", a, b)
			}
			return nil
		},
		Disturb: func(op iikanji.Op) (func() error, error) {
			if strings.Contains(op.Body, canary) || strings.Contains(op.Body, "*") {
				t.Errorf("a body has a secret: %s", op.Body)
			}
			if !strings.Contains(run("select host from mysql.user"), "198.18.0.%") {
				run("create user isu@'198.18.0.%' identified by 'x'")
				return func() error { run("drop user isu@'198.18.0.%'"); return nil }, nil
			}
			run("grant file on *.* to isu@'198.18.0.%'")
			return func() error { run("revoke file on *.* from isu@'198.18.0.%'"); return nil }, nil
		},
	})
}
