package selftest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Scene is a simulated site with its candidates and machine, searched under several time
// limits.
type Scene struct {
	Name     string // as in iikanji selftest --world NAME
	Says     string
	Searches []Search // one for each budget; each has the budget as its name
	// Interplay: changes interact there, so that the goals for such sites hold.
	Interplay bool
}

// Budgets of time.
var (
	shortAndLong = []time.Duration{quarter, hour}
	noLimit      = time.Duration(0)
)

// scene makes a scene of one search under several limits.
func scene(name, says string, s Search, limits ...time.Duration) Scene {
	one := Scene{Name: name, Says: says}
	for _, limit := range limits {
		s.Options.Time, s.Name = limit, limitText(limit)
		one.Searches = append(one.Searches, s)
	}
	return one
}

// interacting marks a scene.
func interacting(s Scene) Scene {
	s.Interplay = true
	return s
}

// Scenes are all scenes, in the order of the documentation.
func Scenes() []Scene {
	return slices.Concat(interplays(), minuteScenes(), contestScenes(), historyScenes(), ladderScenes(), machineScenes(), changeScenes(),
		randomScenes(), twoLimits())
}

// QuickScenes are those of a short self-test.
func QuickScenes() []Scene {
	return slices.DeleteFunc(Scenes(), func(s Scene) bool {
		return !slices.Contains([]string{"interactions", "sequence", "minutes", "again"}, s.Name)
	})
}

// FindScene finds a scene by its name.
func FindScene(name string) (Scene, error) {
	var names []string
	for _, s := range Scenes() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Scene{}, fmt.Errorf("no world %q; there are %s", name, strings.Join(names, ", "))
}

// three is the noise of most scenes.
var three = World{Sigma: 0.03}
