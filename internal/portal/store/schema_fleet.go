package store

// schemaFleet has the profiles that agents on hosts sent. body is a profile as gzip in base64: all
// three engines have one type for long texts.
const schemaFleet = `
CREATE TABLE fleet_parts (site VARCHAR(64) NOT NULL, kind VARCHAR(16) NOT NULL, minute BIGINT NOT NULL, host VARCHAR(64) NOT NULL, file VARCHAR(100) NOT NULL, from_byte BIGINT NOT NULL, to_byte BIGINT NOT NULL, digest VARCHAR(64) NOT NULL, body {text} NOT NULL,
 PRIMARY KEY (site, kind, minute, host, file, from_byte)){end};
CREATE TABLE fleet_hosts (site VARCHAR(64) NOT NULL, host VARCHAR(64) NOT NULL, seen BIGINT NOT NULL, clock_off BIGINT NOT NULL, trouble VARCHAR(400) NOT NULL, PRIMARY KEY (site, host)){end};
`
