package isucondition

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// served starts a JIA with one chair and counts its activations.
func served(t *testing.T, addresses ...string) (j *jia, activated *[]string) {
	t.Helper()
	j, err := newJIA("http://127.0.0.1:8080", addresses)
	if err != nil {
		t.Fatal(err)
	}
	c, targets := testChair(0), []string{}
	j.find = func(uuid string) *chair {
		if uuid == c.uuid {
			return c
		}
		return nil
	}
	j.activate = func(_ *chair, target *url.URL) { targets = append(targets, target.String()) }
	if err := j.listen("", ""); err != nil {
		t.Fatal(err)
	}
	j.serve()
	t.Cleanup(j.close)
	return j, &targets
}

func activateAt(t *testing.T, j *jia, body string) (status int, text string) {
	t.Helper()
	res, err := http.Post(j.url+"/api/activate", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, strings.TrimSpace(string(b))
}

func request(target, uuid string) string {
	return `{"target_base_url":"` + target + `","isu_uuid":"` + uuid + `"}`
}

func TestJIA(t *testing.T) {
	j, targets := served(t, "10.0.0.2:80")
	uuid := testChair(0).uuid
	for _, c := range []struct {
		body   string
		status int
		text   string
	}{
		{request("http://127.0.0.1:8080", "unknown"), 404, ""},
		{request("http://127.0.0.1:8081", uuid), 400, ""},
		{request("ftp://127.0.0.1:8080", uuid), 400, ""},
		{request("", uuid), 400, ""},
		{"{", 400, ""},
		{request("http://10.0.0.2/x/", uuid), 202, `{"character":"` + Labels[3] + `"}`},
		{request("http://127.0.0.1:8080", uuid), 202, `{"character":"` + Labels[3] + `"}`},
	} {
		status, text := activateAt(t, j, c.body)
		if status != c.status || c.text != "" && text != c.text {
			t.Errorf("%s: %d %s, want %d %s", c.body, status, text, c.status, c.text)
		}
	}
	if len(*targets) != 1 || (*targets)[0] != "http://10.0.0.2:80/x" {
		t.Errorf("activated at %v, want the first target only", *targets)
	}
	if !strings.Contains(j.hint(), "http://127.0.0.1:8081") {
		t.Errorf("hint %q does not name the refused target", j.hint())
	}
}

// TestJIATakesTime checks the delay of JIA's answer, which makes an activation
// within a transaction expensive.
func TestJIATakesTime(t *testing.T) {
	j, _ := served(t)
	begun := time.Now()
	activateAt(t, j, request("http://127.0.0.1:8080", "unknown"))
	if took := time.Since(begun); took < activationTime {
		t.Errorf("JIA answered after %v, want at least %v", took, activationTime)
	}
}

func TestJIAHosts(t *testing.T) {
	for _, c := range []struct {
		url       string
		addresses []string
		asked     string
		want      string
	}{
		{"http://10.0.0.1", nil, "http://isucondition-1.t.isucon.dev", "http://10.0.0.1:80"},
		{"http://10.0.0.1", nil, "http://isucondition-3.t.isucon.dev:3000", "http://10.0.0.1:80"},
		{"https://10.0.0.1", []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"}, "https://isucondition-2.t.isucon.dev", "https://10.0.0.2:443"},
		{"http://10.0.0.1", []string{"10.0.0.2:3000"}, "http://10.0.0.2:3000", "http://10.0.0.2:3000"},
		{"http://LOCALHOST", nil, "http://localhost:80/", "http://localhost:80"},
		{"http://10.0.0.1", nil, "http://10.0.0.9", ""},
		{"http://10.0.0.1", nil, "10.0.0.1", ""},
	} {
		j, err := newJIA(c.url, c.addresses)
		if err != nil {
			t.Fatal(err)
		}
		u, err := j.target(c.asked)
		if (err == nil) != (c.want != "") || err == nil && u.String() != c.want {
			t.Errorf("%s %v asked for %s: %v, %v, want %q", c.url, c.addresses, c.asked, u, err, c.want)
		}
	}
}

// TestTokens verifies our tokens with the JWT library that the app uses.
func TestTokens(t *testing.T) {
	key, err := SigningKey("")
	if err != nil {
		t.Fatal(err)
	}
	parse := func(token string) (jwt.MapClaims, error) {
		parsed, err := jwt.Parse(token, func(*jwt.Token) (any, error) { return &key.PublicKey, nil },
			jwt.WithValidMethods([]string{"ES256"}), jwt.WithIssuedAt())
		if err != nil {
			return nil, err
		}
		return parsed.Claims.(jwt.MapClaims), nil
	}
	token, err := loginToken(key, "able_abe", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if claims, err := parse(token); err != nil || claims["jia_user_id"] != "able_abe" {
		t.Errorf("the login token yields %v, %v", claims, err)
	}
	bad, err := badTokens(key, "able_abe", time.Now())
	if err != nil || len(bad) != 8 {
		t.Fatalf("%d bad tokens, %v", len(bad), err)
	}
	for _, b := range bad {
		claims, err := parse(b.token)
		if forbidden := b.code == 403; forbidden != (err != nil) {
			t.Errorf("%s: %v, %v, want code %d", b.check, claims, err, b.code)
		}
		if _, text := claims["jia_user_id"].(string); text {
			t.Errorf("%s names a user", b.check)
		}
	}
}
