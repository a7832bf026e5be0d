package past

import (
	"encoding/json"
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/choose"
)

// Rehearsed is the event of a rehearsal; its text is a Rehearsal.
const Rehearsed history.What = "rehearsed"

// A Rehearsal is what a restart of all services, or a reboot, showed of the state of the
// site at that time.
type Rehearsal struct {
	OK bool `json:"ok"`
	// Boot is the number of known reasons why the state would not come back.
	Boot int    `json:"boot"`
	Says string `json:"says"`
	// Run is the latest run before; its state was rehearsed.
	Run iikanji.RunID `json:"run"`
}

// Note writes a rehearsal into a history, for the state of the latest run.
func Note(h *history.History, r Rehearsal) error {
	ids, err := h.Runs()
	if err != nil {
		return err
	}
	if len(ids) > 0 {
		r.Run = ids[len(ids)-1]
	}
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encoding a rehearsal: %w", err)
	}
	return h.Append(history.Event{What: Rehearsed, Run: r.Run, Text: string(text)})
}

// searchVersion is the newest version of the record of a search that is read here.
const searchVersion = 1

// rehearsed fills in what rehearsals showed of the states of runs: those of finalize, and
// those at the end of searches, which rehearse the state of their final runs.
func rehearsed(h *history.History, runs []choose.Run) error {
	state := map[iikanji.RunID]string{}
	for _, r := range runs {
		state[r.ID] = r.State.Key
	}
	latest := map[string]Rehearsal{}
	numbers, err := h.SearchNumbers()
	if err != nil {
		return err
	}
	for _, n := range numbers {
		var s struct {
			Final     []iikanji.RunID `json:"final_runs"`
			Rehearsal struct {
				Done, OK bool
			} `json:"rehearsal"`
		}
		if err := h.ReadSearch(n, searchVersion, &s); err != nil {
			return fmt.Errorf("reading search %d: %w", n, err)
		}
		for _, id := range s.Final {
			if key, known := state[id]; known && s.Rehearsal.Done {
				latest[key] = Rehearsal{OK: s.Rehearsal.OK}
			}
		}
	}
	for _, e := range h.Events() {
		var r Rehearsal
		if e.What == Rehearsed && json.Unmarshal([]byte(e.Text), &r) == nil {
			if key, known := state[e.Run]; known {
				latest[key] = r
			}
		}
	}
	for i := range runs {
		r := latest[runs[i].State.Key]
		runs[i].State.Rehearsed, runs[i].State.Boot = r.OK, r.Boot
	}
	return nil
}
