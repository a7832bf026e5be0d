package isuports

import (
	"net/http"
	"strings"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/jsonread"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// checkPrivate checks that no shared cache may store an answer.
func checkPrivate(res *scenario.Response) error {
	if got := res.Get("cache-control"); !strings.Contains(strings.ToLower(got), "private") {
		return scenario.Wrong(res, "cache-control", "Cache-Control %q, want private", got)
	}
	return nil
}

// openEnvelope checks the form of a JSON answer with a status, and reads its
// field "data" with data, which may be nil.
func openEnvelope(res *scenario.Response, status int, data func(r *jsonread.Reader)) (success, found bool, err error) {
	r, err := verify.OpenJSON(res, status)
	if err != nil {
		return false, false, err
	}
	if err := checkPrivate(res); err != nil {
		return false, false, err
	}
	r.Object(func(name []byte) {
		switch {
		case string(name) == "status":
			success = r.Bool()
		case string(name) == "data" && data != nil:
			found = true
			data(&r)
		default:
			r.Skip()
		}
	})
	return success, found, verify.EndJSON(res, &r)
}

// readData checks a successful answer. field consumes each field of its data.
func readData(res *scenario.Response, field func(r *jsonread.Reader, name []byte)) error {
	success, found, err := openEnvelope(res, http.StatusOK, func(r *jsonread.Reader) {
		r.Object(func(name []byte) { field(r, name) })
	})
	if err != nil {
		return err
	}
	if !success || !found {
		return scenario.Wrong(res, "envelope", "status %v, data %v, want both", success, found)
	}
	return nil
}

// checkDone checks a successful answer without data.
func checkDone(res *scenario.Response) error {
	success, _, err := openEnvelope(res, http.StatusOK, nil)
	if err == nil && !success {
		return scenario.Wrong(res, "envelope", "status false in a successful answer")
	}
	return err
}

// checkRefusal checks a refusal. name is the check's name: the rule that the
// target broke if it answered otherwise.
func checkRefusal(res *scenario.Response, name string, status int) error {
	if res.Status != status {
		return scenario.Wrong(res, name, "status %d, want %d", res.Status, status)
	}
	success, _, err := openEnvelope(res, status, nil)
	if err == nil && success {
		return scenario.Wrong(res, "envelope", "status true in a refusal")
	}
	return err
}

// A shownPlayer is a player in an answer.
type shownPlayer struct {
	id, name     string
	disqualified bool
}

func readPlayer(r *jsonread.Reader) (p shownPlayer) {
	r.Object(func(name []byte) {
		switch string(name) {
		case "id":
			p.id = string(r.Str())
		case "display_name":
			p.name = string(r.Str())
		case "is_disqualified":
			p.disqualified = r.Bool()
		default:
			r.Skip()
		}
	})
	return p
}

// readPlayers reads the field "players" of an answer.
func readPlayers(res *scenario.Response) (players []shownPlayer, err error) {
	err = readData(res, func(r *jsonread.Reader, name []byte) {
		if string(name) == "players" {
			r.Array(func() { players = append(players, readPlayer(r)) })
		} else {
			r.Skip()
		}
	})
	return players, err
}

// A shownCompetition is a competition in an answer.
type shownCompetition struct {
	id, title string
	finished  bool
}

func readCompetition(r *jsonread.Reader) (c shownCompetition) {
	r.Object(func(name []byte) {
		switch string(name) {
		case "id":
			c.id = string(r.Str())
		case "title":
			c.title = string(r.Str())
		case "is_finished":
			c.finished = r.Bool()
		default:
			r.Skip()
		}
	})
	return c
}

// readCompetitions reads the field "competitions" of an answer.
func readCompetitions(res *scenario.Response) (competitions []shownCompetition, err error) {
	err = readData(res, func(r *jsonread.Reader, name []byte) {
		if string(name) == "competitions" {
			r.Array(func() { competitions = append(competitions, readCompetition(r)) })
		} else {
			r.Skip()
		}
	})
	return competitions, err
}

// A detail is the page of a player.
type detail struct {
	shownPlayer
	scores []titledScore
}

// A titledScore is a player's score in a competition.
type titledScore struct {
	title string
	score int64
}

func readDetail(res *scenario.Response) (d detail, err error) {
	err = readData(res, func(r *jsonread.Reader, name []byte) {
		switch string(name) {
		case "player":
			d.shownPlayer = readPlayer(r)
		case "scores":
			r.Array(func() { d.scores = append(d.scores, readTitledScore(r)) })
		default:
			r.Skip()
		}
	})
	return d, err
}

func readTitledScore(r *jsonread.Reader) (s titledScore) {
	r.Object(func(name []byte) {
		switch string(name) {
		case "competition_title":
			s.title = string(r.Str())
		case "score":
			s.score = r.Int()
		default:
			r.Skip()
		}
	})
	return s
}
