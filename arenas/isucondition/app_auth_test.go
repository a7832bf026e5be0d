package isucondition_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	. "github.com/iikanji/iikanji/arenas/isucondition"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest/apptest"
)

func testInitialize(t *testing.T) {
	c := fresh(t)
	g := contest.NewClient(t)
	for name, body := range map[string]apptest.Edit{
		"no JSON":    apptest.WithBody("application/json", "{"),
		"nothing":    apptest.WithBody("application/json", ""),
		"wrong type": apptest.WithBody("application/json", `{"jia_service_url":1}`),
	} {
		t.Run(name, func(t *testing.T) {
			g.Send("POST", "/initialize", body).Want(t, http.StatusBadRequest, "bad request body")
		})
	}

	for range 3 {
		began := time.Now()
		var language struct{ Language string }
		g.Send("POST", "/initialize", apptest.WithJSON(map[string]string{"jia_service_url": c.jia.URL})).Decode(t, http.StatusOK, &language)
		t.Logf("initialize took %v", time.Since(began).Round(time.Millisecond))
		if language.Language != c.language {
			t.Errorf("language %q, want %s", language.Language, c.language)
		}
		for table, want := range map[string]int{"isu": 28, "isu_condition": 618, "user": 5, "isu_association_config": 1} {
			var n int
			if err := c.DB.QueryRow("SELECT COUNT(*) FROM `" + table + "`").Scan(&n); err != nil || n != want {
				t.Errorf("%s has %d rows, want %d (%v)", table, n, want, err)
			}
		}
		signedIn(t, "somebody_new")
	}
	var url string
	if err := c.DB.QueryRow("SELECT url FROM isu_association_config WHERE name = 'jia_service_url'").Scan(&url); err != nil || url != c.jia.URL {
		t.Errorf("JIA is stored at %q, want %q (%v)", url, c.jia.URL, err)
	}
}

// testSchema checks the tables against the rules: no more indexes than these.
func testSchema(t *testing.T) {
	c := fresh(t)
	rows, err := c.DB.Query(`SELECT table_name, GROUP_CONCAT(DISTINCT CONCAT(index_name, ' ', column_name) ORDER BY index_name)
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
	want := map[string]string{
		"isu":                    "jia_isu_uuid jia_isu_uuid,PRIMARY id",
		"isu_condition":          "PRIMARY id",
		"user":                   "PRIMARY jia_user_id",
		"isu_association_config": "PRIMARY name,url url",
	}
	for table, indexes := range want {
		if got[table] != indexes {
			t.Errorf("indexes of %s: %q, want %q", table, got[table], indexes)
		}
	}
	var columns string
	if err := c.DB.QueryRow(`SELECT GROUP_CONCAT(CONCAT(column_name, ' ', column_type, ' ', is_nullable) ORDER BY ordinal_position)
		FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'isu'`).Scan(&columns); err != nil {
		t.Fatal(err)
	}
	const isu = "id bigint(20) NO,jia_isu_uuid char(36) NO,name varchar(255) NO,image longblob YES," +
		"character varchar(255) YES,jia_user_id varchar(255) NO,created_at datetime(6) YES,updated_at datetime(6) YES"
	if columns != isu {
		t.Errorf("columns of isu: %s\nwant %s", columns, isu)
	}
}

// signed signs a token with any method and key.
func signed(t *testing.T, method jwt.SigningMethod, key any, claims jwt.MapClaims) string {
	t.Helper()
	token, err := jwt.NewWithClaims(method, claims).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func testTokens(t *testing.T) {
	fresh(t)
	key, err := SigningKey("")
	if err != nil {
		t.Fatal(err)
	}
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().Unix()
	good := jwt.MapClaims{"jia_user_id": "isucon1", "iat": now - 1, "exp": now + 30}
	parts := strings.Split(signed(t, jwt.SigningMethodES256, key, good), ".")
	forged := parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"jia_user_id":"isucon2"}`)) + "." + parts[2]
	publicPEM, err := fileOf(t, "ec256-public.pem")
	if err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		name, token, text string
		status            int
	}{
		{"HS256 by a secret", signed(t, jwt.SigningMethodHS256, []byte("secret"), good), "forbidden", 403},
		{"HS256 by the public key", signed(t, jwt.SigningMethodHS256, publicPEM, good), "forbidden", 403},
		{"no algorithm", signed(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, good), "forbidden", 403},
		{"expired", signed(t, jwt.SigningMethodES256, key, jwt.MapClaims{"jia_user_id": "isucon1", "iat": now - 60, "exp": now - 30}), "forbidden", 403},
		{"missing", "", "forbidden", 403},
		{"another key", signed(t, jwt.SigningMethodES256, other, good), "forbidden", 403},
		{"no token at all", "isucon1", "forbidden", 403},
		{"claims exchanged", forged, "forbidden", 403},
		{"signature cut", strings.Join(parts[:2], "."), "forbidden", 403},
		{"no user", signed(t, jwt.SigningMethodES256, key, jwt.MapClaims{"iat": now - 1, "exp": now + 30}), "invalid JWT payload", 400},
		{"user is a number", signed(t, jwt.SigningMethodES256, key, jwt.MapClaims{"jia_user_id": 1, "exp": now + 30}), "invalid JWT payload", 400},
		{"user is null", signed(t, jwt.SigningMethodES256, key, jwt.MapClaims{"jia_user_id": nil, "exp": now + 30}), "invalid JWT payload", 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := contest.NewClient(t)
			var with []apptest.Edit
			if c.token != "" {
				with = append(with, withToken(c.token))
			}
			g.Send("POST", "/api/auth", with...).Want(t, c.status, c.text)
			g.Get("/api/user/me").Want(t, 401, "you are not signed in")
		})
	}
	t.Run("without Bearer", func(t *testing.T) {
		g := contest.NewClient(t)
		bare := func(r *http.Request) { r.Header.Set("Authorization", signed(t, jwt.SigningMethodES256, key, good)) }
		g.Send("POST", "/api/auth", bare).WantEmpty(t, 200)
		g.Get("/api/user/me").Want(t, 200, "")
	})
}

