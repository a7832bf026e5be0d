package isutrain

import (
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena/arenatest"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// ease makes the app fast enough for many runs: MariaDB prepares no statements, and the
// timetable has an index, which changes no answer.
var ease = []arenatest.Edit{
	arenatest.Interpolate(),
	{File: "go/main.go", Old: "func initializeHandler(w http.ResponseWriter, r *http.Request) {\n", New: `func initializeHandler(w http.ResponseWriter, r *http.Request) {
	dbx.MustExec("CREATE INDEX IF NOT EXISTS stop ON train_timetable_master (date, train_class, train_name, station)")
`},
}

// faults are all planted faults.
var faults = slices.Concat(searchFaults, seatFaults, accountFaults, reserveFaults, paymentFaults, loadFaults)

type object = map[string]any

// by and on make the patterns for the faults that must be reported.
func by(checks ...string) (want []arenatest.Caught) {
	for _, c := range checks {
		want = append(want, arenatest.By(c))
	}
	return want
}

func on(kind iikanji.FaultKind, step scenario.Step) []arenatest.Caught {
	return []arenatest.Caught{arenatest.On(kind, stepNames[step])}
}

// Patterns of the APIs.
const (
	atInitialize = "/initialize"
	atSettings   = "/api/settings"
	atStations   = "/api/stations"
	atSearch     = "/api/train/search"
	atSeats      = "/api/train/seats"
	atReserve    = "/api/train/reserve"
	atCommit     = "/api/train/reservation/commit"
	atAuth       = "/api/auth"
	atSignup     = "/api/auth/signup"
	atLogin      = "/api/auth/login"
	atLogout     = "/api/auth/logout"
	atList       = "/api/user/reservations"
	atDetail     = "/api/user/reservations/*"
	atCancel     = "/api/user/reservations/*/cancel"

	done = `{"is_error":false,"message":"done"}`
)

// changed changes successful answers.
func changed[T any](phase scenario.Phase, method, pattern string, change func(v T) T) func() arenatest.Hook {
	return func() arenatest.Hook {
		return arenatest.When(phase, method, pattern, arenatest.After(200, arenatest.JSON(func(_ *arenatest.Exchange, v T) T { return change(v) })))
	}
}

// edited changes an object, listed each object of a list.
func edited(method, pattern string, change func(o object)) func() arenatest.Hook {
	return changed("", method, pattern, func(o object) object { change(o); return o })
}

func inList(pattern string, change func(v []any) []any) func() arenatest.Hook {
	return changed("", "GET", pattern, change)
}

func each(pattern string, change func(o object)) func() arenatest.Hook {
	return inList(pattern, func(v []any) []any {
		for _, o := range v {
			change(o.(object))
		}
		return v
	})
}

func reversed(v []any) []any { slices.Reverse(v); return v }

// add adds to a number of an object.
func add(o object, name string, n float64) { o[name] = o[name].(float64) + n }

// allowed200 answers 200 where the app refuses with a status.
func allowed200(method, pattern string, status int) func() arenatest.Hook {
	return func() arenatest.Hook {
		return arenatest.When("", method, pattern, arenatest.After(status, func(x *arenatest.Exchange) { x.Give(200, "application/json", done) }))
	}
}

// searchFaults are in the stations, files and searches.
var searchFaults = []arenatest.Fault{
	{Name: "script with another byte", Want: on(iikanji.FaultCheck, stepStatic), Spoil: func() arenatest.Hook {
		return arenatest.When("", "GET", "/app.js", arenatest.After(200, func(x *arenatest.Exchange) { x.Reply = append(x.Reply, '\n') }))
	}},
	{Name: "initialize without a language", Want: by("initialize-language"), Spoil: edited("POST", atInitialize, func(o object) { o["language"] = "" })},
	{Name: "window of a day", Want: by("initialize-days"), Spoil: edited("POST", atInitialize, func(o object) { o["available_days"] = 1 })},
	{Name: "settings without a payment service", Want: by("settings-payment"), Spoil: edited("GET", atSettings, func(o object) { o["payment_api"] = "" })},
	{Name: "station at which all trains stop", Want: by("stations"), Spoil: each(atStations, func(o object) { o["is_stop_express"] = true })},
	{Name: "search without trains", Want: by("search-empty"), Spoil: inList(atSearch, func([]any) []any { return []any{} })},
	{Name: "search with the last train first", Want: by("search-trains"), Spoil: inList(atSearch, reversed)},
	{Name: "search with nine trains", Want: by("search-trains"), Spoil: inList(atSearch, func(v []any) []any { return v[:min(9, len(v))] })},
	{Name: "primary key on the trains", Want: by("search-trains"), Edits: []arenatest.Edit{
		{File: "go/main.go", Old: "	dbx.MustExec(\"CREATE INDEX IF", New: "	dbx.MustExec(\"CREATE TABLE IF NOT EXISTS train_keyed " +
			"(PRIMARY KEY (date, train_class, train_name)) SELECT * FROM train_master\")\n	dbx.MustExec(\"CREATE INDEX IF"},
		{File: "go/search.go", Old: "SELECT * FROM train_master WHERE date = ? AND train_class IN", New: "SELECT * FROM train_keyed WHERE date = ? AND train_class IN"},
	}},
	{Name: "search of trains that have left", Want: by("search-trains"), Edits: []arenatest.Edit{
		{File: "go/search.go", Old: "if !leaves.After(useAt) {", New: "if leaves.IsZero() {"}}},
	{Name: "search with all seats free", Want: by("search-marks"), Spoil: each(atSearch, func(o object) { o["seat_availability"].(object)["premium_smoke"] = manyLeft })},
	{Name: "search with a dearer fare", Want: by("search-fares"), Spoil: each(atSearch, func(o object) { add(o["seat_fare"].(object), "reserved", 1) })},
	{Name: "search with an earlier arrival", Want: by("search-times"), Spoil: each(atSearch, func(o object) { o["arrival_time"] = "00:00:00" })},
	{Name: "search with another last station", Want: by("search-stations"), Spoil: each(atSearch, func(o object) { o["last"] = o["start"] })},
	{Name: "search beyond the window", Want: by("window-search"), Spoil: allowed200("GET", atSearch, 404)},
}

// seats changes the seats of a map.
func seats(change func(v []any) []any) func() arenatest.Hook {
	return edited("GET", atSeats, func(o object) { o["seats"] = change(o["seats"].([]any)) })
}

// seatFaults are in the seat maps.
var seatFaults = []arenatest.Fault{
	{Name: "seat map of another car", Want: by("seats-car"), Spoil: edited("GET", atSeats, func(o object) { add(o, "car_number", 1) })},
	{Name: "seat map without the last car", Want: by("seats-cars"), Spoil: edited("GET", atSeats, func(o object) { o["cars"] = o["cars"].([]any)[:15] })},
	{Name: "seat twice", Want: by("seats-twice"), Spoil: seats(func(v []any) []any { v[1] = v[0]; return v })},
	{Name: "seats in the wrong order", Want: by("seats-layout"), Spoil: seats(reversed)},
	{Name: "seat too few", Want: by("seats-layout"), Spoil: seats(func(v []any) []any { return v[1:] })},
	{Name: "all seats are taken", Want: by("seats-occupied"), Spoil: seats(func(v []any) []any {
		for _, s := range v {
			s.(object)["is_occupied"] = true
		}
		return v
	})},
	{Name: "all seats are free", Want: by("seats-occupied"), Spoil: seats(func(v []any) []any {
		for _, s := range v {
			s.(object)["is_occupied"] = false
		}
		return v
	})},
	{Name: "seats beyond the window", Want: by("window-seats", "seats-no-train"), Edits: []arenatest.Edit{
		{File: "go/seatmap.go", Old: "if !withinWindow(at) {", New: "if false {"}, {File: "go/seatmap.go", Old: "http.StatusNotFound, \"there is no such train\"",
			New: "http.StatusBadRequest, \"there is no such train\""}}},
	{Name: "seats where the train does not stop", Want: by("seats-no-stop"), Spoil: allowed200("GET", atSeats, 400)},
}

// accountFaults are in sign-up, log-in and sessions.
var accountFaults = []arenatest.Fault{
	{Name: "anybody logs in", Want: by("login-unknown"), Spoil: allowed200("POST", atLogin, 403)},
	{Name: "any password", Want: by("login-password"), Edits: []arenatest.Edit{
		{File: "go/auth.go", Old: "if !bytes.Equal(hash, user.HashedPassword) {", New: "if bytes.Equal(hash, nil) {"}}},
	{Name: "an account twice", Want: by("signup-twice"), Spoil: allowed200("POST", atSignup, 400)},
	{Name: "no session is needed", Want: by("no-session"), Spoil: allowed200("GET", atList, 401)},
	{Name: "another user's email", Want: by("auth-email"), Spoil: edited("GET", atAuth, func(o object) { o["email"] = "x@example.com" })},
	{Name: "logged out and in", Want: by("logged-out"), Edits: []arenatest.Edit{
		{File: "go/auth.go", Old: "setUser(w, r, 0)", New: "error(nil)"}}},
	{Name: "messages without a message", Want: by("message"), Spoil: edited("POST", atSignup, func(o object) { delete(o, "message") })},
}

// reserveFaults are in reservations and their lists.
var reserveFaults = []arenatest.Fault{
	{Name: "reservation without a session", Want: by("reserve-no-session"), Spoil: allowed200("POST", atReserve, 401)},
	{Name: "seat that the car has not", Want: by("reserve-no-seat"), Edits: []arenatest.Edit{
		{File: "go/reserve.go", Old: "return http.StatusNotFound, \"there is no such seat\"", New: "return http.StatusOK, \"\""}}},
	{Name: "seat is sold twice", Want: by("sold-twice"), Edits: []arenatest.Edit{
		{File: "go/reserve.go", Old: "return http.StatusBadRequest, \"a seat is reserved already\"", New: "return http.StatusOK, \"\""}}},
	{Name: "a whole train for one section", Want: by("seats-occupied"), Edits: []arenatest.Edit{
		{File: "go/station.go", Old: "return to.ID > otherFrom.ID && from.ID < otherTo.ID", New: "return to.ID > 0"}}},
	{Name: "section that the train does not run", Want: by("reserve-outside"), Edits: []arenatest.Edit{
		{File: "go/reserve.go", Old: "	if !inside {", New: "	if !inside && req.Adult > 99 {"}}},
	{Name: "reservation beyond the window", Want: by("window-reserve"), Edits: []arenatest.Edit{
		{File: "go/reserve.go", Old: "	if !withinWindow(at) {", New: "	if at.Year() == 2020 && !withinWindow(at) {\n		errorResponse(w, http.StatusBadRequest, \"no\")\n		return\n	}\n	if !withinWindow(at) {"}}},
	{Name: "children pay nothing", Want: by("reserve-amount"), Edits: []arenatest.Edit{
		{File: "go/reserve.go", Old: "req.Adult*fare + req.Child*fare/2", New: "req.Adult*fare"}}},
	{Name: "reservation is not listed", Want: by("list-missing"), Spoil: inList(atList, func([]any) []any { return []any{} })},
	{Name: "another amount in the list", Want: by("list-amount"), Spoil: each(atList, func(o object) { add(o, "amount", 1) })},
	{Name: "another amount in the detail", Want: by("detail-amount"), Spoil: edited("GET", atDetail, func(o object) { add(o, "amount", 1) })},
	{Name: "seat too few in the detail", Want: by("detail-seats"), Spoil: edited("GET", atDetail, func(o object) { o["seats"] = o["seats"].([]any)[1:] })},
	{Name: "detail of another day", Want: by("detail-fields"), Spoil: edited("GET", atDetail, func(o object) { o["date"] = "2020/12/31" })},
	{Name: "any seats where one may smoke", Want: by("any-seats"), Edits: []arenatest.Edit{
		{File: "go/vague.go", Old: "AND seat_class = ? AND is_smoking_seat = ?", New: "AND seat_class = ? AND is_smoking_seat <= ?"}}},
	{Name: "any seats in any column", Want: by("any-column"), Edits: []arenatest.Edit{
		{File: "go/vague.go", Old: "	if column != \"\" {", New: "	if column == \"never\" {"}}},
	{Name: "ticket with a seat", Want: by("detail-non-reserved"), Edits: []arenatest.Edit{
		{File: "go/reserve.go", Old: "carNumber, seats = 0, make", New: "carNumber, seats = req.CarNumber+0, make"},
		{File: "go/reserve.go", Old: "id, carNumber, seat.Row, seat.Column)", New: "id, carNumber, seat.Row+99*max(0, 1-carNumber), seat.Column)"}}},
}

// paymentFaults are in payments and cancellations.
var paymentFaults = []arenatest.Fault{
	{Name: "anybody pays", Want: by("commit-foreign"), Edits: []arenatest.Edit{
		{File: "go/payment.go", Old: "if reservation.UserID != user.ID {", New: "if reservation.UserID < 0 && user.ID < 0 {"}}},
	{Name: "unknown reservation is paid", Want: by("commit-unknown"), Spoil: allowed200("POST", atCommit, 404)},
	{Name: "payment without a card", Want: by("commit-no-card"), Spoil: allowed200("POST", atCommit, 500)},
	{Name: "payment twice", Want: by("commit-twice"), Edits: []arenatest.Edit{
		{File: "go/payment.go", Old: "if reservation.Status == statusDone {", New: "if reservation.Status == \"x\" {"}}},
	{Name: "payment of another amount", Want: by("payment-amount"), Edits: []arenatest.Edit{
		{File: "go/payment.go", Old: "reservation.ReservationID, reservation.Amount})", New: "reservation.ReservationID, reservation.Amount + 1})"}}},
	{Name: "payment of another reservation", Want: by("payment-missing"), Edits: []arenatest.Edit{
		{File: "go/payment.go", Old: "reservation.ReservationID, reservation.Amount})", New: "reservation.ReservationID + 99, reservation.Amount})"}}},
	{Name: "anybody cancels", Want: by("cancel-foreign"), Spoil: allowed200("POST", atCancel, 400)},
	{Name: "cancellation does nothing", Want: by("list-cancelled"), Edits: []arenatest.Edit{
		{File: "go/payment.go", Old: "DELETE FROM reservations WHERE reservation_id = ? AND user_id = ?", New: "DELETE FROM reservations WHERE reservation_id < 0 AND ? + ?"}}},
	{Name: "cancelled reservation has a detail", Want: by("detail-cancelled"), Edits: []arenatest.Edit{
		{File: "go/reservation.go", Old: "	if errors.Is(err, sql.ErrNoRows) {", New: "	if errors.Is(err, sql.ErrNoRows) && user.ID == 3 {\n		respond(w, http.StatusOK, ReservationResponse{})\n		return\n	}\n	if errors.Is(err, sql.ErrNoRows) {"}}},
}

// loadFaults are met under load only.
var loadFaults = []arenatest.Fault{
	{Name: "search without trains under load", UnderLoad: true, Want: by("search-empty"),
		Spoil: changed(scenario.Load, "GET", atSearch, func([]any) []any { return []any{} })},
	{Name: "mark of no seats under load", UnderLoad: true, Want: by("tester-mark"), Spoil: changed(scenario.Load, "GET", atSearch, func(v []any) []any {
		for _, o := range v {
			o.(object)["seat_availability"].(object)["reserved"] = noneLeft
		}
		return v
	})},
	{Name: "reservation is not listed under load", UnderLoad: true, Want: by("list-missing"),
		Spoil: changed(scenario.Load, "GET", atList, func([]any) []any { return []any{} })},
	{Name: "dearer reservation under load", UnderLoad: true, Want: by("reserve-amount"),
		Spoil: changed(scenario.Load, "POST", atReserve, func(o object) object { add(o, "amount", 1); return o })},
	{Name: "cars are lost under load", UnderLoad: true, Want: by("seats-cars"),
		Spoil: changed(scenario.Load, "GET", atSeats, func(o object) object { o["cars"] = []any{}; return o })},
	{Name: "commits fail under load", UnderLoad: true, Want: on(iikanji.FaultStatus, stepCommit), Spoil: func() arenatest.Hook {
		return arenatest.When(scenario.Load, "POST", atCommit, arenatest.After(200, func(x *arenatest.Exchange) { x.Give(500, "application/json", done) }))
	}},
	{Name: "anybody cancels under load", UnderLoad: true, Want: by("cancel-foreign"), Spoil: func() arenatest.Hook {
		return arenatest.When(scenario.Load, "POST", atCancel, arenatest.After(400, func(x *arenatest.Exchange) { x.Give(200, "application/json", done) }))
	}},
	{Name: "seat is sold to two at once under load", UnderLoad: true, Want: by("sold-twice"), Edits: []arenatest.Edit{
		{File: "go/reserve.go", Old: "	if status, message := checkSeatsFree(tx, req, trip); status != http.StatusOK {",
			New: "	if status, message := checkSeatsFree(tx, req, trip); status != http.StatusOK && req.CarNumber != 9 {"}}},
}
