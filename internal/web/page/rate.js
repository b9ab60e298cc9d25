// How fast a run goes, and when it will be done.

/**
 * pace is told how many steps are done and says how many there are a second now, by what was
 * seen in the last half minute.
 */
export function pace() {
  /** @type {{at: number, steps: number}[]} */
  const seen = [];
  return {
    /**
     * @param {number} steps
     * @param {number} at in ms
     */
    saw(steps, at) {
      const last = seen[seen.length - 1];
      if (last && steps < last.steps) seen.length = 0; // another session
      seen.push({ at, steps });
      while (seen.length > 2 && at - /** @type {{at: number}} */ (seen[1]).at > 30_000) seen.shift();
    },
    /** rests says that nothing is done now: the time until it goes on does not count. */
    rests() {
      seen.length = 0;
    },
    /** @returns {number} steps a second; 0 if nobody knows */
    rate() {
      const first = seen[0];
      const last = seen[seen.length - 1];
      if (!first || !last || last.at - first.at < 500) return 0;
      return ((last.steps - first.steps) * 1000) / (last.at - first.at);
    },
  };
}

/**
 * left is how many ms a run will take yet; null if nobody knows.
 *
 * @param {number} done
 * @param {number} total
 * @param {number} rate
 */
export function left(done, total, rate) {
  return total > 0 && rate > 0 && done <= total ? ((total - done) / rate) * 1000 : null;
}
