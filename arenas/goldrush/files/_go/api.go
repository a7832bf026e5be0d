package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// An api calls the operations of the server. The status is 0 if there was no answer.
type api struct {
	base    string
	client  http.Client
	playing atomic.Bool // the server has answered
}

func newAPI(host, port string) *api {
	return &api{base: "http://" + net.JoinHostPort(host, port),
		client: http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 128}}}
}

// call sends a request and reads the answer.
func (a *api) call(method, path string, body []byte) (status int, answer []byte) {
	req, err := http.NewRequest(method, a.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := a.client.Do(req)
	if err != nil {
		a.lost(err)
		return 0, nil
	}
	defer res.Body.Close()
	if answer, err = io.ReadAll(res.Body); err != nil {
		return 0, nil
	}
	return res.StatusCode, answer
}

// post sends a value and decodes the answer into another one.
func (a *api) post(path string, value, into any) (status int) {
	body, err := json.Marshal(value)
	if err != nil {
		return 0
	}
	status, answer := a.call("POST", path, body)
	if status == 200 && json.Unmarshal(answer, into) != nil {
		return 0
	}
	return status
}

// lost ends the program if the server has closed: the game is over.
func (a *api) lost(err error) {
	if a.playing.Load() && errors.Is(err, syscall.ECONNREFUSED) {
		os.Exit(0)
	}
}

// awaitHealth waits until the server answers.
func (a *api) awaitHealth() {
	for {
		if status, _ := a.call("GET", "/health-check", nil); status == 200 {
			a.playing.Store(true)
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// An area is a rectangle of cells.
type area struct {
	PosX  int `json:"posX"`
	PosY  int `json:"posY"`
	SizeX int `json:"sizeX"`
	SizeY int `json:"sizeY"`
}

// explore counts the treasures of an area.
func (a *api) explore(at area) (amount, status int) {
	var answer struct{ Amount int }
	status = a.post("/explore", at, &answer)
	return answer.Amount, status
}

// A license permits digs.
type license struct {
	ID      int `json:"id"`
	Allowed int `json:"digAllowed"`
	Used    int `json:"digUsed"`
}

// license buys a licence for coins, or gets one for nothing.
func (a *api) license(coins []int) (license, int) {
	if coins == nil {
		coins = []int{}
	}
	var l license
	status := a.post("/licenses", coins, &l)
	return l, status
}

// dig digs a cell at a depth. The treasure is "" if none was found.
func (a *api) dig(licenseID, x, y, depth int) (treasure string, status int) {
	var found []string
	status = a.post("/dig", map[string]int{"licenseID": licenseID, "posX": x, "posY": y, "depth": depth}, &found)
	if len(found) > 0 {
		treasure = found[0]
	}
	return treasure, status
}

// cash exchanges a treasure for coins.
func (a *api) cash(treasure string) (coins []int, status int) {
	status = a.post("/cash", treasure, &coins)
	return coins, status
}
