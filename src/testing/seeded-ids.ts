/** Ids that are the same in every run: a seed and a count. They sort by creation time. */

import type { Ids } from '../ports/ids.ts'

/** For a restart on the same home, pass a higher `from` or another seed, so that ids stay unique. */
export function seededIds(seed = 'id', from = 1): Ids {
  let count = from
  return { next: () => `${seed}-${String(count++).padStart(9, '0')}` }
}
