package isutrain

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/files"
)

// A perfectApp implements the contest's API in memory, with its payment service. It is fast
// and correct, so the benchmarker must find no fault.
type perfectApp struct {
	line    *line
	days    int
	payment string // URL of the payment service
	// lose, if it is not nil, changes what the payment service shows after the load.
	lose func(list []payment) []payment

	mu       sync.Mutex
	users    map[string]string // passwords by email
	sessions map[string]string // emails
	held     []*perfectReservation
	last     int
	payments []payment
}

type perfectReservation struct {
	reservation
	email string
}

// A perfectCall is a request with its user.
type perfectCall struct {
	w     http.ResponseWriter
	r     *http.Request
	email string
}

func (c *perfectCall) json(status int, v any) {
	c.w.Header().Set("Content-Type", "application/json")
	c.w.WriteHeader(status)
	json.NewEncoder(c.w).Encode(v)
}

func (c *perfectCall) say(status int) {
	c.json(status, object{"is_error": status != 200, "message": "m"})
}

func (c *perfectCall) read(v any) { json.NewDecoder(c.r.Body).Decode(v) }

// serve starts the payment service and the app.
func (a *perfectApp) serve() (app, pay *httptest.Server) {
	pay = httptest.NewServer(a.paymentRoutes())
	a.payment = pay.URL
	return httptest.NewServer(a.routes()), pay
}

func (a *perfectApp) paymentRoutes() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, answer func(c *perfectCall)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			a.mu.Lock()
			defer a.mu.Unlock()
			answer(&perfectCall{w: w, r: r})
		})
	}
	handle("POST /initialize", func(c *perfectCall) { a.payments = nil; c.json(200, object{"is_ok": true}) })
	handle("POST /card", func(c *perfectCall) { c.json(200, object{"card_token": "t", "is_ok": true}) })
	handle("GET /result", func(c *perfectCall) {
		list := slices.Clone(a.payments)
		if a.lose != nil {
			list = a.lose(list)
		}
		c.json(200, object{"raw_data": list, "is_ok": true})
	})
	return mux
}

func (a *perfectApp) routes() http.Handler {
	mux := http.NewServeMux()
	public := files.NewWebapp(repository)
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		if path == "/" {
			path = "/index.html"
		}
		body, _ := public.ReadFile(publicFolder + path)
		w.Write(body)
	})
	handle := func(pattern string, user bool, answer func(c *perfectCall)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			a.mu.Lock()
			defer a.mu.Unlock()
			c := &perfectCall{w: w, r: r}
			if cookie, err := r.Cookie("session"); err == nil {
				c.email = a.sessions[cookie.Value]
			}
			if user && c.email == "" {
				c.say(401)
				return
			}
			answer(c)
		})
	}
	handle("POST "+atInitialize, false, func(c *perfectCall) {
		a.users, a.sessions, a.held = map[string]string{}, map[string]string{}, nil
		c.json(200, object{"available_days": a.days, "language": "test"})
	})
	handle("GET "+atSettings, false, func(c *perfectCall) { c.json(200, object{"payment_api": a.payment}) })
	handle("GET "+atStations, false, a.getStations)
	handle("GET "+atSearch, false, a.getSearch)
	handle("GET "+atSeats, false, a.getSeats)
	handle("POST "+atReserve, false, a.postReserve)
	handle("POST "+atCommit, true, a.postCommit)
	handle("GET "+atAuth, true, func(c *perfectCall) { c.json(200, object{"email": c.email}) })
	handle("POST "+atSignup, false, a.postSignup)
	handle("POST "+atLogin, false, a.postLogin)
	handle("POST "+atLogout, false, func(c *perfectCall) { delete(a.sessions, c.email); c.say(200) })
	handle("GET "+atList, true, a.getList)
	handle("GET /api/user/reservations/{id}", true, a.getDetail)
	handle("POST /api/user/reservations/{id}/cancel", true, a.postCancel)
	return mux
}

func (a *perfectApp) getStations(c *perfectCall) {
	var list []object
	for _, s := range a.line.stations {
		list = append(list, object{"id": s.ID, "name": s.Name, "is_stop_express": s.Express, "is_stop_semi_express": s.Semi, "is_stop_local": true})
	}
	c.json(200, list)
}

func (a *perfectApp) postSignup(c *perfectCall) {
	var v map[string]string
	c.read(&v)
	if a.users[v["email"]] != "" {
		c.say(400)
		return
	}
	a.users[v["email"]] = v["password"]
	c.say(200)
}

