package xsuportal

import "github.com/iikanji/iikanji/internal/load/scenario"

// The steps: one for each request of the API, for static files and pages, and for the queue.
const (
	stepAudienceDashboard scenario.Step = iota
	stepDashboard
	stepNotifications
	stepEnqueue
	stepJobs
	stepJob
	stepClarifications
	stepAsk
	stepAdminClarifications
	stepAdminClarification
	stepAnswer
	stepInitialize
	stepSession
	stepSignup
	stepLogin
	stepLogout
	stepRegistration
	stepCreateTeam
	stepJoinTeam
	stepUpdateRegistration
	stepDeleteRegistration
	stepSubscribe
	stepUnsubscribe
	stepTeams
	stepReceive
	stepReport
	stepReportRunning
	stepReportFinished
	stepPage
	stepStatic
)

var stepNames = []string{
	"GET /api/audience/dashboard",
	"GET /api/contestant/dashboard",
	"GET /api/contestant/notifications",
	"POST /api/contestant/benchmark_jobs",
	"GET /api/contestant/benchmark_jobs",
	"GET /api/contestant/benchmark_jobs/:id",
	"GET /api/contestant/clarifications",
	"POST /api/contestant/clarifications",
	"GET /api/admin/clarifications",
	"GET /api/admin/clarifications/:id",
	"PUT /api/admin/clarifications/:id",
	"POST /initialize",
	"GET /api/session",
	"POST /api/signup",
	"POST /api/login",
	"POST /api/logout",
	"GET /api/registration/session",
	"POST /api/registration/team",
	"POST /api/registration/contestant",
	"PUT /api/registration",
	"DELETE /api/registration",
	"POST /api/contestant/push_subscriptions",
	"DELETE /api/contestant/push_subscriptions",
	"GET /api/audience/teams",
	"BenchmarkQueue/ReceiveBenchmarkJob",
	"BenchmarkReport/ReportBenchmarkResult",
	"ReportBenchmarkResult: running",
	"ReportBenchmarkResult: finished",
	"GET pages",
	"GET static files",
}
