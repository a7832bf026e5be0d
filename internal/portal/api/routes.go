package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/iikanji/iikanji/internal/portal/contest"
)

// apiRoutes are the routes of /api/v1.
func (s *Server) apiRoutes() []Route {
	const v1 = "/api/v1"
	return []Route{
		{"GET", "/healthz", Anyone, 0, func(c *Call) error { return c.JSON(map[string]string{"status": "up"}) }},
		{"GET", v1 + "/rounds", Anyone, 0, func(c *Call) error { return answer(c)(c.Portal.Rounds(c.R.Context(), c.Who)) }},
		{"GET", v1 + "/rounds/{round}", Anyone, 0, func(c *Call) error { return answerOf(c, c.Portal.Round) }},
		{"GET", v1 + "/rounds/{round}/board", Anyone, 0, getBoard},
		{"GET", v1 + "/rounds/{round}/stream", Anyone, 0, s.stream},
		{"GET", v1 + "/rounds/{round}/series", Anyone, 0, func(c *Call) error {
			return answer(c)(c.Portal.Series(c.R.Context(), c.Who, c.R.PathValue("round"), c.R.URL.Query()["team"]))
		}},
		{"GET", v1 + "/rounds/{round}/queue", Anyone, 0, func(c *Call) error { return answerOf(c, c.Portal.Queue) }},
		{"GET", v1 + "/rounds/{round}/messages", Anyone, 0, func(c *Call) error { return answerOf(c, c.Portal.Messages) }},
		{"POST", v1 + "/rounds/{round}/messages", Login, 20, postMessage},
		{"POST", v1 + "/rounds/{round}/messages/{message}/claim", Answers, 60, func(c *Call) error {
			return answer(c)(done, c.Portal.ClaimQuestion(c.R.Context(), c.Who, c.R.PathValue("round"), c.R.PathValue("message")))
		}},
		{"GET", v1 + "/rounds/{round}/teams/{team}", Anyone, 0, func(c *Call) error {
			return answer(c)(c.Portal.Team(c.R.Context(), c.Who, c.R.PathValue("round"), c.R.PathValue("team")))
		}},
		{"GET", v1 + "/rounds/{round}/jobs", Login, 0, getJobs},
		{"POST", v1 + "/rounds/{round}/jobs", Login, 10, postJob},
		{"GET", v1 + "/jobs/{job}", Login, 0, func(c *Call) error { return answer(c)(c.Portal.Job(c.R.Context(), c.Who, c.R.PathValue("job"))) }},
		{"POST", v1 + "/jobs/{job}/cancel", Login, 20, postCancel},
		{"POST", v1 + "/rounds/{round}/clock", Chief, 60, postClock},
		{"POST", v1 + "/rounds/{round}/state", Chief, 60, postState},
		{"POST", v1 + "/rounds/{round}/noise", Judges, 60, func(c *Call) error {
			var n Noise
			if err := c.Read(&n); err != nil {
				return err
			}
			return answer(c)(c.Portal.SetNoise(c.R.Context(), c.Who, c.R.PathValue("round"), n))
		}},
		{"POST", v1 + "/rounds/{round}/begin", Playing, 10, func(c *Call) error { return answerOf(c, c.Portal.Begin) }},
		{"POST", v1 + "/workers/{worker}", Judges, 60, postWorker},
		{"GET", v1 + "/workers", Staffed, 0, func(c *Call) error { return answer(c)(c.Portal.Workers(c.R.Context(), c.Who)) }},
	}
}

// answer writes the value of a call, or passes its error on.
func answer(c *Call) func(v any, err error) error {
	return func(v any, err error) error {
		if err != nil {
			return err
		}
		return c.JSON(v)
	}
}

// getBoard answers 304 where the caller has the board already.
func getBoard(c *Call) error {
	b, err := c.Portal.Board(c.R.Context(), c.Who, c.R.PathValue("round"))
	if err != nil {
		return err
	}
	c.W.Header().Set("ETag", `"`+b.Version+`"`)
	c.W.Header().Set("Cache-Control", "private, no-cache")
	if c.R.Header.Get("If-None-Match") == `"`+b.Version+`"` {
		c.W.WriteHeader(http.StatusNotModified)
		return nil
	}
	return c.JSON(b)
}

func getJobs(c *Call) error {
	team := c.R.URL.Query().Get("team")
	if team == "" && !c.Who.Role.Staff() {
		team = c.Who.Team
	}
	return answer(c)(c.Portal.Jobs(c.R.Context(), c.Who, c.R.PathValue("round"), team))
}

func postJob(c *Call) error {
	var e Enqueue
	if err := c.Read(&e); err != nil {
		return err
	}
	e.Round, e.Key = c.R.PathValue("round"), c.R.Header.Get("Idempotency-Key")
	return answer(c)(c.Portal.Enqueue(c.R.Context(), c.Who, e))
}

