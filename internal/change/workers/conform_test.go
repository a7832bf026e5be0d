package workers

import (
	"os/exec"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

func remedy(args ...string) iikanji.Remedy {
	r := iikanji.Remedy{Kind: "workers", Target: changetest.Service, Args: map[string]string{}}
	for i := 0; i < len(args); i += 2 {
		r.Args[args[i]] = args[i+1]
	}
	return r
}

// conform checks the promises of every kind with a real server. The app answers
// whether it runs in several processes and in several threads.
func conform(t *testing.T, a *changetest.App, remedies map[string]iikanji.Remedy, effects map[string]string) {
	changetest.Run(t, changetest.Case{
		Dir: a.Dir, Open: a.Open, Remedies: remedies, Effects: effects, State: a.State,
		Policy: iikanji.Policy{Allow: []iikanji.Promise{iikanji.TestedOnly}},
		Serves: func() error { _, err := a.Ask(); return err },
	})
}

const wsgi = `
def app(environ, start):
    start('200 OK', [('Content-Type', 'text/plain')])
    return [('processes %s, threads %s' % (environ['wsgi.multiprocess'], environ['wsgi.multithread'])).encode()]
`

// gunicorn is Debian's, which scripts/setup.sh installs.
const gunicorn = "/usr/bin/gunicorn"

// startGunicorn starts an app with a gunicorn that reads no pkg_resources: two thirds of its
// start are the import of that module, which it uses only for workers of other packages.
func startGunicorn(t *testing.T, files map[string]string, args ...string) *changetest.App {
	t.Helper()
	files["app.py"], files["lib/pkg_resources.py"] = wsgi, ""
	return changetest.NewServer(t, files, append([]string{gunicorn}, args...), "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=lib")
}

// TestGunicornFile changes the configuration file.
func TestGunicornFile(t *testing.T) {
	tier.Slow(t)
	a := startGunicorn(t, map[string]string{"gunicorn.conf.py": "bind = 'unix:../sock'\nworkers = 1  # one\n"}, "app:app")
	conform(t, a, map[string]iikanji.Remedy{"both": remedy("workers", "2", "threads", "3")}, map[string]string{"both": "processes True, threads True"})
}

// TestGunicornCommand changes the command line.
func TestGunicornCommand(t *testing.T) {
	tier.Slow(t)
	a := startGunicorn(t, map[string]string{}, "-w", "1", "-b", "unix:../sock", "app:app")
	conform(t, a, map[string]iikanji.Remedy{"processes": remedy("workers", "2")}, map[string]string{"processes": "processes True, threads False"})
}

// TestPumaVariable changes a variable that the configuration file reads.
func TestPumaVariable(t *testing.T) {
	tier.Slow(t)
	puma, err := exec.LookPath("puma")
	if err != nil {
		t.Fatalf("%v: scripts/setup.sh check installs it", err)
	}
	a := changetest.NewServer(t, map[string]string{
		"config.ru": "run ->(e) { [200, {}, [\"a worker: #{$0.include?('cluster worker')}\"]] }\n",
		"puma.rb":   "workers Integer(ENV.fetch('APP_WORKERS', '0'))\nthreads 1, 1\nbind 'unix://../sock'\n",
	}, []string{puma, "-C", "puma.rb", "config.ru"})
	conform(t, a, map[string]iikanji.Remedy{"processes": remedy("workers", "2")}, map[string]string{"processes": "a worker: true"})
}
