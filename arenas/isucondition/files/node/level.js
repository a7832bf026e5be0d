'use strict';

// levelOf is the level of a condition, by the number of its bad states.
function levelOf(condition) {
  switch (condition.split('=true').length - 1) {
    case 0:
      return 'info';
    case 1:
    case 2:
      return 'warning';
    case 3:
      return 'critical';
    default:
      throw new Error(`condition "${condition}" has too many bad states`);
  }
}

// isConditionFormat reports whether a condition has the form
// "is_dirty=B,is_overweight=B,is_broken=B".
function isConditionFormat(condition) {
  const keys = ['is_dirty=', 'is_overweight=', 'is_broken='];
  const parts = condition.split(',');
  return parts.length === keys.length && parts.every((part, i) => {
    const value = part.slice(keys[i].length);
    return part.startsWith(keys[i]) && (value === 'true' || value === 'false');
  });
}

module.exports = { levelOf, isConditionFormat };
