package sqlcache

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// oldDriver hides that the driver has connectors.
type oldDriver struct{ d mysql.MySQLDriver }

func (o oldDriver) Open(dsn string) (driver.Conn, error) { return o.d.Open(dsn) }

// TestRegister opens the cached driver by its name, as an app does, over a
// driver with connectors and over one without.
func TestRegister(t *testing.T) {
	itemCache(t, "registered", 1<<20, true)
	sql.Register("mysql-old", oldDriver{})
	dsn := fmt.Sprintf("cached@unix(%s)/registered?interpolateParams=true", server.Socket)
	for name, base := range map[string]string{"new+cache": "mysql", "old+cache": "mysql-old"} {
		c := Register(name, base, itemPlan(), Options{Bytes: 1 << 20})
		db, err := sql.Open(name, dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for range 3 {
			readAnyItem(t, db, 1)
		}
		if s := c.Stats().Statements; len(s) != 1 || s[0].Hits != 2 {
			t.Errorf("%s: %+v", name, s)
		}
		con, err := db.Driver().Open(dsn)
		if err != nil {
			t.Fatal(err)
		}
		con.Close()
	}
	if db, err := sql.Open("new+cache", "no dsn"); err == nil {
		db.Close()
		t.Error("a data source name that the driver refuses was opened")
	}
	if _, err := (&cachedDriver{base: func(string) (driver.Driver, error) { return oldDriver{}, nil }, cache: mustNew(t)}).Open(dsn); err != nil {
		t.Error(err)
	}
	defer func() {
		if v := recover(); v == nil || !strings.Contains(fmt.Sprint(v), "twice") {
			t.Errorf("a plan that contradicts itself: %v", v)
		}
	}()
	Register("never", "mysql", Plan{Tables: []Table{{Name: "a"}, {Name: "A"}}}, Options{})
}

func mustNew(t *testing.T) *Cache {
	c, err := New(itemPlan(), Options{Bytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
