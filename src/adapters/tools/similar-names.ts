/** Finds the existing names that are most similar to a name that does not exist. */

const MOST = 5

export function similarNames(wanted: string, names: readonly string[]): string[] {
  return names
    .map((name) => ({ name, steps: distance(wanted.toLowerCase(), name.toLowerCase()) }))
    .sort((a, b) => a.steps - b.steps)
    .slice(0, MOST)
    .map(({ name }) => name)
}

/** Levenshtein distance, computed one table row at a time. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (const [line, letter] of [...a].entries()) {
    const next = [line + 1]
    for (const [column, other] of [...b].entries()) {
      const changed = (row[column] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(changed, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
