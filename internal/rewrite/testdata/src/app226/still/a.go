package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"
)

type user struct {
	ID   int64  `db:"id"`
	Name string `db:"name"`
	Seen bool
}

var verbose bool

var errNone = errors.New("nobody")

// UsedLater: the rows are counted behind the branch.
func UsedLater(db *sqlx.DB, long bool) (string, error) {
	var names []string
	if err := db.Select(&names, "SELECT name FROM users"); err != nil {
		return "", err
	}
	out := ""
	if long {
		out = fmt.Sprint(names)
	}
	return out + strconv.Itoa(len(names)), nil
}

// InCondition: the condition needs the rows.
func InCondition(db *sqlx.DB, long bool) (string, error) {
	var names []string
	if err := db.Select(&names, "SELECT name FROM users"); err != nil {
		return "", err
	}
	if long && len(names) > 0 {
		return names[0], nil
	}
	return "", nil
}

// Transaction: the first read of a transaction is its snapshot.
func Transaction(tx *sqlx.Tx, long bool) (string, error) {
	var names []string
	if err := tx.Select(&names, "SELECT name FROM users"); err != nil {
		return "", err
	}
	if long {
		return fmt.Sprint(names), nil
	}
	return "", nil
}

// Locks: the query waits for other transactions.
func Locks(db *sqlx.DB, long bool) (string, error) {
	var names []string
	if err := db.Select(&names, "SELECT name FROM users FOR UPDATE"); err != nil {
		return "", err
	}
	if long {
		return fmt.Sprint(names), nil
	}
	return "", nil
}

// Waits: the query has an effect.
func Waits(db *sqlx.DB, long bool) (string, error) {
	var got []int
	if err := db.Select(&got, "SELECT GET_LOCK('x', 10)"); err != nil {
		return "", err
	}
	if long {
		return fmt.Sprint(got), nil
	}
	return "", nil
}

// Missing: without the row, the function fails.
func Missing(db *sqlx.DB, id int64, long bool) (string, error) {
	var u user
	if err := db.Get(&u, "SELECT id, name FROM users WHERE id = ?", id); err != nil {
		return "", err
	}
	if long {
		return u.Name, nil
	}
	return "", nil
}

// Nothing: without rows, the function ends.
func Nothing(db *sqlx.DB, long bool) (string, error) {
	var names []string
	if err := db.Select(&names, "SELECT name FROM users"); err != nil {
		return "", err
	}
	if len(names) == 0 {
		return "", errNone
	}
	if long {
		return names[0], nil
	}
	return "", nil
}

// Writes: the region writes.
func Writes(db *sqlx.DB, long bool) (string, error) {
	var names []string
	if err := db.Select(&names, "SELECT name FROM users"); err != nil {
		return "", err
	}
	if _, err := db.Exec("INSERT INTO log (n) VALUES (?)", len(names)); err != nil {
		return "", err
	}
	if long {
		return names[0], nil
	}
	return "", nil
}

// SetsOther: the loop counts for others, too.
func SetsOther(db *sqlx.DB, long bool) (string, int, error) {
	total := 0
	var users []user
	if err := db.Select(&users, "SELECT id, name FROM users"); err != nil {
		return "", 0, err
	}
	for _, u := range users {
		total += int(u.ID)
	}
	if long {
		return users[0].Name, total, nil
	}
	return "", total, nil
}

// FillsOther: the loop fills a map of the caller.
func FillsOther(db *sqlx.DB, names map[int64]string, long bool) (string, error) {
	var users []user
	if err := db.Select(&users, "SELECT id, name FROM users"); err != nil {
		return "", err
	}
	to := names
	for _, u := range users {
		to[u.ID] = u.Name
	}
	if long {
		return to[1], nil
	}
	return "", nil
}

// SetsElements: the loop sets fields of what others hold.
func SetsElements(db *sqlx.DB, held []*user, long bool) (string, error) {
	var users []user
	if err := db.Select(&users, "SELECT id, name FROM users"); err != nil {
		return "", err
	}
	for _, h := range held {
		h.Seen = len(users) > 0
	}
	if long {
		return users[0].Name, nil
	}
	return "", nil
}

func mark(held []*user) int {
	for _, h := range held {
		h.Seen = true
	}
	return len(held)
}

