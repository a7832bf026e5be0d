// Command load is the ferry company's benchmarker: load URL SECONDS [RATE]. It sends
// requests for the seconds, and then until it has sent RATE for each of the seconds. It
// prints one JSON document with score, pass and messages.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

func main() {
	url := os.Args[1]
	seconds, err := strconv.ParseFloat(os.Args[2], 64)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	least := 0
	if len(os.Args) > 3 {
		rate, err := strconv.ParseFloat(os.Args[3], 64)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		least = int(rate * seconds)
	}
	var messages []string
	res, err := http.Post(url+"/initialize", "", nil)
	if err != nil || res.StatusCode != http.StatusOK {
		messages = append(messages, fmt.Sprintf("initialize: %v", err))
	}
	var right atomic.Int64
	var mu sync.Mutex
	var wait sync.WaitGroup
	end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	for worker := range 4 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for n := worker; n < least || time.Now().Before(end); n += 4 {
				if err := ask(fmt.Sprintf("%s/harbour/harbour-%d", url, n%50)); err != nil {
					mu.Lock()
					messages = append(messages, err.Error())
					mu.Unlock()
					return
				}
				right.Add(1)
			}
		}()
	}
	wait.Wait()
	fmt.Fprintln(os.Stderr, "load is over")
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"score": right.Load(), "pass": len(messages) == 0, "messages": messages})
}

func ask(url string) error {
	res, err := http.Get(url)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if lines := strings.Count(string(b), "\n"); res.StatusCode != http.StatusOK || lines != 3 {
		return fmt.Errorf("%s: %s, %d lines", url, res.Status, lines)
	}
	return nil
}
