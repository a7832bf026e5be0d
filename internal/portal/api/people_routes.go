package api

import "context"

// peopleRoutes are the routes of those who take part.
func (s *Server) peopleRoutes() []Route {
	p := s.o.People
	if p == nil {
		return nil
	}
	const at = "/api/v1/contests/{contest}"
	return []Route{
		{"GET", at, Anyone, 0, func(c *Call) error { return answer(c)(p.Contest(c.R.Context(), c.Who, c.R.PathValue("contest"))) }},
		{"POST", at + "/teams", Login, 10, body(func(ctx context.Context, c *Call, in SignUp) (any, error) {
			return p.SignUp(ctx, c.Who, c.R.PathValue("contest"), in)
		})},
		{"POST", at + "/team", Leading, 20, body(func(ctx context.Context, c *Call, in Edit) (any, error) {
			return p.Edit(ctx, c.Who, c.R.PathValue("contest"), in)
		})},
		{"POST", at + "/team/invite", Leading, 10, body(func(ctx context.Context, c *Call, _ struct{}) (any, error) {
			token, err := p.Invite(ctx, c.Who, c.R.PathValue("contest"))
			return map[string]string{"token": token}, err
		})},
		{"POST", "/api/v1/invitations", Login, 10, body(func(ctx context.Context, c *Call, in struct {
			Token    string   `json:"token"`
			Declares []string `json:"declares"`
		}) (any, error) {
			return p.Accept(ctx, c.Who, in.Token, in.Declares)
		})},
		{"POST", at + "/team/leave", Playing, 10, body(func(ctx context.Context, c *Call, _ struct{}) (any, error) {
			return done, p.Leave(ctx, c.Who, c.R.PathValue("contest"))
		})},
		{"POST", at + "/team/remove", Leading, 20, body(func(ctx context.Context, c *Call, in member) (any, error) {
			return done, p.Remove(ctx, c.Who, c.R.PathValue("contest"), in.Account)
		})},
		{"POST", at + "/team/hand-over", Leading, 10, body(func(ctx context.Context, c *Call, in member) (any, error) {
			return done, p.HandOver(ctx, c.Who, c.R.PathValue("contest"), in.Account)
		})},
		{"POST", at + "/team/withdraw", Leading, 10, body(func(ctx context.Context, c *Call, in struct {
			Reason string `json:"reason"`
		}) (any, error) {
			return done, p.Withdraw(ctx, c.Who, c.R.PathValue("contest"), in.Reason)
		})},
		{"POST", at + "/seek", Login, 10, body(func(ctx context.Context, c *Call, in struct {
			Level int    `json:"level"`
			Text  string `json:"text"`
		}) (any, error) {
			return done, p.Seek(ctx, c.Who, c.R.PathValue("contest"), in.Level, in.Text)
		})},
		{"GET", at + "/applied", Staffed, 0, func(c *Call) error { return answer(c)(p.Applied(c.R.Context(), c.Who, c.R.PathValue("contest"))) }},
		{"POST", at + "/applied", Desk, 120, body(func(ctx context.Context, c *Call, in Decision) (any, error) {
			return done, p.Decide(ctx, c.Who, c.R.PathValue("contest"), in)
		})},
		{"POST", at + "/codes", Desk, 60, body(func(ctx context.Context, c *Call, in struct {
			Places int    `json:"places"`
			Note   string `json:"note"`
		}) (any, error) {
			code, err := p.Code(ctx, c.Who, c.R.PathValue("contest"), in.Places, in.Note)
			return map[string]string{"code": code}, err
		})},
		{"POST", at + "/list", Desk, 60, body(func(ctx context.Context, c *Call, in struct {
			Names []string `json:"names"`
		}) (any, error) {
			return done, p.List(ctx, c.Who, c.R.PathValue("contest"), in.Names)
		})},
		{"POST", at + "/draw", Chief, 60, body(func(ctx context.Context, c *Call, in struct {
			Seed  uint64 `json:"seed"`
			Apply bool   `json:"apply"`
		}) (any, error) {
			return p.Draw(ctx, c.Who, c.R.PathValue("contest"), in.Seed, in.Apply)
		})},
		{"POST", at + "/seats", Desk, 60, body(func(ctx context.Context, c *Call, in map[string]Seat) (any, error) {
			return done, p.Seats(ctx, c.Who, c.R.PathValue("contest"), in)
		})},
	}
}

// A member names a member of a team.
type member struct {
	Account string `json:"account"`
}

// done is the answer of an act that has no other.
var done = struct {
	Done bool `json:"done"`
}{true}

// body is a handler that reads a JSON body and writes what an act answers.
func body[T any](do func(ctx context.Context, c *Call, in T) (any, error)) func(*Call) error {
	return func(c *Call) error {
		var in T
		if err := c.Read(&in); err != nil {
			return err
		}
		return answer(c)(do(c.R.Context(), c, in))
	}
}
