'use strict';

const { pool, unixSeconds } = require('./database');
const { levelOf } = require('./level');

// getTrend answers the newest state of every ISU by character. It needs no session.
async function getTrend(req, res) {
  const [characters] = await pool.query('SELECT `character` FROM `isu` WHERE `character` IS NOT NULL GROUP BY `character`');
  const trend = [];
  for (const { character } of characters) {
    trend.push(await trendOf(character));
  }
  res.json(trend);
}

// trendOf collects the ISUs of one character by the level of their newest condition.
async function trendOf(character) {
  const item = { character, info: [], warning: [], critical: [] };
  const [isus] = await pool.query('SELECT * FROM `isu` WHERE `character` = ?', [character]);
  for (const isu of isus) {
    const [conditions] = await pool.query(
      'SELECT * FROM `isu_condition` WHERE `jia_isu_uuid` = ? ORDER BY `timestamp` DESC', [isu.jia_isu_uuid]);
    if (conditions.length > 0) {
      const newest = conditions[0];
      item[levelOf(newest.condition)].push({ isu_id: isu.id, timestamp: unixSeconds(newest.timestamp) });
    }
  }
  for (const list of [item.info, item.warning, item.critical]) {
    list.sort((a, b) => b.timestamp - a.timestamp);
  }
  return item;
}

module.exports = { getTrend };
