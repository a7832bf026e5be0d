package isuports

// A Tenant is what the benchmarker knows of an initial tenant.
type Tenant struct {
	ID           int64         `json:"tenant_id"`
	Name         string        `json:"tenant_name"`
	DisplayName  string        `json:"display_name"`
	Billing      int64         `json:"billing"` // yen, the sum of its competitions
	Competitions []Competition `json:"competitions"`
}

// A Competition is what the benchmarker knows of an initial competition.
type Competition struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Finished bool   `json:"is_finished"`
	Billing  int64  `json:"billing"` // yen; 0 while it is not finished
}

// A Sample is one known pair of an initial competition and a player.
type Sample struct {
	TenantName    string `json:"tenant_name"`
	CompetitionID string `json:"competition_id"`
	Finished      bool   `json:"is_finished"`
	PlayerID      string `json:"player_id"`
	Disqualified  bool   `json:"is_disqualified"`
}

// A Dataset is everything that the benchmarker knows of the initial data.
type Dataset struct {
	Tenants []Tenant // in the order of their ids, 1 to 100
	Samples []Sample
}
