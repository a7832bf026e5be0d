package xsuportal

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/errorpb"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/resources"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/admin"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/audience"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/common"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/contestant"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/services/registration"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// ease makes the app fast enough for many runs: MariaDB prepares no statements, and the log of
// requests is off.
var ease = []arenatest.Edit{
	{File: "go/db.go", Old: "\tdb, err := sqlx.Open(", New: "\tc.InterpolateParams = true\n\tdb, err := sqlx.Open("},
	{File: "go/cmd/xsuportal/main.go", Old: "\te.Use(middleware.Logger())\n", New: ""},
}

// faults are all planted faults.
var faults = slices.Concat(pageFaults, accountFaults, registrationFaults, jobFaults, boardFaults, questionFaults, refusalFaults, queueFaults, loadFaults)

// by and on make the patterns for the faults that must be reported.
func by(checks ...string) (want []arenatest.Caught) {
	for _, c := range checks {
		want = append(want, arenatest.By(c))
	}
	return want
}

func on(kind iikanji.FaultKind, step scenario.Step) []arenatest.Caught {
	return []arenatest.Caught{arenatest.On(kind, stepNames[step])}
}

// plain wraps a hook without state.
func plain(h arenatest.Hook) func() arenatest.Hook { return func() arenatest.Hook { return h } }

// changed changes the messages of successful answers.
func changed[T any, M interface {
	*T
	proto.Message
}](method, pattern string, change func(m M)) func() arenatest.Hook {
	return changedIn(scenario.Phase(""), method, pattern, change)
}

func changedIn[T any, M interface {
	*T
	proto.Message
}](phase scenario.Phase, method, pattern string, change func(m M)) func() arenatest.Hook {
	return plain(arenatest.When(phase, method, pattern, arenatest.After(http.StatusOK, rewrite(change))))
}

// rewrite changes the message of an answer.
func rewrite[T any, M interface {
	*T
	proto.Message
}](change func(m M)) func(x *arenatest.Exchange) {
	return func(x *arenatest.Exchange) {
		m := M(new(T))
		if proto.Unmarshal(x.Reply, m) != nil {
			return
		}
		change(m)
		b, err := proto.Marshal(m)
		if err != nil {
			panic("BUG: " + err.Error())
		}
		x.Reply = b
	}
}

// instead answers those requests otherwise that the app answers with a status.
func instead(method, pattern string, status, other int, m proto.Message) func() arenatest.Hook {
	body, err := proto.Marshal(m)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return plain(arenatest.When("", method, pattern, arenatest.After(status, func(x *arenatest.Exchange) {
		x.Give(other, protobufType, string(body))
	})))
}

// saying changes what refusals say.
func saying(method, pattern string, change func(e *errorpb.Error)) func() arenatest.Hook {
	return plain(arenatest.When("", method, pattern, func(x *arenatest.Exchange, forward func()) {
		if forward(); x.Answer.Get("Content-Type") == errorType {
			rewrite(change)(x)
		}
	}))
}

const atJob = "/api/contestant/benchmark_jobs/*"

// pageFaults are wrong files and pages.
var pageFaults = []arenatest.Fault{
	{Name: "page without a script", Want: by("page-assets"), Spoil: plain(arenatest.When("", "GET", "/signup", arenatest.After(200, func(x *arenatest.Exchange) {
		x.Reply = bytes.Replace(x.Reply, []byte(vendorPath), []byte("/packs/other.js"), 1)
	})))},
	{Name: "script with another byte", Want: by("asset-crc"), Spoil: plain(arenatest.When("", "GET", vendorPath, arenatest.After(200, func(x *arenatest.Exchange) {
		x.Reply = append([]byte{'!'}, x.Reply[1:]...)
	})))},
	{Name: "page of another shell", Want: by("page-assets"), Spoil: plain(arenatest.When("", "GET", "/contestant", arenatest.After(200, func(x *arenatest.Exchange) {
		x.Reply = bytes.Replace(x.Reply, []byte(scriptPath(contestantShell)), []byte(scriptPath(audienceShell)), 1)
	})))},
}

