package gocode

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// seenMain lists rooms with their owner, their newest message and the number of their messages
// by three mappers. No text of a statement can be told from its source: columns are variables,
// conditions are functions, values of builders and maps.
const seenMain = `package main

import (
	"fmt"
	"io"
	"net"
	"os"

	_ "github.com/go-sql-driver/mysql"
	"github.com/pocketbase/dbx"
	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"xorm.io/builder"
	"xorm.io/xorm"
)

type Room struct {
	ID      string ` + "`gorm:\"primaryKey\"`" + `
	OwnerID string
}

func (Room) TableName() string { return "room" }

type Owner struct {
	ID   string ` + "`gorm:\"primaryKey\"`" + `
	Name string
}

func (Owner) TableName() string { return "owner" }

type Message struct {
	Body string
	At   int
}

func (Message) TableName() string { return "message" }

var (
	orm    *gorm.DB
	engine *xorm.Engine
	built  *dbx.DB
)

func by(column string) func(*gorm.DB) *gorm.DB {
	return func(db *gorm.DB) *gorm.DB { return db.Order(column) }
}

func find(dest any, column string, value any) error {
	return orm.Where(column+" = ?", value).First(dest).Error
}

func newest(conds builder.Cond) (m Message, has bool, err error) {
	has, err = engine.Where(conds).Desc("at").Get(&m)
	return m, has, err
}

func count(table string, conds dbx.HashExp) (n int, err error) {
	return n, built.Select("COUNT(*)").From(table).Where(conds).Row(&n)
}

func list(w io.Writer) error {
	if err := orm.Exec("UPDATE message SET at = at").Error; err != nil { // what is kept of messages ends
		return err
	}
	var rooms []*Room
	if err := orm.Scopes(by("id")).Find(&rooms).Error; err != nil {
		return err
	}
	for _, r := range rooms {
		o := &Owner{}
		if err := find(o, "id", r.OwnerID); err != nil {
			return err
		}
		m, has, err := newest(builder.Eq{"room": r.ID})
		if err != nil {
			return err
		}
		n, err := count("message", dbx.HashExp{"room": r.ID})
		if err != nil {
			return err
		}
		fmt.Fprintln(w, r.ID, *o, m, has, n)
	}
	return nil
}

func main() {
	dsn := os.Getenv("DSN")
	var err error
	if orm, err = gorm.Open(mysql.Open(dsn), &gorm.Config{SkipDefaultTransaction: true}); err != nil {
		panic(err)
	}
	if engine, err = xorm.NewEngine("mysql", dsn); err != nil {
		panic(err)
	}
	if built, err = dbx.Open("mysql", dsn); err != nil {
		panic(err)
	}
	l, err := net.Listen("unix", os.Args[1])
	if err != nil {
		panic(err)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		if err := list(c); err != nil {
			fmt.Fprintln(c, "failed:", err)
		}
		c.Close()
	}
}
`

// seenTexts are the texts that an app may have sent for the SELECTs in the server's log.
func (a cachedApp) seenTexts(t *testing.T) (out []string) {
	t.Helper()
	rows, err := a.db.QueryContext(t.Context(), "SELECT CONVERT(sql_text USING utf8mb4) FROM mysql.slow_log WHERE db = 'site' AND sql_text LIKE 'SELECT%'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		for _, sent := range sqltext.MySQL.Sent(text) {
			if !slices.Contains(out, sent) {
				out = append(out, sent)
			}
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestCacheSeen: statements that three mappers make of what the source does not show are in the
// plan by what the server's log had of them, so that the rows of their loops are read ahead; the
// answers stay.
func TestCacheSeen(t *testing.T) {
	tier.Slow(t)
	logged := []string{"SET GLOBAL log_output = 'TABLE'", "SET GLOBAL long_query_time = 0", "SET GLOBAL slow_query_log = 1"}
	db, dsn := siteDatabase(t, append(roomTables(), logged...)...)
	files := map[string]string{"main.go": seenMain}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile("testdata/openers/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		files[name] = strings.Replace(string(text), "\txorm.io/builder v0.3.13 // indirect\n", "\txorm.io/builder v0.3.13\n", 1)
	}
	a := cachedApp{testApp{changetest.NewApp(t, files, "DSN="+dsn)}, db}
	ask := func() (string, int) {
		t.Helper()
		n := a.selects(t)
		got, err := a.Ask()
		if err != nil || !strings.Contains(got, "{body 3 ") || strings.Contains(got, "failed") {
			t.Fatalf("%q, %v", got, err)
		}
		return got, a.selects(t) - n
	}
	ask()
	want, before := ask()
	site := a.site()
	site.Target.Policy.Allow = []iikanji.Promise{iikanji.TestedOnly, iikanji.RowOrder}
	remedy := cacheRemedy
	remedy.Seen = a.seenTexts(t)
	planned, err := change.Plan(t.Context(), site, remedy)
	if err != nil {
		t.Fatal(err)
	}
	// Two of the three have another text with the number of their LIMIT in it.
	if !strings.Contains(planned.Says, "read the rows of 5 of them ahead where a loop sends them") {
		t.Errorf("%s\nof %q", planned.Says, remedy.Seen)
	}
	applyPlanned(t, site, a.Dir, planned)
	got, after := "", before
	for range 20 { // the first batches are small; on a busy machine they stay so for longer
		if got, after = ask(); got != want {
			t.Errorf("with the cache:\n%s\nwant\n%s", got, want)
		}
		if after <= 4 {
			break
		}
	}
	t.Logf("%d SELECTs without the cache; with it %d", before, after)
	if before < 121 || after > 4 {
		t.Errorf("%d SELECTs without the cache, %d with it", before, after)
	}
}
