package node_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/portal/hosts"
)

// Roles of processes of the final judging.
const (
	hostRole       = "portal-host" // FOLDER PORTAL SITE
	finalBenchRole = "portal-final-bench"
	persistRole    = "portal-persist"
)

// hostProcess is a machine of a team: its site, whose loads are counted in a file, and its agent.
// The folder has the boot id, the token, what the site scores, and how the machine behaves.
func hostProcess(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir := args[0]
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(dir, name)) // none is ""
		return strings.TrimSpace(string(text))
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/load", func(w http.ResponseWriter, _ *http.Request) {
		n, _ := strconv.Atoi(read("data")) // none is 0
		if err := os.WriteFile(filepath.Join(dir, "data"), []byte(strconv.Itoa(n+1)), 0o600); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, read("score"))
	})
	mux.HandleFunc("/data", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, read("data")) })
	l, err := net.Listen("tcp", args[2])
	if err != nil {
		return err
	}
	server := &http.Server{Handler: mux}
	context.AfterFunc(ctx, func() { server.Close() })
	go func() { _ = server.Serve(l) }() // it ends with the process
	ip, _, err := net.SplitHostPort(args[2])
	if err != nil {
		return err
	}
	agent, err := net.Listen("tcp", net.JoinHostPort(ip, "0"))
	if err != nil {
		return err
	}
	a := &hosts.Agent{Portal: args[1], Token: read("token"), Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Now: time.Now, Every: 200 * time.Millisecond}
	if read("boot") != "" { // else the machine's own
		a.BootFile, a.SSHDir = filepath.Join(dir, "boot"), dir
	}
	if read("behaves") == "flaps" && read("booted") != "" {
		a.BootFile = "/proc/sys/kernel/random/uuid" // another boot at each look
	}
	return a.Run(ctx, agent)
}

// finalBench loads a site once. Its score is the site's, halved on the slow worker; the first run of
// the folder's void file is void.
func finalBench(args []string) error {
	target := os.Getenv("IIKANJI_TARGET")
	u, err := url.Parse(target)
	if err != nil {
		return err
	}
	report := os.NewFile(3, "report")
	if os.Remove(filepath.Join(args[0], "void-"+u.Port())) == nil {
		_, err = fmt.Fprintln(report, `{"end":true,"void":true,"reasons":["the generator was the limit"]}`)
		return err
	}
	res, err := http.Get(target + "/load")
	if err != nil {
		_, err = fmt.Fprintln(report, `{"end":true,"pass":false,"reasons":["no answer"]}`)
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	score, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return err
	}
	if strings.Contains(os.Getenv("PATH"), "slow-worker") {
		score /= 2
	}
	_, err = fmt.Fprintf(report, "{\"end\":true,\"pass\":true,\"score\":%g}\n", score)
	return err
}

// persistProcess reads what the loads have written, and compares it after the reboot.
func persistProcess([]string) error {
	res, err := http.Get(os.Getenv("IIKANJI_TARGETS") + "/data")
	if err != nil {
		return err
	}
	defer res.Body.Close()
	now, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if os.Getenv("IIKANJI_PHASE") == "before" {
		_, err = os.Stdout.Write(now)
		return err
	}
	before, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	if !bytes.Equal(bytes.TrimSpace(before), bytes.TrimSpace(now)) {
		return fmt.Errorf("%q runs are kept of %q", now, before)
	}
	return nil
}
