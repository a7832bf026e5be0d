package notify

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/load/webpush"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// A mailbox is a mail server that keeps what it is given. Reply is its answer to a message.
type mailbox struct {
	listener net.Listener
	mu       sync.Mutex
	got      []string // envelope and data
	reply    string
}

func newMailbox(t *testing.T) *mailbox {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &mailbox{listener: l, reply: "250 kept"}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go m.serve(c)
		}
	}()
	return m
}

// serve speaks SMTP (RFC 5321).
func (m *mailbox) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	say := func(text string) { fmt.Fprintf(c, "%s\r\n", text) }
	say("220 mailbox")
	envelope := ""
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		switch verb := strings.ToUpper(strings.Fields(line + " x")[0]); verb {
		case "EHLO":
			say("250-mailbox")
			say("250 8BITMIME")
		case "MAIL", "RCPT":
			envelope += line + "\n"
			say("250 ok")
		case "DATA":
			say("354 go on")
			data := ""
			for {
				l, err := in.ReadString('\n')
				if err != nil {
					return
				}
				if l == ".\r\n" {
					break
				}
				data += strings.TrimPrefix(l, ".")
			}
			m.mu.Lock()
			if reply := m.reply; strings.HasPrefix(reply, "2") {
				m.got = append(m.got, envelope+"\n"+data)
			}
			say(m.reply)
			m.mu.Unlock()
			envelope = ""
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

func (m *mailbox) all() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.got...)
}

func (m *mailbox) answers(reply string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reply = reply
}

// A hall is a portal without processes, at an instant that the test chooses.
type hall struct {
	*Service
	t       *testing.T
	core    *lead.Core
	mu      sync.Mutex
	at      time.Time
	mailbox *mailbox
	team    string
	leader  api.Who
	staff   api.Who
}

const cup = `name = "Cup"
local = true
[[rounds]]
id = "final"
problem = "p"
start = 2027-02-06T10:00:00Z
hours = 8
[problem.p]
command = ["true"]
`

func newHall(t *testing.T, services ...string) *hall {
	t.Helper()
	h := &hall{t: t, at: time.Date(2027, 2, 6, 12, 0, 0, 0, time.UTC), mailbox: newMailbox(t)}
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "n.db"), store.Options{Unsafe: true})
	h.ok(err)
	t.Cleanup(func() { s.Close() })
	h.core = lead.New(lead.Options{Store: s, Carry: carry.NewMemory(h.now), Now: h.now})
	_, err = h.core.AddContest(t.Context(), []byte(cup), "cup.toml")
	h.ok(err)
	made, err := h.core.NewTeam(t.Context(), lead.NewTeam{Contest: "cup", Name: "one"}, "")
	h.ok(err)
	h.team = made.Team
	h.leader, _, err = h.core.ByToken(t.Context(), lead.ScopeRun, made.Token)
	h.ok(err)
	id, err := h.core.AddAccount(t.Context(), "judge", api.Judge, "")
	h.ok(err)
	h.staff = api.Who{Account: id, Name: "judge", Role: api.Judge}
	keys, err := webpush.NewKeys()
	h.ok(err)
	port := h.mailbox.listener.Addr().(*net.TCPAddr).Port
	m, err := ReadMail(fmt.Sprintf("smtp://127.0.0.1:%d?from=portal@example.com", port), "")
	h.ok(err)
	h.Service = New(Options{Core: h.core, Secret: []byte("s"), Base: "https://portal.example", Keys: keys, Mail: m, Client: http.DefaultClient, Services: services, Hooks: true})
	return h
}

func (h *hall) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at
}

func (h *hall) later(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = h.at.Add(d)
}

