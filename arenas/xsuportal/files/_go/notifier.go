// Package xsuportal has what the web application and the benchmark server of the contest's
// portal share: the database, its rows, and notifications.
package xsuportal

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/jmoiron/sqlx"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"xsuportal/proto/resources"
)

// WebpushVAPIDPrivateKeyPath is the file of the VAPID key. generate_vapid_key.sh makes it.
const WebpushVAPIDPrivateKeyPath = "../vapid_private.pem"

// A Notifier stores notifications.
type Notifier struct {
	mu  sync.Mutex
	key *VAPIDKey
}

// A VAPIDKey is the pair of keys by which this server signs Web Push messages: a point and a
// number of the curve P-256, each in URL-safe base64 without padding.
type VAPIDKey struct {
	PublicKey  string
	PrivateKey string
}

// VAPIDKey returns the keys of Web Push. It reads their file once, and returns nil while the
// file is missing.
func (n *Notifier) VAPIDKey() *VAPIDKey {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.key == nil {
		key, err := ReadVAPIDKey(WebpushVAPIDPrivateKeyPath)
		if err != nil {
			if !errors.Is(err, os.ErrNotExist) {
				fmt.Println("reading the VAPID key:", err)
			}
			return nil
		}
		n.key = key
	}
	return n.key
}

// ReadVAPIDKey reads a private key of the curve P-256.
func ReadVAPIDKey(path string) (*VAPIDKey, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var block *pem.Block
	for block == nil || block.Type != "EC PRIVATE KEY" {
		if block, text = pem.Decode(text); block == nil {
			return nil, fmt.Errorf("%s has no EC PRIVATE KEY", path)
		}
	}
	private, err := x509.ParseECPrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	if private.Curve != elliptic.P256() {
		return nil, fmt.Errorf("%s is not a key of P-256", path)
	}
	return encodeKey(private)
}

func encodeKey(private *ecdsa.PrivateKey) (*VAPIDKey, error) {
	secret, err := private.Bytes()
	if err != nil {
		return nil, err
	}
	public, err := private.PublicKey.Bytes()
	if err != nil {
		return nil, err
	}
	return &VAPIDKey{base64.RawURLEncoding.EncodeToString(public), base64.RawURLEncoding.EncodeToString(secret)}, nil
}

// NotifyClarificationAnswered notifies the team that asked, or everyone in a team.
func (n *Notifier) NotifyClarificationAnswered(db sqlx.Ext, c *Clarification, updated bool) error {
	var contestants []struct {
		ID     string `db:"id"`
		TeamID int64  `db:"team_id"`
	}
	if c.Disclosed.Valid && c.Disclosed.Bool {
		err := sqlx.Select(db, &contestants, "SELECT `id`, `team_id` FROM `contestants` WHERE `team_id` IS NOT NULL")
		if err != nil {
			return fmt.Errorf("reading all contestants: %w", err)
		}
	} else {
		err := sqlx.Select(db, &contestants, "SELECT `id`, `team_id` FROM `contestants` WHERE `team_id` = ?", c.TeamID)
		if err != nil {
			return fmt.Errorf("reading the contestants of team %d: %w", c.TeamID, err)
		}
	}
	for _, contestant := range contestants {
		message := &resources.Notification{
			Content: &resources.Notification_ContentClarification{
				ContentClarification: &resources.Notification_ClarificationMessage{
					ClarificationId: c.ID,
					Owned:           c.TeamID == contestant.TeamID,
					Updated:         updated,
				},
			},
		}
		notification, err := n.notify(db, message, contestant.ID)
		if err != nil {
			return fmt.Errorf("notifying %s: %w", contestant.ID, err)
		}
		if n.VAPIDKey() != nil {
			message.Id = notification.ID
			message.CreatedAt = timestamppb.New(notification.CreatedAt)
			// TODO: send the message by Web Push.
		}
	}
	return nil
}

// NotifyBenchmarkJobFinished notifies the team of a job.
func (n *Notifier) NotifyBenchmarkJobFinished(db sqlx.Ext, job *BenchmarkJob) error {
	var contestants []struct {
		ID     string `db:"id"`
		TeamID int64  `db:"team_id"`
	}
	err := sqlx.Select(db, &contestants, "SELECT `id`, `team_id` FROM `contestants` WHERE `team_id` = ?", job.TeamID)
	if err != nil {
		return fmt.Errorf("reading the contestants of team %d: %w", job.TeamID, err)
	}
	for _, contestant := range contestants {
		message := &resources.Notification{
			Content: &resources.Notification_ContentBenchmarkJob{
				ContentBenchmarkJob: &resources.Notification_BenchmarkJobMessage{
					BenchmarkJobId: job.ID,
				},
			},
		}
		notification, err := n.notify(db, message, contestant.ID)
		if err != nil {
			return fmt.Errorf("notifying %s: %w", contestant.ID, err)
		}
		if n.VAPIDKey() != nil {
			message.Id = notification.ID
			message.CreatedAt = timestamppb.New(notification.CreatedAt)
			// TODO: send the message by Web Push.
		}
	}
	return nil
}

// notify stores a notification and reads it again.
func (n *Notifier) notify(db sqlx.Ext, message *resources.Notification, contestantID string) (*Notification, error) {
	text, err := proto.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	result, err := db.Exec("INSERT INTO `notifications` (`contestant_id`, `encoded_message`, `read`, `created_at`, `updated_at`)"+
		" VALUES (?, ?, FALSE, NOW(6), NOW(6))", contestantID, base64.StdEncoding.EncodeToString(text))
	if err != nil {
		return nil, fmt.Errorf("storing: %w", err)
	}
	id, err := result.LastInsertId()
	if err != nil {
		return nil, err
	}
	var notification Notification
	if err := sqlx.Get(db, &notification, "SELECT * FROM `notifications` WHERE `id` = ? LIMIT 1", id); err != nil {
		return nil, fmt.Errorf("reading notification %d: %w", id, err)
	}
	return &notification, nil
}
