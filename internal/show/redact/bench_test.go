package redact

import "testing"

// BenchmarkText redacts a path as most logs have it: without anything to redact.
func BenchmarkText(b *testing.B) {
	for b.Loop() {
		Text("/api/isu/0694e4d7-dfce-4aec-b7ca-887ac42cfb8f/graph?datetime=1625497752&limit=20")
	}
}