func postCancel(c *Call) error {
	var body struct {
		Reason string `json:"reason"`
	}
	if err := c.Read(&body); err != nil {
		return err
	}
	return answer(c)(c.Portal.Cancel(c.R.Context(), c.Who, c.R.PathValue("job"), body.Reason))
}

func postMessage(c *Call) error {
	var say Say
	if err := c.Read(&say); err != nil {
		return err
	}
	say.Round, say.Key = c.R.PathValue("round"), c.R.Header.Get("Idempotency-Key")
	return answer(c)(c.Portal.Say(c.R.Context(), c.Who, say))
}

func postWorker(c *Call) error {
	var body struct {
		Hold   bool   `json:"hold"`
		Reason string `json:"reason"`
	}
	if err := c.Read(&body); err != nil {
		return err
	}
	return answer(c)(done, c.Portal.Hold(c.R.Context(), c.Who, c.R.PathValue("worker"), body.Hold, body.Reason))
}

func postClock(c *Call) error {
	var act contest.Act
	if err := c.Read(&act); err != nil {
		return err
	}
	return answer(c)(c.Portal.Act(c.R.Context(), c.Who, c.R.PathValue("round"), act))
}

func postState(c *Call) error {
	var body struct {
		To contest.State `json:"to"`
	}
	if err := c.Read(&body); err != nil {
		return err
	}
	return answer(c)(c.Portal.Move(c.R.Context(), c.Who, c.R.PathValue("round"), body.To))
}

// keepAlive is how often a stream without news sends a comment: proxies close quiet ones.
const keepAlive = 15 * time.Second

// Bounds of open streams. Spectators of one company come from one address, and so do teams in
// one room: an address may have many, an account as many as browsers of a person.
const (
	streamsOfAccount = 8
	streamsOfAll     = 20_000
)

// stream sends server-sent events.
func (s *Server) stream(c *Call) error {
	leave, ok := s.streams.enter(c.Who.Account)
	if !ok {
		return &RefusedError{Code: "limit", Text: "too many streams are open", Wait: 5 * time.Second}
	}
	defer leave()
	frames, err := c.Portal.Stream(c.R.Context(), c.Who, c.R.PathValue("round"), c.R.Header.Get("Last-Event-ID"))
	if err != nil {
		return err
	}
	c.W.Header().Set("Content-Type", "text/event-stream")
	c.W.Header().Set("X-Accel-Buffering", "no")
	out := http.NewResponseController(c.W)
	if _, err := fmt.Fprint(c.W, "retry: 2000\n\n"); err != nil {
		return nil // the reader is gone
	}
	quiet := time.NewTicker(keepAlive)
	defer quiet.Stop()
	for {
		// A reader that takes nothing for a minute is gone.
		if err := out.SetWriteDeadline(time.Now().Add(time.Minute)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return nil
		}
		if out.Flush() != nil {
			return nil
		}
		select {
		case <-c.R.Context().Done():
			return nil
		case <-quiet.C:
			_, err = fmt.Fprint(c.W, ": \n\n")
		case f, open := <-frames:
			if !open {
				return nil // it comes back and gets what it missed
			}
			_, err = c.W.Write(f.text)
		}
		if err != nil {
			return nil
		}
	}
}

// workerRoutes are the calls of workers.
func (s *Server) workerRoutes() []Route {
	w := s.o.Workers
	if w == nil {
		return nil
	}
	return []Route{
		{"POST", "/worker/v1/register", Machine, 0, func(c *Call) error {
			var r Register
			if err := c.Read(&r); err != nil {
				return err
			}
			return answer(c)(struct{}{}, w.Register(c.R.Context(), r))
		}},
		{"POST", "/worker/v1/next", Machine, 0, func(c *Call) error {
			var r Next
			if err := c.Read(&r); err != nil {
				return err
			}
			a, err := w.Next(c.R.Context(), r)
			if err == nil && a == nil {
				c.W.WriteHeader(http.StatusNoContent)
				return nil
			}
			return answer(c)(a, err)
		}},
		{"POST", "/worker/v1/beat", Machine, 0, func(c *Call) error {
			var b Beat
			if err := c.Read(&b); err != nil {
				return err
			}
			return answer(c)(w.Beat(c.R.Context(), b))
		}},
		{"POST", "/worker/v1/finish", Machine, 0, func(c *Call) error {
			var f Finish
			if err := c.Read(&f); err != nil {
				return err
			}
			return answer(c)(w.Finish(c.R.Context(), f))
		}},
	}
}

// answerOf calls a method of a round.
func answerOf[T any](c *Call, call func(context.Context, Who, string) (T, error)) error {
	v, err := call(c.R.Context(), c.Who, c.R.PathValue("round"))
	return answer(c)(v, err)
}