func (h *hall) ok(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// contact gives an account a proven mail address.
func (h *hall) contact(who api.Who, address, lang string) {
	h.t.Helper()
	h.ok(h.core.Write(h.t.Context(), "contact", func(tx *store.Tx) error {
		_, err := tx.Exec("INSERT INTO contacts (account, mail, lang, created) VALUES (?, ?, ?, 0)", who.Account, address, lang)
		return err
	}))
}

// round plans and sends until nothing is due.
func (h *hall) round() {
	h.t.Helper()
	h.ok(h.Plan(h.t.Context()))
	for n := 1; n > 0; {
		var err error
		n, err = h.Send(h.t.Context())
		h.ok(err)
	}
}

func (h *hall) say(who api.Who, s api.Say) *api.Message {
	h.t.Helper()
	s.Round = "cup_final"
	m, err := h.core.Say(h.t.Context(), who, s)
	h.ok(err)
	return m
}

// counts are the deliveries by state.
func (h *hall) counts() (out map[string]int) {
	h.t.Helper()
	out = map[string]int{}
	h.ok(h.core.Read(h.t.Context(), func(tx *store.Tx) error {
		return tx.Each("SELECT state, COUNT(*) FROM deliveries GROUP BY state", nil, func(scan func(...any) error) error {
			state, n := "", 0
			err := scan(&state, &n)
			out[state] = n
			return err
		})
	}))
	return out
}

// A receiver is a server that keeps requests and answers as a test wants.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	got    []*http.Request
	bodies [][]byte
	status []int // of the next answers; the last one stays
}

