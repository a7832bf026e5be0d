package goldrush

import (
	_ "embed"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/files"
)

//go:embed answers.txt
var answers string

// Names of the services.
const (
	serverName = "server"
	clientName = "client"
)

// server is the fixed side: a part of this program, which no change may touch. Its role is
// that of no kind of software, so that no rule looks at it.
var server = arena.Service{
	Name: serverName, Serve: serveGames, Socket: "control.sock",
	Ready: arena.Ready{Path: "/health-check"},
}

// client is the sample client in Go: what is tuned. A run starts it.
var client = arena.Service{
	Name: clientName, Role: iikanji.RoleApp, Engine: iikanji.EngineGo, Source: "go", PerRun: true, Env: clientEnv,
}

// pythonClient is the sample client in Python. Its build is a check of its source.
var pythonClient = arena.Service{
	Name: clientName, Role: iikanji.RoleApp, Engine: "python", Source: "python", PerRun: true, Env: clientEnv,
	Build: []string{"python3", "-c", "compile(open('main.py').read(), 'main.py', 'exec')"},
	Start: []string{"python3", "{{.Webapp}}/python/main.py"},
}

// allowed lists the promises that the rules do not require. A client lives for one game, so it
// may use memory as if there were no end of it (availability); its output is for its author
// only (observability); and it is rewritten as one likes (tested-only).
var allowed = []iikanji.Promise{iikanji.Availability, iikanji.Observability, iikanji.TestedOnly}

func init() {
	arena.Register(&arena.Arena{
		Name:    "goldrush",
		Title:   "Gold Rush (HighLoad Cup 2021)",
		Summary: "the server is given, and its client is tuned: explore, dig and cash",

		Files:    webapp,
		Services: []arena.Service{server, client},
		Entry:    serverName,
		Variants: []arena.Variant{{Name: "python", Summary: "the sample client in Python", Services: []arena.Service{pythonClient}}},

		Scenario:          newScenario,
		Settings:          settings,
		Commands:          []arena.Command{serverCommand},
		Answers:           answers,
		Ladder:            files.Ladder(ladder),
		Allow:             allowed,
		InitializeTimeout: 30 * time.Second,
	})
}

// clientEnv is empty: a run adds the address of its game, see gameEnv.
func clientEnv(arena.Places) []string { return nil }
