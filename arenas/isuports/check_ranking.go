package isuports

import (
	"github.com/iikanji/iikanji/internal/contest/arena/kit/jsonread"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// rankingLimit is the number of ranks on a page.
const rankingLimit = 100

// A shownRank is a line of a ranking. Its texts are parts of the answer.
type shownRank struct {
	rank, score int64
	id, name    []byte
}

// A page is an answer with a part of a ranking.
type page struct {
	competition shownCompetition
	ranks       []shownRank
}

func readRanking(res *scenario.Response) (p page, err error) {
	err = readData(res, func(r *jsonread.Reader, name []byte) {
		switch string(name) {
		case "competition":
			p.competition = readCompetition(r)
		case "ranks":
			p.ranks = make([]shownRank, 0, rankingLimit)
			r.Array(func() { p.ranks = append(p.ranks, readRank(r)) })
		default:
			r.Skip()
		}
	})
	return p, err
}

func readRank(r *jsonread.Reader) (k shownRank) {
	r.Object(func(name []byte) {
		switch string(name) {
		case "rank":
			k.rank = r.Int()
		case "score":
			k.score = r.Int()
		case "player_id":
			k.id = r.Str()
		case "player_display_name":
			k.name = r.Str()
		default:
			r.Skip()
		}
	})
	return k
}

// checkRanks checks the form of a page that begins behind a rank.
func checkRanks(res *scenario.Response, ranks []shownRank, after int) error {
	if len(ranks) > rankingLimit {
		return scenario.Wrong(res, "ranking-limit", "%d ranks, the limit is %d", len(ranks), rankingLimit)
	}
	for i, k := range ranks {
		if want := int64(after + i + 1); k.rank != want {
			return scenario.Wrong(res, "ranking-ranks", "rank %d, want %d", k.rank, want)
		}
		if i > 0 && k.score > ranks[i-1].score {
			return scenario.Wrong(res, "ranking-order", "score %d behind score %d", k.score, ranks[i-1].score)
		}
	}
	return nil
}

// A sight is what a reader may see of a competition: what was true when the
// request was sent, and every later state until the answer arrived.
type sight struct {
	boards         []*board // nil: unknown
	oldest, newest int      // indexes into boards
	finished       bool     // since before the request
	finishing      bool     // or at most since then
}

// checkSight checks a page of a ranking against what its reader may see.
func checkSight(res *scenario.Response, p *page, after int, title string, s sight) error {
	if p.competition.title != title {
		return scenario.Wrong(res, "competition-title", "title %q, want %q", p.competition.title, title)
	}
	if s.finished && !p.competition.finished || p.competition.finished && !s.finishing {
		return scenario.Wrong(res, "competition-finished", "is_finished %v, want %v", p.competition.finished, s.finished)
	}
	if s.boards == nil {
		return nil
	}
	for v := s.oldest; v <= s.newest; v++ {
		if s.boards[v].shows(p.ranks, after) {
			return nil
		}
	}
	return explainRanks(res, p.ranks, after, s)
}

// explainRanks names the rule that a page breaks.
func explainRanks(res *scenario.Response, ranks []shownRank, after int, s sight) error {
	want := s.boards[s.newest].page(after)
	if s.newest > s.oldest && len(ranks) < min(len(want), len(s.boards[s.oldest].page(after))) {
		return scenario.Wrong(res, "ranking-torn", "%d ranks during an upload, want the old or the new ones, %d", len(ranks), len(want))
	}
	for v := range s.oldest {
		if s.boards[v].shows(ranks, after) {
			return scenario.Wrong(res, "ranking-stale", "the ranking before the latest upload, with %d ranks", len(ranks))
		}
	}
	if len(ranks) != len(want) {
		return scenario.Wrong(res, "ranking-length", "%d ranks, want %d", len(ranks), len(want))
	}
	for i, k := range ranks {
		e := want[i]
		switch {
		case k.score != e.score:
			return scenario.Wrong(res, "ranking-score", "rank %d: score %d, want %d", k.rank, k.score, e.score)
		case string(k.id) != e.player.id:
			return scenario.Wrong(res, "ranking-ties", "rank %d: player %.40q of those with score %d, want %q", k.rank, k.id, k.score, e.player.id)
		}
	}
	return scenario.Wrong(res, "ranking-names", "a player has another name than at registration")
}
