package isuports_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	. "github.com/iikanji/iikanji/arenas/isuports"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest/apptest"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// A siteTest is a test of the running site.
type siteTest struct {
	name string
	run  func(*testing.T)
}

// apiTests hold for the app in each language.
var apiTests = []siteTest{
	{"initialize", testInitialize}, {"sessions", testSessions}, {"roles", testRoles}, {"me", testMe},
	{"tenants", testTenants}, {"initial billing", testInitialBilling},
	{"players", testPlayers}, {"competitions", testCompetitions},
	{"scores", testScores}, {"refused scores", testRefusedScores}, {"ranking", testRanking}, {"player", testPlayer},
	{"billing", testBilling}, {"slow", testSlow},
}

// testApp runs the tests below on the app in Go with its own MariaDB, SQLite files and nginx.
func testApp(t *testing.T, up *stack.Stack) {
	site.on(t, apptest.On(t, up), "go")
	for _, c := range append(apiTests, siteTest{"schema", testSchema}, siteTest{"pages", testPages}, siteTest{"login", testLogin}, siteTest{"me leaks", testLeak},
		siteTest{"browser admin", testBrowserAdmin}, siteTest{"browser organizer", testBrowserOrganizer}, siteTest{"browser player", testBrowserPlayer}) {
		t.Run(c.name, c.run)
	}
}

// TestArena calls testApp on its stack.
func init() { OnStack = testApp }

// TestRubyApp runs the app in Ruby, which has the same API.
func TestRubyApp(t *testing.T) {
	tier.Slow(t)
	site.on(t, apptest.Up(t, "isuports-ruby"), "ruby")
	for _, c := range apiTests {
		t.Run(c.name, c.run)
	}
}

// theSite is the running site and what the tests need of it.
type theSite struct {
	*apptest.Site
	language string
	data     *Dataset
}

var site theSite

// on has the tests use a site.
func (s *theSite) on(t *testing.T, up *apptest.Site, language string) {
	t.Helper()
	t.Cleanup(func() { stopBrowser() })
	s.Site, s.language = up, language
	var err error
	if s.data, err = ReadDataset(s.Stack.Data()); err != nil {
		t.Fatal(err)
	}
}

