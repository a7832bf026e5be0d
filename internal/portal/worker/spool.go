package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
)

// A spool keeps results until the portal has accepted them.
type spool struct{ dir string }

func openSpool(dir string) (*spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the spool: %w", err)
	}
	return &spool{dir}, nil
}

// path is the file of a result. A job's id is of the portal: it is no path.
func (s *spool) path(f api.Finish) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, f.Job)
	return filepath.Join(s.dir, fmt.Sprintf("%s-%d.json", name, f.Epoch))
}

// put writes a result; it is on the disk when put returns.
func (s *spool) put(f api.Finish) error {
	text, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("keeping the result of %s: %w", f.Job, err)
	}
	path := s.path(f)
	file, err := os.OpenFile(path+".tmp", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("keeping the result of %s: %w", f.Job, err)
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(path+".tmp", path)
	}
	if err == nil {
		err = syncDir(s.dir)
	}
	if err != nil {
		return fmt.Errorf("keeping the result of %s: %w", f.Job, err)
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// all reads the results that were not accepted yet.
func (s *spool) all() (out []api.Finish, err error) {
	files, err := filepath.Glob(filepath.Join(s.dir, "*.json"))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		var f api.Finish
		if err == nil {
			err = json.Unmarshal(text, &f)
		}
		if err != nil {
			return out, fmt.Errorf("reading a kept result: %w", err)
		}
		out = append(out, f)
	}
	return out, nil
}

func (s *spool) remove(f api.Finish) error { return os.Remove(s.path(f)) }

// deliver keeps a result and sends it until the portal answers.
func (w *Worker) deliver(ctx context.Context, f api.Finish) {
	if err := w.spool.put(f); err != nil {
		w.o.Log.Error("the result is only in memory", "error", err)
	}
	w.send(ctx, f)
}

// deliverSpooled sends what an earlier process left.
func (w *Worker) deliverSpooled(ctx context.Context) {
	left, err := w.spool.all()
	if err != nil {
		w.o.Log.Error("the spool", "error", err)
	}
	for _, f := range left {
		w.send(ctx, f)
	}
}

// sendLimit is of one try: a result may be large.
const sendLimit = 20 * time.Second

// lastTry is of the try of a worker that stops.
const lastTry = 3 * time.Second

func (w *Worker) send(ctx context.Context, f api.Finish) {
	for end := time.Now().Add(sendFor); time.Now().Before(end); {
		var answer api.FinishAnswer
		call, limit := ctx, sendLimit
		if ctx.Err() != nil { // a worker that stops gives its job back at once
			call, limit = context.WithoutCancel(ctx), lastTry
		}
		_, err := w.client.call(call, "finish", limit, f, &answer)
		if err == nil {
			if answer.Became != api.Accepted {
				w.o.Log.Info("the result was not needed", "job", f.Job, "became", answer.Became)
			}
			if err := w.spool.remove(f); err != nil && !errors.Is(err, os.ErrNotExist) {
				w.o.Log.Warn("the spool", "error", err)
			}
			return
		}
		if status := (*StatusError)(nil); errors.As(err, &status) && status.Status == http.StatusBadRequest {
			w.o.Log.Error("the portal cannot read the result; it is kept", "job", f.Job, "error", err)
			return
		}
		if call != ctx {
			return // it is in the spool
		}
		w.o.Log.Warn("sending a result", "job", f.Job, "error", err)
		pause(ctx, w.interval(retryEvery))
	}
}
