package isucondition

import (
	"bytes"
	"context"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// retryPause limits the rate of retries when a request fails at once.
const retryPause = 50 * time.Millisecond

// registerForm builds the form of a registration. With an empty icon it has no
// image.
func registerForm(uuid, name string, icon []byte) (contentType string, body []byte) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	w.WriteField("jia_isu_uuid", uuid) // writing to a bytes.Buffer cannot fail
	w.WriteField("isu_name", name)
	if len(icon) > 0 {
		h := textproto.MIMEHeader{}
		h.Set("Content-Disposition", `form-data; name="image"; filename="icon.jpeg"`)
		h.Set("Content-Type", "image/jpeg")
		part, err := w.CreatePart(h)
		if err != nil {
			panic("BUG: writing a form to memory: " + err.Error())
		}
		part.Write(icon)
	}
	w.Close()
	return w.FormDataContentType(), b.Bytes()
}

// sendForm posts the registration of a chair.
func (b *browser) sendForm(ctx context.Context, c *chair, check func(res *scenario.Response) error) error {
	var icon []byte
	if !c.bare {
		icon = c.icon.Bytes
	}
	contentType, body := registerForm(c.uuid, c.name, icon)
	return b.do(ctx, &scenario.Request{Step: stepRegister, Method: http.MethodPost, Path: "/api/isu",
		ContentType: contentType, Body: body}, check)
}

// register registers a chair once. A conflict after a registration without an
// answer counts as success; register then reads the id separately.
func (b *browser) register(ctx context.Context, c *chair) error {
	var id int64
	known := false
	err := b.sendForm(ctx, c, func(res *scenario.Response) (err error) {
		if known = res.Status == http.StatusConflict; known {
			return verify.Refusal(res, "duplicate", http.StatusConflict, textDuplicate)
		}
		id, err = checkISU(res, http.StatusCreated, c)
		return err
	})
	if err == nil && known {
		id, err = b.detail(ctx, c)
	}
	if err != nil {
		return err
	}
	if other := b.ct.world.ids()[id]; other != nil {
		f := scenario.Wrong(nil, "isu-id", "id %d was given to %s and to %s", id, other.uuid, c.uuid)
		f.Step = stepRegister
		return f
	}
	b.ct.world.registered(c, id)
	return nil
}

// insist repeats an act until it succeeds. It returns false if the phase ended.
func (ct *contest) insist(ctx context.Context, act func() error) bool {
	for ctx.Err() == nil {
		err := act()
		if err == nil {
			return true
		}
		if ctx.Err() != nil { // JIA closes at the end of the phase, so the target may answer 500 then
			break
		}
		ct.s.Report(err)
		if !pause(ctx, retryPause) {
			break
		}
	}
	return false
}

// refused checks that a registration is refused.
func (b *browser) refused(ctx context.Context, c *chair, check string, status int, text string) error {
	return b.sendForm(ctx, c, func(res *scenario.Response) error { return verify.Refusal(res, check, status, text) })
}

// brokenForm sends a registration whose icon is cut off in the middle.
func (b *browser) brokenForm(ctx context.Context, c *chair) error {
	contentType, body := registerForm(c.uuid, c.name, []byte(fmt.Sprintf("%0512d", 0)))
	return b.do(ctx, &scenario.Request{Step: stepRegister, Method: http.MethodPost, Path: "/api/isu",
		ContentType: contentType, Body: body[:len(body)-256]}, func(res *scenario.Response) error {
		return verify.Refusal(res, "icon-form", http.StatusBadRequest, textBadIcon)
	})
}