// accountFaults are wrong sessions and logins.
var accountFaults = []arenatest.Fault{
	{Name: "no language", Want: by("initialize-language"), Spoil: changed("POST", "/initialize", func(m *admin.InitializeResponse) { m.Language = "" })},
	{Name: "no benchmark server", Want: by("initialize-queue"), Spoil: changed("POST", "/initialize", func(m *admin.InitializeResponse) { m.BenchmarkServer = nil })},
	{Name: "times in whole seconds", Want: by("session-contest"), Spoil: changed("GET", "/api/session", func(m *common.GetCurrentSessionResponse) {
		m.Contest.ContestStartsAt.Nanos = 0
		m.Contest.ContestEndsAt.Nanos = 1000
	})},
	{Name: "name of another", Want: by("session-contestant"), Spoil: changed("GET", "/api/session", func(m *common.GetCurrentSessionResponse) {
		if m.Contestant != nil {
			m.Contestant.Name = "x"
		}
	})},
	{Name: "student flag in the session", Want: by("session-team"), Spoil: changed("GET", "/api/session", func(m *common.GetCurrentSessionResponse) {
		if m.Team != nil {
			m.Team.Student = &resources.Team_StudentStatus{}
		}
	})},
	{Name: "logout without effect", Want: by("session-logout"), Spoil: plain(arenatest.When("", "POST", "/api/logout", arenatest.After(200, func(x *arenatest.Exchange) {
		x.Answer.Del("Set-Cookie")
	})))},
	{Name: "an ID twice", Want: on(iikanji.FaultStatus, stepSignup), Spoil: instead("POST", "/api/signup", 400, 200, new(contestant.SignupResponse))},
	{Name: "any password", Want: on(iikanji.FaultStatus, stepLogin), Spoil: instead("POST", "/api/login", 400, 200, new(contestant.LoginResponse))},
}

// registrationFaults are wrong teams.
var registrationFaults = []arenatest.Fault{
	{Name: "teams before the registration", Want: on(iikanji.FaultStatus, stepCreateTeam),
		Spoil: instead("POST", "/api/registration/team", 403, 200, &registration.CreateTeamResponse{TeamId: 1})},
	{Name: "a fourth member", Want: on(iikanji.FaultStatus, stepJoinTeam),
		Spoil: instead("POST", "/api/registration/contestant", 400, 200, new(registration.JoinTeamResponse))},
	{Name: "a full team can be joined", Want: by("registration-status"), Spoil: changed("GET", "/api/registration/session",
		func(m *registration.GetRegistrationSessionResponse) {
			if m.Status == registration.GetRegistrationSessionResponse_NOT_JOINABLE {
				m.Status = registration.GetRegistrationSessionResponse_JOINABLE
			}
		})},
	{Name: "address for everyone", Want: by("registration-detail"), Spoil: changed("GET", "/api/registration/session",
		func(m *registration.GetRegistrationSessionResponse) {
			if m.Team != nil && m.Team.Detail == nil {
				m.Team.Detail = &resources.Team_TeamDetail{EmailAddress: "a"}
			}
		})},
	{Name: "invitation of another team", Want: by("registration-invitation"), Spoil: changed("GET", "/api/registration/session",
		func(m *registration.GetRegistrationSessionResponse) { m.MemberInviteUrl += "x" })},
	{Name: "withdrawn team in the list", Want: by("teams"), Spoil: changed("GET", "/api/audience/teams", func(m *audience.ListTeamsResponse) {
		m.Teams = append(m.Teams, &audience.ListTeamsResponse_TeamListItem{TeamId: 99})
	})},
	{Name: "a member renames the team", Want: by("session-team"), Spoil: changed("GET", "/api/session", func(m *common.GetCurrentSessionResponse) {
		if m.Team != nil {
			m.Team.Name = "nobody's"
		}
	})},
}