func newReceiver(t *testing.T, status ...int) *receiver {
	t.Helper()
	r := &receiver{status: status}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got, r.bodies = append(r.got, req), append(r.bodies, body)
		if r.status[0] >= 300 && r.status[0] < 400 {
			w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
		}
		w.WriteHeader(r.status[0])
		if len(r.status) > 1 {
			r.status = r.status[1:]
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) host() string { return strings.TrimPrefix(r.URL, "http://") }

// TestMail: acts on the clock reach mail without a subscription, in the person's language; a
// message once; headings and addresses from outside stay in their place.
func TestMail(t *testing.T) {
	h := newHall(t)
	h.contact(h.leader, "aoi@example.com", "ja")
	h.ok(h.core.Act(t.Context(), h.staff.Account, "cup_final", contest.Act{Kind: contest.Pause, Reason: "the network\r\nBcc: evil@example.com"}))
	h.say(h.staff, api.Say{Kind: "announcement", Text: "not asked for"})
	h.round()
	h.round() // nothing is planned or sent twice
	got := h.mailbox.all()
	if len(got) != 1 {
		t.Fatalf("%d mails: %q", len(got), got)
	}
	envelope, data, _ := strings.Cut(got[0], "\n\n")
	if !strings.Contains(envelope, "FROM:<portal@example.com>") || !strings.Contains(envelope, "TO:<aoi@example.com>") || strings.Contains(envelope, "evil") {
		t.Errorf("the envelope is %q", envelope)
	}
	m, err := mail.ReadMessage(strings.NewReader(data))
	h.ok(err)
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	h.ok(err)
	body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	h.ok(err)
	if subject != "日程の変更" || m.Header.Get("Bcc") != "" || m.Header.Get("Auto-Submitted") != "auto-generated" || !strings.Contains(m.Header.Get("Message-Id"), "@example.com>") ||
		!strings.Contains(string(body), "中断: the network") || !strings.Contains(string(body), "https://portal.example/r/cup_final") {
		t.Errorf("the mail is %q:\n%s\n%v", subject, body, m.Header)
	}
	for _, to := range []string{"a@b\r\nBcc: x@y", "", "no address", "<a@b>, c@d"} {
		var dead *deadError
		if _, err := h.o.Mail.message(to, "id", "subject", "text"); !errors.As(err, &dead) {
			t.Errorf("the address %q: %v", to, err)
		}
	}
	hostile, err := h.o.Mail.message("a@example.com", "id", "one\r\nX-Evil: 1\u202e", ".\r\nQUIT\r\n")
	h.ok(err)
	h.ok(h.o.Mail.deliver(t.Context(), hostile))
	last := h.mailbox.all()[1]
	if m, err = mail.ReadMessage(strings.NewReader(last[strings.Index(last, "\n\n")+2:])); err != nil || m.Header.Get("X-Evil") != "" {
		t.Errorf("a heading was forged: %v %v", m, err)
	}
}

// TestRetry: a server that is not ready is asked again, later and later, and gets the message
// once; one that refuses, or that does not answer for a day, is given up, and staff sees it.
func TestRetry(t *testing.T) {
	h := newHall(t)
	h.contact(h.leader, "aoi@example.com", "")
	h.mailbox.answers("451 later")
	h.ok(h.core.Act(t.Context(), "o", "cup_final", contest.Act{Kind: contest.Pause, Reason: "x"}))
	h.round()
	if got := h.counts(); got["due"] != 1 || len(h.mailbox.all()) != 0 {
		t.Fatalf("after a refusal: %v", got)
	}
	list, err := h.Undelivered(t.Context(), h.staff)
	if err != nil || len(list) != 1 || list[0].Tries != 1 || !strings.Contains(list[0].Why, "451") {
		t.Errorf("staff sees %+v, %v", list, err)
	}
	if _, err := h.Undelivered(t.Context(), h.leader); !errors.Is(err, api.ErrForbidden) {
		t.Errorf("a team sees undelivered notices: %v", err)
	}
	h.round() // it is not due
	h.later(11 * time.Second)
	h.round()
	h.later(11 * time.Second)
	h.mailbox.answers("250 kept")
	h.round() // the second wait is 20 s
	if len(h.mailbox.all()) != 0 {
		t.Error("it was tried before its time")
	}
	h.later(10 * time.Second)
	h.round()
	h.round()
	if got := h.counts(); got["sent"] != 1 || len(h.mailbox.all()) != 1 {
		t.Errorf("%v, %d mails", got, len(h.mailbox.all()))
	}
	h.mailbox.answers("550 no such user")
	h.ok(h.core.Act(t.Context(), "o", "cup_final", contest.Act{Kind: contest.Resume, Reason: "x"}))
	h.round()
	if got := h.counts(); got["dead"] != 1 {
		t.Errorf("after a final refusal: %v", got)
	}
	h.mailbox.answers("451 later")
	h.ok(h.core.Act(t.Context(), "o", "cup_final", contest.Act{Kind: contest.Extend, By: time.Hour, Reason: "x"}))
	for range 60 {
		h.round()
		h.later(mostWait)
	}
	if got := h.counts(); got["dead"] != 2 || got["due"] != 0 {
		t.Errorf("after two days: %v", got)
	}
}

// TestPush: a browser gets what it may read, encrypted and signed, with an id that makes a
// repeated message one; a subscription that is gone is deleted.
func TestPush(t *testing.T) {
	service := newReceiver(t, http.StatusCreated)
	h := newHall(t, service.host())
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	h.ok(err)
	auth := []byte("0123456789abcdef")
	n := api.NewSubscription{Channel: "push", Address: service.URL + "/push/1", Point: base64.RawURLEncoding.EncodeToString(private.PublicKey().Bytes()), Auth: base64.URLEncoding.EncodeToString(auth)}
	for what, spoil := range map[string]func(*api.NewSubscription){
		"another host": func(n *api.NewSubscription) { n.Address = "https://push.evil.example/1" },
		"a suffix":     func(n *api.NewSubscription) { n.Address = "https://evilpush.apple.com.evil.example/1" },
		"no TLS":       func(n *api.NewSubscription) { n.Address = "http://fcm.googleapis.com/1" },
		"a user":       func(n *api.NewSubscription) { n.Address = "https://x@fcm.googleapis.com/1" },
		"no point":     func(n *api.NewSubscription) { n.Point = "AAAA" },
		"no secret":    func(n *api.NewSubscription) { n.Auth = "" },
	} {
		bad := n
		spoil(&bad)
		if _, err := h.Subscribe(t.Context(), h.leader, bad); err == nil {
			t.Errorf("%s: it was taken", what)
		}
	}
	_, err = h.Subscribe(t.Context(), h.leader, n)
	h.ok(err)
	q := h.say(h.leader, api.Say{Kind: "question", Text: "may we?"})
	h.say(h.staff, api.Say{Kind: "answer", To: q.ID, Text: strings.Repeat("はい。", 3000)[:3999]})
	h.round()
	service.mu.Lock()
	if len(service.got) != 1 {
		t.Fatalf("%d pushes", len(service.got))
	}
	req, body := service.got[0], service.bodies[0]
	service.mu.Unlock()
	h.ok(webpush.Check(req.Header.Get("Authorization"), service.URL, h.Key(), time.Now()))
	text, err := webpush.Open(body, private, auth)
	h.ok(err)
	var got Notice
	h.ok(json.Unmarshal(text, &got))
	if got.Title != "Answer to a question" || !strings.HasPrefix(got.Text, "はい。") || got.ID == "" || len(body) > webpush.MaxMessage || req.Header.Get("TTL") != "86400" {
		t.Errorf("the browser gets %+v of %d bytes", got, len(body))
	}
	service.mu.Lock()
	service.status = []int{http.StatusGone}
	service.mu.Unlock()
	h.say(h.staff, api.Say{Kind: "announcement", Text: "all"})
	h.round()
	if list, err := h.Subscriptions(t.Context(), h.leader); err != nil || len(list) != 0 {
		t.Errorf("a subscription that is gone stays: %+v, %v", list, err)
	}
}

// TestWebhook: a signed body; an answer that is an error is asked again; a redirect is not
// followed; only public addresses are allowed.
func TestWebhook(t *testing.T) {
	hook := newReceiver(t, http.StatusServiceUnavailable, http.StatusOK)
	h := newHall(t)
	sub, err := h.Subscribe(t.Context(), h.staff, api.NewSubscription{Channel: "webhook", Address: hook.URL + "/hook?token=s3cr3t"})
	h.ok(err)
	q := h.say(h.leader, api.Say{Kind: "question", Text: "may we?"})
	h.round()
	h.later(time.Minute)
	h.round()
	if len(hook.got) != 2 || !bytes.Equal(hook.bodies[0], hook.bodies[1]) || hook.got[0].Header.Get("Iikanji-Delivery") != hook.got[1].Header.Get("Iikanji-Delivery") {
		t.Fatalf("%d calls", len(hook.got))
	}
	header := hook.got[1].Header
	if want := Signature(sub.Secret, header.Get("Iikanji-Timestamp"), hook.bodies[1]); header.Get("Iikanji-Signature") != want || sub.Secret == "" {
		t.Errorf("the signature is %q, want %q", header.Get("Iikanji-Signature"), want)
	}
	var got Notice
	if err := json.Unmarshal(hook.bodies[1], &got); err != nil || got.Text != q.Text || got.URL != "https://portal.example/staff/cup_final" {
		t.Errorf("the body is %s", hook.bodies[1])
	}
	list, err := h.Subscriptions(t.Context(), h.staff)
	if err != nil || len(list) != 1 || strings.Contains(list[0].Address, "s3cr3t") || list[0].Secret != "" {
		t.Errorf("the page shows %+v, %v", list, err)
	}
	hook.status = []int{http.StatusFound}
	h.client = &http.Client{CheckRedirect: strict().CheckRedirect}
	h.say(h.leader, api.Say{Kind: "question", Text: "again?"})
	h.round()
	if got := h.counts(); got["dead"] != 1 {
		t.Errorf("after a redirect: %v", got)
	}
	h.o.Hooks = false
	for _, address := range []string{"http://example.com/", "https://127.0.0.1/", "https://10.0.0.1/", "https://[::1]/", "https://169.254.169.254/", "https://user@example.com/", "ftp://example.com/", "https:///x", "x"} {
		if h.checkHook(address) == nil {
			t.Errorf("the webhook %s was taken", address)
		}
	}
}

// TestStrict: the client of the portal reaches no private address, whatever a name stands for.
func TestStrict(t *testing.T) {
	r := newReceiver(t, http.StatusOK)
	for _, address := range []string{r.URL, strings.Replace(r.URL, "127.0.0.1", "localhost", 1)} {
		res, err := strict().Get(address)
		if err == nil {
			res.Body.Close()
		}
		if !errors.Is(err, errAddress) || len(r.got) > 0 {
			t.Errorf("%s was called: %v", address, err)
		}
	}
	for text, want := range map[string]bool{"8.8.8.8": true, "2606:4700::1": true, "10.1.2.3": false, "192.168.0.1": false, "172.16.0.1": false, "127.0.0.1": false, "169.254.1.1": false, "224.0.0.1": false, "0.0.0.0": false,
		"100.64.0.1": false, "::1": false, "fe80::1": false, "fc00::1": false, "::ffff:10.0.0.1": false, "64:ff9b::a00:1": false, "2002:a00:1::": false} {
		if got := public(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s is public: %v", text, got)
		}
	}
}

// TestWho: each reader is told what it may read and what it chose.
func TestWho(t *testing.T) {
	h := newHall(t)
	hooks := map[string]*receiver{}
	other, err := h.core.NewTeam(t.Context(), lead.NewTeam{Contest: "cup", Name: "two"}, "")
	h.ok(err)
	rival, _, err := h.core.ByToken(t.Context(), lead.ScopeRun, other.Token)
	h.ok(err)
	outside, err := h.core.AddAccount(t.Context(), "outside", api.Spectator, "")
	h.ok(err)
	for name, who := range map[string]api.Who{"own": h.leader, "rival": rival, "staff": h.staff, "outside": {Account: outside, Role: api.Spectator}} {
		hooks[name] = newReceiver(t, http.StatusOK)
		_, err := h.Subscribe(t.Context(), who, api.NewSubscription{Channel: "webhook", Address: hooks[name].URL})
		h.ok(err)
	}
	q := h.say(h.leader, api.Say{Kind: "question", Text: "a secret question"})
	h.say(h.staff, api.Say{Kind: "answer", To: q.ID, Text: "private"})
	q = h.say(h.leader, api.Say{Kind: "question", Text: "another question"})
	h.say(h.staff, api.Say{Kind: "answer", To: q.ID, Text: "published", Public: true})
	h.say(h.staff, api.Say{Kind: "announcement", Text: "to all"})
	h.say(h.staff, api.Say{Kind: "announcement", Text: "to one", Team: h.team})
	h.round()
	for name, want := range map[string]string{"own": "private published to all to one", "rival": "published to all", "staff": "a secret question another question to all to one", "outside": ""} {
		var got []string
		for _, body := range hooks[name].bodies {
			var n Notice
			h.ok(json.Unmarshal(body, &n))
			got = append(got, n.Text)
		}
		for _, text := range []string{"a secret question", "another question", "private", "published", "to all", "to one"} {
			if has := strings.Contains(strings.Join(got, "|"), text); has != strings.Contains(want, text) {
				t.Errorf("%s was told %q", name, got)
			}
		}
	}
}

// TestKilled: a process that is killed between the send and its note sends once more, with the
// same id; another process does not take what is being sent.
func TestKilled(t *testing.T) {
	hook := newReceiver(t, http.StatusOK)
	h := newHall(t)
	_, err := h.Subscribe(t.Context(), h.staff, api.NewSubscription{Channel: "webhook", Address: hook.URL})
	h.ok(err)
	h.ok(h.Test(t.Context(), h.staff))
	first, err := h.claim(t.Context())
	if err != nil || len(first) != 1 {
		t.Fatalf("claimed %d, %v", len(first), err)
	}
	h.ok(h.send(t.Context(), first[0])) // and no note
	if again, err := h.claim(t.Context()); err != nil || len(again) != 0 {
		t.Errorf("another process claims %d, %v", len(again), err)
	}
	h.later(claimed + time.Second)
	h.round()
	h.round()
	if len(hook.got) != 2 || hook.got[0].Header.Get("Iikanji-Delivery") != hook.got[1].Header.Get("Iikanji-Delivery") {
		t.Errorf("%d calls", len(hook.got))
	}
}

// TestRun: the loop tells what happens, and ends with its context.
func TestRun(t *testing.T) {
	hook := newReceiver(t, http.StatusOK)
	h := newHall(t)
	_, err := h.Subscribe(t.Context(), h.staff, api.NewSubscription{Channel: "webhook", Address: hook.URL})
	h.ok(err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.Run(ctx, slog.New(slog.DiscardHandler))
	}()
	h.ok(h.Test(t.Context(), h.staff))
	for end := time.Now().Add(time.Minute); h.counts()["sent"] == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nothing was sent")
		}
	}
	cancel()
	<-ended
}

// TestReadMail: which addresses of a mail server are taken.
func TestReadMail(t *testing.T) {
	for text, ok := range map[string]bool{
		"smtp://user@mail.example.com:587?from=portal@example.com": true, "smtp://127.0.0.1:25?from=a@b.example": true, "smtp://user@127.0.0.1:25?from=a@b.example": false,
		"smtp://mail.example.com": false, "http://mail.example.com?from=a@b": false, "smtp://mail.example.com?from=a%0d%0aBcc:x@y": false,
	} {
		m, err := ReadMail(text, "p")
		if (err == nil) != ok {
			t.Errorf("%s: %+v, %v", text, m, err)
		}
		if u, _ := url.Parse(text); ok && m.Plain != (u.Hostname() == "127.0.0.1") {
			t.Errorf("%s: without TLS %v", text, m.Plain)
		}
	}
}
