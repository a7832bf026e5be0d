package sqlcache

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/rewrite/sqlcache/model"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// 320 rounds are half a million calls. With the settings of this test, the model found the
// slowest of ten mutants after 9 rounds on average, and after 23 at most (6 runs each). The
// ten have those that took longest to find with the earlier settings.
var rounds = flag.Int("rounds", 320, "histories of TestModel, of 1,600 calls each")

var server *factstest.Server

func TestMain(m *testing.M) {
	flag.Parse()
	var err error
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	server, err = factstest.Start(ctx, "", "--max-connections=200")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	server.Stop()
	os.Exit(code)
}

// mysqlConnector is the driver's connector to a database of the private server.
func mysqlConnector(t testing.TB, user, database string, interpolate bool) driver.Connector {
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.DBName = user, "unix", server.Socket, database
	c.InterpolateParams = interpolate
	c.Logger = &mysql.NopLogger{}
	conn, err := mysql.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// freshDatabase makes an empty database and the account of the clients.
func freshDatabase(t testing.TB, name string) *sql.DB {
	direct, err := server.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { direct.Close() })
	for _, text := range []string{"CREATE USER IF NOT EXISTS cached@localhost", "GRANT ALL ON *.* TO cached@localhost"} {
		if _, err := direct.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	return direct
}

// collectLess lets the garbage of a test grow before it is collected: a model keeps so
// little that a tenth of its work would be collecting.
func collectLess(t *testing.T) {
	percent := debug.SetGCPercent(1000)
	t.Cleanup(func() { debug.SetGCPercent(percent) })
}

func TestModel(t *testing.T) {
	tier.Slow(t)
	collectLess(t)
	direct := freshDatabase(t, "model")
	if _, err := direct.Exec(model.Create); err != nil {
		t.Fatal(err)
	}
	cache, err := New(modelPlan(), Options{Bytes: 1 << 20, Eager: true})
	if err != nil {
		t.Fatal(err)
	}
	slow := model.Slow(mysqlConnector(t, "cached", "model", true), 0.02, 500*time.Microsecond, 0.06)
	cached := cache.Connector(slow, "model")
	open := func() *sql.DB {
		pool := sql.OpenDB(cached)
		pool.SetMaxIdleConns(20)
		return pool
	}
	begin := time.Now()
	counts, err := model.Run(t.Context(), model.Setup{Open: open, Direct: direct, Outside: cache.Outside, Wait: slow.Wait},
		model.Options{Seed: 1, Rounds: *rounds, Clients: 8, Calls: 200, Trouble: 0.1})
	t.Logf("%+v in %v", counts, time.Since(begin))
	if err != nil {
		t.Fatal(err)
	}
	enoughToProve(t, cache, counts, *rounds)
}

// enoughToProve fails if a run of the model had too few calls, hits or writes whose
// answer was lost.
func enoughToProve(t *testing.T, cache *Cache, counts model.Counts, rounds int) {
	t.Helper()
	hits := int64(0)
	for _, s := range cache.Stats().Statements {
		hits += s.Hits
		t.Logf("%+v", s)
	}
	for _, b := range cache.Stats().Batches {
		t.Logf("%+v", b)
		if b.Used < 100 || b.Stopped {
			t.Errorf("%+v: too few answers that were read ahead to prove anything", b)
		}
	}
	if counts.Calls < rounds*1550 || counts.Unknown == 0 || counts.Undecided > model.MostUndecided(rounds) || hits < int64(counts.Calls)/4 {
		t.Errorf("%+v with %d hits: too few calls, hits or lost writes to prove anything", counts, hits)
	}
}
