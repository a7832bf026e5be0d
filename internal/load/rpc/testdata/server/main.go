// Command server is a gRPC server for the tests of package rpc. It prints its
// address, and ends with its standard input.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// answer is what the text of a message asks for: "code N text" is a status, "wait"
// waits for the deadline, and everything else comes back.
func answer(ctx context.Context, text string) (string, error) {
	words := strings.SplitN(text, " ", 3)
	switch words[0] {
	case "code":
		n, err := strconv.Atoi(words[1])
		if err != nil {
			return "", err
		}
		return "", status.Error(codes.Code(n), words[2])
	case "wait":
		<-ctx.Done()
		return "", ctx.Err()
	case "deadline":
		at, ok := ctx.Deadline()
		return fmt.Sprint(ok, time.Until(at) > 50*time.Second), nil
	case "metadata":
		md, _ := metadata.FromIncomingContext(ctx)
		return strings.Join(md.Get("x-own"), ","), nil
	}
	return text, nil
}

func say(_ any, ctx context.Context, dec func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	in := new(wrapperspb.StringValue)
	if err := dec(in); err != nil {
		return nil, err
	}
	grpc.SetHeader(ctx, metadata.Pairs("x-head", "head"))
	grpc.SetTrailer(ctx, metadata.Pairs("x-trail", "trail", "x-trail-bin", "\x00\xff"))
	text, err := answer(ctx, in.Value)
	if err != nil {
		return nil, err
	}
	return wrapperspb.String(text), nil
}

func talk(_ any, s grpc.ServerStream) error {
	s.SetTrailer(metadata.Pairs("x-trail", "talked"))
	for {
		in := new(wrapperspb.StringValue)
		if err := s.RecvMsg(in); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		text, err := answer(s.Context(), in.Value)
		if err != nil {
			return err
		}
		if err := s.SendMsg(wrapperspb.String(text)); err != nil {
			return err
		}
	}
}

func main() {
	s := grpc.NewServer()
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: "test.Echo",
		HandlerType: (*any)(nil),
		Methods:     []grpc.MethodDesc{{MethodName: "Say", Handler: say}},
		Streams:     []grpc.StreamDesc{{StreamName: "Talk", Handler: talk, ServerStreams: true, ClientStreams: true}},
	}, struct{}{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(l.Addr())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	fmt.Fprintln(os.Stderr, s.Serve(l))
}
