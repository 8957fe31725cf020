/** Edit distance (Levenshtein): how many letters to insert, delete or replace. Computed one table row at a time. */
export function editDistance(from: string, to: string): number {
  const [letters, others] = [[...from], [...to]]
  let row = Array.from({ length: others.length + 1 }, (_, index) => index)
  for (const [i, letter] of letters.entries()) {
    const next = [i + 1]
    for (const [j, other] of others.entries())
      next.push(Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)))
    row = next
  }
  return row.at(-1) ?? 0
}
