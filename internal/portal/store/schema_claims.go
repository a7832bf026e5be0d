package store

// schemaClaims has who of staff is answering a question.
const schemaClaims = `
ALTER TABLE messages ADD COLUMN claimed VARCHAR(64) NOT NULL DEFAULT '';
ALTER TABLE messages ADD COLUMN claimed_at BIGINT NOT NULL DEFAULT 0;
`
