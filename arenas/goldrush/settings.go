package goldrush

import (
	"fmt"
	"time"

	"github.com/iikanji/iikanji/arenas/goldrush/mine"
	"github.com/iikanji/iikanji/internal/contest/arena"
)

// Settings of the benchmarker.
const (
	clientSetting = "client"
	worldsSetting = "worlds"
)

var settings = []arena.Setting{
	{Name: clientSetting, Default: "the sample client in the work folder",
		Help: "Command of a client (for a shell): it gets ADDRESS, PORT and GAME_SECONDS in its environment."},
	{Name: worldsSetting, Default: "auto: five if each gets 20 s, else one",
		Help: "one (the world of --seed) or five (a world for each best level, one after the other)."},
}

// worldTime is the least time of a world for which five are played by default. The first
// licences and the last treasures take a second or two.
const worldTime = 20 * time.Second

// seedOf is the first seed above 0 whose world has a best level.
func seedOf(best int) int64 {
	seed := int64(1)
	for mine.BestDepth(seed) != best {
		seed++
	}
	return seed
}

// worldsOf are the seeds of the games of a run.
func worldsOf(setting string, seed uint64, load time.Duration) []int64 {
	if setting == "one" || setting != "five" && load < 5*worldTime {
		return []int64{int64(seed)} // any 64 bits are a seed
	}
	var seeds []int64
	for best := 3; best <= 7; best++ {
		seeds = append(seeds, seedOf(best))
	}
	return seeds
}

// checkWorlds refuses other values of the setting.
func checkWorlds(value string) error {
	switch value {
	case "", "auto", "one", "five":
		return nil
	}
	return fmt.Errorf("setting %s: %.40q is not auto, one or five", worldsSetting, value)
}

// unluckySeed is the first seed whose first free licence takes a second and fails, and whose
// first cash fails.
func unluckySeed() int64 {
	for seed := int64(1); ; seed++ {
		if mine.Unlucky(seed) {
			return seed
		}
	}
}
