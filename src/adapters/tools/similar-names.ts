/** Finds the existing names that are most similar to a name that does not exist. */

import { editDistance } from '../../domain/edit-distance.ts'

const MOST = 5

export function similarNames(wanted: string, names: readonly string[]): string[] {
  return names
    .map((name) => ({ name, steps: editDistance(wanted.toLowerCase(), name.toLowerCase()) }))
    .sort((a, b) => a.steps - b.steps)
    .slice(0, MOST)
    .map(({ name }) => name)
}
