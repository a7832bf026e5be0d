package xsuportal

import (
	"cmp"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/iikanji/iikanji/arenas/xsuportal/pb/errorpb"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/resources"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/admin"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/common"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/registration"
)

// A perfectApp implements the contest's API in memory. It is fast and correct, so the
// benchmarker must find no fault.
type perfectApp struct {
	capacity int
	pusher   *pusher // nil without Web Push
	host     string
	port     int64

	mu       sync.Mutex
	times    times
	people   map[string]*perfectPerson
	teams    []*perfectTeam
	jobs     []*resources.BenchmarkJob
	handles  map[int64]string
	asked    []*resources.Clarification
	notices  int64
	sessions map[string]*perfectPerson
	news     bell // a job waits
}

type perfectPerson struct {
	*resources.Contestant
	password string
	team     *perfectTeam
	notices  []*resources.Notification
	browsers []browserKeys
}

type perfectTeam struct {
	*resources.Team
	email, token string
	members      []*perfectPerson
}

// perfect starts a perfect app.
func perfect(string) (url string, stop func(), err error) {
	p := &perfectApp{capacity: 4} // few, so that they have registered in time on a busy machine
	return p.serve()
}

// serve starts the app. It speaks HTTP/1.1, and HTTP/2 for the queue, at one address.
func (p *perfectApp) serve() (address string, stop func(), err error) {
	p.reset(times{})
	s := httptest.NewUnstartedServer(p.routes())
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	u, err := url.Parse(s.URL)
	if err != nil {
		return "", nil, err
	}
	port, err := strconv.ParseInt(u.Port(), 10, 64)
	p.host, p.port = u.Hostname(), port
	return s.URL, s.Close, err
}

func (p *perfectApp) reset(t times) {
	p.times, p.teams, p.jobs, p.asked, p.notices = t, nil, nil, nil, 0
	p.handles, p.sessions = map[int64]string{}, map[string]*perfectPerson{}
	p.people = map[string]*perfectPerson{adminID: {Contestant: &resources.Contestant{Id: adminID, IsStaff: true}, password: adminPassword}}
}

// status is where the contest is.
func (p *perfectApp) status() resources.Contest_Status {
	switch now := time.Now(); {
	case now.Before(p.times.open):
		return resources.Contest_STANDBY
	case now.Before(p.times.start):
		return resources.Contest_REGISTRATION
	case now.Before(p.times.end):
		return resources.Contest_STARTED
	}
	return resources.Contest_FINISHED
}

// A refused is an answer that refuses a request.
type refused struct {
	status  int
	message string
}

var (
	noLogin = &refused{http.StatusUnauthorized, msgLoginRequired}
	noTeam  = &refused{http.StatusForbidden, msgTeamRequired}
	noStaff = &refused{http.StatusForbidden, msgStaffRequired}
	noThing = &refused{http.StatusNotFound, "not found"}
)

// A visit is one request. who is nil for a guest.
type visit struct {
	*http.Request
	w    http.ResponseWriter
	body []byte
	who  *perfectPerson
}

// read reads the message of a request.
func (v *visit) read(in proto.Message) { _ = proto.Unmarshal(v.body, in) }

// id is the number in the path.
func (v *visit) id() int64 {
	n, _ := strconv.ParseInt(v.PathValue("id"), 10, 64)
	return n
}

// An api answers a request. The caller holds the lock.
type api func(v *visit) (proto.Message, *refused)

func member3(do api) api {
	return func(v *visit) (proto.Message, *refused) {
		if v.who == nil {
			return nil, noLogin
		}
		if v.who.team == nil {
			return nil, noTeam
		}
		return do(v)
	}
}

func staff(do api) api {
	return func(v *visit) (proto.Message, *refused) {
		if v.who == nil {
			return nil, noLogin
		}
		if !v.who.IsStaff {
			return nil, noStaff
		}
		return do(v)
	}
}

