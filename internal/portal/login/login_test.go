package login

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// A hall is a portal without processes, at an instant that the test chooses.
type hall struct {
	*Service
	t    *testing.T
	core *lead.Core
	mu   sync.Mutex
	at   time.Time
}

const cup = `name = "Cup"
local = true
[[rounds]]
id = "final"
kind = "open"
problem = "p"
[problem.p]
command = ["true"]
[registration]
open = 2027-01-10T10:00:00Z
close = 2027-01-20T10:00:00Z
`

func newHall(t *testing.T, providers ...Provider) *hall {
	t.Helper()
	h := &hall{t: t, at: time.Date(2027, 1, 12, 0, 0, 0, 0, time.UTC)}
	now := func() time.Time {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.at
	}
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "l.db"), store.Options{Unsafe: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	h.core = lead.New(lead.Options{Store: s, Carry: carry.NewMemory(now), Now: now})
	if _, err := h.core.AddContest(t.Context(), []byte(cup), "cup.toml"); err != nil {
		t.Fatal(err)
	}
	if h.Service, err = New(Options{Core: h.core, Secret: []byte("secret"), Base: "https://portal.example", Providers: providers}); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *hall) later(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = h.at.Add(d)
}

func (h *hall) refused(err error, code string) {
	h.t.Helper()
	var r *api.RefusedError
	if !errors.As(err, &r) || r.Code != code {
		h.t.Errorf("got %v, want it refused with %q", err, code)
	}
}

// session is the caller of a cookie.
func (h *hall) session(cookie string) api.Who {
	h.t.Helper()
	who, _, ok, err := h.core.Session(h.t.Context(), cookie)
	if err != nil || !ok {
		h.t.Fatalf("the cookie opens no session: %v", err)
	}
	return who
}

