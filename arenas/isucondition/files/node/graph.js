'use strict';

const { userOf } = require('./auth');
const { inTransaction, unixSeconds } = require('./database');
const { isConditionFormat, levelOf } = require('./level');
const { Refused, parametersOf, parseInt64 } = require('./request');

const hour = 3600;

// Points that a condition adds to the score of its hour, by level.
const points = { info: 3, warning: 2, critical: 1 };

// getIsuGraph answers the 24 hours that begin with the hour of datetime.
async function getIsuGraph(req, res) {
  const user = await userOf(req);
  const text = parametersOf(req).get('datetime') ?? '';
  if (text === '') {
    throw new Refused(400, 'missing: datetime');
  }
  const seconds = parseInt64(text);
  if (seconds === undefined) {
    throw new Refused(400, 'bad format: datetime');
  }
  const day = hourOf(Number(seconds));

  const uuid = req.params.jia_isu_uuid;
  const graph = await inTransaction(async (connection) => {
    const [[row]] = await connection.query(
      'SELECT COUNT(*) AS `count` FROM `isu` WHERE `jia_user_id` = ? AND `jia_isu_uuid` = ?', [user, uuid]);
    if (row.count === 0) {
      throw new Refused(404, 'not found: isu');
    }
    return graphOfDay(await historyOf(connection, uuid), day);
  });
  res.json(graph);
}

// hourOf cuts Unix seconds down to their hour.
function hourOf(seconds) {
  return Math.floor(seconds / hour) * hour;
}

// historyOf reads the whole history of an ISU.
async function historyOf(connection, uuid) {
  const [rows] = await connection.query('SELECT * FROM `isu_condition` WHERE `jia_isu_uuid` = ? ORDER BY `timestamp` ASC', [uuid]);
  return rows;
}

// graphOfDay groups the conditions into hours and takes 24 of them.
function graphOfDay(rows, day) {
  const hours = graphHours(rows);
  const graph = [];
  for (let start = day; start < day + 24 * hour; start += hour) {
    const item = { start_at: start, end_at: start + hour, data: null, condition_timestamps: [] };
    for (const of of hours) {
      if (of.start === start) {
        item.data = of.data;
        item.condition_timestamps = of.timestamps;
      }
    }
    graph.push(item);
  }
  return graph;
}

// graphHours computes every hour that has conditions.
function graphHours(rows) {
  const hours = [];
  let inHour = [];
  for (const row of rows) {
    if (inHour.length > 0 && hourOf(unixSeconds(row.timestamp)) !== hourOf(unixSeconds(inHour[0].timestamp))) {
      hours.push(graphHour(inHour));
      inHour = [];
    }
    inHour.push(row);
  }
  if (inHour.length > 0) {
    hours.push(graphHour(inHour));
  }
  return hours;
}

// graphHour computes one hour from its conditions; there is at least one.
function graphHour(rows) {
  const bad = { is_dirty: 0, is_overweight: 0, is_broken: 0 };
  let sitting = 0;
  let score = 0;
  for (const row of rows) {
    if (!isConditionFormat(row.condition)) {
      throw new Error('malformed condition in the database');
    }
    for (const part of row.condition.split(',')) {
      const [name, value] = part.split('=');
      if (value === 'true') {
        bad[name]++;
      }
    }
    score += points[levelOf(row.condition)];
    if (row.is_sitting) {
      sitting++;
    }
  }

  const n = rows.length;
  const percentage = (count) => Math.floor((count * 100) / n);
  return {
    start: hourOf(unixSeconds(rows[0].timestamp)),
    data: {
      score: Math.floor(Math.floor((score * 100) / 3) / n),
      percentage: {
        sitting: percentage(sitting),
        is_broken: percentage(bad.is_broken),
        is_dirty: percentage(bad.is_dirty),
        is_overweight: percentage(bad.is_overweight),
      },
    },
    timestamps: rows.map((row) => unixSeconds(row.timestamp)),
  };
}

module.exports = { getIsuGraph };
