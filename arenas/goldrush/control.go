package goldrush

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/iikanji/iikanji/arenas/goldrush/mine"
)

// A control begins games on the server of a stack, and reads their reports.
type control struct{ http http.Client }

// controlMost limits one call, and reportMost the size of an answer in bytes.
const (
	controlMost = 30 * time.Second
	reportMost  = 1 << 20
)

func newControl(socket string) *control {
	return &control{http.Client{Timeout: controlMost, Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}}
}

// call performs an operation and returns the report behind it.
func (c *control) call(ctx context.Context, method, path string, body any) (r mine.Report, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("controlling the server: %s: %w", strings.TrimPrefix(path, "/"), err)
		}
	}()
	text, err := json.Marshal(body)
	if err != nil {
		return r, err
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://control"+path, bytes.NewReader(text))
	if err != nil {
		return r, err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return r, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, reportMost))
	if err != nil {
		return r, err
	}
	if res.StatusCode != http.StatusOK {
		return r, fmt.Errorf("status %d: %.200s", res.StatusCode, answer)
	}
	return r, json.Unmarshal(answer, &r)
}

func (c *control) begin(ctx context.Context, config mine.Config) error {
	_, err := c.call(ctx, "POST", "/begin", config)
	return err
}

func (c *control) report(ctx context.Context) (mine.Report, error) {
	return c.call(ctx, "GET", "/report", nil)
}
