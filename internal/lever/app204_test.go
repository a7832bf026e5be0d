package lever

import "testing"

func TestApp204(t *testing.T) { golden(t, newApp204(testFacts), "app204", 13, 20) }
