package isuports_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	. "github.com/iikanji/iikanji/arenas/isuports"
)

// testInitialize checks that initialize restores every row and every file.
func testInitialize(t *testing.T) {
	visits := SmallVisits()
	live := site.Stack.Places().Service("tenants").Data
	for range 2 {
		name, ids := newTenant(t, 2)
		id := newCompetition(t, name, "x")
		as(t, name, "player", ids[0]).get("/api/player/competition/"+id+"/ranking").want(t, http.StatusOK)
		organizer(t, "isucon").post("/api/organizer/players/add", "display_name[]", "x").want(t, http.StatusOK)
		began := time.Now()
		if got := data[map[string]string](t, guest(t, "admin").post("/initialize")); got["lang"] != site.language || len(got) != 1 {
			t.Errorf("initialize answered %v", got)
		}
		t.Logf("initialize took %v", time.Since(began).Round(time.Millisecond))
		if got := number(t, "SELECT COUNT(*) FROM visit_history"); got != visits || number(t, "SELECT COUNT(*) FROM tenant") != 100 {
			t.Errorf("there are %d visits, want %d", got, visits)
		}
		for id := 1; id <= 101; id++ {
			file := fmt.Sprintf("%d.db", id)
			pristine, err := os.ReadFile(filepath.Join(site.Stack.Places().Webapp, "initial_data", file))
			restored, err2 := os.ReadFile(filepath.Join(live, file))
			if id <= 100 && (err != nil || err2 != nil || !bytes.Equal(pristine, restored)) || id > 100 && err2 == nil {
				t.Errorf("%s is not restored (%v, %v)", file, err, err2)
			}
		}
	}
	if first := newCompetition(t, site.data.Tenants[49].Name, "x"); first != "63c736800" { // 26784000000
		t.Errorf("the first id is %s: it could be one of the initial data", first)
	}
}

