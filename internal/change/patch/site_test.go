package patch

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/change/changetest"
)

// The app is a few files, links fast, and tells its greeting.
const (
	mainGo = `package main

import (
	"fmt"
	"net"
	"os"
)

// main serves on a socket.
func main() {
	l, err := net.Listen("unix", os.Args[1])
	if err != nil {
		panic(err)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(c, "greeting %q, old %d\n", greeting(), len(old))
		c.Close()
	}
}

// old are the parts of the app that are there still.
var old []string
`
	greetGo = `package main

const greetingText = "slow"

func greeting() string {
	return greetingText
}
`
	oldGo = `package main

func init() { old = append(old, "old.go") }
`
	goMod = "module example.org/app\n\ngo 1.24\n"
)

// A testApp is the app, compiled from its source and running.
type testApp struct{ *changetest.App }

func newTestApp(t *testing.T) testApp {
	t.Helper()
	return testApp{changetest.NewApp(t, map[string]string{"main.go": mainGo, "greet.go": greetGo, "old.go": oldGo, "go.mod": goMod, ".git/HEAD": "ref\n"})}
}

var greetingIs = regexp.MustCompile(`greetingText = (".*")`)

// serves wants the app to be built from the source that is there.
func (a testApp) serves() error {
	got, err := a.Ask()
	if err != nil {
		return err
	}
	b, err := os.ReadFile(a.Source("greet.go"))
	if err != nil {
		return err
	}
	if m := greetingIs.FindSubmatch(b); m == nil || !strings.HasPrefix(got, "greeting "+string(m[1])) {
		return fmt.Errorf("the app says %q; its source is\n%s", got, b)
	}
	return nil
}
