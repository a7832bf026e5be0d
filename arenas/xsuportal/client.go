package xsuportal

import (
	"context"
	"net/http"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/arenas/xsuportal/pb/errorpb"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

const (
	requestTimeout    = 10 * time.Second
	dashboardTimeout  = 2 * time.Second
	initializeTimeout = 20 * time.Second

	userAgent    = "iikanji-browser/1"
	protobufType = "application/vnd.google.protobuf"
	errorType    = protobufType + "; proto=xsuportal.proto.Error"
)

// An agent is a browser.
type agent struct {
	ct *contest
	cl scenario.Client
}

// browser opens a browser. Nobody has logged in.
func (ct *contest) browser() *agent {
	return &agent{ct, ct.s.NewClient(scenario.ClientOptions{Cache: true, Gzip: true, UserAgent: userAgent})}
}

func (a *agent) close() { a.cl.Close() }

// do sends a request. check finds out whether its answer is right.
func (a *agent) do(ctx context.Context, r *scenario.Request, check func(res *scenario.Response) error) error {
	res, err := a.cl.Do(ctx, r)
	if err != nil {
		return err
	}
	defer res.Release()
	return check(res)
}

// request makes a request with a message; in may be nil.
func request(step scenario.Step, method, path string, in proto.Message) *scenario.Request {
	r := &scenario.Request{Step: step, Method: method, Path: path}
	if in != nil {
		body, err := proto.Marshal(in)
		if err != nil {
			panic("BUG: " + err.Error())
		}
		r.Body, r.ContentType = body, protobufType
	}
	switch step {
	case stepDashboard, stepAudienceDashboard:
		r.Timeout = dashboardTimeout
	case stepInitialize:
		r.Timeout = initializeTimeout
	}
	return r
}

// call sends a message, and decodes the answer into another one.
func (a *agent) call(ctx context.Context, step scenario.Step, method, path string, in, out proto.Message) error {
	return a.do(ctx, request(step, method, path, in), func(res *scenario.Response) error { return decode(res, out) })
}

// decode checks that a request succeeded, and reads the answer.
func decode(res *scenario.Response, out proto.Message) error {
	if err := scenario.WantStatus(res, http.StatusOK); err != nil {
		return withMessage(res, err)
	}
	if err := scenario.WantType(res, protobufType); err != nil {
		return err
	}
	if err := proto.Unmarshal(res.Body, out); err != nil {
		return &scenario.Fault{Kind: iikanji.FaultBody, Step: res.Step, Message: "protobuf: " + err.Error(), Cause: err,
			Example: &iikanji.Example{Request: res.Method + " " + res.Path, Status: res.Status}}
	}
	return nil
}

// withMessage puts into a fault what an answer says to people, in place of its bytes.
func withMessage(res *scenario.Response, err error) error {
	f, ok := err.(*scenario.Fault)
	if !ok {
		return err
	}
	if said := new(errorpb.Error); proto.Unmarshal(res.Body, said) == nil && f.Example != nil {
		f.Example.Body = scenario.Excerpt([]byte(said.GetHumanMessage()))
	}
	return f
}

// refused checks that a request is refused with a status, in the form of errors. An empty
// message allows any.
func (a *agent) refused(ctx context.Context, step scenario.Step, method, path string, in proto.Message, status int, message string) error {
	return a.do(ctx, request(step, method, path, in), func(res *scenario.Response) error {
		if err := scenario.WantStatus(res, status); err != nil {
			return withMessage(res, err)
		}
		if got := res.Get("content-type"); got != errorType {
			return scenario.Wrong(res, "error-type", "content type %.80q, want %q", got, errorType)
		}
		said := new(errorpb.Error)
		if err := proto.Unmarshal(res.Body, said); err != nil {
			return scenario.Wrong(res, "error-form", "the body is no error: %v", err)
		}
		if int(said.GetCode()) != status {
			return scenario.Wrong(res, "error-form", "the error has code %d, want %d", said.GetCode(), status)
		}
		if message != "" && said.GetHumanMessage() != message {
			return scenario.Wrong(res, "error-message", "the message is %.100q, want %q", said.GetHumanMessage(), message)
		}
		return nil
	})
}

// wrong is a failed check of an answer that is not kept.
func wrong(step scenario.Step, check, format string, args ...any) error {
	f := scenario.Wrong(nil, check, format, args...)
	f.Step = step
	return f
}