// testSchema checks the tables against the rules: no more indexes than these.
func testSchema(t *testing.T) {
	rows, err := site.DB.QueryContext(t.Context(), `SELECT table_name, GROUP_CONCAT(DISTINCT CONCAT(index_name, ' ', column_name) ORDER BY index_name)
		FROM information_schema.statistics WHERE table_schema = DATABASE() GROUP BY table_name`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	got := map[string]string{}
	for rows.Next() {
		var table, indexes string
		if err := rows.Scan(&table, &indexes); err != nil {
			t.Fatal(err)
		}
		got[table] = indexes
	}
	for table, want := range map[string]string{"tenant": "name name,PRIMARY id", "id_generator": "PRIMARY id,stub stub", "visit_history": "tenant_id_idx tenant_id"} {
		if got[table] != want {
			t.Errorf("indexes of %s: %q, want %q", table, got[table], want)
		}
	}
	newTenant(t, 0)
	for _, file := range []string{"1.db", fmt.Sprintf("%d.db", number(t, "SELECT MAX(id) FROM tenant"))} {
		db, err := sql.Open("sqlite", filepath.Join(site.Stack.Places().Service("tenants").Data, file))
		if err != nil {
			t.Fatal(err)
		}
		var tables string
		err = db.QueryRowContext(t.Context(), "SELECT GROUP_CONCAT(type || ' ' || name) FROM (SELECT * FROM sqlite_schema ORDER BY name)").Scan(&tables)
		if want := "table competition,table player,table player_score,index sqlite_autoindex_competition_1,index sqlite_autoindex_player_1,index sqlite_autoindex_player_score_1"; err != nil || tables != want {
			t.Errorf("%s has %s, want %s (%v)", file, tables, want, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// testSessions checks every reason to refuse a session.
func testSessions(t *testing.T) {
	key, err := SigningKey()
	if err != nil {
		t.Fatal(err)
	}
	other, err := StrangeKey()
	if err != nil {
		t.Fatal(err)
	}
	public, err := os.ReadFile(filepath.Join(site.Stack.Places().Webapp, "public.pem"))
	if err != nil {
		t.Fatal(err)
	}
	change := func(name string, value any) jwt.MapClaims {
		c := sessionClaims("isucon", "organizer", "organizer")
		if c[name] = value; value == nil {
			delete(c, name)
		}
		return c
	}
	good := sessionClaims("isucon", "organizer", "organizer")
	parts := strings.Split(session(t, good), ".")
	for name, text := range map[string]string{
		"none":                       "",
		"no session at all":          "isucon",
		"expired":                    session(t, change("exp", time.Now().Unix()-10)),
		"another key":                signed(t, jwt.SigningMethodRS256, other, good),
		"RS512":                      signed(t, jwt.SigningMethodRS512, key, good),
		"PS256":                      signed(t, jwt.SigningMethodPS256, key, good),
		"HS256 by the public key":    signed(t, jwt.SigningMethodHS256, public, good),
		"no algorithm":               signed(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, good),
		"no signature":               strings.Join(parts[:2], "."),
		"no subject":                 session(t, change("sub", nil)),
		"empty subject":              session(t, change("sub", "")),
		"no role":                    session(t, change("role", nil)),
		"unknown role":               session(t, change("role", "owner")),
		"no audience":                session(t, change("aud", nil)),
		"two audiences":              session(t, change("aud", []string{"isucon", "kayac"})),
		"audience of another tenant": session(t, change("aud", []string{"kayac"})),
		"audience of the admin":      session(t, sessionClaims("admin", "admin", "admin")),
	} {
		t.Run(name, func(t *testing.T) {
			account{t, "isucon" + domain, text}.get("/api/organizer/competitions").refused(t, http.StatusUnauthorized, "")
		})
	}
	organizer(t, "no-such-tenant").get("/api/organizer/competitions").refused(t, http.StatusUnauthorized, "")
	as(t, "admin", "organizer", "organizer").get("/api/organizer/competitions").refused(t, http.StatusUnauthorized, "")
	account{t, "isucon" + domain, session(t, change("aud", "isucon"))}.get("/api/organizer/competitions").want(t, http.StatusOK)
	as(t, "isucon", "player", "0000000000").get("/api/player/competitions").refused(t, http.StatusUnauthorized, "")
}

// testRoles checks that each endpoint has one role.
func testRoles(t *testing.T) {
	clients := map[string]account{"organizer": organizer(t, "isucon"), "player": as(t, "isucon", "player", "0001")}
	for path, role := range map[string]string{
		"POST /api/organizer/players/add": "organizer", "GET /api/organizer/players": "organizer",
		"POST /api/organizer/player/x/disqualified": "organizer", "POST /api/organizer/competitions/add": "organizer",
		"POST /api/organizer/competition/x/finish": "organizer", "POST /api/organizer/competition/x/score": "organizer",
		"GET /api/organizer/billing": "organizer", "GET /api/organizer/competitions": "organizer",
		"GET /api/player/player/0001": "player", "GET /api/player/competition/x/ranking": "player", "GET /api/player/competitions": "player",
	} {
		method, path, _ := strings.Cut(path, " ")
		for name, client := range clients {
			client.t = t
			if name != role {
				client.send(method, path, "", nil).refused(t, http.StatusForbidden, "")
			}
		}
		guest(t, "isucon").send(method, path, "", nil).refused(t, http.StatusUnauthorized, "")
	}
	organizer(t, "isucon").post("/api/admin/tenants/add", "name", "x-y").refused(t, http.StatusNotFound, "")
	guest(t, "admin").post("/api/admin/tenants/add", "name", "x-y").refused(t, http.StatusUnauthorized, "")
	guest(t, "isucon").get("/api/admin/tenants/billing").refused(t, http.StatusNotFound, "")
	guest(t, "admin").get("/api/admin/tenants/billing").refused(t, http.StatusUnauthorized, "")
	guest(t, "isucon").get("/api/nothing").refused(t, http.StatusNotFound, "")
}

// A person is what /api/me answers.
type person struct {
	Tenant struct {
		Name        string `json:"name"`
		DisplayName string `json:"display_name"`
	} `json:"tenant"`
	Me       *player `json:"me"`
	Role     string  `json:"role"`
	LoggedIn bool    `json:"logged_in"`
}

func testMe(t *testing.T) {
	for _, c := range []struct {
		name           string
		client         account
		tenant, role   string
		loggedIn, self bool
	}{
		{"guest", guest(t, "isucon"), "isucon", "none", false, false},
		{"guest of the admin", guest(t, "admin"), "admin", "none", false, false},
		{"admin", admin(t), "admin", "admin", true, false},
		{"organizer", organizer(t, "kayac"), "kayac", "organizer", true, false},
		{"player", as(t, "isucon", "player", "0001"), "isucon", "player", true, true},
		{"unknown player", as(t, "isucon", "player", "0000000000"), "isucon", "none", false, false},
		{"player of another tenant", account{t, "kayac" + domain, session(t, sessionClaims("isucon", "player", "0001"))}, "kayac", "none", false, false},
	} {
		c.client.t = t
		got := data[person](t, c.client.get("/api/me"))
		if got.Tenant.Name != c.tenant || got.Tenant.DisplayName == "" || got.Role != c.role || got.LoggedIn != c.loggedIn || (got.Me != nil) != c.self {
			t.Errorf("%s: %+v", c.name, got)
		}
		if got.Me != nil && (got.Me.ID != "0001" || got.Me.DisplayName == "" || got.Me.Disqualified) {
			t.Errorf("%s is %+v", c.name, got.Me)
		}
	}
	if body := string(guest(t, "isucon").get("/api/me").body); !strings.Contains(body, `"me": null`) {
		t.Errorf("a guest gets %s, want the field me with null", body)
	}
	for host, tenant := range map[string]string{"kayac.localhost": "kayac", "KAYAC.t.isucon.dev": "kayac", "kayac.t.isucon.dev:8080": "kayac", "admin.localhost:80": "admin"} {
		if got := data[person](t, account{t, host, ""}.get("/api/me")); got.Tenant.Name != tenant {
			t.Errorf("host %s is tenant %+v, want %s", host, got.Tenant, tenant)
		}
	}
	guest(t, "no-such-tenant").get("/api/me").refused(t, http.StatusInternalServerError, "")
}

// testLogin checks the login service for people.
func testLogin(t *testing.T) {
	login := func(tenant, path string, form ...string) (int, *http.Cookie) {
		res := guest(t, tenant).post("/auth/"+path, form...)
		cookies := (&http.Response{Header: res.header}).Cookies()
		if len(cookies) != 1 {
			return res.status, nil
		}
		return res.status, cookies[0]
	}
	for _, c := range []struct {
		tenant, path, role string
		form               []string
	}{
		{"isucon", "login/player", "player", []string{"id", "0001"}},
		{"kayac", "login/organizer", "organizer", nil},
		{"admin", "login/admin", "admin", nil},
	} {
		status, cookie := login(c.tenant, c.path, c.form...)
		if status != http.StatusOK || cookie == nil || cookie.Path != "/" || cookie.MaxAge != 24*60*60 || cookie.Secure {
			t.Errorf("%s at %s: status %d, cookie %v", c.path, c.tenant, status, cookie)
			continue
		}
		got := data[person](t, account{t, c.tenant + domain, cookie.Value}.get("/api/me"))
		if got.Role != c.role || !got.LoggedIn {
			t.Errorf("%s at %s: %+v", c.path, c.tenant, got)
		}
	}
	for _, c := range []struct{ tenant, path string }{{"isucon", "login/player"}, {"isucon", "login/admin"}, {"admin", "login/organizer"}} {
		if status, cookie := login(c.tenant, c.path); status != http.StatusBadRequest || cookie != nil {
			t.Errorf("%s at %s: status %d, cookie %v", c.path, c.tenant, status, cookie)
		}
	}
	if status, cookie := login("isucon", "logout"); status != http.StatusOK || cookie == nil || cookie.MaxAge >= 0 {
		t.Errorf("logout: status %d, cookie %v", status, cookie)
	}
	if res := guest(t, "isucon").get("/auth/login/admin"); res.status != http.StatusMethodNotAllowed {
		t.Errorf("a login by GET has status %d", res.status)
	}
}

// testPages checks the static files: every unknown path is the page.
func testPages(t *testing.T) {
	public := filepath.Join(site.Stack.Places().Webapp, "public")
	file := func(name string) []byte {
		body, err := os.ReadFile(filepath.Join(public, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	for path, name := range map[string]string{"/": "index.html", "/mypage": "index.html", "/competition/1": "index.html", "/index.html": "index.html"} {
		res := guest(t, "isucon").get(path)
		if res.status != http.StatusOK || !bytes.Equal(res.body, file(name)) || !strings.HasPrefix(res.header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: status %d, %s, %d bytes", path, res.status, res.header.Get("Content-Type"), len(res.body))
		}
	}
	for _, folder := range []string{"css", "js", "img"} {
		entries, err := os.ReadDir(filepath.Join(public, folder))
		if err != nil || len(entries) == 0 {
			t.Fatalf("%s is empty (%v)", folder, err)
		}
		for _, e := range entries {
			path := folder + "/" + e.Name()
			if res := guest(t, "isucon").get("/" + path); res.status != http.StatusOK || !bytes.Equal(res.body, file(path)) || strings.HasPrefix(res.header.Get("Content-Type"), "text/html") {
				t.Errorf("/%s: status %d, %s, %d bytes", path, res.status, res.header.Get("Content-Type"), len(res.body))
			}
		}
	}
	if _, err := os.Stat(filepath.Join(public, "..", "blackauth")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/../blackauth/rsa-private.pem", "/..%2fblackauth/rsa-private.pem"} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, site.URL(), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.URL.Opaque = path
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if res.Body.Close(); res.StatusCode == http.StatusOK {
			t.Errorf("%s is served", path)
		}
	}
}