// CallsSetter: a function of the package does so.
func CallsSetter(db *sqlx.DB, held []*user, long bool) (string, error) {
	var users []user
	if err := db.Select(&users, "SELECT id, name FROM users"); err != nil {
		return "", err
	}
	n := mark(held) + len(users)
	if long {
		return strconv.Itoa(n), nil
	}
	return "", nil
}

// SetsCondition: what is compared depends on the rows.
func SetsCondition(db *sqlx.DB, long bool) (string, error) {
	var users []user
	if err := db.Select(&users, "SELECT id, name FROM users"); err != nil {
		return "", err
	}
	for _, u := range users {
		long = long || u.ID > 7
	}
	if long {
		return fmt.Sprint(users), nil
	}
	return "", nil
}

// Now: the condition depends on the moment.
func Now(db *sqlx.DB, end time.Time) (string, error) {
	var users []user
	if err := db.Select(&users, "SELECT id, name FROM users"); err != nil {
		return "", err
	}
	if time.Now().After(end) {
		return fmt.Sprint(users), nil
	}
	return "", nil
}

// Global: other requests may set what is compared.
func Global(db *sqlx.DB) (string, error) {
	var users []user
	if err := db.Select(&users, "SELECT id, name FROM users"); err != nil {
		return "", err
	}
	if verbose {
		return fmt.Sprint(users), nil
	}
	return "", nil
}

// BothBranches: both use the rows.
func BothBranches(db *sqlx.DB, long bool) (string, error) {
	var users []user
	if err := db.Select(&users, "SELECT id, name FROM users"); err != nil {
		return "", err
	}
	if long {
		return fmt.Sprint(users), nil
	} else {
		return users[0].Name, nil
	}
}

// Parses: the content of the rows may be refused.
func Parses(db *sqlx.DB, long bool) (string, error) {
	var users []user
	if err := db.Select(&users, "SELECT id, name FROM users"); err != nil {
		return "", err
	}
	sum := 0
	for _, u := range users {
		n, err := strconv.Atoi(u.Name)
		if err != nil {
			return "", err
		}
		sum += n
	}
	if long {
		return strconv.Itoa(sum), nil
	}
	return "", nil
}

// Logs: each request is logged.
func Logs(db *sqlx.DB, long bool) (string, error) {
	var users []user
	if err := db.Select(&users, "SELECT id, name FROM users"); err != nil {
		return "", err
	}
	log.Printf("%d users", len(users))
	if long {
		return fmt.Sprint(users), nil
	}
	return "", nil
}

// Result: the error is a result that a bare return returns.
func Result(db *sqlx.DB, long bool) (out string, err error) {
	var users []user
	err = db.Select(&users, "SELECT id, name FROM users")
	if err != nil {
		return
	}
	if long {
		out = fmt.Sprint(users)
	}
	return
}

// ErrorLater: the error is returned at the end.
func ErrorLater(db *sqlx.DB, long bool) (string, error) {
	var users []user
	err := db.Select(&users, "SELECT id, name FROM users")
	out := ""
	if long {
		out = fmt.Sprint(users)
	}
	return out, err
}

type selecter interface {
	SelectContext(ctx context.Context, dest any, query string, args ...any) error
}

// Interface: the handle may be a transaction.
func Interface(ctx context.Context, h selecter, long bool) (string, error) {
	var users []user
	if err := h.SelectContext(ctx, &users, "SELECT id, name FROM users"); err != nil {
		return "", err
	}
	if long {
		return fmt.Sprint(users), nil
	}
	return "", nil
}

// CheckedBefore: the check is of another query, which fails without a row.
func CheckedBefore(db *sqlx.DB, id int64, long bool) (string, error) {
	var u user
	err := db.Get(&u, "SELECT id, name FROM users WHERE id = ?", id)
	if err != nil {
		return "", err
	}
	if long {
		return u.Name, nil
	}
	return "", nil
}

// Refuses: the check ends with what the query set.
func Refuses(db *sqlx.DB, name string) ([]string, error) {
	c, err := strconv.Atoi(name)
	if err != nil {
		return nil, err
	}
	var names []string
	err = db.Select(&names, "SELECT name FROM users WHERE id > ?", c)
	if c == 7 {
		return nil, err
	}
	return names, err
}

// RefusesResult: the result that a bare return returns is set by the query.
func RefusesResult(db *sqlx.DB, long bool) (n int, err error) {
	err = db.Get(&n, "SELECT COUNT(*) FROM users")
	if err != nil {
		return 0, err
	}
	if long {
		return
	}
	return n + 1, nil
}

