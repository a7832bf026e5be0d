package rewrite

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

const portsFiles = "../../arenas/isuports/files/"

// TestArenaFilesAnswer makes all rewrites that are proven or tested in the app of an arena.
// It passes go vet and answers each request as the original does, on a MariaDB and
// SQLite files.
func TestArenaFilesAnswer(t *testing.T) {
	tier.Slow(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	dir, facts := arenaSource(t, "isuports", "sql/admin/10_schema.sql", "sql/tenant/10_schema.sql")
	programs := []string{buildApp(ctx, t, dir)}
	rewriteArena(t, dir, facts, func(h Hit) bool { return h.Code != "APP214" && h.Promise != Freshness })
	run(ctx, t, dir, "go", "vet", ".")
	programs = append(programs, buildApp(ctx, t, dir))

	port := strconv.Itoa(servertest.FreePort(t))
	server, err := factstest.Start(ctx, "", "--skip-networking=0", "--bind-address=127.0.0.1", "--port="+port, "--character-set-server=utf8mb4")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	var first []string
	for i, program := range programs {
		answers := startPorts(ctx, t, server, port, fmt.Sprintf("ports%d", i), program).answers(ctx, t)
		if i == 0 {
			first = answers
		}
		if !slices.Equal(answers, first) {
			t.Errorf("answers of program %d:\n%s\nwant\n%s", i, strings.Join(answers, "\n"), strings.Join(first, "\n"))
		}
	}
	for _, part := range []string{`"player_count":2,"visitor_count":1,"billing_player_yen":200,"billing_visitor_yen":10,"billing_yen":210`, `"player_count":0,"visitor_count":0`} {
		if !strings.Contains(first[0], part) {
			t.Errorf("the billing of alpha lacks %s:\n%s", part, first[0])
		}
	}
}

// A portsApp is a running program with its database.
type portsApp struct {
	url  string
	pool *sql.DB
	key  *rsa.PrivateKey
}

// portsVisits has a player with two visits, one who came after the end, and one with a
// score; in an open competition, too.
const portsVisits = `INSERT INTO tenant (id, name, display_name, created_at, updated_at) VALUES (1, 'alpha', 'A', 1, 1), (2, 'beta', 'B', 2, 2), (3, 'empty', 'E', 3, 3);
INSERT INTO visit_history (player_id, tenant_id, competition_id, created_at, updated_at) VALUES
('p1', 1, 'done', 100, 100), ('p1', 1, 'done', 900, 900), ('p2', 1, 'done', 600, 600), ('p3', 1, 'done', 50, 50), ('p1', 1, 'open', 100, 100), ('p9', 2, 'beta1', 1, 1)`

// portsScores are the rows of the tenants' files: three competitions of each are finished
// or open.
var portsScores = map[int]string{
	1: `INSERT INTO player VALUES ('p1', 1, 'One', 0, 5, 5), ('p2', 1, 'Two', 1, 6, 6), ('p3', 1, 'Three', 0, 6, 7), ('p4', 1, 'Four', 0, 8, 8);
INSERT INTO competition VALUES ('done', 1, 'Done', 500, 10, 10), ('open', 1, 'Open', NULL, 20, 20), ('bare', 1, 'Bare', 700, 30, 30), ('late', 1, 'Late', NULL, 40, 40);
INSERT INTO player_score VALUES ('s1', 1, 'p3', 'done', 7, 1, 1, 1), ('s2', 1, 'p3', 'done', 8, 2, 1, 1), ('s3', 1, 'p4', 'done', 9, 3, 1, 1), ('s4', 1, 'p4', 'open', 9, 1, 1, 1)`,
	2: `INSERT INTO competition VALUES ('beta1', 2, 'B1', 9, 1, 1), ('beta2', 2, 'B2', NULL, 2, 2); INSERT INTO player_score VALUES ('s5', 2, 'p8', 'beta2', 1, 1, 1, 1)`,
	3: "",
}

func startPorts(ctx context.Context, t *testing.T, server *factstest.Server, dbPort, name, program string) *portsApp {
	t.Helper()
	pool, err := server.Open(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	schema := readText(t, portsFiles+"sql/admin/10_schema.sql")
	if _, err := pool.ExecContext(ctx, schema+portsVisits+"; CREATE USER IF NOT EXISTS isucon@'%' IDENTIFIED BY 'isucon'; GRANT ALL ON *.* TO isucon@'%'"); err != nil {
		t.Fatal(err)
	}
	files := t.TempDir()
	for id, rows := range portsScores {
		db, err := sql.Open("sqlite", filepath.Join(files, fmt.Sprintf("%d.db", id)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(ctx, readText(t, portsFiles+"sql/tenant/10_schema.sql")+rows); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	block, _ := pem.Decode([]byte(readText(t, portsFiles+"_blackauth/rsa-private.pem")))
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	public, err := filepath.Abs(portsFiles + "public.pem")
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(servertest.FreePort(t))
	runProgram(ctx, t, name, files, program, "tcp", "127.0.0.1:"+port, "SERVER_APP_HOST=127.0.0.1", "SERVER_APP_PORT="+port, "ISUCON_DB_HOST=127.0.0.1",
		"ISUCON_DB_PORT="+dbPort, "ISUCON_DB_NAME="+name, "ISUCON_TENANT_DB_DIR="+files, "ISUCON_JWT_KEY_FILE="+public)
	return &portsApp{"http://127.0.0.1:" + port, pool, key.(*rsa.PrivateKey)}
}

func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// get returns the status and the JSON of an answer.
func (a *portsApp) get(ctx context.Context, t *testing.T, host, role, sub, path string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host + ".t.isucon.dev"
	req.AddCookie(&http.Cookie{Name: "isuports_session", Value: a.session(t, host, role, sub)})
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		t.Fatalf("%s: %v: %s", path, err, text)
	}
	return fmt.Sprintf("%d %s", res.StatusCode, compact.String())
}

// session is a token that the app accepts.
func (a *portsApp) session(t *testing.T, tenant, role, sub string) string {
	t.Helper()
	claims, err := json.Marshal(map[string]any{"iss": "isuports", "sub": sub, "aud": []string{tenant}, "role": role, "exp": time.Now().Add(time.Hour).Unix()})
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + encode(claims)
	sum := sha256.Sum256([]byte(text))
	sign, err := rsa.SignPKCS1v15(rand.Reader, a.key, crypto.SHA256, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + encode(sign)
}

// answers are those of the app's GET requests.
func (a *portsApp) answers(ctx context.Context, t *testing.T) (texts []string) {
	t.Helper()
	for _, r := range []struct{ host, role, sub, path string }{
		{"alpha", "organizer", "organizer", "/api/organizer/billing"}, {"beta", "organizer", "organizer", "/api/organizer/billing"}, {"empty", "organizer", "organizer", "/api/organizer/billing"},
		{"admin", "admin", "admin", "/api/admin/tenants/billing"}, {"admin", "admin", "admin", "/api/admin/tenants/billing?before=2"}, {"alpha", "player", "p1", "/api/organizer/billing"},
		{"alpha", "organizer", "organizer", "/api/organizer/players"}, {"empty", "organizer", "organizer", "/api/organizer/players"}, {"alpha", "organizer", "organizer", "/api/organizer/competitions"},
		{"alpha", "player", "p1", "/api/player/competitions"}, {"alpha", "player", "p1", "/api/player/player/p3"}, {"alpha", "player", "p1", "/api/player/player/nobody"},
		{"alpha", "player", "p1", "/api/player/competition/done/ranking"}, {"alpha", "player", "p1", "/api/player/competition/done/ranking?rank_after=1"},
		{"alpha", "player", "p3", "/api/player/competition/bare/ranking"}, {"alpha", "player", "p1", "/api/player/competition/none/ranking"}, {"alpha", "player", "p2", "/api/player/competition/done/ranking"},
	} {
		texts = append(texts, r.host+r.path+" "+a.get(ctx, t, r.host, r.role, r.sub, r.path))
	}
	return texts
}
