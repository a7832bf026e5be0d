package isucondition

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/seeded"
)

const (
	mockISUs      = 10
	mockSeed      = 5000
	mockInterval  = 3 * time.Second
	mockBatch     = 3
	mockTokenLife = 30 * time.Minute
)

// A JIAMock serves the association's API for manual tests of the web page: a login
// form for the users isucon, isucon1, isucon2 and isucon3 (password = name), and
// ten ISUs that post without end after their activation. Stop it before a
// benchmark, because the benchmarker does not know its ISUs.
type JIAMock struct {
	// Interval is the time between two posts of an ISU: 3 s unless changed before
	// Serve.
	Interval time.Duration

	key    *ecdsa.PrivateKey
	say    func(line string)
	client *http.Client

	ctx     context.Context // context of the ISUs, which outlive the requests that activate them
	posting sync.WaitGroup
	mu      sync.Mutex
	active  map[string]bool
}

// MockUUIDs returns the ISUs of a JIAMock.
func MockUUIDs() []string {
	r := rand.New(rand.NewPCG(mockSeed, 0))
	uuids := make([]string, mockISUs)
	for i := range uuids {
		uuids[i] = seeded.UUID(r)
	}
	return uuids
}

// NewJIAMock makes a mock that signs logins with key. say may be nil; it receives
// progress lines from several goroutines.
func NewJIAMock(key *ecdsa.PrivateKey, say func(line string)) *JIAMock {
	if say == nil {
		say = func(string) {}
	}
	return &JIAMock{key: key, say: say, Interval: mockInterval, client: &http.Client{Timeout: mockInterval}, active: map[string]bool{}}
}

// Serve answers on an address such as "127.0.0.1:5000" until ctx is done. It
// returns when the last ISU has stopped posting.
func (m *JIAMock) Serve(ctx context.Context, address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("serving JIA: %w", err)
	}
	return m.serve(ctx, l)
}

func (m *JIAMock) serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer m.posting.Wait()
	defer cancel()
	m.ctx = ctx
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", m.form)
	mux.HandleFunc("POST /{$}", m.login)
	mux.HandleFunc("POST /api/auth", m.auth)
	mux.HandleFunc("POST /api/activate", m.activate)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	m.say("JIA answers on http://" + l.Addr().String())
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving JIA: %w", err)
	}
	return nil
}

//go:embed jiamock.html
var mockPage string

var mockForm = template.Must(template.New("form").Parse(mockPage))

// form shows the login page. After the login, the browser is sent to the callback.
func (m *JIAMock) form(w http.ResponseWriter, r *http.Request) { m.show(w, r, http.StatusOK, "") }

func (m *JIAMock) show(w http.ResponseWriter, r *http.Request, status int, problem string) {
	var page bytes.Buffer
	err := mockForm.Execute(&page, struct {
		Callback, Problem string
		UUIDs             []string
	}{r.FormValue("callback"), problem, MockUUIDs()})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(page.Bytes()) // an error means that the browser closed the connection
}

// login handles the form and redirects to the callback with a token.
func (m *JIAMock) login(w http.ResponseWriter, r *http.Request) {
	token, err := m.token(r.FormValue("user"), r.FormValue("password"))
	if err != nil {
		m.show(w, r, http.StatusUnauthorized, err.Error())
		return
	}
	back, err := url.Parse(r.FormValue("callback"))
	if err != nil || back.Scheme != "http" && back.Scheme != "https" {
		m.show(w, r, http.StatusBadRequest, "callback に http(s) の URL がありません")
		return
	}
	query := back.Query()
	query.Set("jwt", token)
	back.RawQuery = query.Encode()
	http.Redirect(w, r, back.String(), http.StatusSeeOther)
}

// auth returns a token as plain text, for programs.
func (m *JIAMock) auth(w http.ResponseWriter, r *http.Request) {
	var who struct{ User, Password string }
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(&who); err != nil {
		http.Error(w, "bad request body", http.StatusBadRequest)
		return
	}
	token, err := m.token(who.User, who.Password)
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	io.WriteString(w, token) // an error means that the client closed the connection
}

func (m *JIAMock) token(user, password string) (string, error) {
	switch user {
	case "isucon", "isucon1", "isucon2", "isucon3":
	default:
		return "", errors.New("ユーザー名かパスワードが違います")
	}
	if password != user {
		return "", errors.New("ユーザー名かパスワードが違います")
	}
	now := time.Now()
	return SignToken(m.key, map[string]any{"jia_user_id": user, "iat": now.Unix() - 1, "exp": now.Add(mockTokenLife).Unix()})
}

// activate starts the posts of one of the known ISUs. Further calls do not change
// its target.
func (m *JIAMock) activate(w http.ResponseWriter, r *http.Request) {
	var order struct {
		Target string `json:"target_base_url"`
		UUID   string `json:"isu_uuid"`
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(&order); err != nil {
		http.Error(w, "bad request body", http.StatusBadRequest)
		return
	}
	if target, err := url.Parse(order.Target); err != nil || target.Scheme != "http" && target.Scheme != "https" || target.Host == "" {
		http.Error(w, "bad target_base_url", http.StatusBadRequest)
		return
	}
	for i, uuid := range MockUUIDs() {
		if uuid == order.UUID {
			m.start(i, uuid, strings.TrimSuffix(order.Target, "/"))
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprintf(w, "{\"character\":%q}\n", Labels[i])
			return
		}
	}
	http.Error(w, "bad isu_uuid", http.StatusNotFound)
}

func (m *JIAMock) start(character int, uuid, target string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.active[uuid] {
		return
	}
	m.active[uuid] = true
	m.say(fmt.Sprintf("ISU %s (%s) posts to %s", uuid, Labels[character], target))
	m.posting.Add(1)
	go m.post(character, target+"/api/condition/"+uuid)
}

// post sends three conditions per interval until the mock ends.
func (m *JIAMock) post(character int, address string) {
	defer m.posting.Done()
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), uint64(character)))
	tick := time.NewTicker(m.Interval)
	defer tick.Stop()
	var last *Condition
	said := ""
	for {
		var batch []map[string]any
		at := time.Now().Unix() - mockBatch + 1
		if last != nil {
			at = max(at, last.Timestamp+1) // timestamps must be unique
		}
		for i := range int64(mockBatch) {
			c := nextCondition(r, last, character, at+i)
			last = &c
			batch = append(batch, map[string]any{"is_sitting": c.IsSitting, "condition": c.Flags.Condition(), "message": c.Message, "timestamp": c.Timestamp})
		}
		if problem := m.send(address, batch); problem != said && m.ctx.Err() == nil {
			said = problem
			m.say(fmt.Sprintf("posting to %s: %s", address, problem))
		}
		select {
		case <-m.ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// send posts one batch and returns the outcome, "ok" if it was accepted.
func (m *JIAMock) send(address string, batch []map[string]any) string {
	body, err := json.Marshal(batch)
	if err != nil {
		return err.Error()
	}
	req, err := http.NewRequestWithContext(m.ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return err.Error()
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := m.client.Do(req)
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	io.Copy(io.Discard, res.Body) // reads to the end so that the connection is reused
	if res.StatusCode != http.StatusAccepted {
		return res.Status
	}
	return "ok"
}
