package isutrain

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

const (
	userAgent = "iikanji-browser/1"
	jsonType  = "application/json"
)

// An agent is a browser of one user.
type agent struct {
	ct              *contest
	email, password string
	cl              scenario.Client
}

// browser opens a browser. Its user has no account yet.
func (ct *contest) browser() *agent {
	ct.mu.Lock()
	ct.users++
	number := ct.users
	ct.mu.Unlock()
	r := ct.rand(fmt.Sprintf("user %d", number))
	return &agent{
		ct: ct, email: fmt.Sprintf("u%d.%06x@train.example", number, r.IntN(1<<24)), password: fmt.Sprintf("%012x", r.Uint64()),
		cl: ct.s.NewClient(scenario.ClientOptions{Cache: true, Gzip: true, UserAgent: userAgent, Timeout: ct.timeout}),
	}
}

func (a *agent) close() { a.cl.Close() }

// do sends a request, checks its answer, and counts the call if it is right.
func (a *agent) do(ctx context.Context, r *scenario.Request, check func(res *scenario.Response) error) error {
	res, err := a.cl.Do(ctx, r)
	if err != nil {
		return err
	}
	defer res.Release()
	if err := check(res); err != nil {
		return err
	}
	if e, ok := weights[r.Step]; ok {
		a.ct.s.Add(e, 1)
	}
	return nil
}

// get reads JSON. With another status than 200 the body is free.
func (a *agent) get(ctx context.Context, step scenario.Step, path string, query url.Values, status int, v any) error {
	if query != nil {
		path += "?" + query.Encode()
	}
	return a.do(ctx, &scenario.Request{Step: step, Path: path}, want(status, v))
}

// post sends JSON and reads JSON.
func (a *agent) post(ctx context.Context, step scenario.Step, path string, body any, status int, v any) error {
	return a.do(ctx, request(step, path, body), want(status, v))
}

func request(step scenario.Step, path string, body any) *scenario.Request {
	text, err := json.Marshal(body)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return &scenario.Request{Step: step, Method: http.MethodPost, Path: path, ContentType: jsonType, Body: text}
}

// A refusal is the body of an answer with an error. All of them must have it.
type message struct {
	IsError *bool   `json:"is_error"`
	Message *string `json:"message"`
}

func want(status int, v any) func(res *scenario.Response) error {
	return func(res *scenario.Response) error {
		if status != http.StatusOK {
			if err := scenario.WantStatus(res, status); err != nil {
				return err
			}
			v = nil
		}
		if v != nil {
			return scenario.WantJSON(res, status, v)
		}
		var m message
		if err := scenario.WantJSON(res, status, &m); err != nil {
			return err
		}
		if m.IsError == nil || *m.IsError != (status != http.StatusOK) || m.Message == nil {
			return scenario.Wrong(res, "message", "the answer is no message of the API")
		}
		return nil
	}
}

// stamp writes a time as browsers send it.
func stamp(day, seconds int) string { return at(day, seconds).Format(time.RFC3339) }

func (a *agent) credentials() map[string]string {
	return map[string]string{"email": a.email, "password": a.password}
}

func (a *agent) signup(ctx context.Context) error {
	return a.post(ctx, stepSignup, "/api/auth/signup", a.credentials(), http.StatusOK, nil)
}

func (a *agent) login(ctx context.Context) error {
	return a.post(ctx, stepLogin, "/api/auth/login", a.credentials(), http.StatusOK, nil)
}

func (a *agent) logout(ctx context.Context) error {
	return a.post(ctx, stepLogout, "/api/auth/logout", struct{}{}, http.StatusOK, nil)
}

// arrive makes an account, logs in and reads the stations.
func (a *agent) arrive(ctx context.Context) error {
	if err := a.signup(ctx); err != nil {
		return err
	}
	if err := a.login(ctx); err != nil {
		return err
	}
	return a.checkStations(ctx)
}

func (a *agent) search(ctx context.Context, q query, status int) ([]foundTrain, error) {
	v := url.Values{
		"use_at": {stamp(q.day, q.after)}, "from": {a.ct.line.station(q.from).Name}, "to": {a.ct.line.station(q.to).Name},
		"train_class": {q.class}, "adult": {fmt.Sprint(q.adult)}, "child": {fmt.Sprint(q.child)},
	}
	var found []foundTrain
	err := a.get(ctx, stepSearch, "/api/train/search", v, status, &found)
	return found, err
}

func (a *agent) seatMap(ctx context.Context, day int, class, name string, car, from, to, status int) (carMap, error) {
	v := url.Values{
		"date": {stamp(day, 0)}, "train_class": {class}, "train_name": {name}, "car_number": {fmt.Sprint(car)},
		"from": {a.ct.line.station(from).Name}, "to": {a.ct.line.station(to).Name},
	}
	var m carMap
	err := a.get(ctx, stepSeats, "/api/train/seats", v, status, &m)
	return m, err
}

type wantedSeat struct {
	Row    int    `json:"row"`
	Column string `json:"column"`
}

// reserveRequest returns the request of a reservation.
func (a *agent) reserveRequest(r *reservation) *scenario.Request {
	car, seats := 0, []wantedSeat{}
	for _, s := range r.seats {
		car = s.car
		seats = append(seats, wantedSeat{s.row, s.column})
	}
	return request(stepReserve, "/api/train/reserve", map[string]any{
		"date": stamp(r.train.day, r.train.departs), "train_name": r.train.name, "train_class": r.train.class,
		"car_number": car, "is_smoking_seat": r.smoking, "seat_class": r.class,
		"departure": a.ct.line.station(r.from).Name, "arrival": a.ct.line.station(r.to).Name,
		"adult": r.adult, "child": r.child, "Column": r.column, "seats": seats,
	})
}
