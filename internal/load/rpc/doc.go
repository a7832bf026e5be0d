// Package rpc sends gRPC calls through a [scenario.Client] and checks their ends:
// unary calls ([Do]) and streams of messages in both directions ([Open]). The client
// must speak HTTP/2.
//
// A call has two kinds of failure. What happened to its exchange is an error, a
// [*scenario.Fault]: no connection, no answer in time, a reset stream, an answer that
// is not gRPC. The status that the service returned is no error, as with
// [scenario.Client]: it is in the [Reply], and [WantCode] checks it.
//
// Names and formats are those of "gRPC over HTTP2" (PROTOCOL-HTTP2.md of gRPC).
package rpc