// jobFaults are wrong benchmarks.
var jobFaults = []arenatest.Fault{
	{Name: "job of another team", Want: by("job-fields"), Spoil: changed("GET", atJob, func(m *contestant.GetBenchmarkJobResponse) { m.Job.TeamId++ })},
	{Name: "score without its deduction", Want: by("job-result"), Spoil: changed("GET", atJob, func(m *contestant.GetBenchmarkJobResponse) {
		m.Job.Result.Score = m.Job.Result.ScoreBreakdown.Raw
	})},
	{Name: "times without milliseconds", Want: by("job-times"), Spoil: changed("GET", atJob, func(m *contestant.GetBenchmarkJobResponse) {
		m.Job.StartedAt.Nanos, m.Job.Result.MarkedAt.Nanos = 0, 1000
	})},
	{Name: "jobs in the wrong order", Want: by("jobs-order"), Spoil: changed("GET", jobsPath, func(m *contestant.ListBenchmarkJobsResponse) { slices.Reverse(m.Jobs) })},
	{Name: "finished job is missing", Want: by("jobs-missing"), Spoil: changed("GET", jobsPath, func(m *contestant.ListBenchmarkJobsResponse) { m.Jobs = m.Jobs[:0] })},
	{Name: "two benchmarks at once", Want: on(iikanji.FaultStatus, stepEnqueue), Also: by("enqueue-once", "job-fields"),
		Spoil: instead("POST", jobsPath, 403, 200, &contestant.EnqueueBenchmarkJobResponse{Job: &resources.BenchmarkJob{Id: 1}})},
	{Name: "notifications in the wrong order", Want: by("notifications-order"), Spoil: changed("GET", "/api/contestant/notifications",
		func(m *contestant.ListNotificationsResponse) { slices.Reverse(m.Notifications) })},
	{Name: "notification without its time", Want: by("notification-fields"), Spoil: changed("GET", "/api/contestant/notifications",
		func(m *contestant.ListNotificationsResponse) {
			for _, n := range m.Notifications {
				n.CreatedAt = nil
			}
		})},
	{Name: "no notifications", Want: by("notification-missing"), Spoil: changed("GET", "/api/contestant/notifications",
		func(m *contestant.ListNotificationsResponse) { m.Notifications = nil })},
	{Name: "second answer as the first", Want: by("notification-missing"), Spoil: changed("GET", "/api/contestant/notifications",
		func(m *contestant.ListNotificationsResponse) {
			for _, n := range m.Notifications {
				if c := n.GetContentClarification(); c != nil {
					c.Updated = false
				}
			}
		})},
}

// items changes each team of the boards.
func items(change func(i *boardItem)) func() arenatest.Hook {
	return boards("", func(b *resources.Leaderboard) {
		for _, list := range [][]*boardItem{b.Teams, b.GeneralTeams, b.StudentTeams} {
			for _, i := range list {
				change(i)
			}
		}
	})
}

// boards changes both boards: their answers have the same form.
func boards(phase scenario.Phase, change func(b *resources.Leaderboard)) func() arenatest.Hook {
	return plain(arenatest.When(phase, "GET", "/api/*/dashboard", arenatest.After(200, rewrite(func(m *audience.DashboardResponse) { change(m.Leaderboard) }))))
}

// boardFaults are wrong leaderboards.
var boardFaults = []arenatest.Fault{
	{Name: "team without its name", Want: by("board-team"), Spoil: items(func(i *boardItem) { i.Team.Name = "x" })},
	{Name: "no student flag", Want: by("board-student"), Spoil: items(func(i *boardItem) { i.Team.Student = nil })},
	{Name: "another score", Want: by("board-scores"), Spoil: items(func(i *boardItem) {
		for _, s := range i.Scores {
			s.Score++
		}
	})},
	{Name: "marked in whole seconds", Want: by("board-times"), Spoil: items(func(i *boardItem) {
		for _, s := range i.Scores {
			s.MarkedAt.Nanos = 999
		}
	})},
	{Name: "latest score is the best", Want: by("board-latest"), Spoil: items(func(i *boardItem) { i.LatestScore.Score++ })},
	{Name: "no best score", Want: by("board-best"), Spoil: items(func(i *boardItem) {
		if len(i.Scores) > 0 {
			i.BestScore = new(boardScore)
		}
	})},
	{Name: "counted twice", Want: by("board-count"), Spoil: items(func(i *boardItem) { i.FinishCount *= 2 })},
	{Name: "students among the others", Want: by("board-lists"), Spoil: boards("", func(b *resources.Leaderboard) {
		b.StudentTeams, b.GeneralTeams = b.GeneralTeams, b.StudentTeams
	})},
	{Name: "team is missing in the end", Want: by("board-missing"), Spoil: boards("", func(b *resources.Leaderboard) { *b = resources.Leaderboard{} })},
	{Name: "no freeze", Want: by("board-frozen"), Edits: []arenatest.Edit{{File: "go/cmd/xsuportal/leaderboard.go",
		Old: "contestFinished := contestStatus.Status == int(resources.Contest_FINISHED)", New: "contestFinished := contestStatus.Status >= 0"}}},
}

// questions changes all answers with lists of questions.
func questions(change func(c *resources.Clarification)) func() arenatest.Hook {
	return plain(arenatest.When("", "GET", "/api/*/clarifications", arenatest.After(200, rewrite(func(m *admin.ListClarificationsResponse) {
		for _, c := range m.Clarifications {
			change(c)
		}
	}))))
}