func (a *perfectApp) postLogin(c *perfectCall) {
	var v map[string]string
	c.read(&v)
	if p := a.users[v["email"]]; p == "" || p != v["password"] {
		c.say(403)
		return
	}
	a.sessions[v["email"]] = v["email"]
	http.SetCookie(c.w, &http.Cookie{Name: "session", Value: v["email"], Path: "/"})
	c.say(200)
}

// stationID returns the station of a name, 0 for none.
func (a *perfectApp) stationID(name string) int {
	return 1 + slices.IndexFunc(a.line.stations, func(s station) bool { return s.Name == name })
}

// dayOf returns the day and the second of a time, and whether the day can be booked.
func (a *perfectApp) dayOf(text string) (day, second int, ok bool) {
	t, err := time.Parse(time.RFC3339, text)
	d := int(t.Sub(at(0, 0)) / time.Second)
	return d / 86400, d % 86400, err == nil && d/86400 < a.days
}

func (a *perfectApp) trainOf(day int, class, name string) *train {
	for _, t := range a.line.trains[day] {
		if t.class == class && t.name == name {
			return t
		}
	}
	return nil
}

// taken reports whether a seat is sold on a part of a section.
func (a *perfectApp) taken(t *train, from, to int, s seat) bool {
	section := &reservation{from: from, to: to}
	return slices.ContainsFunc(a.held, func(r *perfectReservation) bool {
		return r.train == t && r.class != nonReserved && r.overlaps(section) && slices.Contains(r.seats, s)
	})
}

// free returns the free seats of a kind in a car.
func (a *perfectApp) free(t *train, from, to, car int, class string, smoking bool) (list []seat) {
	if carClass(t.class, car) != class {
		return nil
	}
	for _, s := range carSeats(car) {
		if s.smoking() == smoking && !a.taken(t, from, to, s) {
			list = append(list, s)
		}
	}
	return list
}

func (a *perfectApp) getSearch(c *perfectCall) {
	v := c.r.URL.Query()
	day, second, ok := a.dayOf(v.Get("use_at"))
	if !ok {
		c.say(404)
		return
	}
	q := query{day: day, after: second, from: a.stationID(v.Get("from")), to: a.stationID(v.Get("to")), class: v.Get("train_class")}
	q.adult, _ = strconv.Atoi(v.Get("adult"))
	q.child, _ = strconv.Atoi(v.Get("child"))
	list := []foundTrain{}
	for _, t := range a.line.search(q) {
		mark := func(class string, smoking bool) string {
			n := 0
			for car := 1; car <= lastCar; car++ {
				n += len(a.free(t, q.from, q.to, car, class, smoking))
			}
			return markOf(n)
		}
		item := a.line.item(t, q)
		item.Marks = marks{mark(premium, false), mark(premium, true), mark(reserved, false), mark(reserved, true), manyLeft}
		list = append(list, item)
	}
	c.json(200, list)
}

func (a *perfectApp) getSeats(c *perfectCall) {
	v := c.r.URL.Query()
	day, _, ok := a.dayOf(v.Get("date"))
	var t *train
	if ok {
		t = a.trainOf(day, v.Get("train_class"), v.Get("train_name"))
	}
	if t == nil {
		c.say(404)
		return
	}
	from, to := a.stationID(v.Get("from")), a.stationID(v.Get("to"))
	if !a.line.station(from).stops(t.class) || !a.line.station(to).stops(t.class) {
		c.say(400)
		return
	}
	car, _ := strconv.Atoi(v.Get("car_number"))
	m := carMap{Date: date(day, "/"), Class: t.class, Name: t.name, Car: car}
	for _, s := range carSeats(car) {
		m.Seats = append(m.Seats, mapSeat{s.row, s.column, carClass(t.class, car), s.smoking(), a.taken(t, from, to, s)})
	}
	for i := 1; i <= lastCar; i++ {
		m.Cars = append(m.Cars, mapCar{i, carClass(t.class, i)})
	}
	c.json(200, m)
}

type perfectRequest struct {
	Date      string
	Name      string `json:"train_name"`
	Class     string `json:"train_class"`
	Car       int    `json:"car_number"`
	Smoking   bool   `json:"is_smoking_seat"`
	SeatClass string `json:"seat_class"`
	Departure string
	Arrival   string
	Adult     int
	Child     int
	Column    string
	Seats     []wantedSeat
}

func (a *perfectApp) postReserve(c *perfectCall) {
	var v perfectRequest
	c.read(&v)
	r, status := a.plan(v)
	if status == 200 && c.email == "" {
		status = 401
	}
	if status != 200 {
		c.say(status)
		return
	}
	a.last++
	r.id, r.email, r.amount = a.last, c.email, a.line.amount(&r.reservation)
	a.held = append(a.held, r)
	c.json(200, object{"reservation_id": r.id, "amount": r.amount, "is_ok": true})
}

