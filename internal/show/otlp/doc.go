// Package otlp receives traces of an app over OTLP/HTTP, as protobuf and as JSON,
// and keeps the latest ones in memory:
//
//  1. [Decode] reads the body of one request into [Span] values.
//  2. A [Store] keeps them by trace, within [Limits]. The oldest traces leave first.
//  3. [Store.Routes] sums the traces up by route.
//
// An app may send anything: bodies, spans, attributes and texts are bounded, and
// every text is hostile.
package otlp
