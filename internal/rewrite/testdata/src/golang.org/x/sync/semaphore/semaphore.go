package semaphore

type Weighted struct{}

func NewWeighted(n int64) *Weighted { return &Weighted{} }
