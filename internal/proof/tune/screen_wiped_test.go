package tune

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// seedling is a knob that the meadow's initialize turns back, unless its remedy has
// the argument "into".
type seedling struct{ knob }

const lasts = " for good"

func (seedling) Name() string { return "seedling" }

func (seedling) Plan(ctx context.Context, s *change.Site, r iikanji.Remedy) (*iikanji.Change, error) {
	args := maps.Clone(r.Args)
	if args["into"] != "" {
		args["value"] += lasts
	}
	r.Args = args
	c, err := knob{}.Plan(ctx, s, r)
	if c != nil {
		c.Kind = "seedling"
	}
	return c, err
}

func (seedling) IntoSchemaFile(r iikanji.Remedy) iikanji.Remedy {
	r.Args = maps.Clone(r.Args)
	r.Args["into"] = "file"
	return r
}

func (seedling) InSchemaFile(r iikanji.Remedy) bool { return r.Args["into"] != "" }

func (seedling) Wiped(_ context.Context, s *change.Site, c *iikanji.Change) (bool, error) {
	_, err := os.Stat(c.Do[0].Place)
	return os.IsNotExist(err), nil
}

func init() { change.Register(seedling{}) }

// TestTuneScreenWiped: a screening that shows that initialize wipes its changes out is
// made again with changes that last, and finds the two that help.
func TestTuneScreenWiped(t *testing.T) {
	m, tu := newMeadow(t, 53)
	tu.Options.Time = 15 * time.Minute
	m.effects = map[string]float64{"k1=1" + lasts: 0.12, "k4=1" + lasts: 0.12}
	m.at = func(int) {
		for name := range m.on() {
			if path, value, _ := strings.Cut(name, "="); !strings.HasSuffix(value, lasts) {
				if err := os.Remove(filepath.Join(m.dir, path)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	m.finds = func(on map[string]bool) []iikanji.Finding {
		var all []iikanji.Finding
		for i := range 7 {
			if on[fmt.Sprintf("k%d=1%s", i, lasts)] {
				continue
			}
			f := turn(fmt.Sprint("WEB10", i), fmt.Sprint("k", i), "1", 0.3)
			f.Remedies[0].Kind = "seedling"
			all = append(all, f)
		}
		return all
	}
	var said []string
	tu.Say = func(line string) { said = append(said, line) }
	if _, err := tu.Tune(t.Context()); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(said, "\n")
	if strings.Count(text, "screening 7 candidates") != 2 || strings.Count(text, "the screening ended") != 1 {
		t.Errorf("want a screening that ends and one that is whole:\n%s", text)
	}
	if on := m.on(); !on["k1=1"+lasts] || !on["k4=1"+lasts] || len(on) > 3 {
		t.Errorf("in the end the site is %v", on)
	}
}
