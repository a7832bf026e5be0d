package rate

import "time"

type Limit float64

type Limiter struct{}

func NewLimiter(r Limit, b int) *Limiter { return &Limiter{} }

func Every(d time.Duration) Limit { return 0 }