func testSession(t *testing.T) {
	c := fresh(t)
	g := contest.NewClient(t)
	res := g.Send("POST", "/api/auth", withToken(tokenFor(t, "新しい人")))
	res.WantEmpty(t, 200)
	cookies := (&http.Response{Header: res.Header}).Cookies()
	if len(cookies) != 1 || cookies[0].Path != "/" || cookies[0].Secure || cookies[0].MaxAge <= 0 {
		t.Fatalf("cookies of a login: %v, want one for the whole site, over plain HTTP too", cookies)
	}
	var me struct {
		ID string `json:"jia_user_id"`
	}
	g.Get("/api/user/me").Decode(t, 200, &me)
	if me.ID != "新しい人" {
		t.Errorf("signed in as %q", me.ID)
	}
	g.Send("POST", "/api/auth", withToken(tokenFor(t, "isucon1"))).WantEmpty(t, 200)
	g.Get("/api/user/me").Decode(t, 200, &me)
	if me.ID != "isucon1" {
		t.Errorf("after a second login: %q", me.ID)
	}

	res = g.Send("POST", "/api/signout")
	res.WantEmpty(t, 200)
	if cookies := (&http.Response{Header: res.Header}).Cookies(); len(cookies) != 1 || cookies[0].MaxAge >= 0 || cookies[0].Path != "/" {
		t.Errorf("cookies of a logout: %v, want one that is over", cookies)
	}
	g.Send("POST", "/api/signout").Want(t, 401, "you are not signed in")

	g = signedIn(t, "after_me_the_flood")
	g.Get("/api/isu").Want(t, 200, "")
	contest.NewClient(t).Send("POST", "/initialize", apptest.WithJSON(map[string]string{"jia_service_url": c.jia.URL})).Want(t, 200, "")
	g.Get("/api/isu").Want(t, 401, "you are not signed in")

	forged := contest.NewClient(t)
	forged.Send("GET", "/api/user/me", func(r *http.Request) {
		r.AddCookie(&http.Cookie{Name: cookies[0].Name, Value: cookies[0].Value[:len(cookies[0].Value)-8] + "AAAAAAA="})
	}).Want(t, 401, "you are not signed in")
}

// testSignedOut checks that every user endpoint refuses requests without a session
// before it examines anything else.
func testSignedOut(t *testing.T) {
	c := fresh(t)
	g := contest.NewClient(t)
	uuid := c.data.Users[0].ISUs[0].UUID
	for _, endpoint := range []string{
		"POST /api/signout", "GET /api/user/me", "GET /api/isu", "POST /api/isu", "GET /api/isu/" + uuid, "GET /api/isu/" + uuid + "/icon",
		"GET /api/isu/" + uuid + "/graph", "GET /api/condition/" + uuid, "GET /api/isu/unknown",
	} {
		method, path, _ := strings.Cut(endpoint, " ")
		g.Send(method, path).Want(t, 401, "you are not signed in")
	}
}
