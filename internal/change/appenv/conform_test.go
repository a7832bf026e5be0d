package appenv

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// setupApp starts an app that uses only the standard library, with its own
// go.mod and substitutes for its imports: testdata/setup. It answers with its
// setup.
func setupApp(t *testing.T, env ...string) *changetest.App {
	t.Helper()
	files := map[string]string{}
	root := filepath.Join("testdata", "setup")
	names := []string{"go.mod", "main.go", "driver.go", "echo/go.mod", "echo/echo.go", "echo/middleware/middleware.go", "gommon/go.mod", "gommon/log/log.go"}
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(root, name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(b)
	}
	return changetest.NewApp(t, files, env...)
}

// conform checks the promises of every kind for remedies on an app. Each app is
// really built and restarted, and its answer shows the effect. secrets are the remedies
// whose diff has a password.
func conform(t *testing.T, a *changetest.App, remedies map[string]iikanji.Remedy, effects map[string]string, secrets ...string) {
	changetest.Run(t, changetest.Case{
		Dir: a.Dir,
		Open: func(dir string) *change.Site {
			s := a.Open(dir)
			s.Target.Services = []iikanji.Service{{Name: "database", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB, Socket: "/run/db.sock"}}
			return s
		},
		Policy:   iikanji.Policy{Allow: []iikanji.Promise{iikanji.Observability}},
		Remedies: remedies, Effects: effects, Secrets: secrets,
		State:  a.State,
		Serves: func() error { _, err := a.Ask(); return err },
	})
}

// TestConformance changes the source and a variable.
func TestConformance(t *testing.T) {
	tier.Slow(t)
	conform(t, setupApp(t, "GOGC=100", "LOG_LEVEL=debug"),
		map[string]iikanji.Remedy{
			"variable":    remedy(map[string]string{"env.GOGC": "321"}),
			"log level":   remedy(map[string]string{"env.LOG_LEVEL": "error"}),
			"dsn":         remedy(map[string]string{"dsn": "interpolateParams=true&socket"}),
			"pool":        remedy(map[string]string{"pool": "9"}),
			"log":         remedy(map[string]string{"log": "off"}),
			"all at once": remedy(map[string]string{"dsn": "interpolateParams=true", "pool": "8", "log": "off", "env.GOGC": "123"}),
		},
		map[string]string{
			"variable":    "gogc 321",
			"log level":   "level error",
			"dsn":         "dsn me:s3cret@unix(/run/db.sock)/db?interpolateParams=true&parseTime=true",
			"pool":        "pool 9",
			"log":         "debug false, logs ERROR, 0 loggers",
			"all at once": strings.Join([]string{"gogc 123", "level debug", "dsn me:s3cret@tcp(127.0.0.1:3306)/db?interpolateParams=true&parseTime=true", "pool 8", "debug false, logs ERROR, 0 loggers"}, "\n"),
		}, "dsn", "all at once")
}

// TestConformanceVariable changes a DSN in a variable.
func TestConformanceVariable(t *testing.T) {
	tier.Slow(t)
	conform(t, setupApp(t, "GOGC=100", "DATABASE_URL=me@tcp(127.0.0.1:3306)/db"),
		map[string]iikanji.Remedy{"dsn": remedy(map[string]string{"dsn": "interpolateParams=true&socket"})},
		map[string]string{"dsn": "dsn me@unix(/run/db.sock)/db?interpolateParams=true"})
}
