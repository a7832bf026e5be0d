package isucondition_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	. "github.com/iikanji/iikanji/arenas/isucondition"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest/apptest"
	"github.com/iikanji/iikanji/internal/contest/stack"
)

// The stack's supervisor is this same binary, executed again. It must branch into
// the supervisor before any test runs.
func init() { stack.MaybeSupervise() }

// A contestTest is a test of the running contest.
type contestTest struct {
	name string
	run  func(*testing.T)
}

// apiTests hold for the app in each language.
var apiTests = []contestTest{
	{"initialize", testInitialize}, {"pages", testPages},
	{"tokens", testTokens}, {"session", testSession}, {"signed out", testSignedOut},
	{"lists", testLists}, {"foreign", testForeign}, {"registers", testRegisters}, {"trend", testTrend}, {"mock", testMock},
	{"history", testHistory}, {"graph", testGraph},
	{"takes reports", testTakesReports}, {"refuses reports", testRefusesReports}, {"drops", testDrops}, {"slow", testSlow},
	{"other paths", testOtherPaths},
}

// testContest runs tests of the app in Go; each test initializes the app again.
func testContest(t *testing.T, s *stack.Stack) {
	contest.on(t, s, "go")
	for _, c := range append(apiTests, contestTest{"schema", testSchema},
		contestTest{"browser guest", testBrowserGuest}, contestTest{"browser owner", testBrowserOwner},
		contestTest{"browser registers", testBrowserRegisters}, contestTest{"browser signs out", testBrowserSignsOut}) {
		t.Run(c.name, c.run)
	}
}

// testNodeContest runs tests of the app in JavaScript, which has the same API.
func testNodeContest(t *testing.T, s *stack.Stack) {
	contest.on(t, s, "nodejs")
	for _, c := range append(apiTests, contestTest{"request log", testNodeLog}) {
		t.Run(c.name, c.run)
	}
}

// theContest holds the running stack and what the tests need of it.
type theContest struct {
	*apptest.Site
	language string // as initialize answers it
	data     *Data
	jia      *httptest.Server
}

var contest theContest

// on has the tests use a stack.
func (c *theContest) on(t *testing.T, s *stack.Stack, language string) {
	t.Helper()
	c.Site, c.language = apptest.On(t, s), language
	var err error
	if c.data, err = LoadData(c.Stack.Data()); err != nil {
		t.Fatal(err)
	}
	c.jia = httptest.NewServer(http.HandlerFunc(activateForTest))
	t.Cleanup(c.jia.Close)
}

// activateForTest acts as JIA. UUIDs that begin with "a" are ISUs of character 3.
// UUIDs that begin with digits are refused with those digits as the status. Others
// are unknown.
func activateForTest(w http.ResponseWriter, r *http.Request) {
	var order struct {
		Target string `json:"target_base_url"`
		UUID   string `json:"isu_uuid"`
	}
	if err := json.NewDecoder(r.Body).Decode(&order); err != nil || r.URL.Path != "/api/activate" || r.Method != http.MethodPost {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	status := 0
	switch _, err := fmt.Sscanf(order.UUID, "%3d", &status); {
	case err == nil:
		http.Error(w, "refused", status)
	case !strings.HasPrefix(order.UUID, "a") || order.Target != contest.URL():
		http.Error(w, "not found", http.StatusNotFound)
	default:
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintf(w, `{"character":%q}`, Labels[3])
	}
}

// fresh returns the running contest with its initial data restored.
func fresh(t *testing.T) *theContest {
	t.Helper()
	res := contest.NewClient(t).Send("POST", "/initialize", apptest.WithJSON(map[string]string{"jia_service_url": contest.jia.URL}))
	res.Want(t, http.StatusOK, "")
	return &contest
}

// signedIn returns a guest signed in as a user.
func signedIn(t *testing.T, user string) *apptest.Client {
	t.Helper()
	g := contest.NewClient(t)
	g.Send("POST", "/api/auth", withToken(tokenFor(t, user))).Want(t, http.StatusOK, "")
	return g
}

func tokenFor(t *testing.T, user string) string {
	t.Helper()
	key, err := SigningKey("")
	if err != nil {
		t.Fatal(err)
	}
	token, err := SignToken(key, map[string]any{"jia_user_id": user, "iat": time.Now().Unix() - 1, "exp": time.Now().Unix() + 30})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func withToken(token string) apptest.Edit {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
}
