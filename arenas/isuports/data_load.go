package isuports

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Files of the benchmarker's copy.
const (
	tenantsFile = "benchmarker_tenant.json"
	samplesFile = "benchmarker.json"
	versionFile = "version"
)

// readDataset reads the benchmarker's copy of the initial data from the folder
// that Generate wrote.
func readDataset(folder string) (*Dataset, error) {
	tenants, err := os.ReadFile(filepath.Join(folder, tenantsFile))
	if err != nil {
		return nil, fmt.Errorf("reading the initial data: %w", err)
	}
	samples, err := os.ReadFile(filepath.Join(folder, samplesFile))
	if err != nil {
		return nil, fmt.Errorf("reading the initial data: %w", err)
	}
	d, err := parseDataset(tenants, samples)
	if err != nil {
		return nil, fmt.Errorf("reading the initial data in %s: %w", folder, err)
	}
	return d, nil
}

// parseDataset reads the texts of the two files.
func parseDataset(tenants, samples []byte) (*Dataset, error) {
	d := new(Dataset)
	if err := json.Unmarshal(tenants, &d.Tenants); err != nil {
		return nil, fmt.Errorf("reading %s: %w", tenantsFile, err)
	}
	if err := json.Unmarshal(samples, &d.Samples); err != nil {
		return nil, fmt.Errorf("reading %s: %w", samplesFile, err)
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	return d, nil
}

// check refuses a copy that the benchmarker cannot use.
func (d *Dataset) check() error {
	if len(d.Tenants) != initialTenants {
		return fmt.Errorf("%d tenants, want %d", len(d.Tenants), initialTenants)
	}
	names := map[string]bool{}
	for i, t := range d.Tenants {
		if t.ID != int64(i+1) {
			return fmt.Errorf("tenant %d has id %d", i+1, t.ID)
		}
		sum := int64(0)
		for _, c := range t.Competitions {
			sum += c.Billing
		}
		if sum != t.Billing {
			return fmt.Errorf("tenant %s is billed %d yen, its competitions %d", t.Name, t.Billing, sum)
		}
		names[t.Name] = true
	}
	for _, s := range d.Samples {
		if !names[s.TenantName] {
			return fmt.Errorf("a sample of %q, which is no tenant", s.TenantName)
		}
	}
	return nil
}

// writeJSON writes one value for people and programs.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(v)
}
