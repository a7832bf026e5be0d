package lever

import "testing"

func TestApp202(t *testing.T) { golden(t, newApp202(testFacts), "app202", 10, 12) }
