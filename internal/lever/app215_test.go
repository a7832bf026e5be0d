package lever

import "testing"

func TestApp215(t *testing.T) { golden(t, newApp215(shopFacts), "app215", 4, 12) }
