package rewrite

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

const bulkSchema = "../../arenas/isuumo/files/mysql/db/0_Schema.sql"

// TestArenaBulk rewrites the uploads of an arena's app: one INSERT per row becomes one
// per chunk. The rewritten app passes go vet, answers each upload as the original does,
// and stores the same rows on a MariaDB.
func TestArenaBulk(t *testing.T) {
	tier.Slow(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	dir, facts := arenaSource(t, "isuumo", "mysql/db/0_Schema.sql")
	if err := os.CopyFS(filepath.Join(filepath.Dir(dir), "fixture"), os.DirFS("../../arenas/isuumo/files/fixture")); err != nil {
		t.Fatal(err)
	}
	original := buildApp(ctx, t, dir)
	fixed := rewriteArena(t, dir, facts, func(h Hit) bool { return h.Code == "APP204" })
	if want := []string{"APP204 chair.go postChair", "APP204 estate.go postEstate"}; !slices.Equal(fixed, want) {
		t.Fatalf("fixed\n%s\nwant\n%s", strings.Join(fixed, "\n"), strings.Join(want, "\n"))
	}
	chair, err := os.ReadFile(filepath.Join(dir, "chair.go"))
	if err != nil {
		t.Fatal(err)
	}
	compareGolden(t, filepath.Join("testdata", "arenas", "isuumo_chair.go.golden"), chair)
	run(ctx, t, dir, "go", "vet", ".")
	rewritten := buildApp(ctx, t, dir)

	port := strconv.Itoa(servertest.FreePort(t))
	server, err := factstest.Start(ctx, "", "--skip-networking=0", "--bind-address=127.0.0.1", "--port="+port, "--character-set-server=utf8mb4")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	before := startBulk(ctx, t, server, dir, port, "bulk0", original)
	after := startBulk(ctx, t, server, dir, port, "bulk1", rewritten)
	for _, u := range bulkUploads() {
		answers := []string{before.upload(ctx, t, u), after.upload(ctx, t, u)}
		if answers[0] != answers[1] || !strings.HasPrefix(answers[0], u.status) {
			t.Errorf("%s: answers %q, want two of status %s", u.name, answers, u.status)
		}
		rows := []string{before.rows(ctx, t, u.table), after.rows(ctx, t, u.table)}
		if rows[0] != rows[1] || !strings.HasPrefix(rows[0], u.rows+" ") {
			t.Errorf("%s: rows %q, want two of %s", u.name, rows, u.rows)
		}
	}
}

// A bulkUpload is one CSV file for a table, with the status that its answer must have
// and the number of rows that the table must have afterwards.
type bulkUpload struct{ name, table, csv, status, rows string }

func bulkUploads() []bulkUpload {
	chairs := func(from, to int) string {
		return bulkRows(from, to, "%d,椅子 %d,\"a, b\",/x.png,%d,80,40,50,黒,\"f,g\",座椅子,7,3\n")
	}
	estates := func(from, to int) string {
		return bulkRows(from, to, "%d,家 %d,text,/y.png,東京,35.5,139.25,%d,90,60,\"f,g\",5\n")
	}
	return []bulkUpload{
		{"no chair", "chair", "", "201", "0"},
		{"one chair", "chair", chairs(1, 1), "201", "1"},
		{"more chairs than a statement stores", "chair", chairs(2, 1500), "201", "1500"},
		{"a number that is none, after good rows", "chair", chairs(2001, 2003) + "x,y\n" + chairs(2004, 2004), "400", "1500"},
		{"too few fields", "chair", chairs(2001, 2003) + "2004,y\n", "400", "1500"},
		{"a key that is stored already", "chair", chairs(2001, 2003) + chairs(7, 7), "500", "1500"},
		{"a key twice", "chair", chairs(2001, 2003) + chairs(2001, 2001), "500", "1500"},
		{"a name that is too long", "chair", strings.Replace(chairs(2001, 2003), "椅子 2002", strings.Repeat("x", 65), 1), "500", "1500"},
		{"no CSV", "chair", "1,\"2\n", "500", "1500"},
		{"after failures", "chair", chairs(2001, 2500), "201", "2000"},
		{"estates", "estate", estates(1, 1200), "201", "1200"},
		{"a bad estate", "estate", estates(1201, 1203) + strings.Replace(estates(1204, 1204), "35.5", "north", 1), "400", "1200"},
		{"a stored estate", "estate", estates(1200, 1203), "500", "1200"},
	}
}

func bulkRows(from, to int, format string) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, format, i, i, i)
	}
	return b.String()
}

// A bulkApp is a running program with its database.
type bulkApp struct {
	url  string
	pool *sql.DB
}

func startBulk(ctx context.Context, t *testing.T, server *factstest.Server, dir, dbPort, name, program string) *bulkApp {
	t.Helper()
	pool, err := server.Open(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	schema, err := os.ReadFile(bulkSchema)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(schema), "isuumo", name) + "USE " + name +
		"; CREATE USER IF NOT EXISTS isucon@'%' IDENTIFIED BY 'isucon'; GRANT ALL ON *.* TO isucon@'%'"
	if _, err := pool.ExecContext(ctx, text); err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(servertest.FreePort(t))
	runProgram(ctx, t, name, dir, program, "tcp", "127.0.0.1:"+port, "SERVER_HOST=127.0.0.1", "SERVER_PORT="+port, "MYSQL_HOST=127.0.0.1", "MYSQL_PORT="+dbPort, "MYSQL_DBNAME="+name)
	return &bulkApp{"http://127.0.0.1:" + port, pool}
}

// upload sends a file and returns status, type and body of the answer.
func (a *bulkApp) upload(ctx context.Context, t *testing.T, u bulkUpload) string {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile(u.table+"s", u.table+"s.csv")
	if err == nil {
		_, err = io.WriteString(part, u.csv)
	}
	if err = cmp.Or(err, form.Close()); err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url+"/api/"+u.table, &body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %s %s", res.StatusCode, res.Header.Get("Content-Type"), text)
}

// rows is the number of rows of a table with a checksum of their content.
func (a *bulkApp) rows(ctx context.Context, t *testing.T, table string) string {
	t.Helper()
	var n, sum int64
	var name string
	if err := a.pool.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	if err := a.pool.QueryRowContext(ctx, "CHECKSUM TABLE "+table).Scan(&name, &sum); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %d", n, sum)
}