// RefusesLocked: the check is made under a lock, which others may wait for.
func RefusesLocked(db *sqlx.DB, mu interface{ Lock() }, long bool) ([]string, error) {
	var names []string
	if err := db.Select(&names, "SELECT name FROM users"); err != nil {
		return nil, err
	}
	mu.Lock()
	if long {
		return nil, errNone
	}
	return names, nil
}

// Rounds: the next round reads what the query set.
func Rounds(db *sqlx.DB, ids []int64) (last string, err error) {
	var e error
	for _, id := range ids {
		if e != nil {
			last = e.Error()
		}
		var names []string
		e = db.Select(&names, "SELECT name FROM users WHERE id > ?", id)
		if id == 7 {
			continue
		}
		last += fmt.Sprint(names)
	}
	return last, nil
}

func one(db *sqlx.DB, id int64) (*user, error) {
	var users []user
	if err := db.Select(&users, "SELECT id, name FROM users WHERE id = ?", id); err != nil {
		return nil, err
	}
	if len(users) == 0 {
		return nil, errNone
	}
	return &users[0], nil
}

// HelperMissing: the function fails without a row.
func HelperMissing(db *sqlx.DB, id int64, long bool) (string, error) {
	u, err := one(db, id)
	if err != nil {
		return "", err
	}
	if long {
		return u.Name, nil
	}
	return "", nil
}

func seen(db *sqlx.DB, held map[int64]bool) ([]user, error) {
	var users []user
	if err := db.Select(&users, "SELECT id, name FROM users"); err != nil {
		return nil, err
	}
	for _, u := range users {
		held[u.ID] = true
	}
	return users, nil
}

// HelperFills: the function fills a map of its caller.
func HelperFills(db *sqlx.DB, held map[int64]bool, long bool) (string, error) {
	users, err := seen(db, held)
	if err != nil {
		return "", err
	}
	if long {
		return fmt.Sprint(users), nil
	}
	return "", nil
}

func (u *user) friends(tx *sqlx.Tx) (names []string, err error) {
	err = tx.Select(&names, "SELECT name FROM friends WHERE id = ?", u.ID)
	return names, err
}

// HelperTransaction: the function reads in a transaction.
func HelperTransaction(tx *sqlx.Tx, u *user, long bool) (string, error) {
	names, err := u.friends(tx)
	if err != nil {
		return "", err
	}
	if long {
		return fmt.Sprint(names), nil
	}
	return "", nil
}

func chain(db *sqlx.DB, n int) ([]string, error) {
	var names []string
	if err := db.Select(&names, "SELECT name FROM users WHERE id = ?", n); err != nil {
		return nil, err
	}
	if n > 0 {
		more, err := chain(db, n-1)
		return append(more, names...), err
	}
	return names, nil
}

// HelperRecursion: the function calls itself.
func HelperRecursion(db *sqlx.DB, long bool) (string, error) {
	names, err := chain(db, 3)
	if err != nil {
		return "", err
	}
	if long {
		return fmt.Sprint(names), nil
	}
	return "", nil
}

// Started: a goroutine does the reading.
func Started(db *sqlx.DB, long bool) string {
	var users []user
	done := make(chan error)
	go func() { done <- db.Select(&users, "SELECT id, name FROM users") }()
	if long {
		<-done
		return fmt.Sprint(users)
	}
	return ""
}

// Built: the text is built at run time.
func Built(db *sqlx.DB, where string, long bool) (string, error) {
	var users []user
	if err := db.Select(&users, "SELECT id, name FROM users WHERE "+where); err != nil {
		return "", err
	}
	if long {
		return fmt.Sprint(users), nil
	}
	return "", nil
}

// Again: both declare the same name.
func Again(db *sqlx.DB, long bool) (string, error) {
	var users []user
	if err := db.Select(&users, "SELECT id, name FROM users"); err != nil {
		return "", err
	}
	if long {
		n := len(users)
		users := fmt.Sprint(n)
		return users, nil
	}
	return "", nil
}

// Elsewhere: the other goroutine sets what is compared.
func Elsewhere(db *sqlx.DB) (string, error) {
	long := false
	go func() { long = true }()
	var users []user
	if err := db.Select(&users, "SELECT id, name FROM users"); err != nil {
		return "", err
	}
	if long {
		return fmt.Sprint(users), nil
	}
	return "", nil
}

var _ *sql.DB

func main() {}
