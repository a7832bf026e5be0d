package lever

import "testing"

func TestApp218(t *testing.T) { golden(t, newApp218(testFacts), "app218", 1, 7) }
