package bench

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"testing"
	"time"
)

// TestMain can run a server instead of the tests, see serveElsewhere.
func TestMain(m *testing.M) {
	if os.Getenv("IIKANJI_TEST_SERVE") == "" {
		os.Exit(m.Run())
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("http://" + l.Addr().String())
	time.AfterFunc(time.Minute, func() { os.Exit(1) }) // ends even if the parent is killed
	fmt.Fprintln(os.Stderr, http.Serve(l, http.HandlerFunc(fair)))
	os.Exit(1)
}
