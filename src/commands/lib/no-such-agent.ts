/** The error for an agent that does not exist: names the likely one, or a few. */

import { editDistance } from '../../domain/edit-distance.ts'
import { TirelessError } from '../../domain/error.ts'

const MAX_NAMED = 8
/** More different letters than this are no typing error. */
const MAX_DISTANCE = 2

export function noSuchAgent(id: string, known: readonly string[]): TirelessError {
  const near = known.filter((name) => editDistance(name.toLowerCase(), id.toLowerCase()) <= MAX_DISTANCE)
  const named = near.length > 0 ? near : known
  const more = named.length > MAX_NAMED ? `, and ${named.length - MAX_NAMED} more` : ''
  return new TirelessError('not_found', {
    what: 'no such agent',
    got: id,
    expected:
      known.length === 0
        ? 'an existing agent; there is none yet'
        : `one of ${named.slice(0, MAX_NAMED).join(', ')}${more}`,
    fix: 'run tireless agent list; or create one: tireless agent new',
  })
}