// questionFaults are wrong questions and answers.
var questionFaults = []arenatest.Fault{
	{Name: "question of another team", Want: by("clarification-fields"), Spoil: questions(func(c *resources.Clarification) { c.TeamId++ })},
	{Name: "question without its team", Want: by("clarification-team"), Spoil: questions(func(c *resources.Clarification) { c.Team = nil })},
	{Name: "question cut off", Want: by("clarification-unknown"), Spoil: questions(func(c *resources.Clarification) { c.Question = c.Question[:10] })},
	{Name: "answer before it is given", Want: by("clarification-answer"), Spoil: questions(func(c *resources.Clarification) { c.Answered = true })},
	{Name: "another answer", Want: by("clarification-answer"), Spoil: questions(func(c *resources.Clarification) { c.Answer += "x" })},
	{Name: "question is missing", Want: by("clarifications-missing"), Spoil: plain(arenatest.When("", "GET", "/api/*/clarifications", arenatest.After(200,
		rewrite(func(m *admin.ListClarificationsResponse) { m.Clarifications = nil }))))},
	{Name: "answer is not stored", Want: by("clarification-answer"), Spoil: changed("PUT", "/api/admin/clarifications/*", func(m *admin.RespondClarificationResponse) {
		m.Clarification.Answer = ""
	})},
}

// refusalFaults are refusals in a wrong form, and requests that are not refused.
var refusalFaults = []arenatest.Fault{
	{Name: "error of another type", Want: by("error-type"), Spoil: plain(arenatest.When("", "POST", "/api/registration/team", arenatest.After(403,
		func(x *arenatest.Exchange) { x.Answer.Set("Content-Type", protobufType) })))},
	{Name: "error without its code", Want: by("error-form"), Spoil: saying("POST", "/api/registration/team", func(e *errorpb.Error) { e.Code = 0 })},
	{Name: "other words: the team is full", Want: by("error-message"), Spoil: saying("POST", "/api/registration/contestant", func(e *errorpb.Error) { e.HumanMessage += "!" })},
	{Name: "other words: outside of the contest", Want: by("error-message"), Spoil: saying("POST", jobsPath, func(e *errorpb.Error) {
		e.HumanMessage = strings.ToUpper(e.HumanMessage)
	})},
	{Name: "other words: no team", Want: by("error-message"), Spoil: saying("GET", jobsPath, func(e *errorpb.Error) { e.HumanMessage = "no" })},
	{Name: "questions for everyone", Want: on(iikanji.FaultStatus, stepAdminClarifications),
		Spoil: instead("GET", "/api/admin/clarifications", 403, 200, new(admin.ListClarificationsResponse))},
	{Name: "jobs for everyone", Want: on(iikanji.FaultStatus, stepJobs), Spoil: instead("GET", jobsPath, 401, 200, new(contestant.ListBenchmarkJobsResponse))},
	{Name: "a job that is not there", Want: on(iikanji.FaultStatus, stepJob),
		Spoil: instead("GET", atJob, 404, 200, &contestant.GetBenchmarkJobResponse{Job: new(resources.BenchmarkJob)})},
}

// queueFaults are faults of the benchmark server, and of what it shares with the app.
var queueFaults = []arenatest.Fault{
	{Name: "job is handed out twice", Want: by("queue-twice"), UnderLoad: true, Set: smallLoad, Edits: []arenatest.Edit{
		{File: "go/cmd/benchmark_server/main.go", Old: "UPDATE `benchmark_jobs` SET `status` = ?, `handle` = ? WHERE `id` = ? AND `status` = ? LIMIT 1\",\n\t\t\t\tint(resources.BenchmarkJob_SENT)",
			New: "UPDATE `benchmark_jobs` SET `status` = ?, `handle` = ? WHERE `id` = ? AND `status` = ? LIMIT 1\",\n\t\t\t\tint(resources.BenchmarkJob_PENDING)"}},
		Also: slices.Concat(on(iikanji.FaultStatus, stepReport), on(iikanji.FaultStatus, stepEnqueue))},
	{Name: "acknowledgement of another report", Want: by("report-nonce"), Edits: []arenatest.Edit{{File: "go/cmd/benchmark_server/main.go",
		Old: "AckedNonce: request.GetNonce()", New: "AckedNonce: request.GetNonce() + 1"}}, Also: by("report-refused")},
	{Name: "finished before it was started", Want: by("report-refused"), Edits: []arenatest.Edit{{File: "go/cmd/benchmark_server/main.go",
		Old: "if !job.StartedAt.Valid || job.FinishedAt.Valid {", New: "if job.FinishedAt.Valid {"}}},
	{Name: "any handle", Want: by("report-refused"), Edits: []arenatest.Edit{{File: "go/cmd/benchmark_server/main.go",
		Old: "`id` = ? AND `handle` = ? LIMIT 1 FOR UPDATE\",\n\t\trequest.GetJobId(), request.GetHandle())",
		New: "`id` = ? LIMIT 1 FOR UPDATE\",\n\t\trequest.GetJobId())"}}},
}