// TestPassword: an account with a password; wrong ones wait longer and longer; only digests are
// kept.
func TestPassword(t *testing.T) {
	h := newHall(t)
	ctx := t.Context()
	const right = "correct horse battery"
	for name, code := range map[string]string{"a b": "login-name", "x": "login-name", "good": "password"} {
		_, err := h.Create(ctx, "", name, "short")
		h.refused(err, code)
	}
	cookie, err := h.Create(ctx, "Aoi\u202e", "Aoi", right)
	if err != nil {
		t.Fatal(err)
	}
	if who := h.session(cookie); who.Role != api.Spectator || who.Name != "Aoi·" || who.Account == "" {
		t.Errorf("the new account is %+v", who)
	}
	_, err = h.Create(ctx, "", "AOI", right)
	h.refused(err, "login-name")
	if cookie, err = h.Password(ctx, " aoi ", right, ""); err != nil || h.session(cookie).Account == "" {
		t.Fatalf("logging in: %v", err)
	}
	for i := range free {
		_, err := h.Password(ctx, "aoi", fmt.Sprint("wrong ", i), "")
		h.refused(err, "login")
	}
	_, err = h.Password(ctx, "aoi", right, "")
	h.refused(err, "wait")
	h.later(time.Second)
	_, err = h.Password(ctx, "aoi", "wrong again", "")
	h.refused(err, "login")
	h.later(time.Second)
	_, err = h.Password(ctx, "aoi", right, "")
	h.refused(err, "wait") // now it is two seconds
	h.later(time.Second)
	if _, err := h.Password(ctx, "aoi", right, ""); err != nil {
		t.Errorf("after the delay: %v", err)
	}
	_, err = h.Password(ctx, "nobody", right, "")
	h.refused(err, "login")
	err = h.core.Read(ctx, func(tx *store.Tx) error {
		hash := ""
		if err := tx.Row("SELECT hash FROM passwords WHERE login = 'aoi'", nil, &hash); err != nil {
			return err
		}
		if !strings.HasPrefix(hash, "$argon2id$") || strings.Contains(hash, right) {
			t.Errorf("the kept form is %q", hash)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	h.later(30 * 24 * time.Hour)
	_, err = h.Create(ctx, "", "late", right)
	h.refused(err, "registration-closed")
	if d := delay(100); d != longest {
		t.Errorf("the longest delay is %v", d)
	}
}

// TestMatches: no damaged or costly form matches.
func TestMatches(t *testing.T) {
	good := hash("0123456789")
	if !matches("0123456789", good) || matches("0123456788", good) {
		t.Error("a password and its form")
	}
	for _, bad := range []string{"", "x", "$$$$$", strings.Replace(good, "m=19456", "m=99999999", 1), strings.Replace(good, "t=2", "t=0", 1), strings.Replace(good, "argon2id", "argon2i", 1), good[:len(good)-4], nobody} {
		if matches("0123456789", bad) {
			t.Errorf("%q matches", bad)
		}
	}
}

// codeAt is the code of a secret at an instant.
func codeAt(secret string, now time.Time) (string, error) {
	raw, err := noPadding.DecodeString(secret)
	return code(raw, now.Unix()/int64(step.Seconds())), err
}

// TestCode has the values of RFC 6238, appendix B (the last six digits), and a code works once.
func TestCode(t *testing.T) {
	secret := noPadding.EncodeToString([]byte("12345678901234567890"))
	for at, want := range map[int64]string{59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130"} {
		got, err := codeAt(secret, time.Unix(at, 0))
		if err != nil || got != want {
			t.Errorf("at %d: %s, want %s (%v)", at, got, want, err)
		}
	}
	now := time.Unix(1234567890, 0)
	used := codeStep(secret, "005924", 0, now)
	if used == 0 || codeStep(secret, "005924", used, now) != 0 || codeStep(secret, "005924", 0, now.Add(29*time.Second)) == 0 || codeStep(secret, "005924", 0, now.Add(90*time.Second)) != 0 || codeStep("", "005924", 0, now) != 0 {
		t.Error("a code works at another time, or twice")
	}
}

// TestAuthenticator: staff needs one for a password; its secret is kept under the portal's key;
// a new password ends other sessions.
func TestAuthenticator(t *testing.T) {
	h := newHall(t)
	ctx := t.Context()
	id, err := h.core.AddAccount(ctx, "judge", api.Judge, "")
	if err != nil {
		t.Fatal(err)
	}
	open := func() string {
		token, err := h.core.AddToken(ctx, lead.ScopeLogin, id, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		cookie, _, ok, err := h.core.Login(ctx, token)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		return cookie
	}
	own, other := open(), open()
	who := h.session(own)
	p := api.NewPassword{Login: "judge", Password: "a long password"}
	h.refused(h.SetPassword(ctx, who, own, p), "authenticator")
	p.Secret, p.Code = h.NewSecret(), "000000x"
	h.refused(h.SetPassword(ctx, who, own, p), "authenticator")
	if p.Code, err = codeAt(p.Secret, h.core.Now()); err != nil {
		t.Fatal(err)
	}
	if err := h.SetPassword(ctx, who, own, p); err != nil {
		t.Fatal(err)
	}
	if _, _, ok, _ := h.core.Session(ctx, other); ok {
		t.Error("another session outlives the new password")
	}
	h.session(own)
	_, err = h.Password(ctx, "judge", p.Password, "")
	h.refused(err, "login")
	code, _ := codeAt(p.Secret, h.core.Now())
	if _, err := h.Password(ctx, "judge", p.Password, code); err != nil {
		t.Errorf("with the code: %v", err)
	}
	_, err = h.Password(ctx, "judge", p.Password, code)
	h.refused(err, "login") // a code works once
	err = h.core.Read(ctx, func(tx *store.Tx) error {
		kept := ""
		err := tx.Row("SELECT totp FROM passwords", nil, &kept)
		if kept == "" || strings.Contains(kept, p.Secret) {
			t.Errorf("the authenticator's secret is kept as %q", kept)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	list, err := h.Sessions(ctx, who, own)
	if err != nil || len(list) != 2 || list[0].Own == list[1].Own {
		t.Fatalf("sessions %+v, %v", list, err)
	}
	for _, x := range list {
		if !x.Own {
			if err := h.EndSession(ctx, api.Who{Account: "another"}, x.ID); !errors.Is(err, api.ErrNotFound) {
				t.Errorf("another account ends a session: %v", err)
			}
			if err := h.EndSession(ctx, who, x.ID); err != nil {
				t.Error(err)
			}
		}
	}
	if list, err = h.Sessions(ctx, who, own); err != nil || len(list) != 1 {
		t.Errorf("sessions %+v, %v", list, err)
	}
}

// An issuer is a provider of OpenID Connect, as a server.
type issuer struct {
	*httptest.Server
	key    *rsa.PrivateKey
	mu     sync.Mutex
	codes  map[string]url.Values // the authorization request of each code
	claims map[string]any
	spoil  func(claims map[string]any)
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{key: key, codes: map[string]url.Values{}}
	i.Server = httptest.NewServer(i)
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	b64 := base64.RawURLEncoding.EncodeToString
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		fmt.Fprintf(w, `{"issuer":%q,"authorization_endpoint":%q,"token_endpoint":%q,"jwks_uri":%q,"id_token_signing_alg_values_supported":["RS256"]}`, i.URL, i.URL+"/authorize", i.URL+"/token", i.URL+"/keys")
	case "/keys":
		fmt.Fprintf(w, `{"keys":[{"kty":"RSA","alg":"RS256","use":"sig","kid":"k","n":%q,"e":%q}]}`, b64(i.key.N.Bytes()), b64(big.NewInt(int64(i.key.E)).Bytes()))
	case "/authorize":
		code := rand.Text()
		i.codes[code] = r.URL.Query()
		http.Redirect(w, r, r.URL.Query().Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {r.URL.Query().Get("state")}}.Encode(), http.StatusFound)
	case "/token":
		asked, known := i.codes[r.FormValue("code")]
		delete(i.codes, r.FormValue("code"))
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		user, password, _ := r.BasicAuth()
		if !known || asked.Get("code_challenge") != b64(sum[:]) || user != "portal" || password != "s3cr3t" || r.FormValue("redirect_uri") != asked.Get("redirect_uri") {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":"invalid_grant"}`)
			return
		}
		claims := map[string]any{"iss": i.URL, "aud": "portal", "nonce": asked.Get("nonce"), "iat": 0, "exp": time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC).Unix()}
		for k, v := range i.claims {
			claims[k] = v
		}
		if i.spoil != nil {
			i.spoil(claims)
		}
		body, _ := json.Marshal(claims)
		token := b64([]byte(`{"alg":"RS256","kid":"k"}`)) + "." + b64(body)
		digest := sha256.Sum256([]byte(token))
		signature, _ := rsa.SignPKCS1v15(rand.Reader, i.key, crypto.SHA256, digest[:])
		fmt.Fprintf(w, `{"access_token":"x","token_type":"Bearer","id_token":%q}`, token+"."+b64(signature))
	}
}

// visit follows the way to the provider and returns where it leads the browser back to.
func visit(t *testing.T, address string) url.Values {
	t.Helper()
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := c.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	back, err := url.Parse(res.Header.Get("Location"))
	if err != nil || !strings.HasPrefix(back.String(), "https://portal.example/login/corp/back?") {
		t.Fatalf("the provider leads back to %s, %v", back, err)
	}
	return back.Query()
}

// TestSignIn: a sign-in at another service, with the attacks on it: another browser's state, a
// state or code twice, a token for another, of another nonce, or expired.
func TestSignIn(t *testing.T) {
	i := newIssuer(t)
	h := newHall(t, Provider{ID: "corp", Title: "Corp", Issuer: i.URL, Client: "portal", Secret: "s3cr3t"})
	ctx := t.Context()
	i.claims = map[string]any{"sub": "42", "name": "Aoi <b>", "email": "aoi@example.com", "email_verified": true}
	address, state, err := h.Begin(ctx, "corp", "/contests/cup/join")
	if err != nil {
		t.Fatal(err)
	}
	back := visit(t, address)
	for _, wrong := range []string{"", "another"} {
		_, _, err := h.Finish(ctx, "corp", wrong, back)
		h.refused(err, "sign-in")
	}
	cookie, next, err := h.Finish(ctx, "corp", state, back)
	if err != nil || next != "/contests/cup/join" {
		t.Fatalf("the sign-in leads to %q, %v", next, err)
	}
	first := h.session(cookie)
	if first.Name != "Aoi <b>" || first.Role != api.Spectator {
		t.Errorf("the account is %+v", first)
	}
	_, _, err = h.Finish(ctx, "corp", state, back)
	h.refused(err, "sign-in") // it works once
	again := func() (string, error) {
		address, state, err := h.Begin(ctx, "corp", "/")
		if err != nil {
			t.Fatal(err)
		}
		cookie, _, err := h.Finish(ctx, "corp", state, visit(t, address))
		return cookie, err
	}
	if cookie, err = again(); err != nil || h.session(cookie).Account != first.Account {
		t.Errorf("the second sign-in: %v", err)
	}
	for name, spoil := range map[string]func(map[string]any){
		"another audience": func(c map[string]any) { c["aud"] = "other" },
		"another nonce":    func(c map[string]any) { c["nonce"] = "x" },
		"expired":          func(c map[string]any) { c["exp"] = 1 },
		"another issuer":   func(c map[string]any) { c["iss"] = "https://evil.example" },
		"no subject":       func(c map[string]any) { delete(c, "sub") },
	} {
		i.mu.Lock()
		i.spoil = spoil
		i.mu.Unlock()
		if _, err := again(); err == nil {
			t.Errorf("%s: it was taken", name)
		}
	}
	i.mu.Lock()
	i.spoil = nil
	i.mu.Unlock()
	address, state, err = h.Begin(ctx, "corp", "/")
	if err != nil {
		t.Fatal(err)
	}
	late := visit(t, address)
	h.later(flowTime + time.Second)
	_, _, err = h.Finish(ctx, "corp", state, late)
	h.refused(err, "sign-in")
	if _, _, err := h.Begin(ctx, "none", "/"); !errors.Is(err, api.ErrNotFound) {
		t.Errorf("an unknown provider: %v", err)
	}
	mail := ""
	if err := h.core.Read(ctx, func(tx *store.Tx) error { return tx.Row("SELECT mail FROM contacts", nil, &mail) }); err != nil || mail != "aoi@example.com" {
		t.Errorf("the proven address is %q, %v", mail, err)
	}
}

// FuzzMatches: no text but one of hash is a form of a password.
func FuzzMatches(f *testing.F) {
	f.Add("$argon2id$v=19$m=8,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Add("$argon2id$v=19$m=19456,t=2,p=1$$")
	f.Fuzz(func(t *testing.T, kept string) {
		if matches("password", kept) {
			t.Errorf("%q matches", kept)
		}
	})
}
