package isuumo

import "github.com/iikanji/iikanji/internal/contest/arena"

// levelSetting is the name of the setting that fixes the level of the load.
const levelSetting = "level"

// settings are the benchmarker's. With a fixed level the load does not step up
// with the score, so that the score is a throughput at constant load: a steadier
// measure for the comparison of two states, but not the contest's score.
var settings = []arena.Setting{
	{Name: levelSetting, Kind: arena.Text, Default: "rises with the score, as in the contest",
		Help: "Fixed level of the load, 0 to 11: all workers of the level from the beginning."},
}
