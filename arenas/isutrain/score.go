package isutrain

import "github.com/iikanji/iikanji/internal/load/scenario"

// The events that score. The first ones have the weights of the API's calls.
const (
	oneCall       scenario.Event = iota // sign-up, log-in, log-out, stations, commit, cancel, list, detail
	threeCall                           // search, seat map
	reserveCall                         // reservation
	reservedBonus                       // a reservation's further points
	pairBonus                           // two adjacent seats
	threeBonus                          // three in a row
	fourBonus
	fiveBonus
)

// table is the contest's score, less what it cannot hold: a single timeout costs 5 here,
// and nothing there. The 1,000th error ends the run.
var table = scenario.Table{
	Events: []scenario.EventRule{
		{Name: "calls of one point", Points: 1},
		{Name: "searches and seat maps", Points: 3},
		{Name: "calls of reserve", Points: 5},
		{Name: "reservations", Points: 10},
		{Name: "pairs of adjacent seats", Points: 10},
		{Name: "three adjacent seats", Points: 15},
		{Name: "four adjacent seats", Points: 20},
		{Name: "five adjacent seats", Points: 25},
	},
	PerError:      5,
	PerTimeouts:   1,
	TimeoutPoints: 5,
	MaxErrors:     999,
}

// weights are the events of a successful call of each step.
var weights = map[scenario.Step]scenario.Event{
	stepSignup: oneCall, stepLogin: oneCall, stepLogout: oneCall, stepStations: oneCall, stepCommit: oneCall,
	stepCancel: oneCall, stepList: oneCall, stepDetail: oneCall,
	stepSearch: threeCall, stepSeats: threeCall, stepReserve: reserveCall,
}

// bonuses returns the events of a reservation's seats: in each row five adjacent seats,
// four, three, or each pair.
func bonuses(seats []seat) (events []scenario.Event) {
	rows := map[int]uint{}
	for _, s := range seats {
		if s.column >= "A" && s.column <= "E" {
			rows[s.row] |= 1 << (s.column[0] - 'A')
		}
	}
	for _, set := range rows {
		longest, pairs := adjacent(set)
		switch longest {
		case 5:
			events = append(events, fiveBonus)
		case 4:
			events = append(events, fourBonus)
		case 3:
			events = append(events, threeBonus)
		default:
			for range pairs {
				events = append(events, pairBonus)
			}
		}
	}
	return events
}

// adjacent returns the longest run of columns in a row, and the number of adjacent pairs.
func adjacent(set uint) (longest, pairs int) {
	run := 0
	for c := range 5 {
		if set&(1<<c) == 0 {
			run = 0
			continue
		}
		if run++; run > 1 {
			pairs++
		}
		longest = max(longest, run)
	}
	return longest, pairs
}