// plan finds the seats of a reservation, or the status of a refusal.
func (a *perfectApp) plan(v perfectRequest) (*perfectReservation, int) {
	day, _, ok := a.dayOf(v.Date)
	if !ok {
		return nil, 404
	}
	t := a.trainOf(day, v.Class, v.Name)
	if t == nil {
		return nil, 404
	}
	r := &perfectReservation{reservation: reservation{train: t, from: a.stationID(v.Departure), to: a.stationID(v.Arrival),
		class: v.SeatClass, adult: v.Adult, child: v.Child}}
	if !a.line.runs(t, r.from, r.to) {
		return nil, 400
	}
	if r.class == nonReserved {
		r.seats = make([]seat, r.persons())
		return r, 200
	}
	for _, s := range v.Seats {
		s := seat{v.Car, s.Row, s.Column}
		if !slices.Contains(carSeats(v.Car), s) || carClass(t.class, v.Car) != r.class {
			return nil, 404
		}
		if a.taken(t, r.from, r.to, s) {
			return nil, 400
		}
		r.seats = append(r.seats, s)
	}
	for car := 1; len(r.seats) == 0 && car <= lastCar; car++ {
		free := a.free(t, r.from, r.to, car, r.class, v.Smoking)
		if i := slices.IndexFunc(free, func(s seat) bool { return s.column == v.Column }); i > 0 {
			free[0], free[i] = free[i], free[0]
		}
		if len(free) >= r.persons() {
			r.seats = free[:r.persons()]
		}
	}
	if len(r.seats) == 0 {
		return nil, 404
	}
	return r, 200
}

// own finds a reservation of the user; id 0 stands for no number.
func (a *perfectApp) own(c *perfectCall, text string) (r *perfectReservation, id int) {
	id, _ = strconv.Atoi(text)
	for _, r := range a.held {
		if r.id == id && r.email == c.email {
			return r, id
		}
	}
	return nil, id
}

func (a *perfectApp) postCommit(c *perfectCall) {
	var v struct {
		Token string `json:"card_token"`
		ID    int    `json:"reservation_id"`
	}
	c.read(&v)
	r, _ := a.own(c, fmt.Sprint(v.ID))
	switch {
	case !slices.ContainsFunc(a.held, func(r *perfectReservation) bool { return r.id == v.ID }):
		c.say(404)
	case r == nil || r.paid:
		c.say(403)
	case v.Token != "t":
		c.say(500)
	default:
		r.paid = true
		var p payment
		p.Information.ReservationID, p.Information.Amount = r.id, r.amount
		a.payments = append(a.payments, p)
		c.json(200, object{"is_ok": true})
	}
}

// shown is a reservation as its user sees it.
func (a *perfectApp) shown(r *perfectReservation) object {
	seats, car := []object{}, 0
	for _, s := range r.seats {
		car = s.car
		seats = append(seats, object{"seat_row": s.row, "seat_column": s.column})
	}
	return object{"reservation_id": r.id, "date": date(r.train.day, "/"), "train_class": r.train.class, "train_name": r.train.name,
		"car_number": car, "seat_class": r.class, "amount": r.amount, "adult": r.adult, "child": r.child, "seats": seats,
		"departure": a.line.station(r.from).Name, "arrival": a.line.station(r.to).Name,
		"departure_time": clock(r.train.departure[r.from-1]), "arrival_time": clock(r.train.arrival[r.to-1])}
}

func (a *perfectApp) getList(c *perfectCall) {
	list := []object{}
	for _, r := range a.held {
		if r.email == c.email {
			list = append(list, a.shown(r))
		}
	}
	c.json(200, list)
}

func (a *perfectApp) getDetail(c *perfectCall) {
	r, id := a.own(c, c.r.PathValue("id"))
	switch {
	case id == 0:
		c.say(400)
	case r == nil:
		c.say(404)
	default:
		c.json(200, a.shown(r))
	}
}

func (a *perfectApp) postCancel(c *perfectCall) {
	r, _ := a.own(c, c.r.PathValue("id"))
	if r == nil {
		c.say(400)
		return
	}
	a.held = slices.DeleteFunc(a.held, func(o *perfectReservation) bool { return o == r })
	for i := range a.payments {
		if p := &a.payments[i].Information; p.ReservationID == r.id {
			p.IsCanceled = true
		}
	}
	c.say(200)
}
