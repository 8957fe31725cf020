/** Ids that are the same in every run: a seed and a count. They sort by time of making. */

import type { Ids } from '../ports/ids.ts'

/** A second life of the same home continues with `from`, or takes another seed, so that no id is made twice. */
export function seededIds(seed = 'id', from = 1): Ids {
  let count = from
  return { next: () => `${seed}-${String(count++).padStart(9, '0')}` }
}