// number reads one number from the admin database.
func number(t *testing.T, query string, args ...any) (n int64) {
	t.Helper()
	if err := site.DB.QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

const domain = ".t.isucon.dev"

// An account is one client of a test: a host and a session.
type account struct {
	t       *testing.T
	host    string
	session string // "" for none
}

func guest(t *testing.T, tenant string) account { return account{t, tenant + domain, ""} }

// as returns a client with a session of a tenant.
func as(t *testing.T, tenant, role, subject string) account {
	t.Helper()
	return account{t, tenant + domain, session(t, sessionClaims(tenant, role, subject))}
}

func admin(t *testing.T) account { t.Helper(); return as(t, "admin", "admin", "admin") }
func organizer(t *testing.T, tenant string) account {
	t.Helper()
	return as(t, tenant, "organizer", "organizer")
}

func sessionClaims(tenant, role, subject string) jwt.MapClaims {
	return jwt.MapClaims{"iss": "isuports", "sub": subject, "aud": []string{tenant}, "role": role, "exp": time.Now().Unix() + 600}
}

// session signs claims with the arena's key.
func session(t *testing.T, claims jwt.MapClaims) string {
	t.Helper()
	key, err := SigningKey()
	if err != nil {
		t.Fatal(err)
	}
	return signed(t, jwt.SigningMethodRS256, key, claims)
}

// signed signs a session with any method and key.
func signed(t *testing.T, method jwt.SigningMethod, key any, claims jwt.MapClaims) string {
	t.Helper()
	text, err := jwt.NewWithClaims(method, claims).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// An answer is a received response.
type answer struct {
	what   string
	status int
	header http.Header
	body   []byte
}

// send sends a request with a body of a type.
func (a account) send(method, path, kind string, body io.Reader) answer {
	a.t.Helper()
	r, err := http.NewRequestWithContext(a.t.Context(), method, site.URL()+path, body)
	if err != nil {
		a.t.Fatal(err)
	}
	r.Host = a.host
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	if a.session != "" {
		r.AddCookie(&http.Cookie{Name: "isuports_session", Value: a.session})
	}
	res, err := (&http.Client{Timeout: time.Minute}).Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	return answer{method + " " + a.host + path, res.StatusCode, res.Header, text}
}

func (a account) get(path string) answer {
	a.t.Helper()
	return a.send("GET", path, "", nil)
}

// post sends a form: names and values in turn.
func (a account) post(path string, form ...string) answer {
	a.t.Helper()
	values := url.Values{}
	for i := 0; i+1 < len(form); i += 2 {
		values.Add(form[i], form[i+1])
	}
	return a.send("POST", path, "application/x-www-form-urlencoded", strings.NewReader(values.Encode()))
}

// upload sends a CSV file in the field scores.
func (a account) upload(competition, csv string) answer {
	a.t.Helper()
	return a.uploadAs(competition, "scores", csv)
}

func (a account) uploadAs(competition, field, csv string) answer {
	a.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile(field, "scores.csv")
	if err == nil {
		_, err = io.WriteString(part, csv)
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		a.t.Fatal(err)
	}
	return a.send("POST", "/api/organizer/competition/"+competition+"/score", form.FormDataContentType(), &body)
}

// want checks status, type and caching of an answer of the API.
func (a answer) want(t *testing.T, status int) {
	t.Helper()
	if a.status != status {
		t.Errorf("%s: status %d (%.100q), want %d", a.what, a.status, a.body, status)
	}
	if kind := a.header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
		t.Errorf("%s: content type %q, want application/json", a.what, kind)
	}
	if cache := a.header.Get("Cache-Control"); cache != "private" {
		t.Errorf("%s: Cache-Control %q, want private", a.what, cache)
	}
}

// refused checks an answer without success.
func (a answer) refused(t *testing.T, status int, message string) {
	t.Helper()
	a.want(t, status)
	var got map[string]any
	if err := json.Unmarshal(a.body, &got); err != nil || len(got) != 2 || got["status"] != false || got["message"] != message {
		t.Errorf("%s: body %s, want status false and message %q (%v)", a.what, a.body, message, err)
	}
}

// data checks an answer with success and decodes its data strictly: unknown and
// missing fields are errors of the caller's comparison.
func data[T any](t *testing.T, a answer) T {
	t.Helper()
	a.want(t, http.StatusOK)
	var got struct {
		Status bool `json:"status"`
		Data   T    `json:"data"`
	}
	d := json.NewDecoder(bytes.NewReader(a.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil || !got.Status {
		t.Fatalf("%s: %v in %.300q", a.what, err, a.body)
	}
	return got.Data
}

// The values of the API.
type (
	tenantBilling struct {
		ID          string `json:"id"`
		Name        string `json:"name"`
		DisplayName string `json:"display_name"`
		Billing     int64  `json:"billing"`
	}
	player struct {
		ID           string `json:"id"`
		DisplayName  string `json:"display_name"`
		Disqualified bool   `json:"is_disqualified"`
	}
	competition struct {
		ID       string `json:"id"`
		Title    string `json:"title"`
		Finished bool   `json:"is_finished"`
	}
	report struct {
		ID         string `json:"competition_id"`
		Title      string `json:"competition_title"`
		Players    int64  `json:"player_count"`
		Visitors   int64  `json:"visitor_count"`
		PlayerYen  int64  `json:"billing_player_yen"`
		VisitorYen int64  `json:"billing_visitor_yen"`
		Yen        int64  `json:"billing_yen"`
	}
	rank struct {
		Rank  int64  `json:"rank"`
		Score int64  `json:"score"`
		ID    string `json:"player_id"`
		Name  string `json:"player_display_name"`
	}
	ranking struct {
		Competition competition `json:"competition"`
		Ranks       []rank      `json:"ranks"`
	}
	playerScore struct {
		Title string `json:"competition_title"`
		Score int64  `json:"score"`
	}
	detail struct {
		Player player        `json:"player"`
		Scores []playerScore `json:"scores"`
	}
)

type (
	theTenants      struct{ Tenants []tenantBilling }
	thePlayers      struct{ Players []player }
	theCompetitions struct{ Competitions []competition }
	theReports      struct{ Reports []report }
)

var tenants int

// newTenant creates a tenant with players of the names p1, p2 and so on.
func newTenant(t *testing.T, players int) (name string, ids []string) {
	t.Helper()
	tenants++
	name = fmt.Sprintf("tenant-of-test-%d", tenants)
	admin(t).post("/api/admin/tenants/add", "name", name, "display_name", "テスト").want(t, http.StatusOK)
	var form []string
	for i := range players {
		form = append(form, "display_name[]", fmt.Sprintf("p%d", i+1))
	}
	for _, p := range data[thePlayers](t, organizer(t, name).post("/api/organizer/players/add", form...)).Players {
		ids = append(ids, p.ID)
	}
	return name, ids
}

// newCompetition opens a competition.
func newCompetition(t *testing.T, tenant, title string) string {
	t.Helper()
	return data[struct{ Competition competition }](t, organizer(t, tenant).post("/api/organizer/competitions/add", "title", title)).Competition.ID
}

// csvOf makes a CSV file of players and scores in turn.
func csvOf(rows ...any) string {
	var b strings.Builder
	b.WriteString("player_id,score\n")
	for i := 0; i+1 < len(rows); i += 2 {
		fmt.Fprintf(&b, "%v,%v\n", rows[i], rows[i+1])
	}
	return b.String()
}

// uploaded uploads a file and checks the number of its rows.
func uploaded(t *testing.T, tenant, competition, csv string) {
	t.Helper()
	rows := data[struct{ Rows *int64 }](t, organizer(t, tenant).upload(competition, csv)).Rows
	if want := int64(strings.Count(csv, "\n") - 1); rows == nil || *rows != want {
		t.Errorf("an upload of %d rows counts %v", want, rows)
	}
}
