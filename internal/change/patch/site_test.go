package patch

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/change/changetest"
)

// The source of the test app. It answers with its greeting.
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

// old lists the files that the app was built with.
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

// A testApp is the running test app with its source.
type testApp struct{ *changetest.App }

func newTestApp(t *testing.T) testApp {
	t.Helper()
	return testApp{changetest.NewApp(t, map[string]string{"main.go": mainGo, "greet.go": greetGo, "old.go": oldGo, "go.mod": goMod, ".git/HEAD": "ref\n"})}
}

var greetingIs = regexp.MustCompile(`greetingText = (".*")`)

// serves checks that the running app was built from the present source.
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
		return fmt.Errorf("the app answered %q; its source is\n%s", got, b)
	}
	return nil
}