func (p *perfectApp) routes() http.Handler {
	mux := http.NewServeMux()
	for pattern, do := range map[string]api{
		"POST /initialize":                        p.initialize,
		"GET /api/session":                        p.session,
		"POST /api/signup":                        p.signup,
		"POST /api/login":                         p.login,
		"POST /api/logout":                        p.logout,
		"GET /api/registration/session":           p.registration,
		"POST /api/registration/team":             p.createTeam,
		"POST /api/registration/contestant":       p.join,
		"PUT /api/registration":                   member3(p.change),
		"DELETE /api/registration":                member3(p.withdraw),
		"POST /api/contestant/benchmark_jobs":     member3(p.enqueue),
		"GET /api/contestant/benchmark_jobs":      member3(p.listJobs),
		"GET /api/contestant/benchmark_jobs/{id}": member3(p.job),
		"GET /api/contestant/clarifications":      member3(p.listQuestions),
		"POST /api/contestant/clarifications":     member3(p.ask),
		"GET /api/contestant/dashboard":           member3(p.dashboard),
		"GET /api/contestant/notifications":       member3(p.listNotices),
		"POST /api/contestant/push_subscriptions": member3(p.subscribe),
		"GET /api/audience/teams":                 p.listTeams,
		"GET /api/audience/dashboard":             p.audience,
		"GET /api/admin/clarifications":           staff(p.allQuestions),
		"GET /api/admin/clarifications/{id}":      staff(p.question),
		"PUT /api/admin/clarifications/{id}":      staff(p.answer),
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { p.handle(w, r, do) })
	}
	mux.HandleFunc("POST "+receiveMethod, p.receive)
	mux.HandleFunc("POST "+reportMethod, p.report)
	for _, f := range staticFiles() {
		mux.HandleFunc("GET "+f.path, func(w http.ResponseWriter, r *http.Request) { serveStatic(w, r, f) })
		shell, ok := strings.CutSuffix(strings.TrimPrefix(f.path, "/"), ".html")
		for _, path := range map[string][]string{audienceShell: {"/{$}", "/signup", "/registration"}, contestantShell: {"/contestant", "/contestant/"},
			adminShell: {"/admin/"}}[shell] {
			if ok {
				mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { serveStatic(w, r, f) })
			}
		}
	}
	return mux
}

func serveStatic(w http.ResponseWriter, r *http.Request, f staticFile) {
	http.ServeContent(w, r, f.path, time.Unix(1_600_000_000, 0), strings.NewReader(string(f.body)))
}

const perfectCookie = "session"

func (p *perfectApp) handle(w http.ResponseWriter, r *http.Request, do api) {
	v := &visit{Request: r, w: w, body: readAll(r)}
	p.mu.Lock()
	if c, err := r.Cookie(perfectCookie); err == nil {
		v.who = p.sessions[c.Value]
	}
	out, no := do(v)
	var body []byte
	if no == nil {
		body, _ = proto.Marshal(out)
	}
	p.mu.Unlock()
	if no != nil {
		body, _ = proto.Marshal(&errorpb.Error{Code: int32(no.status), Name: http.StatusText(no.status), HumanMessage: no.message})
		w.Header().Set("Content-Type", errorType)
		w.WriteHeader(no.status)
	} else {
		w.Header().Set("Content-Type", protobufType)
	}
	w.Write(body)
}

func (p *perfectApp) initialize(v *visit) (proto.Message, *refused) {
	in := new(admin.InitializeRequest)
	v.read(in)
	c := in.GetContest()
	p.reset(times{c.GetRegistrationOpenAt().AsTime(), c.GetContestStartsAt().AsTime(), c.GetContestFreezesAt().AsTime(), c.GetContestEndsAt().AsTime()})
	return &admin.InitializeResponse{Language: "perfect",
		BenchmarkServer: &admin.InitializeResponse_BenchmarkServer{Host: p.host, Port: p.port}}, nil
}

func (p *perfectApp) session(v *visit) (proto.Message, *refused) {
	out := &common.GetCurrentSessionResponse{Contest: p.times.message()}
	out.Contest.Status = p.status()
	if v.who != nil {
		out.Contestant = v.who.Contestant
		if v.who.team != nil {
			out.Team = v.who.team.message(true)
		}
	}
	if p.pusher != nil {
		out.PushVapidKey = p.pusher.public
	}
	return out, nil
}

func (p *perfectApp) logIn(v *visit, who *perfectPerson) {
	key := who.Id + strconv.Itoa(len(p.sessions))
	p.sessions[key] = who
	http.SetCookie(v.w, &http.Cookie{Name: perfectCookie, Value: key, Path: "/"})
}

