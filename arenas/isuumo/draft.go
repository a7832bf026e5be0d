package isuumo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A batch is a file of rows to post.
type batch struct {
	step, detail scenario.Step
	path         string  // that it is posted to
	field        string  // of the form
	check        string  // beginning of the checks' names
	rows         *rows   // of its table
	at           []int32 // positions, in the order of the file
	write        func(w io.Writer) error
	read         func(ctx context.Context, b *browser, pos int32) error // checks a row
}

// chairBatch is a batch of chairs.
func (w *world) chairBatch(all []Chair) *batch {
	read := func(ctx context.Context, b *browser, pos int32) error {
		_, err := b.chair(ctx, pos)
		return err
	}
	return &batch{stepChairPost, stepChair, "/api/chair", "chairs", "chair", &w.chairs.rows, positions(&w.chairs.rows, idsOf(all, chairID)),
		func(f io.Writer) error { return writeChairs(f, all) }, read}
}

// estateBatch is a batch of estates.
func (w *world) estateBatch(all []Estate) *batch {
	read := func(ctx context.Context, b *browser, pos int32) error { return b.estate(ctx, pos) }
	return &batch{stepEstatePost, stepEstate, "/api/estate", "estates", "estate", &w.estates.rows, positions(&w.estates.rows, idsOf(all, estateID)),
		func(f io.Writer) error { return writeEstates(f, all) }, read}
}

func positions(r *rows, ids []int64) []int32 {
	at := make([]int32, len(ids))
	for i, id := range ids {
		at[i] = r.at[id]
	}
	return at
}

// form returns the body of the request and its type.
func (k *batch) form() (body []byte, contentType string, err error) {
	var buf bytes.Buffer
	m := multipart.NewWriter(&buf)
	part, err := m.CreateFormFile(k.field, k.field+".csv")
	if err == nil {
		err = k.write(part)
	}
	if err == nil {
		err = m.Close()
	}
	if err != nil {
		return nil, "", fmt.Errorf("writing the rows to post: %w", err)
	}
	return buf.Bytes(), m.FormDataContentType(), nil
}

// post checks that the first row is not there, posts the batch, and reads back
// the first n rows of the file.
func (k *batch) post(ctx context.Context, b *browser, n int) error {
	first := idPath(k.path+"/", k.rows.ids[k.at[0]])
	err := b.get(ctx, k.detail, first, func(res *scenario.Response) error {
		return verify.RefusalStatus(res, k.check+"-early", http.StatusNotFound)
	})
	if err != nil {
		return err
	}
	body, contentType, err := k.form()
	if err != nil {
		return err
	}
	for _, pos := range k.at { // from now on an answer may show them
		k.rows.there.add(pos)
	}
	err = b.do(ctx, &scenario.Request{Step: k.step, Method: http.MethodPost, Path: k.path, ContentType: contentType, Body: body},
		func(res *scenario.Response) error { return scenario.WantStatus(res, http.StatusCreated) })
	if err != nil {
		return err
	}
	for _, pos := range k.at[:n] {
		if err := k.read(ctx, b, pos); err != nil {
			return err
		}
	}
	return nil
}

// pausePost is the time between the start of a draft and its first request.
var pausePost = [2]time.Duration{450 * time.Millisecond, 550 * time.Millisecond}

// A draft posts one file under load. Every failure of it ends the run.
type draft struct {
	*browser
	rng   *rand.Rand
	batch *batch // nil if there are no more files
	delay time.Duration
}

// newDraft makes the i-th draft of a table, which joins at a level. If the level
// is fixed, all workers join at once; the drafts then spread over the load, so
// that it does not begin with a burst of files.
func (ct *contest) newDraft(kind string, i, level int) *draft {
	rng := ct.s.Rand(workerName(kind+" draft", i))
	d := &draft{rng: rng, browser: ct.browser(scenario.ClientOptions{UserAgent: humanAgent(rng), Timeout: draftTimeout})}
	if kind == "chair" && i < len(ct.data.DraftChairs) {
		d.batch = ct.world.chairBatch(ct.data.DraftChairs[i])
	}
	if kind == "estate" && i < len(ct.data.DraftEstates) {
		d.batch = ct.world.estateBatch(ct.data.DraftEstates[i])
	}
	if ct.fixed != noLevel {
		d.delay = ct.s.LoadTime() * time.Duration(level-firstDraftLevel) / time.Duration(maxLevel-firstDraftLevel+1)
	}
	return d
}

// firstDraftLevel is the first level at which a draft joins.
const firstDraftLevel = 2

func (d *draft) run(ctx context.Context) {
	defer d.cl.Close()
	if d.batch == nil || !scenario.Sleep(ctx, d.delay) || !rest(ctx, d.rng, pausePost) {
		return
	}
	if err := d.batch.post(ctx, d.browser, 1); err != nil {
		d.ct.s.Fail(err)
		return
	}
	d.ct.posted.Add(int64(len(d.batch.at)))
}
