package isuxi

import (
	"fmt"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena"
)

// pollSetting is how often the clients of the load look whether their answer is there.
const pollSetting = "poll"

const (
	contestPoll = 3 * time.Millisecond
	maxPoll     = 100 * time.Millisecond
)

var settings = []arena.Setting{
	{Name: pollSetting, Default: "3ms",
		Help: "How often a client looks whether its answer is there (0s to 100ms): the contest's clients took 3 ms for each request at least."},
}

// pollOf reads the setting.
func pollOf(set arena.Values) (time.Duration, error) {
	text := set[pollSetting]
	if text == "" {
		return contestPoll, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > maxPoll {
		return 0, fmt.Errorf("setting %s: %.40q is not a duration from 0s to %v", pollSetting, text, maxPoll)
	}
	return d, nil
}