// message is a team as answers show it.
func (t *perfectTeam) message(detail bool) *resources.Team {
	out := clone(t.Team)
	if detail {
		out.Detail = &resources.Team_TeamDetail{EmailAddress: t.email, InviteToken: t.token}
	}
	for _, m := range t.members {
		if m.Id == t.LeaderId {
			out.Leader = m.Contestant
		}
		out.Members, out.MemberIds = append(out.Members, m.Contestant), append(out.MemberIds, m.Id)
	}
	return out
}

// clone copies a message.
func clone[M proto.Message](m M) M { return proto.Clone(m).(M) }

func (p *perfectApp) registration(v *visit) (proto.Message, *refused) {
	out := new(registration.GetRegistrationSessionResponse)
	var team *perfectTeam
	if v.who != nil {
		team = v.who.team
	}
	if token := v.URL.Query().Get("invite_token"); team == nil && token != "" {
		if team = p.invited(v.URL.Query().Get("team_id"), token); team == nil {
			return nil, noThing
		}
	}
	switch {
	case v.who != nil && v.who.team != nil:
		out.Status = registration.GetRegistrationSessionResponse_JOINED
	case team != nil && len(team.members) >= members:
		out.Status = registration.GetRegistrationSessionResponse_NOT_JOINABLE
	case v.who == nil:
		out.Status = registration.GetRegistrationSessionResponse_NOT_LOGGED_IN
	case team != nil:
		out.Status = registration.GetRegistrationSessionResponse_JOINABLE
	default:
		out.Status = registration.GetRegistrationSessionResponse_CREATABLE
	}
	if team != nil {
		out.Team, out.InviteToken = team.message(v.who != nil && v.who.Id == team.LeaderId), team.token
		out.MemberInviteUrl = "/registration?" + url.Values{"team_id": {strconv.FormatInt(team.Id, 10)}, "invite_token": {team.token}}.Encode()
	}
	return out, nil
}

// invited returns the team of an invitation.
func (p *perfectApp) invited(id, token string) *perfectTeam {
	for _, t := range p.teams {
		if strconv.FormatInt(t.Id, 10) == id && t.token == token && !t.Withdrawn {
			return t
		}
	}
	return nil
}

// board makes the leaderboard as a team sees it, nil for the audience.
func (p *perfectApp) board(of *perfectTeam) *resources.Leaderboard {
	now := time.Now()
	out := new(resources.Leaderboard)
	for _, t := range p.teams {
		item := &boardItem{BestScore: new(boardScore), LatestScore: new(boardScore), Team: clone(t.Team)}
		students := len(t.members) > 0
		for _, m := range t.members {
			students = students && m.IsStudent
		}
		item.Team.Student = &resources.Team_StudentStatus{Status: students}
		for _, j := range p.jobs {
			r := j.GetResult()
			if j.TeamId != t.Id || r == nil || t != of && p.times.hidden(r.MarkedAt.AsTime(), now) {
				continue
			}
			s := &boardScore{Score: r.Score, StartedAt: j.StartedAt, MarkedAt: r.MarkedAt}
			item.Scores, item.LatestScore = append(item.Scores, s), s
			if item.BestScore.MarkedAt == nil || s.Score >= item.BestScore.Score {
				item.BestScore = s
			}
			item.FinishCount++
		}
		out.Teams = append(out.Teams, item)
	}
	slices.SortStableFunc(out.Teams, func(a, b *boardItem) int {
		switch x, y := a.LatestScore, b.LatestScore; {
		case x.MarkedAt == nil || y.MarkedAt == nil:
			return cmp.Compare(boolToInt(x.MarkedAt == nil), boolToInt(y.MarkedAt == nil))
		default:
			return cmp.Or(cmp.Compare(y.Score, x.Score), x.MarkedAt.AsTime().Compare(y.MarkedAt.AsTime()))
		}
	})
	for _, item := range out.Teams {
		if item.Team.Student.Status {
			out.StudentTeams = append(out.StudentTeams, item)
		} else {
			out.GeneralTeams = append(out.GeneralTeams, item)
		}
	}
	return out
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// tell notifies people. The caller holds the lock.
func (p *perfectApp) tell(to []*perfectPerson, about func(who *perfectPerson) *resources.Notification) {
	for _, who := range to {
		n := about(who)
		p.notices++
		n.Id, n.CreatedAt = p.notices, timestamppb.Now()
		who.notices = append(who.notices, n)
		if p.pusher != nil {
			p.pusher.send(who.browsers, n)
		}
	}
}
