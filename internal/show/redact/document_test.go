package redact

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/catalog"
)

// secrets are planted into each string of a document; none may be left.
var secrets = []string{"tok-Zx81Secret", "Hunter2Password", "alice@example.org", "Alice O\\'Hara"}

// planted holds each of the secrets in a form in which it occurs.
const planted = "GET /api/me?token=tok-Zx81Secret&x=1 dsn app:Hunter2Password@tcp(127.0.0.1:3306)/db mail alice@example.org " +
	`9x SELECT id FROM user WHERE name = 'Alice O\'Hara' AND n = 5`

// TestDocument: no string that leaves the machine has a secret, at any
// depth, and what is not a secret stays.
func TestDocument(t *testing.T) {
	type inner struct {
		Text  string
		Any   any
		Map   map[string]string
		Raw   json.RawMessage
		Point *string
	}
	text := planted
	v := struct {
		Facts    []iikanji.Fact
		Finding  iikanji.Finding
		Profile  iikanji.Profile
		Access   iikanji.Profile
		Plan     *catalog.QueryPlan
		List     []inner
		Stage    iikanji.Stage
		State    iikanji.Fingerprint
		At       time.Time
		Took     time.Duration
		Kept     []string
		unshared string
	}{
		Facts: []iikanji.Fact{{Topic: "environment", Key: "DB", Value: "Hunter2Password"}, {Topic: "plan", Key: "x", Value: `{"sql":"select 'Alice O\\'Hara'"}`}},
		Finding: iikanji.Finding{Claim: planted, Where: "GET /reset?token=tok-Zx81Secret", Evidence: []iikanji.Evidence{{Text: planted}},
			Remedies: []iikanji.Remedy{{Says: planted, Args: map[string]string{"password": "Hunter2Password", "diff": planted}}}},
		Profile: iikanji.Profile{Source: iikanji.Slow, Notes: []string{planted}, Transactions: []iikanji.Transaction{{Example: iikanji.Sighting{Text: "UPDATE t SET a = 'alice@example.org'"}}},
			Rows: []iikanji.Row{{Key: "select ? from t", Example: iikanji.Sighting{Text: `select 'Alice O\'Hara', 12, 09012345678 from t`}, Time: []byte("alice@example.org"),
				Query: &iikanji.SQLRow{Fingerprint: "select ? from t", Typical: iikanji.Sighting{Text: "select 'alice@example.org' from t"}}}},
			Intake: iikanji.Intake{BadLines: []iikanji.BadLine{{Text: planted}}}},
		Access: iikanji.Profile{Source: iikanji.Access, Rows: []iikanji.Row{{Key: "GET /u/alice@example.org"}, {Key: "GET /u/bob@example.org"}}, Slowest: []iikanji.Sighting{{Text: "/a?token=tok-Zx81Secret"}}},
		Plan:   &catalog.QueryPlan{SQL: `SELECT 'Alice O\'Hara'`},
		List: []inner{{Text: planted, Any: map[string]any{"a": []any{planted}}, Map: map[string]string{"k": planted}, Raw: json.RawMessage(`{"password":"Hunter2Password","n":1}`), Point: &text},
			{Text: "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-INSERT INTO u VALUES (1,'Alice O\\'Hara');\n+\tpassword := \"Hunter2Password\"\n \tq := \"SELECT a FROM b WHERE c = 'on'\"\n"}},
		Stage: iikanji.Kept, State: "d41d8cd98f00b204e9800998ecf8427ed41d8cd98f00b204e9800998ecf8427e", At: time.Unix(1, 0), Took: 5,
		Kept: []string{"isu_condition reads 2,000 rows: no index begins with jia_isu_uuid", "proxy_cache_path /run/cache levels=1:2", "", "日本語"},
	}
	Document(&v)
	if v.unshared != "" || v.Stage != iikanji.Kept || !strings.HasPrefix(string(v.State), "d41d8") || string(v.Profile.Rows[0].Time) != "alice@example.org" {
		t.Errorf("a value that is not text changed: %+v", v)
	}
	v.Profile.Rows[0].Time = nil // a sketch, not text
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	plain := strings.ReplaceAll(string(b), `\\`, `\`)
	for _, s := range append(secrets, "09012345678", "bob@") {
		if i := strings.Index(plain, s); i >= 0 {
			t.Errorf("%s is left: …%s", s, plain[max(0, i-80):min(len(plain), i+len(s)+10)])
		}
	}
	for _, keep := range []string{"n = 5", "isu_condition reads 2,000 rows: no index begins with jia_isu_uuid", "levels=1:2", "日本語", "/api/me?token=", "@tcp(127.0.0.1:3306)/db", "select '?', 12, '?' from t", "WHERE c = 'on'", "GET /u/[removed] (2)"} {
		if !strings.Contains(plain, keep) {
			t.Errorf("%q is missing in %s", keep, plain)
		}
	}
	once := string(b)
	Document(&v)
	if b, _ = json.Marshal(v); string(b) != once {
		t.Errorf("redacted again it differs:\n%s\n%s", once, b)
	}
}

// TestTextLeaves: names of units and pictures are not addresses of e-mail, and common
// texts stay.
func TestTextLeaves(t *testing.T) {
	for _, s := range []string{"mysql@1.service is running", "/img/logo@2x.png", "root@localhost", "golang.org/x/net@v0.1.2", "GET /api/isu/:id?limit=10&page=2", "proxy_pass http://127.0.0.1:3000;",
		"status=200 method=GET", "/keys/5", "PRIMARY KEY (id)", "key=zone:10m", "proxy_set_header Host $host;", "set $a 5;",
		"if (req.http.Proxy-Authorization || req.http.X-Api-Key || req.http.X-Auth-Token || req.http.X-Access-Token) {", "the header X-Access-Token names a client",
		`map "$http_authorization$http_x_access_token:$iikanji_generation $http_host" $key {`,
		"page valid=1m40s cookies=ignore path=/a", `log_format x 'ua:$http_user_agent\tcookie:$http_cookie';`, "--- a/srv/TestSite123/webapp/public/config/nginx/Site.conf\n+++ b/srv/TestSite123/webapp/public/config/nginx/Site.conf",
		"Binary files /dev/null (0 bytes) and b/srv/TestSite123/webapp/public/config/nginx/Site.gz (78 bytes) differ",
		`proxy_set_header Cookie "";`, "proxy_set_header Cookie $http_cookie;", "proxy_set_header Authorization '';", `proxy_set_header Authorization "$http_authorization";`} {
		if got := Text(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

// TestTextHides: text that only looks like a harmless form is removed.
func TestTextHides(t *testing.T) {
	const key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY1"
	for _, s := range []string{"cookies=ignored-5", "Cookie: $Version=1; a=b", "cookie:$5x", "cookie: $a; sid=5, token=abc", "cookies=sid", "$token:" + key, "$x_access_token:$" + key, "token:$secret-5", "token=ignore", "Binary files " + key, "---" + key, "+ b/" + key, "--- a/x " + key} {
		if got := Text(s); !strings.Contains(got, Removed) || strings.Contains(got, key) {
			t.Errorf("%q became %q", s, got)
		}
	}
	if got := Args(map[string]string{"cookies": "ignore"})["cookies"]; got != "ignore" {
		t.Errorf("the argument cookies is %q", got)
	}
}

// TestNames: keys that become equal stay different, and equal keys of two profiles
// stay equal.
func TestNames(t *testing.T) {
	before := &iikanji.Profile{Rows: []iikanji.Row{{Key: "/r?token=a"}, {Key: "/r?token=b"}, {Key: "/plain"}}}
	after := &iikanji.Profile{Rows: []iikanji.Row{{Key: "/r?token=b"}, {Key: "/r?token=c"}}}
	var names Names
	if n := names.Profile(before, false) + names.Profile(after, false); n != 4 {
		t.Errorf("%d keys changed", n)
	}
	if before.Rows[0].Key == before.Rows[1].Key || before.Rows[1].Key != after.Rows[0].Key || after.Rows[1].Key == before.Rows[0].Key || before.Rows[2].Key != "/plain" {
		t.Errorf("%+v %+v", before.Rows, after.Rows)
	}
}

// FuzzDocument: any text is redacted without a panic, and a planted secret goes.
func FuzzDocument(f *testing.F) {
	f.Add("a", "b")
	f.Add("@@ -1 +1 @@\n-'", "\n(1,'x')")
	f.Add(`{"a":"`, `"}`)
	f.Fuzz(func(t *testing.T, before, after string) {
		if len(before)+len(after) > 1<<12 {
			return
		}
		text := before + " ghp_0123456789abcdefghij0123 " + after
		Document(&text)
		if strings.Contains(text, "ghp_0123456789abcdefghij0123") {
			t.Errorf("%q", text)
		}
	})
}

// TestFigures: the figures of a table whose name looks like a secret's stay.
func TestFigures(t *testing.T) {
	for _, text := range []string{"access_token: 4.7 M rows are read where 197,369 would do", "session_key: 12 rows", "cookies: 163 × 458ms"} {
		if got := Text(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	for text, secret := range map[string]string{"password: 123": "123", "access_token: 1234567": "1234567", "token=123": "123", "api_key: 12ab": "12ab"} {
		if got := Text(text); strings.Contains(got, secret) {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}