// stale answers from a cache of its own for some time, for each session and address.
func stale(pattern string, keep time.Duration) func() arenatest.Hook {
	type entry struct {
		x  arenatest.Exchange
		at time.Time
	}
	return func() arenatest.Hook {
		var cache sync.Map
		return arenatest.When(scenario.Load, "GET", pattern, func(x *arenatest.Exchange, forward func()) {
			key := x.Header.Get("Cookie") + x.Path + "?" + x.Query
			if v, ok := cache.Load(key); ok && time.Since(v.(entry).at) < keep {
				old := v.(entry).x
				x.Status, x.Answer, x.Reply = old.Status, old.Answer.Clone(), old.Reply
				return
			}
			forward()
			if x.Status == 200 {
				e := entry{*x, time.Now()}
				e.x.Answer = x.Answer.Clone()
				cache.Store(key, e)
			}
		})
	}
}

// underLoad makes a fault of the load.
func underLoad(name string, want []arenatest.Caught, spoil func() arenatest.Hook) arenatest.Fault {
	return arenatest.Fault{Name: name + " under load", UnderLoad: true, Set: smallLoad, Want: want, Spoil: spoil}
}

// sometimes lets one request of ten pass through a hook.
func sometimes(hook func(x *arenatest.Exchange)) func(x *arenatest.Exchange) {
	var mu sync.Mutex
	n := 0
	return func(x *arenatest.Exchange) {
		mu.Lock()
		n++
		now := n%10 == 0
		mu.Unlock()
		if now {
			hook(x)
		}
	}
}

// loadFaults are met under load only.
var loadFaults = []arenatest.Fault{
	underLoad("audience's board from a cache", by("board-stale", "board-missing"), stale("/api/audience/dashboard", time.Minute)),
	underLoad("contestant's board from a cache", by("board-stale", "board-missing"), stale("/api/contestant/dashboard", 5*time.Second)),
	underLoad("one board for all", by("board-stale", "board-missing"), plain(arenatest.When(scenario.Load, "GET", "/api/contestant/dashboard",
		func(x *arenatest.Exchange, forward func()) {
			if forward(); x.Status == http.StatusOK {
				if status, body := x.Fetch("/api/audience/dashboard", ""); status == http.StatusOK {
					x.Reply = body
				}
			}
		}))),
	underLoad("boards in the wrong order", by("board-order"), boards(scenario.Load, func(b *resources.Leaderboard) {
		slices.Reverse(b.Teams)
		slices.Reverse(b.GeneralTeams)
		slices.Reverse(b.StudentTeams)
	})),
	underLoad("result with another score", by("job-result"), changedIn(scenario.Load, "GET", atJob, func(m *contestant.GetBenchmarkJobResponse) {
		m.Job.Result.ScoreBreakdown.Raw++
	})),
	underLoad("team of another", by("session-team"), changedIn(scenario.Load, "GET", "/api/session", func(m *common.GetCurrentSessionResponse) {
		if m.Team != nil {
			m.Team.Id++
		}
	})),
	underLoad("questions from a cache", by("clarifications-missing"), stale("/api/contestant/clarifications", time.Minute)),
	underLoad("the last answer goes back", by("notifications-answered"), plain(arenatest.When(scenario.Load, "GET", "/api/contestant/notifications",
		arenatest.After(200, sometimes(rewrite(func(m *contestant.ListNotificationsResponse) { m.LastAnsweredClarificationId = 0 })))))),
	underLoad("answers without protobuf", on(iikanji.FaultBody, stepDashboard), plain(arenatest.When(scenario.Load, "GET", "/api/contestant/dashboard",
		arenatest.After(200, sometimes(func(x *arenatest.Exchange) { x.Reply = append(x.Reply, 0xff) }))))),
	underLoad("benchmarks are refused", on(iikanji.FaultStatus, stepEnqueue), plain(arenatest.When(scenario.Load, "POST", jobsPath,
		arenatest.After(200, sometimes(func(x *arenatest.Exchange) { x.Give(503, "", "") }))))),
}
