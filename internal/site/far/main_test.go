package far_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/peer"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/far"
)

// lateVariable is by how much the clock of a far end is ahead: a machine in namespaces has
// the clock of this one.
const lateVariable = "IIKANJI_TEST_LATE"

// TestMain makes this program the far end of a machine, the app of a site, or its
// benchmarker where it is started as one.
func TestMain(m *testing.M) {
	mode := ""
	if len(os.Args) > 1 {
		mode = os.Args[1]
	}
	var err error
	switch mode {
	case "peer":
		ahead, _ := time.ParseDuration(os.Getenv(lateVariable)) // none: 0
		o := peer.Options{Tasks: far.Tasks(func() time.Time { return time.Now().Add(ahead) })}
		err = peer.Serve(context.Background(), peer.Join(os.Stdin, os.Stdout), host.Local{}, o)
	case "shop":
		err = shop()
	case "load":
		err = load(os.Args[2])
	default:
		process.MaybeSupervise()
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// shop is an app that lists items, and asks for the price of each of them.
func shop() error {
	db, err := sql.Open("mysql", os.Getenv("SHOP_DSN"))
	if err != nil {
		return err
	}
	db.SetMaxIdleConns(10)
	http.HandleFunc("POST /initialize", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("GET /items/{kind}", func(w http.ResponseWriter, r *http.Request) {
		rows, err := db.QueryContext(r.Context(), "SELECT id FROM item WHERE kind = ? ORDER BY id LIMIT 5", r.PathValue("kind"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		var ids []int
		for rows.Next() {
			var id int
			if rows.Scan(&id) == nil {
				ids = append(ids, id)
			}
		}
		rows.Close()
		for _, id := range ids {
			var price int
			if err := db.QueryRowContext(r.Context(), "SELECT cents FROM price WHERE item = ?", id).Scan(&price); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			fmt.Fprintln(w, id, price)
		}
	})
	return http.ListenAndServe(":8080", nil)
}

// loadTime is the length of a load.
const loadTime = 6 * time.Second

// load is the benchmarker of the shop.
func load(url string) error {
	res, err := http.Post(url+"/initialize", "", nil)
	if err != nil || res.StatusCode != http.StatusOK {
		return fmt.Errorf("initialize: %v %v", res, err)
	}
	var right, wrong atomic.Int64
	var all sync.WaitGroup
	for worker := range 3 {
		all.Go(func() {
			for n, end := worker, time.Now().Add(loadTime); time.Now().Before(end); n++ {
				res, err := http.Get(fmt.Sprintf("%s/items/kind-%d", url, n%40))
				if err == nil {
					res.Body.Close()
				}
				if err == nil && res.StatusCode == http.StatusOK {
					right.Add(1)
				} else {
					wrong.Add(1)
				}
			}
		})
	}
	all.Wait()
	fmt.Printf(`{"score": %d, "pass": %t}`+"\n", right.Load(), wrong.Load() == 0)
	return nil
}
